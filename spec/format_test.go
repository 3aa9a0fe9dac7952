package spec_test

import (
	"strings"
	"testing"

	"github.com/lbotune/lbotune/spec"
)

// A parameter has a format when the program is never given the exact value.
func TestFormatOfAParameter(t *testing.T) {
	for command, want := range map[string]string{
		`"x {lr}"`:                       "",
		`"x {lr:.3g}"`:                   ".3g",
		`"x {lr} run-{lr:.1e}"`:          "",
		`"x {lr:.1e} {lr:.5g} {lr:.2g}"`: ".5g",
		`["x", "{lr:.3g}", "{lr:g}"]`:    "",
		`"x {lr:+08.3f}"`:                "+08.3f",
		`"x {lr:.3g} {params_file}"`:     "",
	} {
		src := "command = " + command + `
			[objective]
			metric = "loss"
			[params.lr]
			type = "float"
			min = 0.001
			max = 1
			[budget]
			trials = 3
		`
		cfg, err := spec.Parse("spec.toml", []byte(src), "/")
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.Params[0].Format; got != want {
			t.Errorf("%s: format %q; want %q", command, got, want)
		}
		env, err := spec.Parse("spec.toml", []byte(strings.TrimSpace(src)+"\n[run]\nenv = { LR = \"{lr}\" }\n"), "/")
		if err != nil || env.Params[0].Format != "" {
			t.Errorf("%s: with the exact value in the environment: %q, %v", command, env.Params[0].Format, err)
		}
	}
}
