// Terminal draws what a program printed as a picture of a terminal: it reads
// text and writes SVG.
//
//	lbotune run spec.toml 2>&1 | go -C bench run ./images/terminal -first 10 -last 12 > run.svg
package main

import (
	"bufio"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// The picture's measures, in pixels.
const (
	charWidth  = 7.8
	lineHeight = 18
	margin     = 16
	barHeight  = 30
)

// atOnce is how many lines are there from the start, so that nobody meets an empty terminal.
const atOnce = 8

const (
	background = "#16181d"
	bar        = "#24272f"
	plain      = "#c8ccd4"
	faint      = "#7d8590"
	strong     = "#ffffff"
	good       = "#7ee787"
	bad        = "#ff7b72"
)

func main() {
	first := flag.Int("first", 1000, "show the first `N` lines")
	last := flag.Int("last", 0, "show the last `N` lines too")
	columns := flag.Int("columns", 100, "cut lines at column `N`")
	title := flag.String("title", "", "title of the window")
	pace := flag.Float64("pace", 0, "let a line appear every `N` seconds where pictures can move")
	flag.Parse()
	if err := draw(os.Stdout, os.Stdin, *title, *first, *last, *columns, *pace); err != nil {
		fmt.Fprintln(os.Stderr, "terminal:", err)
		os.Exit(1)
	}
}

func draw(w io.Writer, r io.Reader, title string, first, last, columns int, pace float64) error {
	var lines []string
	scanner := bufio.NewScanner(r)
	for scanner.Scan() {
		lines = append(lines, scanner.Text())
	}
	if err := scanner.Err(); err != nil {
		return err
	}
	lines = shorten(lines, first, last)
	width := 2*margin + charWidth*float64(columns)
	height := barHeight + margin + lineHeight*len(lines) + margin/2
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(out, "<title>%s</title>\n", escape(title))
	if pace > 0 {
		// A line is hidden for as long as its animation lasts. Where nothing
		// moves, as in print, all lines are seen.
		fmt.Fprintln(out, "<style>@keyframes wait { from, to { opacity: 0 } } text { animation-name: wait }")
		fmt.Fprintln(out, "@media (prefers-reduced-motion: reduce) { text { animation-name: none } }</style>")
	}
	fmt.Fprintf(out, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	fmt.Fprintf(out, `<path d="M0 %d V8 a8 8 0 0 1 8 -8 H%.0f a8 8 0 0 1 8 8 V%d z" fill="%s"/>`+"\n", barHeight, width-8, barHeight, bar)
	for i, color := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(out, `<circle cx="%d" cy="15" r="5.5" fill="%s"/>`+"\n", margin+4+18*i, color)
	}
	fmt.Fprintf(out, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace" font-size="13">`+"\n")
	fmt.Fprintf(out, `<text x="%.0f" y="20" text-anchor="middle" fill="%s">%s</text>`+"\n", width/2, faint, escape(title))
	for i, line := range lines {
		line = cut(line, columns)
		if line == "" {
			continue
		}
		y := barHeight + margin + lineHeight*i + 6
		moment := ""
		if pace > 0 {
			moment = fmt.Sprintf(`style="animation-duration:%.2fs" `, pace*float64(max(0, i+1-atOnce)))
		}
		// The length is fixed so that columns stand in line in any font.
		fmt.Fprintf(out, `<text x="%d" y="%d" xml:space="preserve" textLength="%.1f" lengthAdjust="spacingAndGlyphs" %s%s>%s</text>`+"\n",
			margin, y, charWidth*float64(len([]rune(line))), moment, style(line), escape(line))
	}
	fmt.Fprintln(out, "</g>\n</svg>")
	return out.Flush()
}

// shorten keeps the first and the last lines, with a mark between them.
func shorten(lines []string, first, last int) []string {
	if len(lines) <= first+last+1 {
		return lines
	}
	out := append([]string(nil), lines[:first]...)
	out = append(out, "   ⋮")
	return append(out, lines[len(lines)-last:]...)
}

func cut(line string, columns int) string {
	if r := []rune(line); len(r) > columns {
		return string(r[:columns-1]) + "…"
	}
	return line
}

var (
	bestTrial   = regexp.MustCompile(`^ *\d+/\d+ +\S+ best `)
	failedTrial = regexp.MustCompile(`^ *\d+/\d+ +failed `)
	summary     = regexp.MustCompile(`^best .* = `)
)

// style is how a line looks.
func style(line string) string {
	switch {
	case strings.HasPrefix(line, "$ "), summary.MatchString(line):
		return `font-weight="bold" fill="` + strong + `"`
	case bestTrial.MatchString(line):
		return `fill="` + good + `"`
	case failedTrial.MatchString(line):
		return `fill="` + bad + `"`
	case strings.HasPrefix(line, "study "), strings.HasPrefix(line, "setup "), strings.TrimSpace(line) == "⋮":
		return `fill="` + faint + `"`
	}
	return `fill="` + plain + `"`
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes everything
	return b.String()
}
