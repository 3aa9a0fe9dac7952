package main

import (
	"errors"
	"regexp"
	"testing"
)

// A panic is an error of one line that says where it was; other errors go through.
func TestGuarded(t *testing.T) {
	want := errors.New("other")
	if err := guarded(func() error { return want }); err != want {
		t.Errorf("an error became %v", err)
	}
	err := guarded(func() error {
		var none []int
		_ = none[len(want.Error())]
		return nil
	})
	if err == nil || !regexp.MustCompile(`^a mistake of lbotune's own in cmd/lbotune\.TestGuarded\.func2:\d+: runtime error: index out of range \[5\] with length 0$`).MatchString(err.Error()) {
		t.Errorf("a panic became %v", err)
	}
	if codeOf(err) != 1 {
		t.Errorf("its code is %d", codeOf(err))
	}
}
