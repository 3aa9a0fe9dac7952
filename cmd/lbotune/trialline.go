package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// Colours of a terminal, as SGR parameters.
const green, red = "32", "31"

// valueWidth is how wide a value may be in the line of a trial.
const valueWidth = 10

// fitted is a number in valueWidth characters, with as many digits as these hold.
func fitted(x float64) string {
	text := short(x)
	for digits := 6; len(text) > valueWidth && digits > 1; digits-- {
		text = strconv.FormatFloat(x, 'g', digits, 64)
	}
	return text
}

// trial prints the line of the trial that has finished.
func (p *progress) trial(u study.Update) {
	t := u.Trial
	value, mark, colour, why := p.values(t.Metrics), "", "", oneLine(t.Failure.String())
	switch broken := p.cfg.Broken(t.Metrics); {
	case t.Status == optimizer.Failed:
		value, colour = "failed", red
		words := lastWords(p.layout, p.cfg, &t)
		why += when(words != "", ": %s", words)
	case t.Status == optimizer.Pruned:
		mark = "cut"
	case t.Succeeded() && len(broken) > 0:
		mark, why = "over", oneLine(strings.Join(broken, "; "))
	case p.cfg.Several() && u.Better && t.Succeeded():
		mark, colour = "good", green
	case t.Number == u.Best.Number && !p.cfg.Several():
		mark, colour = "best", green
	}
	head := fmt.Sprintf("%s  %*s %-4s %6s  ", p.number(t.Number), valueWidth, value, mark, took(t.Took))
	values, width := t.Values, 0
	if p.pane != nil {
		values = byVariety(p.cfg.Params, values)
		width, _ = p.pane.size()
	}
	text := head + shortValues(values) + when(why != "", ": %s", why)
	if width > 0 {
		text = folded(text, utf8.RuneCountInString(head), width)
	}
	if p.colours && colour != "" {
		marked := fmt.Sprintf("%*s %-4s", valueWidth, value, mark)
		text = strings.Replace(text, marked, "\x1b["+colour+"m"+marked+"\x1b[0m", 1)
	}
	p.line("%s", text)
}

// byVariety orders values for people who compare trials: first those that may differ most.
func byVariety(params []spaces.Param, values spaces.Values) spaces.Values {
	variety := map[string]float64{}
	for _, p := range params {
		variety[p.Name], _ = p.Levels()
	}
	out := slices.Clone(values)
	slices.SortStableFunc(out, func(a, b spaces.Assignment) int { return cmp.Compare(variety[b.Name], variety[a.Name]) })
	return out
}

// narrow is how much room folded text needs beside its indentation.
const narrow = 24

// folded breaks text between words into lines of the width; those after the first are
// indented. What has no blank is broken where the line ends.
func folded(text string, indent, width int) string {
	if width-indent < narrow {
		indent = 4
	}
	if width <= indent {
		return text
	}
	var lines []string
	for runes := []rune(text); len(runes) > 0; {
		room, first := width, indent // first is where the line may be broken, at the earliest
		if len(lines) > 0 {
			room, first = width-indent, 0
		}
		if len(runes) <= room {
			lines = append(lines, string(runes))
			break
		}
		end := room
		for end > first && runes[end] != ' ' {
			end--
		}
		if end == first {
			end = room
		}
		lines = append(lines, strings.TrimRight(string(runes[:end]), " "))
		runes = []rune(strings.TrimLeft(string(runes[end:]), " "))
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", indent))
}

// lastWords is the last line that a trial which ended badly by itself has printed on
// standard error: most often it says why.
func lastWords(l study.Layout, c *study.Config, t *study.Trial) string {
	if t.Failure == nil || t.Hand || t.Failure.Kind != study.FailExit && t.Failure.Kind != study.FailSignal {
		return ""
	}
	return shortened(lastLine(l, study.AttemptID{Trial: t.Number, Attempt: t.Attempt}, c), 120)
}

// lastLine is the last line that an attempt has printed on standard error.
func lastLine(l study.Layout, id study.AttemptID, c *study.Config) string {
	_, text := endOfOutput(l, l.Attempt(id), c, 4<<10, runner.StderrName)
	text = strings.TrimSpace(text)
	return oneLine(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]))
}
