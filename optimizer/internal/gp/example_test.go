package gp_test

import (
	"context"
	"fmt"

	"github.com/lbotune/lbotune/optimizer/internal/gp"
)

func Example() {
	x := [][]float64{{0.1}, {0.4}, {0.5}, {0.9}} // points of the unit cube
	y := []float64{-1.3, 0.9, 0.8, -0.4}         // standardized values

	fit, err := gp.NewFitter(x).Fit(context.Background(), y, nil, gp.NewSettings(1)) // next time start from &fit.Hyper
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := gp.New(nil, x, y, fit.Hyper)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := model.Predictor() // one per goroutine
	pending := []float64{0.7}
	gradient, spread := make([]float64, 1), make([]float64, 1)
	mean, before := p.PredictGrad(pending, gradient, spread)

	believer, err := model.Append(pending, mean) // a trial still running
	if err != nil {
		fmt.Println(err)
		return
	}
	_, after := believer.Predictor().Predict(pending)
	fmt.Printf("mean %.2f, falling %v, pending lowers the variance %v\n", mean, gradient[0] < 0, after < before/2)
	// Output: mean -0.02, falling true, pending lowers the variance true
}
