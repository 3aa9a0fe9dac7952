package main

import (
	"strings"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

// Only all of the space is 100 % of it.
func TestAllowedShare(t *testing.T) {
	for share, want := range map[float64]string{0.0834: "about 8.3", 0.99: "about 99", 0.99996: ">99", 1: "about 100"} {
		p := preview{Params: []paramJSON{{Param: spaces.Param{Name: "x"}}}, Where: []string{"x < y"}, Allowed: share}
		if got := p.text(); !strings.Contains(got, "where, which allows "+want+" % of the space\n") {
			t.Errorf("%v: want %s in %q", share, want, got)
		}
	}
}
