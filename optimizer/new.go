package optimizer

import (
	"context"
	"errors"
	"fmt"

	"github.com/lbotune/lbotune/spaces"
)

// New returns the optimizer that the settings select, which knows what earlier studies
// have found. The error joins one Problem for everything that is wrong with the settings.
func New(space *spaces.Space, seed uint64, settings Settings, earlier ...Earlier) (Optimizer, error) {
	problems := mapped(settings.Validate(), func(p Problem) error { return p })
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if space == nil || space.Len() == 0 {
		return nil, errors.New("a space of at least one parameter is needed")
	}
	s := settings.Resolved(space.Len())
	h := newHistory(space, seed)
	if len(earlier) > 0 && s.Method != methodLBO {
		return nil, fmt.Errorf("method %s does not learn from earlier studies; %s does", s.Method, methodLBO)
	}
	switch s.Method {
	case methodRandom:
		return &filling{h, random}, nil
	case methodSobol:
		return &filling{h, sobolSequence}, nil
	case methodGrid:
		g, err := newGrid(space)
		if err != nil {
			return nil, err
		}
		return &filling{h, g.next}, nil
	case methodLipschitz:
		return &adaLIPO{past: h}, nil
	}
	for _, p := range space.Params() {
		if p.Sure != "" && guessWidths[p.Sure] == 0 {
			return nil, fmt.Errorf("parameter %s: sure: found %q; allowed are hardly, somewhat and very", p.Name, p.Sure)
		}
	}
	l := newLBO(h, s)
	if err := l.inherit(context.Background(), earlier); err != nil {
		return nil, err
	}
	return l, nil
}
