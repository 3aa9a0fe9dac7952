package session

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/parser"
)

// What the machine cannot read is left for the next session; what the program has removed,
// closed to itself or never written is the trial's.
func TestUnread(t *testing.T) {
	for _, c := range []struct {
		source parser.Source
		err    error
		left   bool
	}{
		{parser.Stdout, nil, false},
		{parser.Stdout, syscall.EIO, true},
		{parser.Stderr, syscall.ESTALE, true},
		{parser.Stdout, syscall.EACCES, true},
		{parser.Stdout, fs.ErrNotExist, false},
		{parser.Stdout, syscall.ELOOP, false},
		{parser.File, syscall.EIO, true},
		{parser.File, syscall.EMFILE, true},
		{parser.File, syscall.EACCES, false},
		{parser.File, syscall.EISDIR, false},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			err := c.err
			if err != nil {
				err = fmt.Errorf("read it: %w", c.err)
			}
			var left *ReadError
			if err := unread(err, c.source != parser.File); errors.As(err, &left) != c.left || c.left && !errors.Is(err, c.err) {
				t.Errorf("%s, %v: %v", c.source, c.err, err)
			}
		})
	}
}
