package optimizer

import (
	"context"
	"fmt"

	"github.com/lbotune/lbotune/spaces"
)

// Drawer is an Explainer that can also draw whole functions from what it believes: how
// much anything that follows from the objective is known is how much it varies between
// them. It changes nothing either.
type Drawer interface {
	Explainer
	// Draws returns n functions, each by its values at the points, in the units of the
	// values that were told. They are drawn from the posterior without noise, by pathwise
	// conditioning (Wilson et al. 2020); the same query draws the same.
	Draws(ctx context.Context, q Query, points []spaces.Point, n int) ([][]float64, error)
}

// lookFeatures is how many random features stand for the prior: fewer than where a
// proposal depends on one draw.
const lookFeatures = 512

// Draws implements Drawer.
func (l *lbo) Draws(ctx context.Context, q Query, points []spaces.Point, n int) ([][]float64, error) {
	a, snapped, err := l.lookAt(ctx, q, points)
	if err != nil {
		return nil, err
	}
	v := a.view
	out := make([][]float64, n)
	for k := range out {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := v.models[k%len(v.models)].DrawPath(lookFeatures, a.rng(fmt.Sprint("look ", k)))
		if err != nil {
			return nil, fmt.Errorf("drawing from the posterior: %w", err)
		}
		out[k] = make([]float64, len(snapped))
		for i, x := range snapped {
			out[k][i] = v.value(f.Value(x))
		}
	}
	return out, nil
}
