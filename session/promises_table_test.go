package session_test

import "fmt"

// cells are what each promise is worth with a setting.
type cells struct{ value, once, blame, safe, early, best, gap, interval, replay, secret, left string }

// What a cell says: that the promise is held, and TestPromises simulates it; that a test shows it
// (test: FILE NAME); that lbotune check refuses the setting beside that of the promise (refused:
// TEXT); that the promise is weaker, as a page says (weaker: PAGE: SENTENCE); that the two do not
// touch; or that they are values of one key.
const (
	sim    = "simulated"
	apart  = "apart"
	either = "either"

	unproven  = "weaker: docs/safety.md: is run again only if it is still known to be safe"
	counted   = "test: bench/suites/bands_test.go TestBandsHold"
	uncounted = "weaker: docs/reliability.md: beside the other settings nobody has counted"
)

// simulated are the cells of a setting that the simulation switches on: it shows all that is not
// said otherwise, but for intervals.
func simulated(c cells) cells {
	for _, cell := range []*string{&c.value, &c.once, &c.blame, &c.safe, &c.early, &c.best, &c.gap, &c.replay, &c.secret, &c.left} {
		if *cell == "" {
			*cell = sim
		}
	}
	return c
}

// settings are all that can be switched on.
var settings = []setting{
	{name: "float", keys: []string{"params.type", "params.min", "params.max"},
		draw:  parameter("f", "type", `"float"`, "min", "-2", "max", "3"),
		cells: simulated(cells{interval: "test: optimizer/bands_test.go TestBandsHold"})},
	{name: "int", draw: parameter("i", "type", `"int"`, "min", "0", "max", "20"),
		cells: simulated(cells{interval: counted})},
	{name: "ordered", keys: []string{"params.values"}, draw: parameter("size", "type", `"ordered"`, "values", "[1, 2, 4, 8]"),
		cells: simulated(cells{interval: uncounted})},
	{name: "choice", keys: []string{"params.choices"}, draw: parameter("kind", "type", `"choice"`, "choices", `["a", "b", "c"]`),
		cells: simulated(cells{interval: counted})},
	{name: "words", keys: []string{"params.words"}, draw: func(s *simSheet) {
		s.param("norm", "type", `"bool"`, "words", `{ true = "--on", false = "--off" }`)
	},
		cells: simulated(cells{value: "test: internal/command/command_test.go TestRenderWords", interval: uncounted})},
	{name: "bool", draw: parameter("norm", "type", `"bool"`),
		cells: simulated(cells{interval: counted})},
	{name: "log, logit", keys: []string{"params.scale"}, draw: func(s *simSheet) {
		if s.chance(50) {
			s.param("rate", "type", `"float"`, "min", "1e-4", "max", "1", "scale", `"log"`)
		} else {
			s.param("share", "type", `"float"`, "min", "0.1", "max", "0.9", "scale", `"logit"`)
		}
	},
		cells: simulated(cells{interval: counted})},
	{name: "step", keys: []string{"params.step"}, draw: func(s *simSheet) {
		if s.chance(50) {
			s.set("params.x", "step", "0.25")
		} else {
			s.param("grain", "type", `"float"`, "min", "0", "max", "1", "step", "0.125")
		}
	},
		cells: simulated(cells{interval: uncounted})},
	{name: "conditions", keys: []string{"params.when", "params.inactive"}, draw: func(s *simSheet) {
		s.param("extra", "type", `"float"`, "min", "0", "max", "1", "when", `"n >= 4"`)
		if s.chance(50) {
			s.param("extra", "inactive", "0")
		}
	},
		cells: simulated(cells{interval: counted})},
	{name: "relations", keys: []string{"where"}, draw: func(s *simSheet) {
		s.where = append(s.where, "x <= n / 4")
		if s.chance(60) { // what can be listed takes no time
			s.unset("params.x", "step", "0.25")
		}
	},
		cells: simulated(cells{interval: uncounted})},
	{name: "default", keys: []string{"params.default"}, draw: func(s *simSheet) { s.late = append(s.late, func() { today(s) }) },
		cells: simulated(cells{interval: apart})},
	{name: "guess", keys: []string{"params.guess", "params.sure"}, real: true, draw: func(s *simSheet) {
		s.param("x", "guess", "0.75", "sure", s.pickOf(`"hardly"`, `"very"`))
	},
		cells: simulated(cells{safe: "refused: parameter x needs a default", interval: uncounted})},

	{name: "direction", keys: []string{"*.direction"}, draw: func(s *simSheet) { s.set("objective", "direction", `"maximize"`); s.prog.maximize = true },
		cells: simulated(cells{interval: apart})},
	{name: "where a number is found", keys: []string{"*.metric", "*.regex", "*.json", "*.last_number", "*.dialect", "*.source"}, draw: func(s *simSheet) {
		if s.chance(50) {
			s.set("objective", "regex", `'loss=(\S+)'`)
		} else {
			s.set("objective", "last_number", "true")
		}
	},
		cells: simulated(cells{interval: apart})},
	{name: "result files", keys: []string{"*.file"}, draw: func(s *simSheet) {
		s.set("objective", "file", `"{trial_dir}/result.txt"`)
		s.prog.file = true
	},
		cells: simulated(cells{interval: apart})},
	{name: "step of a metric", keys: []string{"*.step"}, draw: func(s *simSheet) {
		s.prog.step = "epoch"
		s.late = append(s.late, s.stepOfAll)
	},
		cells: simulated(cells{interval: apart})},
	{name: "pick", keys: []string{"*.pick"}, draw: func(s *simSheet) {
		s.prog.pick = s.pickOf("min", "max", "first")
		s.set("objective", "pick", `"`+s.prog.pick+`"`)
	},
		cells: simulated(cells{early: "refused: reachable bounds the last reading and the best one", interval: apart})},
	{name: "measure", keys: []string{"*.measure"}, draw: on("metrics.seconds", "measure", `"seconds"`),
		cells: simulated(cells{interval: uncounted})},
	{name: "metrics", draw: func(s *simSheet) { s.set("metrics.size", "metric", `"size"`); s.prog.metrics = true },
		cells: simulated(cells{interval: apart})},
	{name: "several objectives", keys: []string{"objectives.threshold"}, draw: severalObjectives,
		cells: simulated(cells{early: "refused: method reachable is for one objective", gap: "refused: gap: is for one objective", interval: uncounted})},
	{name: "constraints", keys: []string{"constraints.min", "constraints.max"}, draw: limits,
		cells: simulated(cells{best: "test: study/limits_test.go TestBestHoldsTheLimits", interval: uncounted})},
	{name: "stop at a limit", keys: []string{"constraints.stop"}, draw: func(s *simSheet) {
		limits(s)
		s.set("constraints.memory", "stop", "true")
	},
		cells: simulated(cells{interval: uncounted})},
	{name: "failed_means", keys: []string{"run.failed_means"}, draw: func(s *simSheet) {
		limits(s)
		s.set("run", "failed_means", `"memory"`)
	},
		cells: simulated(cells{interval: apart})},
	{name: "safety", keys: []string{"safety.metric", "safety.max", "safety.min", "safety.constant", "safety.change", "safety.noise"}, real: true, draw: safe,
		cells: simulated(cells{safe: "test: optimizer/safe_test.go TestSafetyIsNeverViolated", interval: uncounted})},
	{name: "ok_exit", keys: []string{"*.ok_exit"}, draw: func(s *simSheet) { s.set("objective", "ok_exit", "[0, 3]"); s.prog.ok = 3 },
		cells: simulated(cells{interval: apart})},

	{name: "trials", keys: []string{"budget.trials"}, draw: befalls("more"),
		cells: simulated(cells{interval: apart})},
	{name: "time", keys: []string{"budget.time"}, draw: on("budget", "time", `"10s"`),
		cells: simulated(cells{interval: apart})},
	{name: "time_hard", keys: []string{"budget.time_hard"}, draw: on("budget", "time_hard", `"30s"`),
		cells: simulated(cells{interval: apart})},
	{name: "worker_time", keys: []string{"budget.worker_time"}, draw: on("budget", "worker_time", `"20s"`),
		cells: simulated(cells{interval: apart})},
	{name: "goal", keys: []string{"budget.goal", "objectives.goal"}, draw: func(s *simSheet) {
		s.late = append(s.late, func() {
			if s.tables["objectives.loss"] != nil {
				s.set("objectives.loss", "goal", "0.3")
			} else {
				s.set("budget", "goal", "0.3")
			}
		})
	},
		cells: simulated(cells{interval: apart})},
	{name: "patience of the budget", keys: []string{"budget.patience"}, draw: on("budget", "patience", "3"),
		cells: simulated(cells{interval: apart})},
	{name: "gap", keys: []string{"budget.gap", "optimizer.lipschitz_constant"}, real: true, draw: certain,
		cells: simulated(cells{gap: "test: optimizer/explain_test.go TestGapOfAStatedConstantIsACertificate", interval: apart})},
	{name: "regret", keys: []string{"budget.regret"}, real: true, draw: on("budget", "regret", `"5%"`),
		cells: simulated(cells{safe: "refused: what is left to gain is known to method lbo alone", early: "refused: what is left to gain is known to method lbo alone",
			best: "refused: what is left to gain is known to method lbo alone", interval: "test: bench/suites/regret_test.go TestRegretHolds"})},
	{name: "enqueued", keys: []string{"budget.enqueued"}, draw: func(s *simSheet) {
		s.set("budget", "enqueued", "0.5")
		s.steps("enqueue")
	},
		cells: simulated(cells{safe: "weaker: docs/safety.md: The promise does not cover values that you", interval: apart})},

	{name: "workers", keys: []string{"run.workers"}, draw: func(s *simSheet) {
		s.set("run", "workers", fmt.Sprint(2+s.rng.IntN(3)))
		if s.chance(50) {
			s.steps("workers")
		}
	},
		cells: simulated(cells{interval: uncounted})},
	{name: "slots, gpus", keys: []string{"run.slots", "run.gpus", "run.per_gpu"}, draw: on("run", "slots", `[{ env = { PORT = "1" } }, { env = { PORT = "2" } }]`),
		cells: simulated(cells{interval: apart})},
	{name: "timeout", keys: []string{"run.timeout", "run.grace"}, draw: func(s *simSheet) {
		s.set("run", "timeout", `"20s"`)
		s.plan.timeout, s.plan.bad = true, max(s.plan.bad, 10)
	},
		cells: simulated(cells{left: "test: bench/torture/tree_test.go TestTimeoutEndsTheTree", interval: uncounted})},
	{name: "retries", keys: []string{"run.retries"}, draw: func(s *simSheet) {
		s.set("run", "retries", fmt.Sprint(1+s.rng.IntN(2)))
		s.plan.bad = max(s.plan.bad, 15)
	},
		cells: simulated(cells{interval: apart})},
	{name: "failure_guard", keys: []string{"run.failure_guard"}, draw: func(s *simSheet) {
		s.set("run", "failure_guard", "2")
		s.plan.bad = max(s.plan.bad, 20)
	},
		cells: simulated(cells{interval: apart})},
	{name: "max_log", keys: []string{"run.max_log"}, draw: on("run", "max_log", `"10MB"`),
		cells: simulated(cells{value: "test: bench/torture/output_test.go TestLostReadings", interval: apart})},
	{name: "cwd, sources, isolate", keys: []string{"run.cwd", "run.sources", "run.isolate"}, draw: on("run", "cwd", `"{trial_dir}"`),
		cells: simulated(cells{value: "test: session/observe_test.go TestSources", interval: apart})},
	{name: "env", keys: []string{"run.env", "run.params_from_env"}, draw: on("run", "env", `{ A = "{x}", B = "{trial}" }`),
		cells: simulated(cells{interval: apart})},
	{name: "secret_env", keys: []string{"run.secret_env"}, draw: secret,
		cells: simulated(cells{secret: "test: bench/torture/safety_test.go TestSecretEnv", interval: apart})},
	{name: "repeats", keys: []string{"run.repeats", "run.combine"}, draw: func(s *simSheet) {
		s.set("run", "repeats", fmt.Sprint(2+s.rng.IntN(2)))
		s.set("run", "combine", s.pickOf(`"mean"`, `"median"`))
	},
		cells: simulated(cells{early: "refused: reachable compares readings of single runs", interval: uncounted})},
	{name: "confirm", keys: []string{"run.confirm"}, draw: on("run", "confirm", "2"),
		cells: simulated(cells{interval: "test: study/confirmation_test.go TestTied"})},
	{name: "keep", keys: []string{"run.keep"}, draw: func(s *simSheet) { s.set("run", "keep", s.pickOf(`"best"`, "2")) },
		cells: simulated(cells{interval: apart})},
	{name: "setup", keys: []string{"setup"}, draw: on("", "setup", `"true"`),
		cells: simulated(cells{interval: apart})},
	{name: "files", keys: []string{"files.from", "files.text", "files.to", "files.set"}, draw: func(s *simSheet) {
		s.set("files", "text", `"x={x}\n"`)
		s.set("files", "to", `"values.txt"`)
	},
		cells: simulated(cells{interval: apart})},
	{name: "hooks", keys: []string{"hooks.trial", "hooks.best", "hooks.end", "hooks.timeout"}, draw: on("hooks", "trial", "'''"+simHook+"'''"),
		cells: simulated(cells{secret: "weaker: docs/security.md: what a hook prints stands in `hooks.log` as it is", interval: apart})},
	{name: "name, command, seed", keys: []string{"name", "command", "seed"}, draw: nothing,
		cells: simulated(cells{interval: apart})},

	{name: "method", keys: []string{"optimizer.method"}, real: true, draw: func(s *simSheet) {
		m := s.pickOf("random", "sobol", "lipschitz", "grid")
		if m == "grid" {
			s.set("params.x", "step", "0.25")
		}
		s.set("optimizer", "method", `"`+m+`"`)
	},
		cells: simulated(cells{safe: "refused: is for method lbo", interval: apart})},
	{name: "the model's settings", real: true, keys: []string{"optimizer.preset", "optimizer.acquisition", "optimizer.lipschitz", "optimizer.estimator",
		"optimizer.metric", "optimizer.schedule", "optimizer.kappa", "optimizer.beta", "optimizer.thompson", "optimizer.explore_every", "optimizer.explore",
		"optimizer.local", "optimizer.design", "optimizer.design_size", "optimizer.hyperparameters", "optimizer.maximizer", "optimizer.warp"},
		draw: func(s *simSheet) {
			switch s.rng.IntN(4) {
			case 0:
				s.set("optimizer", "acquisition", s.pickOf(`"pi"`, `"ucb"`, `"ts"`))
			case 1:
				s.set("optimizer", "lipschitz", s.pickOf(`"off"`, `"reject"`, `"clip"`))
			case 2:
				s.set("optimizer", "explore_every", s.pickOf("2", "-1"))
			case 3:
				s.set("optimizer", "design", s.pickOf(`"sobol"`, `"random"`))
			}
		},
		cells: simulated(cells{interval: uncounted})},
	{name: "noise", keys: []string{"optimizer.noise"}, real: true, draw: on("optimizer", "noise", "0.1"),
		cells: simulated(cells{safe: "weaker: docs/safety.md: lbotune believes what was measured: if the metric varies by ±0.1 from run to run", early: "weaker: docs/pruning.md: the noise of a reading belongs to the slope", best: "weaker: docs/constraints.md: A limited metric that differs from run to run lets through the trial whose value was the luckiest", gap: "weaker: docs/lbo.md: Noise is no part of what is promised", interval: "test: optimizer/recommend_test.go TestRecommendedIntervalHolds"})},
	{name: "warm start, related", keys: []string{"warm_start"}, real: true, draw: warm("false"),
		cells: simulated(cells{best: "refused: cannot stand beside constraints", interval: uncounted})},
	{name: "warm start, same", real: true, draw: warm("true"),
		cells: simulated(cells{best: "refused: cannot stand beside constraints", gap: "weaker: docs/lbo.md: if they are not, nothing is certain", interval: uncounted})},

	{name: "median, percentile", keys: []string{"prune.method", "prune.percentile", "prune.warmup", "prune.min_trials"}, draw: func(s *simSheet) {
		if s.chance(50) {
			rule("median", "min_trials", "2")(s)
		} else {
			rule("percentile", "percentile", "50", "min_trials", "1", "warmup", "1")(s)
		}
	},
		cells: simulated(cells{early: either, interval: uncounted})},
	{name: "asha", keys: []string{"prune.min_resource", "prune.reduction"}, draw: rule("asha", "min_resource", "1", "reduction", "2"),
		cells: simulated(cells{early: either, interval: uncounted})},
	{name: "resource", keys: []string{"prune.resource"}, draw: rule("asha", "min_resource", "1", "reduction", "2", "resource", `"n"`),
		cells: simulated(cells{early: either, safe: "refused: cannot stand beside successive halving", gap: "refused: whose rungs count as distances", interval: uncounted})},
	{name: "patience", keys: []string{"prune.patience"}, draw: rule("patience", "patience", "2"),
		cells: simulated(cells{early: either, interval: uncounted})},
	{name: "threshold", keys: []string{"prune.threshold"}, draw: func(s *simSheet) {
		s.late = append(s.late, func() {
			if s.prog.maximize {
				rule("threshold", "threshold", "-4.5")(s)
			} else {
				rule("threshold", "threshold", "4.5")(s)
			}
		})
	},
		cells: simulated(cells{early: either, interval: uncounted})},
	{name: "reachable", keys: []string{"prune.slope", "prune.factor", "prune.max_step"}, draw: reachable,
		cells: simulated(cells{early: "test: internal/pruner/reach_test.go TestStatedSlopeIsNeverWrong", interval: uncounted})},

	{name: "slurm", keys: []string{"launcher.kind", "launcher.mode", "launcher.per_job", "launcher.partition", "launcher.account", "launcher.qos",
		"launcher.constraint", "launcher.cpus", "launcher.memory", "launcher.gpus", "launcher.gpu_type", "launcher.nodes", "launcher.time",
		"launcher.setup", "launcher.extra_args", "launcher.detach_args", "launcher.poll", "launcher.retries"},
		cells: cells{value: "test: bench/torture/slurm_shows_test.go TestSlurmSameOutcome", once: "test: bench/torture/slurm_test.go TestSlurmStorm", blame: "test: runner/slurm/cluster_test.go TestFaults",
			safe: apart, early: apart, best: apart, gap: apart, interval: apart, replay: "test: bench/torture/slurm_test.go TestSlurmStorm",
			secret: "weaker: docs/security.md: no test looks for secrets in what Slurm keeps", left: "test: runner/slurm/verdict_test.go TestDeleted"}},

	{name: "enqueue", draw: befalls("enqueue"),
		cells: simulated(cells{safe: "weaker: docs/safety.md: The promise does not cover values that you", interval: uncounted})},
	{name: "exclude", draw: befalls("exclude", "include"),
		cells: simulated(cells{blame: unproven, interval: uncounted})},
	{name: "rerun", draw: func(s *simSheet) {
		s.plan.bad = max(s.plan.bad, 15)
		s.steps("rerun")
	},
		cells: simulated(cells{interval: apart})},
	{name: "requests while it runs", draw: befalls("steer"),
		cells: simulated(cells{blame: unproven, safe: "weaker: docs/safety.md: The promise does not cover values that you", interval: uncounted})},
	{name: "note", draw: befalls("note"),
		cells: simulated(cells{interval: apart})},
	{name: "changed spec", draw: befalls("respec"),
		cells: simulated(cells{interval: apart})},
	{name: "changed ranges", draw: befalls("narrow", "widen"),
		cells: simulated(cells{blame: unproven, interval: uncounted})},
	{name: "ask and tell, drive", draw: befalls("ask", "tell", "try", "beside", "drive", "drive", "driveKill", "drivePower", "driveFault"),
		cells: simulated(cells{value: "test: session/ask_test.go TestTellMetrics", blame: apart, left: apart, interval: apart})},
	{name: "stop, resume", draw: befalls("stop1", "stop2", "stop3", "leave"),
		cells: simulated(cells{left: "test: bench/torture/tree_test.go TestLeftovers", interval: apart})},
	{name: "kill", draw: befalls("kill", "killAtOp"),
		cells: simulated(cells{left: "test: bench/torture/tree_test.go TestStrayOfAKilledLbotune", interval: apart})},
	{name: "shutdown", draw: befalls("shutdown"),
		cells: simulated(cells{interval: apart})},
	{name: "power cut", draw: befalls("power", "powerAtOp"),
		cells: simulated(cells{interval: apart})},
	{name: "full disk", draw: befalls("full", "fault"),
		cells: simulated(cells{interval: apart})},
	{name: "share", draw: func(s *simSheet) { s.plan.shares = true },
		cells: simulated(cells{once: "test: bench/torture/share_test.go TestThirtyStudies", interval: apart, left: "test: bench/torture/share_test.go TestGPUOfAKilledStudy"})},
	{name: "library",
		cells: cells{value: apart, once: apart, blame: apart, safe: "test: optimizer/safe_test.go TestSafetyIsNeverViolated", early: apart, best: "test: optimizer/chance_test.go TestBetterIsFeasibleFirst",
			gap: "test: optimizer/explain_test.go TestGapOfAStatedConstantIsACertificate", interval: "test: optimizer/bands_test.go TestBandsHold", replay: "test: optimizer/optimizer_test.go TestContract", secret: apart, left: apart}},
}
