package session

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/lbotune/lbotune/internal/door"
)

// keeper removes the directories of trials that the study need not keep.
type keeper struct {
	study  *Study
	trials *door.Dir    // the directory that they lie in, once it is open
	failed bool         // it could not be opened, as was said
	swept  map[int]bool // trials whose directories are removed
}

// leftover is what goes of a trial.
type leftover struct {
	trial string   // its directory, among those of the trials
	names []string // what lies in it
}

func newKeeper(s *Study) keeper { return keeper{study: s, swept: map[int]bool{}} }

// open opens the directory of the trials, if there is one. When a session begins it may be a
// symbolic link, if one of the user's; later it could be a trial's.
func (k *keeper) open(mayBeLink bool) (err error) {
	open := k.study.layout.Open
	if !mayBeLink {
		open = func() (*door.Dir, error) { return door.Open(string(k.study.layout)) }
	}
	d, err := open()
	if err == nil {
		defer d.Close()
		k.trials, err = d.Dir(filepath.Base(filepath.Dir(k.study.layout.Trial(0))))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// close ends it.
func (k *keeper) close() {
	if k.trials != nil {
		k.trials.Close()
		k.trials = nil
	}
}

// toDrop lists what the study need not keep any more of trials: what lies in their
// directories now, for whatever comes later is that of another attempt. The state may be
// ahead of the records whose hooks are queued, so it looks only at the trials that finished
// up to the last one, if one is given: those after it have hooks to come.
func (k *keeper) toDrop(last int) (drop []leftover) {
	st := k.study.state
	most := st.Config.Run.Keep
	if most == 0 || st.Incumbent() == nil {
		return nil // of failures alone, the output may be all that there is
	}
	if k.trials == nil && !k.failed {
		if err := k.open(false); err != nil {
			k.failed = true
			k.warn(err)
		}
	}
	if k.trials == nil {
		return nil
	}
	kept := st.Ranked()
	kept = append(slices.Clip(kept[:min(most, len(kept))]), st.Unconfirmed()...)
	if st.Config.Several() {
		kept = append(kept, st.Front()...) // each of them is a best one
	}
	for _, n := range st.Order {
		t := st.Trials[n-1]
		if !k.swept[n] && k.study.running[n] == nil && !slices.Contains(kept, t) && t != st.Best() {
			k.swept[n] = true
			drop = append(drop, k.leftovers(n)...)
		}
		if n == last {
			break
		}
	}
	return drop
}

// leftovers lists what lies in a trial's directory, if it is there and not empty.
func (k *keeper) leftovers(trial int) []leftover {
	name := filepath.Base(k.study.layout.Trial(trial))
	names, err := k.trials.List(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it may have gone already
		k.warn(err)
	}
	if len(names) == 0 {
		return nil
	}
	return []leftover{{name, names}}
}

// clear removes leftovers.
func (k *keeper) clear(drop []leftover) {
	for _, d := range drop {
		if err := k.trials.Clear(d.trial, d.names); err != nil {
			k.warn(err)
		}
	}
}

func (k *keeper) warn(err error) {
	k.study.opts.Log.Warn("what a trial has left stays", "error", err)
}
