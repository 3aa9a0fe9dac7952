package draft

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/spelling"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// Inline is a study described by command-line flags instead of a file.
type Inline struct {
	Name string
	// Params are written as NAME=FORM, where FORM is float:MIN:MAX, log:MIN:MAX (a float on a
	// log scale), int:MIN:MAX, logint:MIN:MAX, choice:A,B,... or bool.
	Params   []string
	Metric   string // name of the metric; empty: the last number printed
	Maximize bool
	Trials   int
	Time     study.Duration
	Workers  int
	Timeout  study.Duration
	Seed     uint64
	// Command is a program and its arguments with placeholders, or one string
	// with blanks for /bin/sh.
	Command []string
}

// TOML writes the study as a spec, so that flags and files go one way.
func (in Inline) TOML() ([]byte, error) {
	var params []spaces.Param
	var errs []error
	for _, text := range in.Params {
		p, err := parseParam(text)
		errs = append(errs, err)
		if slices.ContainsFunc(params, func(q spaces.Param) bool { return q.Name == p.Name }) {
			errs = append(errs, fmt.Errorf("there are two parameters %s", p.Name))
		}
		params = append(params, p)
	}
	if len(in.Command) == 0 {
		errs = append(errs, errors.New("there is no command: write it after --, as in lbotune run -p lr=log:1e-5:1 -- ./train --lr={lr}"))
	}
	if len(params) == 0 {
		errs = append(errs, errors.New("there is no parameter: add -p NAME=KIND:..., for example -p lr=log:1e-5:1"))
	}
	if in.Trials == 0 && in.Time == 0 {
		errs = append(errs, errors.New("the study would never stop: add -n N for a number of trials, or --time DURATION"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	w := &writer{}
	if in.Name != "" {
		w.line("name    = %s", quote(in.Name))
	}
	if in.Seed != 0 {
		w.line("seed    = %d", in.Seed)
	}
	env, argv := command.Assignments(in.Command)
	w.command(argv)
	w.line("\n[objective]")
	if in.Metric == "" {
		w.line("last_number = true")
	} else {
		w.line("metric      = %s", quote(in.Metric))
	}
	is, _ := directions(in.Maximize)
	w.line("direction   = %s", is)
	for _, p := range params {
		w.param(p, "")
	}
	w.line("\n[budget]")
	w.limits(6, "trials", in.Trials, "time", in.Time)
	if in.Workers > 0 || in.Timeout > 0 || len(env) > 0 {
		w.line("\n[run]")
		w.limits(7, "workers", in.Workers, "timeout", in.Timeout)
		w.env(env)
	}
	return []byte(w.b.String()), nil
}

// paramForms are the ways to write a parameter as a flag.
const paramForms = "float:MIN:MAX, log:MIN:MAX, int:MIN:MAX, logint:MIN:MAX, choice:A,B,..., bool"

// parseParam reads a parameter that is written as Inline.Params says.
func parseParam(text string) (spaces.Param, error) {
	name, form, ok := strings.Cut(text, "=")
	kind, rest, _ := strings.Cut(form, ":")
	p := spaces.Param{Name: name}
	if !ok {
		return p, fmt.Errorf("parameter %q: want NAME=FORM, where FORM is one of %s", text, paramForms)
	}
	switch kind {
	case "float", "log", "int", "logint":
		p.Kind = spaces.KindFloat
		if strings.HasSuffix(kind, "int") {
			p.Kind = spaces.KindInt
		}
		if strings.HasPrefix(kind, "log") {
			p.Scale = spaces.Log
		}
		lo, hi, ok := strings.Cut(rest, ":")
		var err1, err2 error
		p.Min, err1 = strconv.ParseFloat(lo, 64)
		p.Max, err2 = strconv.ParseFloat(hi, 64)
		if !ok || err1 != nil || err2 != nil {
			return p, fmt.Errorf("parameter %q: want %s=%s:MIN:MAX with two numbers", text, name, kind)
		}
	case "choice":
		p.Kind = spaces.KindChoice
		p.Choices = lists.Map(strings.Split(rest, ","), choiceValue)
	case "bool":
		if p.Kind = spaces.KindBool; rest != "" {
			return p, fmt.Errorf("parameter %q: found %q after bool, which takes nothing", text, rest)
		}
	default:
		near := spelling.DidYouMean(kind, []string{"float", "log", "int", "logint", "choice", "bool"})
		return p, errors.New(strings.TrimSuffix(fmt.Sprintf("parameter %q: %q is not a kind; want one of %s; %s", text, kind, paramForms, near), "; "))
	}
	return p, errors.Join(lists.Map(p.Check(), func(wrong spaces.Problem) error { return wrong })...)
}

// choiceValue keeps numbers as numbers, for programs that read {params_json}.
func choiceValue(s string) spaces.Value {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && spaces.Int(n).Text() == s {
		return spaces.Int(n)
	}
	if x, err := strconv.ParseFloat(s, 64); err == nil && spaces.Float(x).Text() == s {
		return spaces.Float(x)
	}
	return spaces.String(s)
}
