package spaces_test

import (
	"fmt"

	"github.com/lbotune/lbotune/spaces"
)

// Parameters by a line each, and the values of one configuration by their names.
func ExampleNewFloat() {
	space, err := spaces.New(
		spaces.NewFloat("lr", 1e-4, 1).Log().Today(0.01),
		spaces.NewInt("layers", 1, 9),
		spaces.NewChoice("kind", "sgd", "adam"),
		spaces.NewBool("augment"),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	v := space.Decode(space.Center())
	fmt.Println(v.Float("lr"), v.Int("layers"), v.Text("kind"), v.Bool("augment"))
	// Output: 0.01 5 sgd false
}
