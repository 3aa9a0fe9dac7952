// Robot-push simulates a robot's hand that pushes a round object over a table
// and prints how far from a goal the object comes to rest. With draw it writes
// a picture of the push instead. It knows nothing of lbotune.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/lbotune/lbotune/examples/robot-push/push"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "robot-push:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	drawing := len(args) > 0 && args[0] == "draw"
	if drawing {
		args = args[1:]
	}
	flags := flag.NewFlagSet("robot-push", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: robot-push [draw] [flags]")
		flags.PrintDefaults()
	}
	mode := flags.Int("mode", 3, "3: the hand faces the object; 4: it is turned by --theta")
	rx := flags.Float64("rx", -3, "start of the hand")
	ry := flags.Float64("ry", 0, "start of the hand")
	t := flags.Float64("t", 20, "how long it pushes, in tenths of a second")
	theta := flags.Float64("theta", 0, "orientation of the hand in mode 4, rad")
	gx := flags.Float64("gx", 4, "goal")
	gy := flags.Float64("gy", 3, "goal")
	noise := flags.Uint64("noise-seed", 0, "add the controller's noise, drawn with this `seed` (default: no noise)")
	var out string
	if drawing {
		flags.StringVar(&out, "o", "push.svg", "SVG `file` to write")
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	for name, v := range map[string]float64{"rx": *rx, "ry": *ry, "t": *t, "theta": *theta, "gx": *gx, "gy": *gy} {
		if math.IsNaN(v) || math.Abs(v) > 1e3 {
			return fmt.Errorf("--%s=%v: give a number within ±1000", name, v)
		}
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var p push.Push
	switch {
	case *mode == 3 && given["theta"]:
		return errors.New("--theta needs --mode=4")
	case *mode == 3:
		p = push.Straight(*rx, *ry, *t)
	case *mode == 4:
		p = push.Turned(*rx, *ry, *t, *theta)
	default:
		return fmt.Errorf("--mode=%d: there are 3 and 4", *mode)
	}
	if given["noise-seed"] {
		p = p.Shaken(*noise)
	}
	goal := push.Vector{X: *gx, Y: *gy}
	if drawing {
		return draw(out, p, goal)
	}
	end := p.Run()
	_, err := fmt.Fprintf(stdout, "object=(%.6f, %.6f)\ndistance=%.9g\n", end.X, end.Y, end.Distance(goal))
	return err
}

func draw(path string, p push.Push, goal push.Vector) error {
	if filepath.Ext(path) != ".svg" {
		return fmt.Errorf("-o %s: the name must end in .svg", path)
	}
	return os.WriteFile(path, picture(p, goal), 0o644)
}
