package optuna

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/lbotune/lbotune/journal"
)

// IsDatabase reports whether a file's text is an SQLite database, in which Optuna's RDBStorage
// keeps studies.
func IsDatabase(text []byte) bool { return bytes.HasPrefix(text, []byte(magic)) }

// The names that Optuna's tables have for states and directions.
var (
	stateNames     = []string{"RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING"}
	directionNames = []string{"NOT_SET", "MINIMIZE", "MAXIMIZE"}
)

// ReadDatabase returns the studies of a database, in the schema of Optuna 3 and 4.
func ReadDatabase(text []byte) ([]*Study, error) {
	db, err := openDatabase(text)
	if err != nil {
		return nil, err
	}
	var all []*Study
	studies, trials, owners := map[int64]*Study{}, map[int64]*Trial{}, map[int64]*Study{}
	numbers := map[*Trial]int64{}
	for _, table := range []struct {
		name string
		read func(row row) error
	}{
		{"studies", func(r row) error {
			s := &Study{Name: r.text("study_name")}
			all, studies[r.int("study_id")] = append(all, s), s
			return nil
		}},
		{"study_directions", func(r row) error {
			if s := studies[r.int("study_id")]; s != nil { // in the order of the objectives
				s.Directions = append(s.Directions, slices.Index(directionNames, r.text("direction")))
			}
			return nil
		}},
		{"study_system_attributes", func(r row) error {
			if s := studies[r.int("study_id")]; s != nil && r.text("key") == metricNames {
				return unmarshal([]byte(r.text("value_json")), &s.Metrics)
			}
			return nil
		}},
		{"trials", func(r row) error {
			t, s := &Trial{User: map[string]any{}, State: State(slices.Index(stateNames, r.text("state")))}, studies[r.int("study_id")]
			if s == nil || t.State < 0 {
				return fmt.Errorf("trial %d has study %d and state %q", r.int("number"), r.int("study_id"), r.text("state"))
			}
			id := r.int("trial_id")
			trials[id], owners[id], numbers[t] = t, s, r.int("number")
			s.Trials = append(s.Trials, t)
			return nil
		}},
		{"trial_params", func(r row) error {
			id := r.int("trial_id")
			if trials[id] == nil {
				return nil
			}
			return trials[id].set(owners[id], r.text("param_name"), r.text("distribution_json"), r.float("param_value"))
		}},
		{"trial_values", func(r row) error {
			t, at := trials[r.int("trial_id")], r.int("objective")
			if t == nil || at < 0 || at >= int64(len(owners[r.int("trial_id")].Directions)) {
				return nil
			}
			value := r.float("value")
			switch r.text("value_type") {
			case "INF_POS":
				value = math.Inf(1)
			case "INF_NEG":
				value = math.Inf(-1)
			}
			for int64(len(t.Values)) <= at {
				t.Values = append(t.Values, journal.Float(math.NaN()))
			}
			t.Values[at] = journal.Float(value)
			return nil
		}},
		{"trial_user_attributes", func(r row) error {
			var v any
			if t := trials[r.int("trial_id")]; t != nil && json.Unmarshal([]byte(r.text("value_json")), &v) == nil {
				t.User[r.text("key")] = v
			}
			return nil
		}},
	} {
		if err := db.read(table.name, table.read); err != nil {
			return nil, fmt.Errorf("table %s: %w", table.name, err)
		}
	}
	for _, s := range all {
		slices.SortStableFunc(s.Trials, func(a, b *Trial) int { return cmp.Compare(numbers[a], numbers[b]) })
	}
	return all, nil
}
