package optuna_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study/internal/optuna"
)

// A journal that Optuna 5 wrote: a deleted study, and one with trials in all states.
func TestJournalOfOptunaIsRead(t *testing.T) {
	text, err := os.ReadFile("testdata/v5.log")
	if err != nil || !optuna.Is(text) {
		t.Fatal(err)
	}
	all, err := optuna.Read(text)
	if err != nil || len(all) != 1 || all[0].Name != "net" || !reflect.DeepEqual(all[0].Directions, []int{optuna.Maximize}) || all[0].Metrics != nil {
		t.Fatalf("read %+v, %v", all, err)
	}
	var got []string
	for _, trial := range all[0].Trials {
		line := fmt.Sprint(trial.State, " ", trial.Values)
		for _, a := range trial.Params {
			line += fmt.Sprintf(" %s=%v", a.Name, a.Value.Any())
		}
		got = append(got, line)
	}
	want := []string{
		"1 [6.001216494146415] lr=0.0012164941464151843 net.layers=6 opt=sgd aug=false width=32 momentum=0.6",
		"2 [+Inf] lr=0.0012473047378928962 net.layers=6 opt=sgd aug=true width=16 momentum=0",
		"3 [] lr=0.10086090098685985 net.layers=8 opt=None aug=true width=32",
		"1 [1.24587394935572] lr=0.2458739493557201 net.layers=1 opt=sgd aug=true width=32 momentum=0",
		"1 [8.056327642471977] lr=0.05632764247197713 net.layers=8 opt=None aug=false width=16",
		"1 [2.0002747114067954] lr=0.00027471140679557234 net.layers=2 opt=sgd aug=false width=32 momentum=0",
		"0 []",
		"4 []",
		"1 [0.1] lr=0.5 opt=None",
	}
	if !slices.Equal(got, want) {
		t.Errorf("read\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// Its last line is being written.
	torn, err := optuna.Read(text[:len(text)-20])
	if err != nil || len(torn[0].Trials) != 8 {
		t.Errorf("without its end: %v, %v", torn, err)
	}
	if _, err := optuna.Read(append([]byte("{\"op_code\": 0\n"), text...)); err == nil || !strings.HasPrefix(err.Error(), "line 1: ") {
		t.Errorf("a damaged line: %v", err)
	}
	long := slices.Concat(text, []byte(`{"op_code": 0, "study_name": "`), bytes.Repeat([]byte("x"), journal.MaxLine), []byte("\"}\n"))
	if _, err := optuna.Read(long); err == nil || !strings.HasSuffix(err.Error(), " has more than 16 MB") {
		t.Errorf("a line without bounds: %v", err)
	}
}

// Numbers that are not finite are numbers to Optuna wherever they stand.
func TestNotFiniteIsWrittenBare(t *testing.T) {
	nan, inf := journal.Float(math.NaN()), journal.Float(math.Inf(1))
	trial := &optuna.Trial{State: optuna.Pruned, Values: []journal.Float{1, inf},
		System: map[string]any{"constraints": []journal.Float{nan, -inf}}, User: map[string]any{"size": nan, "note": "NaN"}}
	s := &optuna.Study{Name: "s", Directions: []int{optuna.Minimize, optuna.Minimize}, Trials: []*optuna.Trial{trial}}
	var b bytes.Buffer
	if err := optuna.Write(&b, s, slices.Values(s.Trials)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"values":[1,Infinity]`, `"constraints":[NaN,-Infinity]`, `"size":NaN`, `"note":"NaN"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in %s", want, b.String())
		}
	}
	if read, err := optuna.Read(b.Bytes()); err != nil || !math.IsInf(float64(read[0].Trials[0].Values[1]), 1) {
		t.Errorf("read %+v, %v", read, err)
	}
}

// Of what was written everything that is read comes back.
func TestWrittenJournalIsRead(t *testing.T) {
	list := []spaces.Value{spaces.Int(16), spaces.Float(0.5), spaces.String("NaN")}
	s := &optuna.Study{Name: "a \"b\"", Directions: []int{optuna.Minimize, optuna.Maximize}, Metrics: []string{"loss", "size"}, Params: []spaces.Param{
		{Name: "lr", Kind: spaces.KindFloat, Min: 1e-5, Max: 1, Scale: spaces.Log},
		{Name: "n", Kind: spaces.KindInt, Min: -5, Max: 1 << 53},
		{Name: "flag", Kind: spaces.KindBool},
		{Name: "pick", Kind: spaces.KindChoice, Choices: list},
	}}
	for i, v := range list {
		s.Trials = append(s.Trials, &optuna.Trial{State: optuna.Complete, Values: []journal.Float{0.1, journal.Float(i)}, Params: spaces.Values{
			{Name: "flag", Value: spaces.Bool(i == 1)},
			{Name: "lr", Value: spaces.Float(0.1 + float64(i)/3)},
			{Name: "n", Value: spaces.Int(1<<53 - int64(i))},
			{Name: "pick", Value: v},
		}, Course: map[int]journal.Float{0: journal.Float(math.NaN()), 1: journal.Float(math.Inf(1)), 2: journal.Float(math.Inf(-1))}})
	}
	s.Trials = append(s.Trials, &optuna.Trial{State: optuna.Pruned}, &optuna.Trial{State: optuna.Running},
		&optuna.Trial{State: optuna.Failed, Params: spaces.Values{{Name: "lr", Value: spaces.Float(7)}}})
	var b bytes.Buffer
	if err := optuna.Write(&b, s, slices.Values(s.Trials)); err != nil {
		t.Fatal(err)
	}
	if want := `"intermediate_values":{"0":NaN,"1":Infinity,"2":-Infinity}`; !strings.Contains(b.String(), want) {
		t.Errorf("no %s in %s", want, b.String())
	}
	all, err := optuna.Read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := s
	for i := range want.Trials {
		want.Trials[i].Course, want.Trials[i].User = nil, map[string]any{}
	}
	want.Trials[5].Params = nil // outside of the range
	want.Params = nil
	for _, name := range []string{"flag", "lr", "n", "pick"} {
		want.Params = append(want.Params, spaces.Param{Name: name})
	}
	if !reflect.DeepEqual(all[0], want) {
		t.Errorf("read %+v, want %+v", all[0], want)
	}
}
