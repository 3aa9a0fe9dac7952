package optimizer_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"slices"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// bowl is smallest at x = 0.2, where it is 3.
func bowl(x float64) float64 { return 3 + (x-0.2)*(x-0.2) }

func line() *spaces.Space {
	space, err := spaces.New(spaces.NewFloat("x", -1, 1))
	if err != nil {
		log.Fatal(err)
	}
	return space
}

// minimize asks and tells until it knows the values of the trials.
func minimize(opt optimizer.Optimizer, space *spaces.Space, trials int) {
	for trial := 1; trial <= trials; trial++ {
		p, err := opt.Ask(context.Background(), optimizer.Query{Trial: trial})
		if err != nil {
			log.Fatal(err)
		}
		x := space.Decode(p.Point).Float("x")
		o := optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Succeeded, Values: []float64{-bowl(x)}}
		if err := opt.Tell(o); err != nil {
			log.Fatal(err)
		}
	}
}

// Ask for a point, try it, tell its value. Optimizers maximize: to minimize, tell the
// negative.
func Example() {
	space := line()
	opt, err := optimizer.New(space, 1, optimizer.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	best, at := math.Inf(1), 0.0
	for trial := 1; trial <= 20; trial++ {
		p, err := opt.Ask(context.Background(), optimizer.Query{Trial: trial})
		if err != nil {
			log.Fatal(err)
		}
		x := space.Decode(p.Point).Float("x")
		y := bowl(x)
		if y < best {
			best, at = y, x
		}
		o := optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Succeeded, Values: []float64{-y}}
		if err := opt.Tell(o); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("%.3f at x = %.2f\n", best, at)
	// Output: 3.000 at x = 0.20
}

// What runs already is pending: no proposal repeats it.
func ExampleQuery() {
	opt, err := optimizer.New(line(), 1, optimizer.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	var running []optimizer.Pending
	for trial := 1; trial <= 4; trial++ {
		p, err := opt.Ask(context.Background(), optimizer.Query{Trial: trial, Pending: running})
		if err != nil {
			log.Fatal(err)
		}
		running = append(running, optimizer.Pending{Trial: trial, Point: p.Point})
	}
	different := map[float64]bool{}
	for _, p := range running {
		different[p.Point[0]] = true
	}
	fmt.Println(len(different), "different points")
	// Output: 4 different points
}

// A trial that crashed has no value: say so instead of making one up.
func ExampleObservation() {
	opt, err := optimizer.New(line(), 1, optimizer.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := opt.Ask(context.Background(), optimizer.Query{Trial: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(opt.Tell(optimizer.Observation{Trial: 1, Proposal: p, Status: optimizer.Failed}))
	fmt.Println(opt.Tell(optimizer.Observation{Trial: 2, Proposal: p, Status: optimizer.Succeeded, Values: []float64{math.NaN()}}))
	// Output:
	// <nil>
	// telling trial 2: a trial that succeeded needs a finite value; found NaN
}

// Values from elsewhere are told like proposals that somebody else made.
func ExampleOrigin() {
	space := line()
	opt, err := optimizer.New(space, 1, optimizer.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for i, x := range []float64{-0.5, 0.1, 0.6} {
		point, err := space.Encode(spaces.Values{{Name: "x", Value: spaces.Float(x)}})
		if err != nil {
			log.Fatal(err)
		}
		p := optimizer.Proposal{Point: point, Origin: optimizer.OriginGiven}
		if err := opt.Tell(optimizer.Observation{Trial: i + 1, Proposal: p, Status: optimizer.Succeeded, Values: []float64{-bowl(x)}}); err != nil {
			log.Fatal(err)
		}
	}
	rec, err := opt.(optimizer.Recommender).Recommend(context.Background())
	fmt.Println(rec.Trial, err)
	// Output: 2 <nil>
}

// The best value of a noisy program is partly luck. The default method names the trial
// whose expected value is best.
func ExampleRecommender() {
	opt, err := optimizer.New(line(), 1, optimizer.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	minimize(opt, line(), 15)
	rec, err := opt.(optimizer.Recommender).Recommend(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("expected: %.2f\n", -rec.Mean)
	// Output: expected: 3.00
}

// What does the model believe of points that were not tried?
func ExampleExplainer() {
	space := line()
	opt, err := optimizer.New(space, 1, optimizer.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	minimize(opt, space, 12)
	var points []spaces.Point
	for _, x := range []float64{-0.8, 0.2} {
		p, err := space.Encode(spaces.Values{{Name: "x", Value: spaces.Float(x)}})
		if err != nil {
			log.Fatal(err)
		}
		points = append(points, p)
	}
	e, err := opt.(optimizer.Explainer).Explain(context.Background(), optimizer.Query{Trial: 13}, slices.Values(points))
	if err != nil {
		log.Fatal(err)
	}
	far, near := e.Beliefs[0], e.Beliefs[1]
	fmt.Printf("near the best trials %.3f\n", -near.Mean)
	fmt.Println("far from them it is less sure:", far.SD > near.SD)
	// Output:
	// near the best trials 3.000
	// far from them it is less sure: true
}

// A method of your own needs two functions. It works wherever an Optimizer does.
func ExampleOptimizer() {
	var opt optimizer.Optimizer = &bisection{high: 1}
	for trial := 1; trial <= 3; trial++ {
		p, err := opt.Ask(context.Background(), optimizer.Query{Trial: trial})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(p.Point[0], p.Note.Why)
		if err := opt.Tell(optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Succeeded, Values: []float64{0.3 - p.Point[0]}}); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 0.5 the middle
	// 0.25 the middle
	// 0.375 the middle
}

// bisection finds where a falling function of one variable is zero.
type bisection struct{ low, high float64 }

func (b *bisection) Ask(context.Context, optimizer.Query) (optimizer.Proposal, error) {
	return optimizer.Proposal{Point: spaces.Point{(b.low + b.high) / 2}, Origin: optimizer.OriginModel,
		Note: optimizer.Note{Why: "the middle"}}, nil
}

func (b *bisection) Tell(o optimizer.Observation) error {
	if o.Status != optimizer.Succeeded {
		return errors.New("bisection needs every value")
	}
	if x := o.Proposal.Point[0]; o.Value() > 0 {
		b.low = x
	} else {
		b.high = x
	}
	return nil
}

// Settings are those of the spec's optimizer table; what is wrong with them is said at
// once.
func ExampleNew() {
	_, err := optimizer.New(line(), 1, optimizer.Settings{Acquisition: "ie", Kappa: -1})
	fmt.Println(err)
	opt, err := optimizer.New(line(), 1, optimizer.Settings{Method: "random"})
	if err != nil {
		log.Fatal(err)
	}
	p, err := opt.Ask(context.Background(), optimizer.Query{Trial: 1})
	fmt.Println(p.Note.Why, err)
	// Output:
	// optimizer: acquisition: found "ie"; allowed are ei, pi, ucb and ts
	// optimizer: kappa: found -1; want a positive number
	// uniform <nil>
}
