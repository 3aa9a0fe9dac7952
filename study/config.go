package study

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/internal/pruner"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Config is everything that defines a study. It is written whole into the
// first record of the journal, so that a study can be resumed without its spec.
type Config struct {
	Name    string          `json:"name"`
	Command command.Command `json:"command"`
	Setup   string          `json:"setup,omitempty"`
	// Metrics are what is looked for in the output of a trial, the objective among
	// them, in the order in which they are shown.
	Metrics []Metric       `json:"metrics"`
	Params  []spaces.Param `json:"params"`
	// Where are relations between parameters, as spaces.ParseRelation reads them.
	Where     []string           `json:"where,omitempty"`
	Budget    Budget             `json:"budget"`
	Run       Run                `json:"run"`
	Optimizer optimizer.Settings `json:"optimizer"`
	Prune     *Prune             `json:"prune,omitempty"`
	Files     []command.File     `json:"files,omitempty"`
	Launcher  *Launcher          `json:"launcher,omitempty"`
	Hooks     *Hooks             `json:"hooks,omitempty"`
	// Safety is a limit that no trial may break.
	Safety *Safety `json:"safety,omitempty"`
	// WarmStart is what earlier studies have found.
	WarmStart []WarmStart `json:"warm_start,omitempty"`
	// Seed keys every random choice of the study.
	Seed uint64 `json:"seed"`
	// Dir is where setup and trials run. Empty means where the study is opened.
	Dir string `json:"dir"`
}

// UnmarshalJSON reads what was written of a config, all of it: a key that is not known here
// may change what is run, as a limit of safety does. The error wraps journal.ErrVersion.
func (c *Config) UnmarshalJSON(b []byte) error {
	type plain Config // without this method
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var read plain
	if err := dec.Decode(&read); err != nil {
		key, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
		if !unknown {
			return err
		}
		return fmt.Errorf("%w: its configuration has the key %s, which this version of lbotune does not know", journal.ErrVersion, key)
	}
	*c = Config(read)
	return nil
}

// Space is what the values of trials are taken from.
func (c *Config) Space() (*spaces.Space, error) { return c.related(c.Params) }

// related is the space of some parameters in which the relations hold.
func (c *Config) related(params []spaces.Param) (*spaces.Space, error) {
	space, err := spaces.New(params...)
	if err != nil || len(c.Where) == 0 {
		return space, err
	}
	var relations []spaces.Relation
	for _, text := range c.Where {
		r, err := spaces.ParseRelation(text, c.Params)
		if err != nil {
			return nil, err
		}
		if slices.Contains(r.Params, c.Resource()) {
			return nil, fmt.Errorf("relation %q: the training budget %s cannot be part of a relation", text, c.Resource())
		}
		relations = append(relations, r)
	}
	return space.Where(relations...)
}

// Budget says when a study is finished. Zero fields set no limit.
type Budget struct {
	Trials int      `json:"trials,omitempty"`
	Time   Duration `json:"time,omitempty"`
	// TimeHard ends what runs, too: when the study has run for so long, nothing runs any more.
	TimeHard Duration `json:"time_hard,omitempty"`
	// WorkerTime is how long the runs of the trials may take together, however many run at a time.
	WorkerTime Duration `json:"worker_time,omitempty"`
	// Goal ends the study when a trial is at least this good.
	Goal *float64 `json:"goal,omitempty"`
	// Patience ends the study after this many finished trials in a row without a better one; of
	// several objectives, of which all add less than 1 % to the hypervolume.
	Patience int `json:"patience,omitempty"`
	// Gap ends the study when the Lipschitz bound on what is left to gain, in
	// the objective's units, falls below it.
	Gap float64 `json:"gap,omitempty"`
	// Regret ends the study when by the model no more than this is left to gain, in the
	// objective's units, and RegretShare when no more than this share of what was gained is.
	Regret      float64 `json:"regret,omitempty"`
	RegretShare float64 `json:"regret_share,omitempty"`
	// Enqueued is the largest share of Trials that may be enqueued; nil is no limit.
	Enqueued *float64 `json:"enqueued,omitempty"`
}

// Limit is the time after which no more trials begin, 0 if there is none.
func (b Budget) Limit() time.Duration { return time.Duration(cmp.Or(b.Time, b.TimeHard)) }

