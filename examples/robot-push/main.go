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
	var s setup
	flags.IntVar(&s.mode, "mode", 3, "3: the hand faces the object; 4: it is turned by --theta")
	flags.Float64Var(&s.rx, "rx", -3, "start of the hand")
	flags.Float64Var(&s.ry, "ry", 0, "start of the hand")
	flags.Float64Var(&s.t, "t", 20, "how long it pushes, in tenths of a second")
	flags.Float64Var(&s.theta, "theta", 0, "orientation of the hand in mode 4, rad")
	flags.Float64Var(&s.gx, "gx", 4, "goal")
	flags.Float64Var(&s.gy, "gy", 3, "goal")
	flags.Uint64Var(&s.noise, "noise-seed", 0, "add the controller's noise, drawn with this `seed` (default: no noise)")
	var out string
	if drawing {
		flags.StringVar(&out, "o", "push.svg", "`file` to write: .svg for a picture, .gif for a film")
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	p, err := s.push(flags)
	if err != nil {
		return err
	}
	goal := push.Vector{X: s.gx, Y: s.gy}
	if drawing {
		return draw(out, p, goal)
	}
	end := p.Run()
	_, err = fmt.Fprintf(stdout, "object=(%.6f, %.6f)\ndistance=%.9g\n", end.X, end.Y, end.Distance(goal))
	return err
}

// setup is what the flags say.
type setup struct {
	mode                     int
	rx, ry, t, theta, gx, gy float64
	noise                    uint64
}

func (s *setup) push(flags *flag.FlagSet) (push.Push, error) {
	for name, v := range map[string]float64{"rx": s.rx, "ry": s.ry, "t": s.t, "theta": s.theta, "gx": s.gx, "gy": s.gy} {
		if math.IsNaN(v) || math.Abs(v) > 1e3 {
			return push.Push{}, fmt.Errorf("--%s=%v: give a number within ±1000", name, v)
		}
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var p push.Push
	switch s.mode {
	case 3:
		if given["theta"] {
			return p, errors.New("--theta needs --mode=4")
		}
		p = push.Straight(s.rx, s.ry, s.t)
	case 4:
		p = push.Turned(s.rx, s.ry, s.t, s.theta)
	default:
		return p, fmt.Errorf("--mode=%d: there are 3 and 4", s.mode)
	}
	if given["noise-seed"] {
		p = p.Shaken(s.noise)
	}
	return p, nil
}

func draw(path string, p push.Push, goal push.Vector) error {
	var picture []byte
	var err error
	switch ext := filepath.Ext(path); ext {
	case ".svg":
		picture = still(p, goal)
	case ".gif":
		picture, err = film(p, goal)
	default:
		return fmt.Errorf("-o %s: the name must end in .svg or .gif", path)
	}
	if err != nil {
		return fmt.Errorf("draw %s: %w", path, err)
	}
	return os.WriteFile(path, picture, 0o644)
}
