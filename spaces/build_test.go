package spaces_test

import (
	"encoding/json"
	"fmt"
	"testing"

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

// What no value is made of is named as it was given.
func TestTodayIsRefused(t *testing.T) {
	for want, p := range map[string]spaces.Param{
		"parameter n: default: found 2 of type int32; want a whole number from 1 to 9": spaces.NewInt("n", 1, 9).Today(int32(2)),
		`parameter n: default: found "3"; want a whole number from 1 to 9`:             spaces.NewInt("n", 1, 9).Today("3"),
		`parameter x: default: found 3 of type uint; want one of a, ""`:                spaces.NewChoice("x", "a", "").Today(uint(3)),
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := spaces.New(p); err == nil || err.Error() != want {
				t.Errorf("found %v, want %s", err, want)
			}
		})
	}
}

func TestWhatIsNoValueIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"lr": [0.5]}`:    `parameter lr: parameter value [0.5]: want a number, a string, true or false`,
		`{"lr": {"e": 1}}`: `parameter lr: parameter value {"e": 1}: want a number, a string, true or false`,
		`{"lr": 1e400}`:    `parameter lr: parameter value 1e400: beyond the range of a float64`,
	} {
		t.Run(text, func(t *testing.T) {
			var v spaces.Values
			if err := json.Unmarshal([]byte(text), &v); err == nil || err.Error() != want {
				t.Errorf("found %v, want %s", err, want)
			}
		})
	}
}
