package session

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// keeper removes the directories of trials that the study need not keep.
type keeper struct {
	study   *Study
	trials  *door.Dir         // the directory that they lie in, once it is open
	failed  bool              // it could not be opened, as was said
	cleared map[int]*leftover // of trials whose directories are removed

	ranked bool           // best and left are those of the records so far
	best   []*study.Trial // as many as are kept, the best first
	left   []*study.Trial // that have finished and whose directories stay
}

// leftover is what goes of a trial.
type leftover struct {
	trial string     // its directory, among those of the trials
	mu    sync.Mutex // of names, while it goes
	names []string   // what lies in it
}

// spare lets what is left of trials stay, if it has not gone: they run again.
func (k *keeper) spare(trials []int) {
	for _, n := range trials {
		if d := k.cleared[n]; d != nil {
			d.mu.Lock()
			d.names = nil
			d.mu.Unlock()
			delete(k.cleared, n)
		}
	}
}

func (k *keeper) clear(d *leftover) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.names) == 0 {
		return
	}
	if err := k.trials.Clear(d.trial, d.names); err != nil {
		k.warn(err)
	}
	d.names = nil
}

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

func (k *keeper) close() {
	if k.trials != nil {
		k.trials.Close()
		k.trials = nil
	}
}

// toDrop lists what the study need not keep any more once a trial has finished, or has ended
// as a whole, for which last is 0: what lies in the directories of trials now, for whatever
// comes later is that of another attempt. The state may be ahead of the records whose hooks
// are queued, so that only the trials that finished up to the last one are looked at.
func (k *keeper) toDrop(last int) (drop []*leftover) {
	st := k.study.state
	most := st.Config.Run.Keep
	if most <= 0 || st.Incumbent() == nil {
		k.ranked = false
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
	if st.Config.Run.Confirm > 0 {
		most = max(most, study.Contenders)
	}
	if k.ranked && last > 0 {
		k.enter(st.Trials[last-1], most)
	} else {
		k.best, k.left, k.ranked = nil, nil, last > 0
		for _, n := range st.Order {
			k.enter(st.Trials[n-1], most)
			if n == last {
				break
			}
		}
	}
	kept := slices.Clone(k.best)
	if last == 0 {
		kept = append(kept[:min(st.Config.Run.Keep, len(kept))], st.Unconfirmed()...)
	}
	if st.Config.Several() {
		kept = append(kept, st.Front()...) // each of them is a best one
	}
	kept = append(kept, st.Best())
	for _, t := range slices.Backward(k.left) { // whatever ends the study, it says why
		if t.Status == optimizer.Failed && !t.Hand {
			kept = append(kept, t)
			break
		}
	}
	k.left = slices.DeleteFunc(k.left, func(t *study.Trial) bool {
		if k.study.running[t.Number] != nil || slices.Contains(kept, t) || last > 0 && k.mayBeBest(t) {
			return false
		}
		d := k.leftover(t.Number)
		k.cleared[t.Number] = d
		if len(d.names) > 0 {
			drop = append(drop, d)
		}
		return true
	})
	return drop
}

// mayBeBest reports whether a trial may be the best at the study's end, though others rank before
// it now: one of equal values, where the model chooses; one that holds the limits, which others are
// found to break; and the one with today's values, if it is confirmed.
func (k *keeper) mayBeBest(t *study.Trial) bool {
	st := k.study.state
	return t.Succeeded() && (st.Compare(t, st.Incumbent()) == 0 ||
		len(st.Config.AllLimits()) > 0 && len(st.Config.Broken(t.Metrics)) == 0 ||
		st.Config.Run.Confirm > 0 && t.Origin == optimizer.OriginDefault)
}

// enter ranks a trial that has finished among the best.
func (k *keeper) enter(t *study.Trial, most int) {
	if k.cleared[t.Number] == nil {
		k.left = append(k.left, t)
	}
	if !t.Succeeded() {
		return
	}
	at, _ := slices.BinarySearchFunc(k.best, t, func(a, b *study.Trial) int {
		return cmp.Or(k.study.state.Compare(a, b), cmp.Compare(a.Number, b.Number))
	})
	k.best = slices.Insert(k.best, at, t)
	k.best = k.best[:min(most, len(k.best))]
}

// leftover lists what lies in a trial's directory.
func (k *keeper) leftover(trial int) *leftover {
	d := &leftover{trial: filepath.Base(k.study.layout.Trial(trial))}
	var err error
	if d.names, err = k.trials.List(d.trial); err != nil && !errors.Is(err, fs.ErrNotExist) { // it may have gone already
		k.warn(err)
	}
	return d
}

func (k *keeper) warn(err error) {
	k.study.opts.Log.Warn("what a trial has left stays", "error", err)
}
