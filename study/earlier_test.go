package study_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// beginWith is the config of a study in a new directory that begins with a source there.
func beginWith(t *testing.T, w study.WarmStart, files map[string]string) study.Config {
	t.Helper()
	c := config()
	c.Dir, c.WarmStart = t.TempDir(), []study.WarmStart{w}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(c.Dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestEarlierResultsAreMapped(t *testing.T) {
	c := beginWith(t, study.WarmStart{From: "runs.csv"}, map[string]string{"runs.csv": "\ufeff" +
		"run, x ,loss,seconds\r\n" +
		"a,0.5,2.5,10\r\n" +
		"b,7,1.5,10\r\n" + // out of range
		"c,-1,,10\r\n" + // failed
		"d,0.25,nan,10\r\n" + // failed
		"i,0.125,-Inf,10\r\n" + // failed
		"e,1e-3, 3e2 ,10\r\n" +
		"f,0.75,\"1,5\",10\r\n" + // no number
		"g,1,-4,10\r\n"})
	c.Params[1].Default = spaces.Int(3)
	all, err := c.ReadEarlier(0)
	if err != nil {
		t.Fatal(err)
	}
	e := all[0]
	var got []float64
	for _, r := range e.Trials {
		v := math.NaN()
		if r.Value != nil {
			v = *r.Value
		}
		x, _ := r.Values[0].Value.Number()
		if n, _ := r.Values[1].Value.Number(); n != 3 || len(r.Values) != 2 {
			t.Errorf("a result has the values %s; want n=3, its default", r.Values)
		}
		got = append(got, x, v)
	}
	want := []float64{0.5, 2.5, -1, math.NaN(), 0.25, math.NaN(), 0.125, math.NaN(), 1e-3, 300, 1, -4}
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Fatalf("read %v, want %v", got, want)
		}
	}
	if e.Left != 2 || !strings.HasPrefix(e.Why, `line 3: parameter x: found "7"`) || !reflect.DeepEqual(e.Defaults, []string{"n"}) {
		t.Errorf("left out %d, %q, defaults %v", e.Left, e.Why, e.Defaults)
	}
	search, err := c.Search()
	if err != nil {
		t.Fatal(err)
	}
	o := (&study.State{Config: c, Search: search, Earlier: all}).Inherited()[0]
	if len(o.Points) != 6 || o.Values[0] != -2.5 || !math.IsNaN(o.Values[1]) || o.Points[5][0] != 1 {
		t.Errorf("the optimizer is told %v", o)
	}
	c.Params[0].Min = 0 // which leaves out the second
	if search, err = c.Search(); err != nil {
		t.Fatal(err)
	}
	if o := (&study.State{Config: c, Search: search, Earlier: all}).Inherited()[0]; len(o.Points) != 5 || o.Values[4] != 4 {
		t.Errorf("of a smaller range the optimizer is told %v", o)
	}
}

// A parameter that does not exist in a row leaves those after it in the row.
func TestEarlierResultsOfConditionalParameters(t *testing.T) {
	c := beginWith(t, study.WarmStart{From: "runs.csv"}, map[string]string{"runs.csv": "x,n,m,loss\n" +
		"0.5,,7,1\n" +
		"-0.5,3,8,2\n" +
		"0.25,,9,3\n"})
	c.Params[1].When = "x < 0"
	c.Params = append(c.Params, spaces.Param{Name: "m", Kind: spaces.KindInt, Min: 1, Max: 9})
	all, err := c.ReadEarlier(0)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"x=0.5 m=7", "x=-0.5 n=3 m=8", "x=0.25 m=9"} {
		if got := all[0].Trials[i].Values.String(); got != want {
			t.Errorf("row %d gives %s, want %s", i+1, got, want)
		}
	}
}

