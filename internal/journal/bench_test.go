package journal_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
)

// BenchmarkAppend is the price of a batch of records on disk; that of one fsync
// alone is BenchmarkSync.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 2, 10} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			j, err := journal.Create(newPath(b), header{"s1", 1})
			check(b, err)
			batch := make([]any, n)
			for i := range batch {
				batch[i] = sample("s1", i)
			}
			for b.Loop() {
				err := j.Append(batch...)
				check(b, err)
			}
			check(b, j.Close())
		})
	}
}

func BenchmarkAppendLazy(b *testing.B) {
	j, err := journal.Create(newPath(b), header{"s1", 1})
	check(b, err)
	record := sample("s1", 2)
	for b.Loop() {
		err := j.AppendLazy(record)
		check(b, err)
	}
	check(b, j.Close())
}

func BenchmarkSync(b *testing.B) {
	f, err := os.Create(newPath(b))
	check(b, err)
	defer f.Close()
	line := make([]byte, 250)
	for b.Loop() {
		_, err := f.Write(line)
		check(b, err)
		check(b, f.Sync())
	}
}

// realistic are the records of one trial, of the size that a study writes.
func realistic(trial int) []any {
	return []any{
		map[string]any{"event": "proposed", "time": "2026-01-02T03:04:05.678901Z", "trial": trial,
			"params": map[string]any{"lr": 1 / float64(trial+3), "l2": 1 / float64(trial+7), "epochs": trial % 15},
			"point":  []float64{1 / float64(trial+1), 2 / float64(trial+5), 0.5}, "origin": "model", "told": trial, "pending": []int{trial - 1}},
		map[string]any{"event": "started", "time": "2026-01-02T03:04:05.678901Z", "trial": trial, "attempt": 1},
		map[string]any{"event": "metric", "time": "2026-01-02T03:04:05.678901Z", "trial": trial, "step": 10, "value": 1 / float64(trial+2)},
		map[string]any{"event": "finished", "time": "2026-01-02T03:04:05.678901Z", "trial": trial, "attempt": 1,
			"value": 1 / float64(trial+2), "exit": 0, "seconds": 1.25},
	}
}

// BenchmarkRead verifies a journal of 100,000 trials, 400,001 lines; with "decode",
// it also unmarshals each of them.
func BenchmarkRead(b *testing.B) {
	path := newPath(b)
	j, err := journal.Create(path, header{"s1", 1})
	check(b, err)
	for i := range 100_000 {
		err := j.AppendLazy(realistic(i)...)
		check(b, err)
	}
	check(b, j.Close())
	info, err := os.Stat(path)
	check(b, err)
	b.Run("read", func(b *testing.B) {
		b.SetBytes(info.Size())
		b.ReportAllocs()
		for b.Loop() {
			_, err := journal.Read(path, ignore)
			check(b, err)
		}
	})
	b.Run("verify", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			_, err := journal.Verify(path)
			check(b, err)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			_, err := journal.Read(path, func(r journal.Record) error {
				var e event
				return json.Unmarshal(r.Raw, &e)
			})
			check(b, err)
		}
	})
	b.Run("repair", func(b *testing.B) {
		b.SetBytes(info.Size())
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			_, err := journal.Repair(path, fmt.Sprintf("%s.repaired-%d", path, i))
			check(b, err)
		}
	})
}
