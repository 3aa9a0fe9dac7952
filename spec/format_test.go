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
		t.Run(command, func(t *testing.T) {
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
		})
	}
}

// Of a parameter with a step each value must be one that its format can write, also behind the
// first thousand.
func TestFormatOfAStep(t *testing.T) {
	for placeholder, right := range map[string]bool{"x:.3g": false, "x:.4g": true} {
		t.Run(placeholder, func(t *testing.T) {
			_, err := spec.Parse("spec.toml", []byte(`command = "x {`+placeholder+`}"
			[objective]
			metric = "loss"
			[params.x]
			type = "float"
			min = 0
			max = 2000
			step = 1
			[budget]
			trials = 3
		`), "/")
			if (err == nil) != right || err != nil && !strings.Contains(err.Error(), `{x:.3g}: the format ".3g" writes the value 1001 of the range as 1e+03`) {
				t.Errorf("%s: %v", placeholder, err)
			}
		})
	}
}
