// Package optuna reads and writes Optuna's journal files: the operations on its storage, one
// JSON object a line (optuna.storages.JournalStorage with a file, since Optuna 3.1).
package optuna

import (
	"time"

	"github.com/lbotune/lbotune/spaces"
)

// Study is one of the studies in a journal.
type Study struct {
	Name string
	// Maximize says of each objective whether larger is better, and Metrics are their
	// names, if they have any.
	Maximize []bool
	Metrics  []string
	// Params are the parameters. Of those that were read only the names are known.
	Params []spaces.Param
	Trials []Trial
}

// Trial is one of its trials. Read fills in the first three fields.
type Trial struct {
	State  State
	Params spaces.Values
	Values []float64 // of the objectives; none where there are none
	// Course are values of the objective by the steps at which they were read.
	Course map[int]float64
	// Constraints are not positive where a limit is held; nil without limits.
	Constraints []float64
	// User are attributes that a person sees.
	User map[string]any
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

// String is Optuna's word for a state.
func (s State) String() string {
	words := []string{"running", "complete", "pruned", "failed", "waiting"}
	if s < 0 || int(s) >= len(words) {
		return "in an unknown state"
	}
	return words[s]
}

// operation is what a line does.
type operation int

const (
	createStudy operation = iota
	deleteStudy
	setStudyUserAttr
	setStudySystemAttr
	createTrial
	setTrialParam
	setTrialStateValues
)

// metricNames is the attribute that holds the objectives' names.
const metricNames = "study:metric_names"

const categorical = "CategoricalDistribution"
