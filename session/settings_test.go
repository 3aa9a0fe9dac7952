package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// setting is something that a person can switch on, a line of the table of promises.
type setting struct {
	name string   // as on the page
	keys []string // of the spec, with their tables: params.NAME.min; *.step is that of every metric
	// draw switches it on in a simulated study; nil if the simulation cannot.
	draw func(*simSheet)
	// real says that what is proposed matters, so that the optimizer is the real one.
	real  bool
	cells cells
}

// The kinds of steps that any drawn study may meet, beside those of its settings. What a
// person changes is not among them: the settings tell of that.
var drawnKinds = []string{"kill", "killAtOp", "fault", "stop1", "stop2", "stop3", "leave", "shutdown"}

// settingNamed is the setting of the name, one that draws nothing if there is none.
func settingNamed(name string) setting {
	if i := slices.IndexFunc(settings, func(s setting) bool { return s.name == name }); i >= 0 {
		return settings[i]
	}
	return setting{}
}

func nothing(*simSheet) {}

// on returns a draw that writes one key.
func on(table, key, value string) func(*simSheet) {
	return func(s *simSheet) { s.set(table, key, value) }
}

// befalls returns a draw of steps.
func befalls(kinds ...string) func(*simSheet) {
	return func(s *simSheet) { s.steps(kinds...) }
}

// parameter returns a draw of one more parameter.
func parameter(name string, pairs ...string) func(*simSheet) {
	return func(s *simSheet) { s.param(name, pairs...) }
}

// simDefaults are values of parameters that are safe.
var simDefaults = map[string]string{"x": "0.5", "n": "4", "f": "0.5", "i": "10", "size": "2", "kind": `"a"`, "norm": "false",
	"rate": "0.01", "share": "0.5", "grain": "0.5", "rounded": "0.5", "extra": "0.5"}

// today gives all parameters a default that have none.
func today(s *simSheet) {
	for _, table := range s.order {
		if len(table) > 7 && table[:7] == "params." {
			if s.tables[table]["guess"] == "" {
				s.unset(table, "default", simDefaults[table[7:]])
			}
		}
	}
}

// safe switches a safety limit on.
func safe(s *simSheet) {
	s.set("metrics.pressure", "metric", `"pressure"`)
	s.set("safety", "metric", `"pressure"`)
	s.set("safety", "max", fmt.Sprint(simPressure))
	s.set("safety", "constant", "0.6")
	s.prog.pressure = true
	s.late = append(s.late, func() { today(s) })
}

// certain switches the end by a stated Lipschitz constant on.
func certain(s *simSheet) {
	s.set("optimizer", "lipschitz_constant", "1")
	s.set("budget", "gap", "0.3")
	s.unset("budget", "trials", "14")
	s.prog.lipschitz = true
}

// reachable switches early stopping that is never wrong on.
func reachable(s *simSheet) {
	s.set("prune", "method", `"reachable"`)
	s.set("prune", "slope", "0.2")
	s.set("prune", "max_step", "4")
	s.set("prune", "min_trials", "1")
	s.prog.reach, s.prog.step = 0.2, "epoch"
	s.plan.prints = 4
	s.late = append(s.late, s.stepOfAll)
}

// limits switches a constraint on.
func limits(s *simSheet) {
	s.set("constraints.memory", "max", fmt.Sprint(simLimit))
	s.prog.memory = true
}

// severalObjectives has a second one.
func severalObjectives(s *simSheet) {
	s.table("objectives.loss")
	s.set("objectives.gain", "direction", `"maximize"`)
	s.prog.gain = true
	if s.chance(30) {
		s.set("objectives.gain", "threshold", "0.2")
	}
}

// rule returns a draw of a rule that stops trials early.
func rule(method string, pairs ...string) func(*simSheet) {
	return func(s *simSheet) {
		s.set("prune", "method", `"`+method+`"`)
		for i := 0; i+1 < len(pairs); i += 2 {
			s.set("prune", pairs[i], pairs[i+1])
		}
		s.plan.prints = 4
	}
}

// secret hands the program a secret that it prints when it fails.
func secret(s *simSheet) {
	s.set("run", "secret_env", `["`+simSecretName+`"]`)
	s.prog.secret = true
	s.plan.bad = max(s.plan.bad, 20)
}

// warm begins with the results of others.
func warm(same string) func(*simSheet) {
	return func(s *simSheet) {
		s.late = append(s.late, func() { // the table has nothing of the others
			s.set("", "warm_start", fmt.Sprintf(`[{ from = %q, same = %s }]`, s.earlierResults(), same))
			x, n := s.tables["params.x"]["default"], s.tables["params.n"]["default"]
			today(s)
			for name, was := range map[string]string{"params.x": x, "params.n": n} {
				if was == "" && s.tables["safety"] == nil {
					delete(s.tables[name], "default")
				}
			}
		})
	}
}

// simEarlier is the directory of the table that warm starts read.
var simEarlier = filepath.Join(os.TempDir(), fmt.Sprintf("lbotune-earlier-%d", os.Getpid()))
