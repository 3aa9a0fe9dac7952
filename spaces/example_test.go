package spaces_test

import (
	"fmt"
	"log"

	"github.com/lbotune/lbotune/spaces"
)

// A space has parameters; optimizers see them as coordinates of a cube.
func Example() {
	space, err := spaces.New(
		spaces.Param{Name: "lr", Kind: spaces.KindFloat, Min: 1e-4, Max: 1, Scale: spaces.Log},
		spaces.Param{Name: "layers", Kind: spaces.KindInt, Min: 1, Max: 4},
		spaces.Param{Name: "opt", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("sgd"), spaces.String("adam")}},
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(space.Len(), "parameters,", space.Dim(), "coordinates")
	fmt.Println(space.Decode(space.Center()))
	// Output:
	// 3 parameters, 4 coordinates
	// lr=0.01 layers=3 opt=sgd
}

// Encode and Decode are inverse to each other.
func ExampleSpace_Encode() {
	space, err := spaces.New(spaces.Param{Name: "lr", Kind: spaces.KindFloat, Min: 1e-4, Max: 1, Scale: spaces.Log})
	if err != nil {
		log.Fatal(err)
	}
	point, err := space.Encode(spaces.Values{{Name: "lr", Value: spaces.Float(0.01)}})
	fmt.Printf("%.3f %v\n", point, err)
	fmt.Println(space.Decode(point))
	_, err = space.Encode(spaces.Values{{Name: "lr", Value: spaces.Float(7)}})
	fmt.Println(err)
	// Output:
	// [0.500] <nil>
	// lr=0.01
	// parameter lr: found "7"; want a number from 0.0001 to 1
}

// Snap moves a point to a configuration that can be run.
func ExampleSpace_Snap() {
	space, err := spaces.New(spaces.Param{Name: "layers", Kind: spaces.KindInt, Min: 1, Max: 3})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(space.Snap(spaces.Point{0.6}))
	fmt.Println(space.Decode(spaces.Point{0.6}))
	// Output:
	// [0.5]
	// layers=2
}

// A conditional parameter exists only where its condition holds.
func ExampleParam_When() {
	space, err := spaces.New(
		spaces.Param{Name: "opt", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("sgd"), spaces.String("adam")}},
		spaces.Param{Name: "momentum", Kind: spaces.KindFloat, Min: 0, Max: 1, When: "opt == 'sgd'"},
	)
	if err != nil {
		log.Fatal(err)
	}
	for _, values := range []spaces.Values{
		{{Name: "opt", Value: spaces.String("sgd")}, {Name: "momentum", Value: spaces.Float(0.9)}},
		{{Name: "opt", Value: spaces.String("adam")}},
		{{Name: "opt", Value: spaces.String("sgd")}},
	} {
		if p, err := space.Encode(values); err != nil {
			fmt.Println(err)
		} else {
			fmt.Println(space.Decode(p))
		}
	}
	// Output:
	// opt=sgd momentum=0.9
	// opt=adam
	// parameter momentum has no value
}

// Everything that is wrong is said at once.
func ExampleNew() {
	_, err := spaces.New(
		spaces.Param{Name: "lr", Kind: spaces.KindFloat, Min: 0, Max: 1, Scale: spaces.Log},
		spaces.Param{Name: "lr", Kind: spaces.KindInt, Min: 5, Max: 1},
	)
	fmt.Println(err)
	// Output:
	// parameter lr: min: min = 0, but a log scale needs min > 0
	// parameter lr: min: min = 5 must be smaller than max = 1
	// parameter lr: name: there are two parameters of this name
}

// A relation between parameters is any function of their values.
func ExampleSpace_Where() {
	space, err := spaces.New(
		spaces.Param{Name: "warmup", Kind: spaces.KindInt, Min: 1, Max: 4},
		spaces.Param{Name: "steps", Kind: spaces.KindInt, Min: 1, Max: 4},
	)
	if err != nil {
		log.Fatal(err)
	}
	space, err = space.Where(spaces.Relation{
		Text:   "warmup < steps",
		Params: []string{"warmup", "steps"},
		Holds: func(v spaces.Values) bool {
			warmup, _ := v.Get("warmup")
			steps, _ := v.Get("steps")
			return warmup.Any().(int64) < steps.Any().(int64)
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	n, _ := space.Size(100)
	fmt.Println(n, "configurations,", space.Share(), "of all")
	_, err = space.Encode(spaces.Values{{Name: "warmup", Value: spaces.Int(3)}, {Name: "steps", Value: spaces.Int(2)}})
	fmt.Println(err)
	// Output:
	// 6 configurations, 0.375 of all
	// warmup=3 steps=2 is not allowed: it breaks "warmup < steps"
}
