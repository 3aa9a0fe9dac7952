package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

// inlineOptions are the flags of run that describe a study without a spec.
type inlineOptions struct {
	name     string
	params   []string
	metric   string
	minimize string
	maximize string
	timeout  study.Duration
	saveSpec string
}

func (o *inlineOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVarP(&o.params, "param", "p", nil,
		"vary a parameter: `NAME=KIND:...` with float:MIN:MAX, log:MIN:MAX,\nint:MIN:MAX, logint:MIN:MAX, choice:A,B,... or bool")
	f.StringVarP(&o.metric, "metric", "m", "", "minimize the metric `NAME`; without one, the last number printed")
	f.StringVar(&o.minimize, "minimize", "", "minimize the metric `NAME`")
	f.StringVar(&o.maximize, "maximize", "", "maximize the metric `NAME`")
	f.StringVar(&o.name, "name", "", "call the study `NAME` (default: the program's name)")
	durationFlag(f, &o.timeout, "timeout", "end a trial after `DURATION`")
	f.StringVar(&o.saveSpec, "save-spec", "", "also write the study to a spec `FILE`")
}

// given reports whether the command line describes a study by itself.
func (o *inlineOptions) given(cmd *cobra.Command) bool {
	of := []string{"param", "metric", "minimize", "maximize", "name", "timeout", "save-spec"}
	return cmd.ArgsLenAtDash() >= 0 || slices.ContainsFunc(of, cmd.Flags().Changed)
}

// config makes the study that the flags describe, by way of a spec, so that
// both have one meaning. It also settles where the study is kept.
func (o *inlineOptions) config(cmd *cobra.Command, run *runOptions, args []string) (*study.Config, error) {
	switch dash := cmd.ArgsLenAtDash(); {
	case dash > 0 || dash < 0 && len(args) > 0:
		return nil, hinted(usagef("found %q beside flags that describe a study", args[0]), "write the command after --, or put everything into a spec")
	case len(args) == 0:
		return nil, usagef("there is no command: write it after --, as in lbotune run -p lr=log:1e-5:1 -- ./train --lr={lr}")
	}
	unset := func(name string) bool { return !cmd.Flags().Changed(name) }
	if given := slices.DeleteFunc([]string{"metric", "minimize", "maximize"}, unset); len(given) > 1 {
		return nil, usagef("found --%s; want one of them", strings.Join(given, " and --"))
	}
	if o.name == "" {
		o.name = spec.ProgramName(args)
	}
	text, err := spec.Inline{
		Name: o.name, Params: o.params, Metric: o.metric + o.minimize + o.maximize, Maximize: o.maximize != "",
		Trials: run.trials, Time: time.Duration(run.time), Workers: max(int(run.workers), 0), Timeout: time.Duration(o.timeout), Seed: run.seed, Command: args,
	}.TOML()
	if err != nil {
		return nil, usage(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	cfg, err := spec.Parse("the study of these flags", text, dir)
	if err != nil {
		return nil, err
	}
	if run.dir == "" {
		named := filepath.Base(o.name) + ".toml"
		run.dir = study.DirFor(named)
		if saved := study.DirFor(o.saveSpec); o.saveSpec != "" && saved != run.dir {
			if begun(run.dir) && !begun(saved) {
				return nil, hinted(usagef("%s has begun, and the study of %s would begin anew", run.dir, o.saveSpec),
					"--save-spec "+named+" writes the spec of the one that has begun; --study DIR keeps a new one elsewhere")
			}
			run.dir = saved
		}
	}
	if o.saveSpec != "" {
		return &cfg, writeNew("--save-spec", o.saveSpec, text)
	}
	return &cfg, nil
}

// writeNew writes the file that a flag names, which may exist only with the same content.
func writeNew(flag, path string, text []byte) error {
	if err := outsideStudies(flag, path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		if was, err := os.ReadFile(path); err == nil && string(was) == string(text) {
			return nil
		}
		return hinted(usagef("%s exists already and says something else", path), "remove it, or choose another name")
	}
	if err != nil {
		return fmt.Errorf("write spec: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write spec %s: %w", path, err)
	}
	return nil
}
