package pruner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/pruner"
)

func TestRungs(t *testing.T) {
	for _, c := range []struct {
		least, most            int
		minResource, reduction float64
		want                   []int
	}{
		{1, 81, 1, 3, []int{1, 3, 9, 27, 81}},
		{1, 100, 1, 3, []int{1, 4, 11, 33, 100}},
		{2, 81, 1, 3, []int{3, 9, 27, 81}},
		{1, 81, 20, 3, []int{27, 81}},
		{1, 1000, 1, 10, []int{1, 10, 100, 1000}},
		{1, 16, 1, 2, []int{1, 2, 4, 8, 16}},
		{1, 4, 1, 1.1, []int{1, 2, 3, 4}},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			got, err := pruner.Settings{MinResource: c.minResource, Reduction: c.reduction}.Rungs(c.least, c.most)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%+v: %v, %v", c, got, err)
			}
		})
	}
	for want, c := range map[string]struct {
		least, most            int
		minResource, reduction float64
	}{
		"min_resource: found 28; want at most 27": {1, 81, 28, 3},
		"min_resource: found 0":                   {1, 81, 0, 3},
		"reduction: found 1;":                     {1, 81, 1, 1},
		"resource: found the range 0 to 5":        {0, 5, 1, 3},
		"resource: found the range 5 to 5":        {5, 5, 1, 3},
	} {
		t.Run(want, func(t *testing.T) {
			_, err := pruner.Settings{MinResource: c.minResource, Reduction: c.reduction}.Rungs(c.least, c.most)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%+v: error %v, want %q", c, err, want)
			}
		})
	}
}
