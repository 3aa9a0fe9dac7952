// Package optuna reads Optuna's journals (optuna.storages.JournalStorage with a file, since
// Optuna 3.1: the operations on its storage, one JSON object a line) and SQLite databases
// (RDBStorage), and writes journals.
package optuna

import (
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/spaces"
)

// Study is one of the studies in a journal or database.
type Study struct {
	Name string
	// Directions are those of the objectives, and Metrics their names, if they have any.
	Directions []int
	Metrics    []string
	// Params are the parameters. Of those that were read only the names are known.
	Params []spaces.Param
	Trials []*Trial
}

// The directions of objectives.
const (
	Minimize = 1
	Maximize = 2
)

// Trial is one of its trials. Read fills in the first four fields, and of the attributes those
// that the trial was made with.
type Trial struct {
	State  State
	Params spaces.Values
	Values []journal.Float // of the objectives; none where there are none
	User   map[string]any  // attributes that a person sees
	System map[string]any  // and those that Optuna goes by
	// Course are values of the objective by the steps at which they were read.
	Course map[int]journal.Float
	// Start and End are zero where they are not known.
	Start, End time.Time
}

// State is how far a trial has come.
type State int

// The states, with Optuna's numbers.
const (
	Running State = iota
	Complete
	Pruned
	Failed
	Waiting
)

// What the lines do, as far as it matters here.
const (
	createStudy        = 0
	deleteStudy        = 1
	setStudySystemAttr = 3
	createTrial        = 4
	setTrialParam      = 5
	setTrialState      = 6
)

const (
	metricNames = "study:metric_names" // the attribute that holds the objectives' names
	categorical = "CategoricalDistribution"
	mark        = "\ue000" // before a word that must lose its quotes
)

// Python writes bare what JSON has no number for, and package journal as these strings.
var (
	bareRE   = pattern.Lazy(`"(?:[^"\\]|\\.)*"|-?Infinity|NaN`)
	quotedRE = pattern.Lazy(`"` + mark + `(-?Infinity|NaN)"`)
)
