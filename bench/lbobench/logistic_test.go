package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/examples/mnist-logreg/logreg"
)

// The table is completed from where it was interrupted: whole lines stay, a torn one is trained
// again, and the end is that of a table which was never interrupted.
func TestTableGoesOn(t *testing.T) {
	set, err := logreg.Load(logreg.DrawnData, 40)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "table.txt")
	head := fmt.Sprintln(rates, lowRate, highRate) + fmt.Sprintln(penalties, lowPenalty, highPenalty) + fmt.Sprintln(epochs)
	complete := func(ctx context.Context, before string) (string, error) {
		t.Helper()
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		err := trainTable(ctx, path, set, 40, func(int) {})
		text, readErr := os.ReadFile(path)
		if readErr != nil {
			t.Fatal(readErr)
		}
		return string(text), err
	}
	kept := head + strings.Repeat("kept\n", rates*penalties-3)
	whole, err := complete(t.Context(), kept)
	if n := strings.Count(whole, "\n"); err != nil || n != rates*penalties+3 || !strings.HasPrefix(whole, kept) {
		t.Fatalf("%d lines, %v", n, err)
	}
	lines := strings.SplitAfter(strings.TrimPrefix(whole, kept), "\n")
	if torn, err := complete(t.Context(), kept+lines[0]+lines[1][:5]); err != nil || torn != whole {
		t.Errorf("after a torn line it ends otherwise: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if text, err := complete(ended, kept); !errors.Is(err, context.Canceled) || text != kept {
		t.Errorf("interrupted, with %v, it has %d lines", err, strings.Count(text, "\n"))
	}
	if _, err := complete(t.Context(), "another\n"); err == nil {
		t.Error("another table was taken for it")
	}
}