// Run says how trials are run.
type Run struct {
	Workers int      `json:"workers"`
	Timeout Duration `json:"timeout,omitempty"`
	// Grace is the time between SIGTERM and SIGKILL, which follows at once with 0.
	Grace Duration `json:"grace"`
	// OKExit lists the exit codes of a trial that ran well; none means 0 only.
	OKExit []int `json:"ok_exit,omitempty"`
	// Retries is how often a failed trial is run again.
	Retries int `json:"retries,omitempty"`
	// MaxLog bounds each of a trial's two output files, in bytes.
	MaxLog int64 `json:"max_log,omitempty"`
	// Env is added to the environment of every trial, as NAME=value, in order.
	Env []string `json:"env,omitempty"`
	// SecretEnv names variables of lbotune's own environment that trials are handed
	// and whose values are neither written nor shown.
	SecretEnv []string `json:"secret_env,omitempty"`
	// Cwd is the working directory of a trial; placeholders are replaced.
	Cwd string `json:"cwd,omitempty"`
	// Sources is a directory copied or linked into every trial's directory.
	Sources *Sources `json:"sources,omitempty"`
	// Slots are the places in which trials run; none means Workers equal ones.
	Slots []Slot `json:"slots,omitempty"`
	// GPUs is "auto" when there is a slot for every GPU that nvidia-smi lists;
	// PerGPU trials then share each of them.
	GPUs   string `json:"gpus,omitempty"`
	PerGPU int    `json:"per_gpu,omitempty"`
	// ParamsFromEnv says that the program reads LBOTUNE_PARAM_<NAME>, so that
	// its command need not name the parameters.
	ParamsFromEnv bool `json:"params_from_env,omitempty"`
	// Repeats runs every trial this many times with different seeds.
	Repeats int `json:"repeats,omitempty"`
	// Combine is how repeats become one value: mean (default) or median.
	Combine string `json:"combine,omitempty"`
	// Confirm repeats the best few, and today's values, at the end of the study this many times.
	Confirm int `json:"confirm,omitempty"`
	// FailedMeans names a metric with a limit that a trial which crashes or runs out of
	// time must have broken.
	FailedMeans string `json:"failed_means,omitempty"`
	// Keep is how many of the best trials keep their directories; 0 means that all trials do.
	Keep int `json:"keep,omitempty"`
	// FailureGuard stops a study whose first trials all fail: this many; or, after a success, four
	// times as many in a row, for one reason and where that was not to be expected. Without a positive
	// number nothing does.
	FailureGuard int `json:"failure_guard"`
}

// SlotCount is the number of trials that run at a time. A single worker, which
// is the default, uses all GPUs that were found.
func (r Run) SlotCount() int {
	n := len(r.Slots)
	if n > 0 && (r.Workers == 0 || r.Workers > n || r.GPUs != "" && r.Workers == 1) {
		return n
	}
	return max(r.Workers, 1)
}

// Launcher says where trials run; none means as processes of this machine. What the
// settings mean is the business of that kind's own package.
type Launcher struct {
	Kind     string          `json:"kind"`
	Settings json.RawMessage `json:"settings,omitempty"`
}

// Hooks are commands that are run by /bin/sh in Config.Dir when something has happened.
// Their failure harms nothing. Empty ones are not run.
type Hooks struct {
	Trial string `json:"trial,omitempty"` // a trial has finished
	Best  string `json:"best,omitempty"`  // it is the best so far
	End   string `json:"end,omitempty"`   // the study has ended
	// Timeout is how long each may take.
	Timeout Duration `json:"timeout,omitempty"`
}

// Slot is a place that one trial has to itself while it runs.
type Slot struct {
	Env []string `json:"env,omitempty"` // NAME=value, in order
}

// Sources is a directory that every trial gets a private view of.
type Sources struct {
	From string `json:"from"`
	// Mode is copy, link, or isolate: copy what is small, link what is large or hidden, and no study.
	Mode string `json:"mode"`
}

// Prunes reports whether running attempts are stopped for their readings.
func (c *Config) Prunes() bool { return c.Prune != nil && c.Resource() == "" }

// Resource names the parameter that is the training budget, if there is one.
func (c *Config) Resource() string {
	if c.Prune == nil || c.Prune.Method != pruner.ASHA {
		return ""
	}
	return c.Prune.Resource
}

// Duration is a time.Duration written as text, such as "5m0s".
type Duration time.Duration

// spaced is a number and its unit; units are as people write them, the longer words first.
var spaced = pattern.Lazy(`^([\d.]+) +([a-z]+)$`)
var units = strings.NewReplacer("days", "d", "day", "d", "hours", "h", "hour", "h", "hrs", "h", "hr", "h",
	"minutes", "m", "minute", "m", "mins", "m", "min", "m", "seconds", "s", "second", "s", "secs", "s", "sec", "s")

// UnmarshalText reads time.Duration's notation, before which there may be days: "2d", "1d12h", "1 hour".
func (d *Duration) UnmarshalText(b []byte) error {
	days, rest, found := strings.Cut(units.Replace(spaced().ReplaceAllString(string(b), "$1$2")), "d")
	if !found {
		days, rest = "0", days
	}
	n, err := strconv.ParseUint(days, 10, 16)
	t := time.Duration(0)
	if err == nil && (rest != "" || !found) {
		t, err = time.ParseDuration(rest)
	}
	if err != nil || found && t < 0 {
		return fmt.Errorf("found %q; want a duration such as \"90s\", \"2h30m\" or \"1d\"", b)
	}
	*d = Duration(time.Duration(n)*24*time.Hour + t)
	return nil
}

// MarshalText writes the duration in time.Duration's notation.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String is time.Duration's notation.
func (d Duration) String() string { return time.Duration(d).String() }

// What a Config is made of.
type (
	// Command is the command line of a trial, with placeholders: either Shell, a text for
	// /bin/sh -c, or Argv, a list of words.
	Command = command.Command
	// File is a file that is rendered for each trial: as To in the trial's directory, the
	// template Text, or, where Set names values, a base file of JSON, YAML or TOML in which
	// they are set. From is where the text was read, if it was.
	File = command.File
	// Setting is a Value, a number or a template, at the dotted Path of such a file.
	Setting = command.Setting
	// Prune says when a running trial is stopped for its intermediate readings. Method is
	// median, percentile, asha, patience, threshold or reachable; the other fields are the
	// keys of the spec's table of that name: Percentile, Patience, Threshold, Slope, Factor,
	// MaxStep, Warmup, MinTrials, MinResource, Reduction and Resource.
	Prune = pruner.Settings
)
