package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

// A request that nobody takes, though nobody works on the study, is not awaited for ever.
func TestRequestThatNobodyTakes(t *testing.T) {
	cfg, err := spec.Parse("s.toml", []byte("command = 'echo {x}'\nobjective.metric = 'loss'\nparams.x = { type = 'int', min = 1, max = 9 }\nbudget.trials = 3\n"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, r := layout.Of(filepath.Join(cfg.Dir, "s")), study.Request{ID: "1-1-0"}
	if err := session.Edit(&cfg, session.Options{Dir: string(l)}, func(*session.Study) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(l.Requests(), r.ID+".json"), 0o700); err != nil { // which is no request
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, live, err := awaitAnswer(ctx, l, r); live || err == nil || !strings.Contains(err.Error(), "may not be taken") {
		t.Errorf("live: %v, %v", live, err)
	}
	r, err = inbox.Leave(l, study.Request{Action: study.ActionNote, Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if st, live, err := awaitAnswer(ctx, l, r); live || err != nil || len(st.Notes) != 1 {
		t.Errorf("one that can be taken: live: %v, %v", live, err)
	}
}
