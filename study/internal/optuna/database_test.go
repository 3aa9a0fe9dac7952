package optuna_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/study/internal/optuna"
)

// database is one that Optuna 3.1 wrote: a deleted study, one of 155 trials in several pages,
// of which one has an attribute of 54 kB, and one with two objectives.
func database(t testing.TB) []byte {
	t.Helper()
	f, err := os.Open("testdata/v3.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil || !optuna.IsDatabase(text) {
		t.Fatal(err)
	}
	return text
}

func TestDatabaseOfOptunaIsRead(t *testing.T) {
	all, err := optuna.ReadDatabase(database(t))
	if err != nil || len(all) != 2 {
		t.Fatalf("%d studies, %v", len(all), err)
	}
	s, two := all[0], all[1]
	if s.Name != "net" || !reflect.DeepEqual(s.Directions, []int{optuna.Maximize}) || len(s.Trials) != 155 || len(s.Params) != 3 {
		t.Fatalf("read %q, %v, %d trials of %v", s.Name, s.Directions, len(s.Trials), s.Params)
	}
	for i, trial := range s.Trials[:150] {
		value := float64(i) + 0.5*float64(i%2)
		want := fmt.Sprint(optuna.Complete, " ", value, " lr=", 0.1/float64(i+1), " n=", 1+i%9, " opt=", []any{"sgd", "None", 2, 0.5, true}[i%5])
		got := fmt.Sprint(trial.State, " ", float64(trial.Values[0]))
		for _, a := range trial.Params {
			got += fmt.Sprintf(" %s=%v", a.Name, a.Value.Any())
		}
		if got != want {
			t.Errorf("trial %d: %s, want %s", i, got, want)
		}
	}
	if long := s.Trials[7].User["long"]; long != strings.Repeat("é", 9000) {
		t.Errorf("the long attribute has %d bytes", len(fmt.Sprint(long)))
	}
	rest := ""
	for _, trial := range s.Trials[150:] {
		rest += fmt.Sprintln(trial.State, trial.Values, len(trial.Params), trial.User)
	}
	if want := "1 [+Inf] 1 map[]\n1 [-Inf] 0 map[]\n2 [] 1 map[]\n3 [] 1 map[lbotune:status:excluded]\n4 [] 0 map[]\n"; rest != want {
		t.Errorf("then\n%swant\n%s", rest, want)
	}
	if got := fmt.Sprint(two.Name, two.Directions, two.Metrics, two.Trials[0].Values); got != "two[1 2] [loss acc] [1.5 -1.099511627776e+12]" {
		t.Errorf("the other study: %s", got)
	}
}

// What is damaged is refused or misread, but ends.
func TestDamagedDatabase(t *testing.T) {
	text, rng := database(t), rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{16, 99, 100, 5000, len(text) / 2, len(text) - 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if _, err := optuna.ReadDatabase(text[:n]); err == nil {
				t.Errorf("%d bytes of %d are a database", n, len(text))
			}
		})
	}
	for range 100 {
		bad := bytes.Clone(text)
		for range 1 + rng.IntN(20) {
			page := rng.IntN(len(text) / 4096)
			bad[page*4096+rng.IntN(4096)>>rng.IntN(10)] = byte(rng.IntN(256)) // their heads above all
		}
		_, _ = optuna.ReadDatabase(bad)
	}
}

func FuzzDatabase(f *testing.F) {
	f.Add(database(f))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = optuna.ReadDatabase(text) })
}