// A study is a source by its directory and by the spec that it came from. Trials that were
// excluded or stopped early are none of its results.
func TestEarlierStudyIsRead(t *testing.T) {
	golden, err := filepath.Abs("testdata/v1")
	if err != nil {
		t.Fatal(err)
	}
	c := beginWith(t, study.WarmStart{From: golden, Same: true}, nil)
	if err := os.Symlink(golden, filepath.Join(c.Dir, "old.study")); err != nil {
		t.Fatal(err)
	}
	c.WarmStart = append(c.WarmStart, study.WarmStart{From: "old.study/journal.jsonl", Same: true})
	c.WarmStart = append(c.WarmStart, study.WarmStart{From: "old.toml", Same: true})
	all, err := c.ReadEarlier(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if !e.Same || len(e.Trials) != 2 || !e.Trials[0].Values.Equal(values(0.25, 3)) || *e.Trials[0].Value != 3.0000000000000004 || e.Trials[1].Value != nil {
			t.Errorf("read %+v", e)
		}
	}
	if rest, err := c.ReadEarlier(2); err != nil || len(rest) != 1 || rest[0].From != "old.toml" {
		t.Errorf("after the first there is %v, %v", rest, err)
	}
	c.Metrics[0].Name = "accuracy"
	if _, err := c.ReadEarlier(0); err == nil || !strings.HasSuffix(err.Error(), "there is no metric accuracy among loss, size") {
		t.Errorf("a study without the metric: %v", err)
	}
}

func TestWarmStartsThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		from, text, want string
		same             bool
	}{
		"no file":       {from: "none.csv", want: "there is no such study or CSV file: open HERE/none.csv: no such file or directory"},
		"a device":      {from: "/dev/zero", want: "/dev/zero is no regular file (Dcrw-rw-rw-)"},
		"misspelt":      {from: "rusn.csv", text: "x", want: "there is no such study or CSV file: open HERE/rusn.csv: no such file or directory; did you mean runs.csv?"},
		"no study":      {from: "none.toml", want: "there is no study in HERE/none.study"},
		"ambiguous":     {text: "x,params_n,config/n,loss\n", want: "n may be params_n or config/n; give one of them another name"},
		"two readings":  {text: "x,n,config/n,loss\n0,1,2,3\n", same: true, want: "n may be n or config/n; give one of them another name"},
		"a database":    {text: "SQLite format 3\x00", want: "the database is damaged"},
		"all stopped":   {text: "x,n,loss,state\n0,1,2,PRUNED\n", same: true, want: "0 of 1 trials succeeded with values that fit; want at least 1; the first that does not fit is line 2: pruned"},
		"two studies":   {text: twoStudies, want: `it has the studies ["a" "b"]; name one of them by study`},
		"empty":         {text: "", want: "want a study's directory, or a CSV file whose first line names the columns: EOF"},
		"no parameter":  {text: "x,m,loss\n0,1,2\n", want: "there is no parameter n among x, m, loss; if there was none, write default = ... into [params.n], the value that it had"},
		"no objective":  {text: "x,n,los\n0,1,2\n", want: "line 1: there is no column loss, the objective's, among x, n, los"},
		"two columns":   {text: "x,n,loss,loss\n", want: "line 1: there are two columns loss"},
		"a short line":  {text: "x,n,loss\n0,1,2\n0,1\n", want: "record on line 3: wrong number of fields"},
		"none fits":     {text: "x,n,loss\n5,1,2\n6,1,2\n", same: true, want: `0 of 2 trials succeeded with values that fit; want at least 1; the first that does not fit is line 2: parameter x: found "5"; want a number from -1 to 1`},
		"too few":       {text: "x,n,loss\n0,1,2\n1,1,2\n1,2,\n", want: "2 of 3 trials succeeded; want at least 3"},
		"nothing there": {text: "x,n,loss\n", same: true, want: "0 of 0 trials succeeded; want at least 1"},
		"a directory":   {from: ".", want: "there is no study in HERE"},
		"no number":     {text: "x,n,loss\nlow,1,2\n", same: true, want: `0 of 1 trials succeeded with values that fit; want at least 1; the first that does not fit is line 2: parameter x: found "low"; want a number from -1 to 1`},
		"a long line":   {text: "x,n,loss\n0,1," + strings.Repeat("2", 1<<20) + "\n", want: "line 2 has more than 1 MB"},
		"no line end":   {text: strings.Repeat("x", 1<<20+1), want: "line 1 has more than 1 MB"},
		"far too many":  {text: "x,n,loss\n" + strings.Repeat("0,1,2\n", 100_001), want: "there are more than 100000 lines; the most is 5000 trials that fit"},
		"too many":      {text: "x,n,loss\n" + strings.Repeat("0,1,2\n", 5001), want: "there are 5001 trials; the most is 5000"},
	} {
		t.Run(name, func(t *testing.T) {
			w := study.WarmStart{From: "runs.csv", Same: c.same}
			if c.from != "" {
				w.From = c.from
			}
			cfg := beginWith(t, w, map[string]string{"runs.csv": c.text})
			_, err := cfg.ReadEarlier(0)
			var wrong *study.SpecError
			if !errors.As(err, &wrong) || strings.ReplaceAll(err.Error(), cfg.Dir, "HERE") != "warm_start: element 1: "+w.From+": "+c.want {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

// As many results as may be are read, and no directory is offered in its own place.
func TestBoundsOfWarmStarts(t *testing.T) {
	c := beginWith(t, study.WarmStart{From: "runs.csv"}, map[string]string{"runs.csv": "x,n,loss\n" + strings.Repeat("0,1,2\n", 5000)})
	if all, err := c.ReadEarlier(0); err != nil || len(all[0].Trials) != 5000 {
		t.Errorf("5000 results: %v", err)
	}
	c = beginWith(t, study.WarmStart{From: "empty"}, nil)
	if err := os.Mkdir(filepath.Join(c.Dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadEarlier(0); err == nil || strings.Contains(err.Error(), "did you mean") {
		t.Errorf("a directory without a study: %v", err)
	}
}

// earlierStudy begins a study with one of which the records after the first are these.
func earlierStudy(t *testing.T, was study.Config, events ...study.Event) study.Config {
	t.Helper()
	c := beginWith(t, study.WarmStart{From: "old", Same: true}, nil)
	if err := os.Mkdir(filepath.Join(c.Dir, "old"), 0o700); err != nil {
		t.Fatal(err)
	}
	rs := records(append([]study.Event{study.Created{ID: "id", Fingerprint: "f", Config: was}}, events...))
	j, err := journal.Create(layout.Of(filepath.Join(c.Dir, "old")).Journal(), rs[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rs[1:] {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return c
}

// A failed trial has no value, though it may have reported one.
func TestEarlierFailureThatReported(t *testing.T) {
	one := study.Metrics{"loss": 1}
	c := earlierStudy(t, config(),
		study.Proposed{Trial: 1, Pending: []int{}, Values: values(0, 1)},
		study.Proposed{Trial: 2, Pending: []int{1}, Values: values(0.5, 1)},
		study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Failed, Metrics: one, Failure: &study.Failure{Kind: study.FailExit}},
		study.Finished{Trial: 2, Attempt: 1, Status: optimizer.Succeeded, Metrics: one})
	all, err := c.ReadEarlier(0)
	if err != nil || len(all[0].Trials) != 2 || all[0].Trials[0].Value != nil || *all[0].Trials[1].Value != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

// A trial outside of the earlier study's ranges, which were narrowed after it, is no failure.
func TestEarlierStudyOfNarrowedRanges(t *testing.T) {
	narrow := config()
	narrow.Params[0].Max = 0.25
	c := earlierStudy(t, config(),
		study.Proposed{Trial: 1, Pending: []int{}, Values: values(0.5, 1)},
		study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 1}},
		study.ConfigChanged{Fingerprint: "g", Config: narrow})
	all, err := c.ReadEarlier(0)
	if err != nil || len(all[0].Trials) != 1 || all[0].Trials[0].Value == nil || *all[0].Trials[0].Value != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

// An empty choice is a value, and not one that is missing.
func TestEarlierEmptyChoice(t *testing.T) {
	fast := spaces.Param{Name: "fast", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String(""), spaces.String("--fast")}, Default: spaces.String("--fast")}
	was := config()
	was.Params = append(was.Params, fast)
	empty := append(values(0.5, 1), spaces.Assignment{Name: "fast", Value: spaces.String("")})
	c := earlierStudy(t, was,
		study.Proposed{Trial: 1, Pending: []int{}, Values: empty},
		study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 1}})
	c.Params = was.Params
	all, err := c.ReadEarlier(0)
	if err != nil || len(all[0].Trials) != 1 || !all[0].Trials[0].Values.Equal(empty) {
		t.Errorf("%+v, %v", all, err)
	}
	c.Params[2].Choices[0] = spaces.String("--slow")
	if _, err = c.ReadEarlier(0); err == nil || !strings.Contains(err.Error(), `parameter fast: found ""`) {
		t.Errorf("a choice that is gone: %v", err)
	}
}

const twoStudies = `{"op_code":0,"study_name":"a","directions":[1]}
{"op_code":0,"study_name":"b","directions":[2]}
{"op_code":0,"study_name":"c","directions":[1,2]}
{"op_code":1,"study_id":2}
`

// Tables of other tools and journals of Optuna are read as they are.
func TestEarlierResultsOfOtherTools(t *testing.T) {
	trial := func(study int, values, params, state string) string {
		return fmt.Sprintf(`{"op_code":4,"study_id":%d,"state":%s,%s,"params":{%s},"distributions":{"x":"{\"name\":\"FloatDistribution\",\"attributes\":{}}","n":"{\"name\":\"IntDistribution\",\"attributes\":{}}","drop":"{\"name\":\"FloatDistribution\",\"attributes\":{}}"}}`+"\n",
			study, state, values, params)
	}
	journal := twoStudies +
		trial(1, `"value":7`, `"x":0.5,"n":2.0`, "1") +
		trial(0, `"value":2.5`, `"x":0.5,"n":2.0`, "1") +
		trial(0, `"value":NaN`, `"x":0.25,"n":9.0,"drop":1`, "3") +
		trial(0, `"value":9`, `"x":0.25,"n":9.0`, "2") +
		trial(0, `"values":null`, `"x":0.75`, "0")
	named := strings.Replace(journal, `"op_code":1,`, `"op_code":3,"system_attr":{"study:metric_names":["size"]},`, 1)
	named = strings.Replace(named, `"study_id":2`, `"study_id":0`, 1)
	one := `{"op_code":0,"study_name":"a","directions":[1]}` + "\n" +
		trial(0, `"value":2.5`, `"x":0.5,"n":2.0`, "1") +
		trial(0, `"value":1`, `"x":0.25,"n":9.0`, `1,"user_attrs":{"lbotune:status":"excluded"}`) +
		trial(0, `"value":2`, `"x":0.25,"n":9.0`, `1,"user_attrs":{"lbotune:status":"out of range"}`) +
		trial(0, `"value":NaN`, `"x":0.25,"n":9.0,"drop":1`, "3")
	metrics := `{"op_code":3,"study_id":0,"system_attr":{"study:metric_names":["size","loss"]}}` + "\n"
	two := `{"op_code":0,"study_name":"a","directions":[1,1]}` + "\n" + metrics +
		trial(0, `"values":[1,2.5]`, `"x":0.5,"n":2.0`, "1") +
		trial(0, `"values":[1]`, `"x":0.25,"n":9.0`, "1") +
		trial(0, `"value":NaN`, `"x":0.25,"n":9.0,"drop":1`, "3")
	for name, c := range map[string]struct {
		text, study string
		columns     map[string]string
		left        int
		why         string
		fails       string
	}{
		"Ray Tune":      {text: "val,config/x,config/train_loop_config/n,loss,trial_id,status\n1,.5,2,2.5,a,TERMINATED\n1,.25,9,,b,TERMINATED\n1,.25,9,3,c,PAUSED\n", columns: map[string]string{"x": "config/x", "n": "config/train_loop_config/n"}, left: 1, why: "line 4: paused"},
		"MLflow":        {text: "run_id,status,params.x,params.n,metrics.loss\na,FINISHED,0.5,2,2.5\nb,FAILED,0.25,9,3\nc,RUNNING,0.25,9,3\n", columns: map[string]string{"x": "params.x", "n": "params.n", "loss": "metrics.loss"}, left: 1, why: "line 4: running"},
		"MLflow's page": {text: "Start Time,Run ID,Status,X,n,loss\nt,a,FINISHED,0.5,2,2.5\nt,b,FAILED,0.25,9,3\nt,c,RUNNING,0.25,9,3\nt,d,SCHEDULED,0.25,9,\n", columns: map[string]string{"x": "X"}, left: 2, why: "line 4: running"},
		"Ax":            {text: "trial_index,trial_status,x,N,params_n,loss\n0,COMPLETED,0.5,7,2,2.5\n1,FAILED,0.25,7,9,\n2,EARLY_STOPPED,0.25,7,9,0.1\n3,STALE,0.25,7,9,0.1\n4,DISPATCHED,0.25,7,9,0.1\n", columns: map[string]string{"n": "params_n"}, left: 3, why: "line 4: early_stopped"},
		"Katib":         {text: "trialName,Status,loss,x,n\na,Succeeded,2.5,0.5,2\nb,Failed,1,0.25,9\nc,EarlyStopped,1,0.25,9\n", left: 1, why: "line 4: earlystopped"},
		"NNI":           {text: "trialJobId,status,loss,x,n\na,SUCCEEDED,2.5,0.5,2\nb,FAILED,1,0.25,9\nc,USER_CANCELED,1,0.25,9\nd,SYS_CANCELED,1,0.25,9\n", left: 2, why: "line 4: user_canceled"},
		"Optuna's enum": {text: "x,n,loss,state\n0.5,2,2.5,TrialState.COMPLETE\n0.25,9,1,TrialState.FAIL\n0.25,9,1,TrialState.PRUNED\n", left: 1, why: "line 4: pruned"},
		"Optuna's CSV":  {text: "number,value,params_n,params_x,state\n0,2.5,2.0,0.5,COMPLETE\n1,,9.0,0.25,FAIL\n2,0.1,9.0,0.25,PRUNED\n", columns: map[string]string{"x": "params_x", "n": "params_n", "loss": "value"}, left: 1, why: "line 4: pruned"},
		"W&B":           {text: "Name,State,x,config.n,loss\nr,finished,0.5,2,2.5\nr,crashed,0.25,9,1\nr,preempted,0.25,9,1\nr,preempting,0.25,9,1\n", columns: map[string]string{"n": "config.n"}, left: 2, why: "line 4: preempted"},
		"Orion":         {text: "id,status,completed,objective,/x,/n\na,completed,t,2.5,0.5,2\nb,broken,,,0.25,9\n", columns: map[string]string{"x": "/x", "n": "/n", "loss": "objective"}},
		"lbotune":       {text: "trial,status,loss,x,n\n1,best,2.5,0.5,2\n2,failed,,0.25,9\n3,pruned,1,0.25,9\n", left: 1, why: "line 4: pruned"},
		"Optuna":        {text: journal, study: "a", left: 2, why: "trial 2: stopped early"},
		"Optuna's only": {text: one, left: 2, why: "trial 1: excluded"},
		"a named one":   {text: strings.Replace(one, "\n", "\n"+strings.Replace(metrics, `"size",`, "", 1), 1), left: 2, why: "trial 1: excluded"},
		"Optuna's two":  {text: two, left: 1, why: "trial 1: not finished"},
		"not that one":  {text: one, study: "b", fails: `it has the studies ["a"]; name one of them by study`},
		"a name more":   {text: strings.Replace(one, "\n", "\n"+metrics, 1), fails: "there is no metric loss among size, loss"},
		"no study":      {text: journal, study: "c", fails: `it has the studies ["a" "b"]; name one of them by study`},
		"direction":     {text: journal, study: "b", fails: "its objective has the other direction: this study is to minimize loss"},
		"no metric":     {text: named, study: "a", fails: "there is no metric loss among size"},
		"no journal":    {text: "x,n,loss\n0,1,2\n", study: "a", fails: `study = "a" is for a journal or database of Optuna, which this is not`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := beginWith(t, study.WarmStart{From: "source", Same: true, Study: c.study}, map[string]string{"source": c.text})
			all, err := cfg.ReadEarlier(0)
			if c.fails != "" {
				if err == nil || !strings.HasSuffix(err.Error(), c.fails) {
					t.Errorf("%v\nwant %s", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			e := all[0]
			if len(e.Trials) != 2 || !e.Trials[0].Values.Equal(values(0.5, 2)) || *e.Trials[0].Value != 2.5 || !e.Trials[1].Values.Equal(values(0.25, 9)) || e.Trials[1].Value != nil {
				t.Errorf("read %+v", e.Trials)
			}
			if !maps.Equal(e.Columns, c.columns) || e.Left != c.left || e.Why != c.why || (len(e.Ignored) > 0) != strings.Contains(c.text, `"drop":1`) {
				t.Errorf("columns %v, left %d, %q, ignored %q", e.Columns, e.Left, e.Why, e.Ignored)
			}
		})
	}
}

// What was read stays when the space changes: new parameters have their defaults, and what
// lies outside the new ranges counts no more.
func TestEarlierResultsFollowTheSpace(t *testing.T) {
	v := 2.0
	st := &study.State{}
	c := config()
	wider := c
	wider.Params = append(wider.Params[:2:2], spaces.Param{Name: "b", Kind: spaces.KindBool, Default: spaces.Bool(true)})
	wider.Params[0].Max = 0.7
	events := []study.Event{
		study.Created{ID: "1", Config: config()},
		study.Earlier{From: "a", Same: true, Trials: []study.EarlierResult{{Values: values(0.5, 2), Value: &v}, {Values: values(0.9, 2), Value: &v}}},
		study.Earlier{From: "b", Trials: []study.EarlierResult{{Values: values(0.5, 2), Value: &v}, {Values: values(0.6, 2)}, {Values: values(0.7, 2), Value: &v}, {Values: values(0.9, 2), Value: &v}}},
	}
	for _, e := range events {
		apply(t, st, e)
	}
	if got := st.Inherited(); len(got) != 2 || len(got[0].Points) != 2 || len(got[1].Points) != 4 {
		t.Fatalf("inherited %v", got)
	}
	if err := st.Apply(study.Record{Event: study.ConfigChanged{Config: wider}}); err != nil {
		t.Fatal(err)
	}
	want, err := st.Search.Encode(append(values(0.5, 2), spaces.Assignment{Name: "b", Value: spaces.Bool(true)}))
	if err != nil {
		t.Fatal(err)
	}
	again := &study.State{} // of the same records
	for _, e := range append(events, study.ConfigChanged{Config: wider}) {
		apply(t, again, e)
	}
	for _, st := range []*study.State{st, again} {
		// Of a related one too little is left for a model.
		if got := st.Inherited(); !reflect.DeepEqual(got, []optimizer.Earlier{{Same: true, Points: []spaces.Point{want}, Values: []float64{-2}}, {Same: true}}) {
			t.Errorf("inherited %v", got)
		}
		if _, err := optimizer.New(st.Search.Space, 1, st.Search.Settings, st.Inherited()...); err != nil {
			t.Error(err)
		}
	}
	other := wider
	other.WarmStart = []study.WarmStart{{From: "b.csv"}}
	var refused *study.ConfigError
	if _, err := st.Reconfigured(other); !errors.As(err, &refused) || !strings.Contains(err.Error(), "warm_start: was none, is ") {
		t.Errorf("another warm start of a study that has begun: %v", err)
	}
}
