package session_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// readAgain is the study as its journal tells it now.
func (s *simulation) readAgain() (*study.State, error) {
	dir := filepath.Join(filepath.Dir(s.dir), "read")
	err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(layout.Study(dir).Journal(), s.disk.Content(layout.Study(s.dir).Journal()), 0o600))
	if err != nil {
		return nil, err
	}
	return study.Load(dir)
}

// sameRead checks that whoever reads the journal knows what the process that wrote it knew.
func (s *simulation) sameRead(knew *study.State, step simStep) {
	read, err := s.readAgain()
	if err != nil {
		s.fault("%v: read the journal: %v", step, err)
		return
	}
	if at := unlike("state", reflect.ValueOf(knew).Elem(), reflect.ValueOf(read).Elem(), map[[2]uintptr]bool{}); at != "" {
		s.fault("%v: the journal says otherwise than who wrote it: %s", step, at)
	}
}

// unlike is the first place in which two values differ, "" if they are alike. Nothing and an empty
// list are alike; what is not a number is like itself.
func unlike(at string, a, b reflect.Value, seen map[[2]uintptr]bool) string {
	if a.IsValid() != b.IsValid() {
		return fmt.Sprintf("%s: %v and %v", at, a, b)
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return fmt.Sprintf("%s: %v and %v", at, a, b)
			}
			return ""
		}
		if a.Kind() == reflect.Pointer {
			pair := [2]uintptr{a.Pointer(), b.Pointer()}
			if seen[pair] {
				return ""
			}
			seen[pair] = true
		}
		return unlike(at, a.Elem(), b.Elem(), seen)
	case reflect.Struct:
		if a.Type() == reflect.TypeFor[time.Time]() {
			if fmt.Sprint(a) != fmt.Sprint(b) {
				return fmt.Sprintf("%s: %v and %v", at, a, b)
			}
			return ""
		}
		for i := range a.NumField() {
			name := a.Type().Field(i).Name
			if slices.Contains([]string{"gained", "ran", "Space", "Search", "Fitted"}, name) { // made when it is asked for
				continue
			}
			if where := unlike(at+"."+name, a.Field(i), b.Field(i), seen); where != "" {
				return where
			}
		}
		return ""
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %d and %d: %v and %v", at, a.Len(), b.Len(), a, b)
		}
		for i := range a.Len() {
			if where := unlike(fmt.Sprintf("%s[%d]", at, i), a.Index(i), b.Index(i), seen); where != "" {
				return where
			}
		}
		return ""
	case reflect.Map:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %v and %v", at, a, b)
		}
		for _, k := range a.MapKeys() {
			if where := unlike(fmt.Sprintf("%s[%v]", at, k), a.MapIndex(k), b.MapIndex(k), seen); where != "" {
				return where
			}
		}
		return ""
	case reflect.Func:
		return ""
	case reflect.Float64, reflect.Float32:
		if x, y := a.Float(), b.Float(); x != y && (x == x || y == y) {
			return fmt.Sprintf("%s: %v and %v", at, x, y)
		}
		return ""
	}
	if fmt.Sprint(a) != fmt.Sprint(b) {
		return fmt.Sprintf("%s: %v and %v", at, a, b)
	}
	return ""
}

// beside is a session in a process that also tries trials itself, before, while and after
// it runs others.
func (s *simulation) beside(st *session.Study, step simStep, stop <-chan session.Stop) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	spent := func(err error) error { // or told of twice
		if allowed(err, "is finished already") == nil || errors.Is(err, session.ErrSpent) || errors.Is(err, optimizer.ErrExhausted) || errors.Is(err, context.Canceled) || errors.Is(err, session.ErrClosed) {
			return nil
		}
		return err
	}
	_, err := st.Ask(ctx)
	if err = spent(err); err != nil {
		return err
	}
	var others sync.WaitGroup
	var failed error
	switch {
	case step.pick%3 == 0:
		others.Go(func() { failed = spent(s.try(st, step)) })
	case step.pick%3 == 1:
		others.Go(func() {
			_, err := st.Ask(ctx)
			failed = spent(err)
		})
	}
	err = st.Run(ctx, stop)
	for range 4 {
		if !errors.Is(err, session.ErrAwaited) {
			break
		}
		s.tellAll(st, step)
		err = st.Run(ctx, stop)
	}
	others.Wait()
	return errors.Join(err, failed)
}

// tellAll tells of what was handed out. Somebody else may have told of it meanwhile.
func (s *simulation) tellAll(st *session.Study, step simStep) {
	state, err := s.readAgain()
	if err != nil {
		s.fault("%v: read the journal: %v", step, err)
		return
	}
	for _, t := range state.Pending() {
		if t.Hand {
			metrics := study.Metrics{state.Config.Objective().Name: float64(step.n)}
			maps.Copy(metrics, s.plan.told(t))
			_ = st.Tell(t.Number, metrics)
		}
	}
}

// respec is another spec, whose trials may be compared with those so far, or which is refused.
func (s *simulation) respec(c study.Config, step simStep) study.Config {
	if len(s.disk.Content(layout.Study(s.dir).Journal())) == 0 {
		return c // another study would begin
	}
	c.Metrics = slices.Clone(c.Metrics)
	for i := range 1 + int(step.pick>>32%2) {
		switch n := step.n + i; (step.pick >> (8 * i)) % 12 {
		case 0:
			c.Run.Retries = n % 3
		case 1:
			c.Run.Confirm = []int{0, 2, 3}[n%3]
		case 2:
			c.Budget.Patience = []int{0, 2, 5}[n%3]
		case 3:
			c.Budget.Time = study.Duration([]time.Duration{0, 5, 20}[n%3] * time.Second)
		case 4:
			c.Budget.TimeHard = study.Duration([]time.Duration{0, 30, 60}[n%3] * time.Second)
		case 5:
			c.Run.Keep = n % 3
		case 6:
			c.Budget.Trials = max(1, c.Budget.Trials-n%4)
		case 7:
			c.Run.Repeats = n % 3
		case 8:
			c.Prune = []*study.Prune{nil, {Method: "median", MinTrials: 1}, {Method: "patience", Patience: 1}}[n%3]
		case 9:
			c.Run.FailureGuard = []int{-1, 1, 3}[n%3]
		case 10:
			c.Metrics[0].Direction = study.Maximize
		case 11:
			if i := slices.IndexFunc(c.Metrics, study.Metric.Limited); i >= 0 {
				limit := float64(n % 10)
				c.Metrics[i].Max = &limit
			}
		}
	}
	return c
}

// open opens the study for a session, at times without its spec, and with the spec of before if a changed
// one is refused.
func (s *simulation) open(c *study.Config, o session.Options, step simStep) (*session.Study, error) {
	if s.plan.sheet != nil && step.pick%4 == 3 && s.former == nil && len(s.disk.Content(layout.Study(s.dir).Journal())) > 0 {
		return session.Open(nil, o)
	}
	st, err := session.Open(c, o)
	if refused := new(study.ConfigError); s.former != nil && (errors.As(err, &refused) || errors.As(err, new(study.InvalidError)) || errors.As(err, new(*study.SpecError))) {
		*c = *s.former
		st, err = session.Open(c, o)
	}
	if err == nil {
		s.former = nil
	}
	return st, err
}
