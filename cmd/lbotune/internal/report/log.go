package report

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/lbotune/lbotune/internal/layout"
)

// log answers with the end of what a trial has printed, and goes on while it runs.
func (v *Server) log(w http.ResponseWriter, r *http.Request) {
	s := v.now(w, r)
	if s == nil {
		return
	}
	n, err := strconv.Atoi(r.PathValue("trial"))
	if s.src.Log == nil || err != nil || n < 1 || n > len(s.Trials) {
		http.NotFound(w, r)
		return
	}
	begun, follow := s.Trials[n-1].seen, s.src.Log // the trial itself is changed meanwhile
	over := func(s *Study) bool {
		now := s.Trials[n-1].seen
		return now.done || now.attempts > begun.attempts || !s.Running
	}
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !over(s) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(leastPause):
				s = v.now(w, r)
			}
			if s == nil || n > len(s.Trials) {
				return
			}
		}
	}()
	out := &longLines{w: w}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err := follow(ctx, layout.AttemptID{Trial: n, Attempt: begun.result}, r.URL.Query().Has("stderr"), out, ended); err != nil && ctx.Err() == nil {
		_, _ = out.Write([]byte("\n" + clean(err.Error(), 500) + "\n"))
	}
	attend(w) // the server writes the end
}

// longest is how much of a line is shown.
const longest = 4 << 10

// longLines writes text without the ends of overlong lines, each write at once.
type longLines struct {
	w    http.ResponseWriter
	have int // of the line so far
}

func (l *longLines) Write(p []byte) (int, error) {
	out := make([]byte, 0, len(p))
	for line := range bytes.Lines(p) {
		text, whole := bytes.CutSuffix(line, []byte{'\n'})
		if room := longest - l.have; room >= 0 && len(text) > room {
			for room > 0 && !utf8.RuneStart(text[room]) {
				room--
			}
			out = append(append(out, text[:room]...), " ..."...)
			l.have = longest + 1
		} else if room >= 0 {
			out = append(out, text...)
			l.have += len(text)
		}
		if whole {
			out = append(out, '\n')
			l.have = 0
		}
	}
	if err := deliver(l.w, out); err != nil {
		return 0, err
	}
	return len(p), http.NewResponseController(l.w).Flush()
}
