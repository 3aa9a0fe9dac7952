package session_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// large writes the journal of a study with n finished trials.
func large(tb testing.TB, dir string, n int) {
	tb.Helper()
	c := config()
	c.Budget.Trials = n
	c.Optimizer.Method = "random"
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	j, err := journal.Create(layout.Study(dir).Journal(), study.Record{At: at,
		Event: study.Created{ID: "0123456789abcdef", Fingerprint: "0123456789abcdef", Config: c}})
	if err != nil {
		tb.Fatal(err)
	}
	for k := 1; k <= n; k++ {
		v := float64(k) / float64(n+1)
		at = at.Add(time.Second)
		err := j.AppendLazy(
			study.Record{At: at, Event: study.Proposed{Trial: k, Told: k - 1, Pending: []int{}, Origin: optimizer.OriginExplore,
				Values: spaces.Values{{Name: "x", Value: spaces.Float(v)}, {Name: "n", Value: spaces.Int(int64(k%9 + 1))}},
				Note:   optimizer.Note{Why: "uniform"}}},
			study.Record{At: at, Event: study.Finished{Trial: k, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": v}, Seconds: 1}})
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkLoad is what status does with a study of 100,000 trials.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	large(b, dir, 100_000)
	info, err := os.Stat(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		if st, err := study.Load(dir); err != nil || len(st.Order) != 100_000 {
			b.Fatal(err)
		}
	}
}

// BenchmarkResume is what run does before the first trial of a session.
func BenchmarkResume(b *testing.B) {
	dir := b.TempDir()
	large(b, dir, 100_000)
	for b.Loop() {
		s, err := session.Open(nil, session.Options{Dir: dir, Launcher: &fakeLauncher{}})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
