package optimizer

import (
	"errors"

	"github.com/lbotune/lbotune/spaces"
)

// New returns the optimizer that the settings select. The error joins one
// Problem for everything that is wrong with them.
func New(space *spaces.Space, seed uint64, settings Settings) (Optimizer, error) {
	var errs []error
	for _, p := range settings.Validate() {
		errs = append(errs, p)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s := settings.Resolved(space.Len())
	h := newHistory(space, seed)
	switch s.Method {
	case MethodRandom:
		return &random{h}, nil
	case MethodSobol:
		return &sobolSequence{h}, nil
	case MethodGrid:
		return newGrid(h)
	case MethodLipschitz:
		return newAdaLIPO(h), nil
	}
	return newLBO(h, s), nil
}
