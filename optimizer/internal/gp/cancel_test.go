package gp_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

// looks is a context that counts how often it is looked at, and ends at one of these looks.
type looks struct {
	context.Context
	until int // 0: it does not end
	n     int
}

func (l *looks) Err() error {
	if l.n++; l.until > 0 && l.n >= l.until {
		return context.Canceled
	}
	return nil
}

// Each line search of a fit and each slice step of a sampler looks whether it is still wanted.
func TestFitsLookAtTheirContext(t *testing.T) {
	x, y, h := sample(3, 30, 3)
	set := gp.NewSettings(3)
	set.Starts, set.GradTolerance, set.GainTolerance = 0, 1e-9, 0
	ctx := &looks{Context: t.Context()}
	r, err := gp.NewFitter(x).Fit(ctx, y, &h, set)
	if err != nil || 2*ctx.n < r.Evaluations {
		t.Errorf("%d looks for %d evaluations (%v)", ctx.n, r.Evaluations, err)
	}
	ctx = &looks{Context: t.Context(), until: ctx.n - 1}
	if _, err := gp.NewFitter(x).Fit(ctx, y, &h, set); !errors.Is(err, context.Canceled) || ctx.n > ctx.until+2 {
		t.Errorf("a fit that was broken off at look %d went on to look %d: error %v", ctx.until, ctx.n, err)
	}
	for _, spearmint := range []bool{false, true} {
		s := gp.NewSampleSettings(spearmint)
		s.BurnIn, s.Samples, s.Every = 5, 2, 1
		ctx := &looks{Context: t.Context()}
		if _, err := gp.SampleHyper(ctx, x, y, gp.SampleStart(3), s, rand.New(rand.NewPCG(1, 1))); err != nil || ctx.n < 7*(3+1) {
			t.Errorf("%d looks in 7 sweeps (%v)", ctx.n, err)
		}
		ctx = &looks{Context: t.Context(), until: 17}
		if _, err := gp.SampleHyper(ctx, x, y, gp.SampleStart(3), s, rand.New(rand.NewPCG(1, 1))); !errors.Is(err, context.Canceled) || ctx.n != 17 {
			t.Errorf("sampling that was broken off at look 17 went on to look %d: error %v", ctx.n, err)
		}
	}
}
