package journal_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
)

// A follower sees each record once it is whole, however it arrives.
func TestFollow(t *testing.T) {
	whole := newPath(t)
	j, err := journal.Create(whole, header{"s1", 7})
	check(t, err)
	for i := range 5 {
		err := j.Append(sample("s1", i))
		check(t, err)
	}
	check(t, j.Close())
	text, err := os.ReadFile(whole)
	check(t, err)

	for _, chunk := range []int{1, 7, 100, len(text)} {
		t.Run(fmt.Sprint(chunk), func(t *testing.T) {
			path := newPath(t)
			at := 1 + len(text)/6 // the first line is always whole
			for text[at-1] != '\n' {
				at++
			}
			check(t, os.WriteFile(path, text[:at], 0o600))
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			check(t, err)
			over := errors.New("over")
			var seen []uint64
			err = journal.Follow(path, func(r journal.Record) error {
				seen = append(seen, r.Seq)
				return nil
			}, func() error {
				if at == len(text) {
					return over
				}
				next := min(at+chunk, len(text))
				_, err := f.Write(text[at:next])
				at = next
				return err
			})
			check(t, f.Close())
			if !errors.Is(err, over) || len(seen) != 6 || seen[5] != 6 {
				t.Errorf("in chunks of %d: saw %v, %v", chunk, seen, err)
			}
		})
	}
}

// A first line is whole from the start: a file without one is damaged, and not waited for.
func TestFollowWithoutAFirstLine(t *testing.T) {
	path := newPath(t)
	check(t, os.WriteFile(path, []byte(`{"seq":1,`), 0o600))
	err := journal.Follow(path, ignore, func() error { return errors.New("waited") })
	is[*journal.CorruptError](t, err)
}
