package report

import (
	"math"
	"slices"
	"strings"
)

// Cells says how pictures are drawn in characters.
type Cells struct {
	Columns int
	Plain   bool // ASCII alone
	Colours bool
}

// A cell stands for so much of a picture; lines are drawn finer, by the dots of Braille.
const cellWidth, cellHeight, dotsWide, dotsHigh = 6.0, 12.0, 2, 4

// cells is a picture in characters.
type cells struct {
	Cells
	all []cell // row after row
}

type cell struct {
	char, dots rune // these as the Braille patterns have them
	class      string
}

// at is the cell at a place, one of no picture beyond its edges.
func (p *cells) at(x, y float64) *cell {
	row, col := int(y/cellHeight), int(x/cellWidth)
	if i := row*p.Columns + col; y >= 0 && i < len(p.all) && x >= 0 && col < p.Columns {
		return &p.all[i]
	}
	return &cell{}
}

func (p *cells) put(class string, x, y float64, r rune) {
	to := p.at(x, y)
	to.char, to.class = r, class
}

func (p *cells) text(class string, x, y float64, s string) {
	if strings.HasSuffix(class, upwards) {
		return // it stands on top
	}
	y -= 4 // of its foot
	n := float64(len([]rune(s)))
	if strings.Contains(class, "mid") {
		x -= math.Round(n/2) * cellWidth
	} else if strings.Contains(class, "end") {
		x -= n * cellWidth
	}
	x = math.Max(math.Min(x, (float64(p.Columns)-n)*cellWidth), 0) + cellWidth/2
	for i, r := range []rune(s) {
		p.put(class, x+float64(i)*cellWidth, y, r)
	}
}

// line draws a straight line, of every other dot for what is not the main thing.
func (p *cells) line(class string, x1, y1, x2, y2 float64) {
	if class == "grid" {
		return
	}
	const across, down = cellWidth / dotsWide, cellHeight / dotsHigh
	n := max(math.Abs(x2-x1)/across, math.Abs(y2-y1)/down, 1)
	step := 1.0
	if class == "band" || class == "diagonal" {
		step = 2
	}
	for k := 0.0; k <= n; k += step {
		i, j := int((x1+(x2-x1)*k/n)/across), int((y1+(y2-y1)*k/n)/down)
		if i >= 0 && j >= 0 {
			to := p.at(float64(i)*across, float64(j)*down)
			to.dots |= [dotsHigh][dotsWide]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}[j%dotsHigh][i%dotsWide]
			if to.char == 0 && to.class != "bestline" {
				to.class = class
			}
		}
	}
}

func (p *cells) path(class string, places [][2]float64, _ ...float64) {
	if class == "d failed" { // a cross, which is a character
		p.dot(class, (places[0][0]+places[1][0])/2, (places[0][1]+places[1][1])/2, 0)
		return
	}
	for i := range places[:max(len(places)-1, 0)] {
		if a, b := places[i], places[i+1]; !math.IsNaN(a[0] + a[1] + b[0] + b[1]) {
			p.line(class, a[0], a[1], b[0], b[1])
		}
	}
}

func (p *cells) link(_ string, draw func()) { draw() }

func (p *cells) rect(class string, x, y, w, h float64) {
	r := '█'
	if strings.Contains(class, "pale") || strings.Contains(class, "waiting") {
		r = '░'
	} else if class == "ruled" {
		r = '▒'
	}
	for row := math.Floor((y + h/2) / cellHeight); row*cellHeight < math.Max(y+h-cellHeight/2, y+h/2); row++ {
		for at := x; at < x+math.Max(w, 0.1); at += cellWidth {
			p.put(class, at, row*cellHeight, r)
		}
	}
}

// dot is the character of a trial: the best ones stay on top.
func (p *cells) dot(class string, x, y, _ float64) {
	if p.at(x, y).class == "d best" {
		return
	}
	r, known := map[string]rune{"d best": '●', "d": 'o', "d spread": '·', "d failed": 'x', "d infeasible": '!'}[class]
	if !known {
		r = '-'
	}
	p.put(class, x, y, r)
}

// heat shades what lies between the axes by the model's mean: dark is good.
func (p *cells) heat(a axis, m Map, left, top, w, h float64) {
	for y := top + 1; y < top+h; y += cellHeight / 2 {
		for x := left + 1; x < left+w; x += cellWidth / 2 {
			at := func(f float64) int { return min(int(f*float64(m.Size)), m.Size-1) }
			k := at((top+h-y)/h)*m.Size + at((x-left)/w)
			r := []rune(" ░▒▓█")[int(math.Min(a.turned(a.at(m.Mean[k]))*5, 4))]
			if m.Ruled[k] {
				r = '/'
			}
			p.put("heat", x, y, r)
		}
	}
}

// ascii stands for characters where there are only those of ASCII.
var ascii = map[rune]rune{'●': '@', '·': '.', '█': '#', '▓': '*', '▒': '+', '░': '-', '─': '-', '│': '|', '…': '~'}

func (p *cells) String() string {
	var b strings.Builder
	for row := range slices.Chunk(p.all, p.Columns) {
		line := ""
		for _, c := range row {
			r, dots := c.char, c.dots
			switch {
			case r == 0 && dots == 0:
				r = ' '
			case r == 0 && p.Plain: // in the upper half, the lower one, or both
				r = map[[2]bool]rune{{true, false}: '\'', {false, true}: '.', {true, true}: ':'}[[2]bool{dots&0x1b != 0, dots&0xe4 != 0}]
			case r == 0:
				r = 0x2800 + dots
			case p.Plain && ascii[r] != 0:
				r = ascii[r]
			case p.Plain && r > '~':
				r = '?'
			}
			text := string(r)
			if colour := p.colour(c.class); p.Colours && colour != "" && r != ' ' {
				text = "\x1b[" + colour + "m" + text + "\x1b[0m"
			}
			line += text
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func (p *cells) colour(class string) string {
	for _, c := range [][2]string{{"best", "32"}, {"failed", "31"}, {"infeasible", "33"}, {"orange", "33"}, {"ruled", "33"}, {"tick", "2"}, {"label", "2"}, {"band", "36"}, {"mean", "36"}} {
		if strings.Contains(class, c[0]) {
			return c[1]
		}
	}
	return ""
}

// Text draws a plot in characters; contour is another name of map.
func (s *Study) Text(name string, c Cells) (string, error) {
	if name == "contour" {
		name = "map"
	}
	drawn := *s
	drawn.cells = &c
	pictures, err := drawn.draw(name)
	return strings.Join(pictures, "\n"), err
}

// Texts are the names of the plots that Text draws.
func Texts() []string {
	return append(slices.DeleteFunc(Plots(), func(name string) bool { return name == "map" }), "contour")
}
