package main

import (
	"runtime"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/lbotune/lbotune/study"
)

// durationValue is a flag that takes what a spec takes, days included.
type durationValue struct{ *study.Duration }

func (v durationValue) Set(text string) error { return v.UnmarshalText([]byte(text)) }
func (durationValue) Type() string            { return "duration" }

func durationFlag(f *pflag.FlagSet, to *study.Duration, name, usage string) {
	f.Var(durationValue{to}, name, usage)
	f.Lookup(name).DefValue = "" // without one there is no limit
}

// autoWorkers stands for as many workers as fit this machine.
const autoWorkers = -1

// workersValue is a flag that takes a number of workers, or auto.
type workersValue int

func (v *workersValue) String() string { return strconv.Itoa(int(*v)) }
func (*workersValue) Type() string     { return "workers" }

func (v *workersValue) Set(text string) error {
	if text == "auto" {
		*v = autoWorkers
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	*v = workersValue(n)
	return err
}

// of is the number for a study. Auto is one for each slot where there are slots, and else one
// for two processors, since most programs use more than one.
func (v workersValue) of(run *study.Run) int {
	switch {
	case v != autoWorkers:
		return int(v)
	case len(run.Slots) > 0 || run.GPUs != "":
		return 0 // the slots decide
	}
	return max(1, runtime.GOMAXPROCS(0)/2)
}
