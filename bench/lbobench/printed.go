package main

import (
	"fmt"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// printed takes the bounds of the paper to the letter, in the ways that optimizer/printed.go
// says.
type printed struct {
	rejected   string
	twice, raw bool
}

// optimizer is optimizer.New with bounds by the letter.
func (p printed) optimizer(space *spaces.Space, seed uint64, settings optimizer.Settings) (optimizer.Optimizer, error) {
	opt, err := optimizer.New(space, seed, settings)
	if err != nil {
		return nil, err
	}
	l, ok := opt.(interface {
		ToTheLetter(rejected string, twice, raw bool)
	})
	if !ok {
		return nil, fmt.Errorf("method %s has no bounds to be taken to the letter", settings.Method)
	}
	l.ToTheLetter(p.rejected, p.twice, p.raw)
	return opt, nil
}
