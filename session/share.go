package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lbotune/lbotune/internal/kinds"
	"github.com/lbotune/lbotune/internal/layout"
)

// A Sharer grants the slots of a study that shares a machine with others.
type Sharer interface {
	// Take waits until one of the study's slots may be used that vacant lists, and returns
	// it. Closing hold gives it back, unless other processes have it open.
	Take(ctx context.Context, vacant func() []int) (slot int, hold []*os.File, err error)
}

func release(hold []*os.File) {
	for _, f := range hold {
		f.Close()
	}
}

// sharing is what a loop has to do with the sharer.
type sharing struct {
	granted map[int][]*os.File // what holds the slots that it has granted and that are not used yet
	cancel  context.CancelFunc // of the slot that is asked for; nil if none is
	done    sync.WaitGroup
	unused  []*os.File // of a slot that was granted and that the loop has not heard of

	vacant atomic.Pointer[[]int] // slots that nothing of this study uses
}

// usable reports whether an attempt may be started in slot i now.
func (l *loop) usable(i int) bool {
	_, granted := l.sharing.granted[i]
	return i < l.open && l.taken[i] == 0 && (granted || l.study.sharer == nil) && l.room() > 0
}

// room is how many more attempts may run. Those that were found running in slots that are
// closed count as others do.
func (l *loop) room() int { return l.open - len(l.study.running) }

func (l *loop) freeSlots() int {
	n := 0
	for i := range l.open {
		if l.usable(i) {
			n++
		}
	}
	return min(n, max(l.room(), 0))
}

// slotFor is the slot for an attempt that is about to be launched, -1 if there is none now. One that
// may be running goes on in its own slot, or in any that is not taken if that is not known, and needs
// no grant. No other gets a slot in which such a one may be running (claimed).
func (l *loop) slotFor(id layout.AttemptID) int {
	its, left := l.left[id.Trial]
	if left && its >= 0 {
		return its
	}
	for i := range l.open {
		if (l.usable(i) || left && l.taken[i] == 0) && !l.claimed(i) {
			return i
		}
	}
	return -1
}

// mostSlots bounds what is believed of a journal.
const mostSlots = 1 << 16

// readSlot is the slot in which an earlier session has started the attempt, -1 if that is not known: as
// it was recorded, or, where that session was killed before that, as it stands in the attempt's
// directory, or, of an attempt that waits without one, in what the launcher keeps. One without it was
// started, if at all, where there was one slot alone.
func (l *loop) readSlot(id layout.AttemptID) int {
	as := l.study.state.Trials[id.Trial-1].Attempts
	if n := len(as); n > 0 && as[n-1].Number == id.Attempt && 0 <= as[n-1].Slot && as[n-1].Slot < mostSlots {
		return as[n-1].Slot
	}
	dir := l.study.layout.Attempt(id)
	_ = l.study.unpack(id)
	text, err := l.study.layout.Read(filepath.Join(dir, layout.SlotName), 16)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte("0")
		_, err = l.study.layout.Stat(dir)
	}
	if keeper, ok := l.study.opts.Launcher.(kinds.Keeper); ok && errors.Is(err, fs.ErrNotExist) {
		if content, kept := keeper.Kept(dir, layout.SlotName); kept && content != nil {
			text, err = content, nil
		} else if kept {
			err = nil
		}
	}
	slot, wrong := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || wrong != nil || slot < 0 || slot >= mostSlots {
		return -1
	}
	return slot
}

// claimed reports whether another attempt that waits may be running in the slot.
func (l *loop) claimed(slot int) bool {
	return slices.ContainsFunc(l.ready, func(id layout.AttemptID) bool {
		its, left := l.left[id.Trial]
		return left && its == slot
	})
}

// giveBackUnused frees the slots that no attempt uses, from the n-th on. Whoever has waited longer
// for one has it next.
func (l *loop) giveBackUnused(n int) {
	for i, hold := range l.sharing.granted {
		if i >= n {
			release(hold)
			delete(l.sharing.granted, i)
		}
	}
}

// share asks the sharer for a slot when something waits for one, and returns what
// nothing waits for any more.
func (l *loop) share() {
	if l.study.sharer == nil {
		return
	}
	var vacant []int
	for i := range l.open {
		if _, granted := l.sharing.granted[i]; !granted && l.taken[i] == 0 && l.room() > 0 {
			vacant = append(vacant, i)
		}
	}
	l.sharing.vacant.Store(&vacant)
	waits := l.waits()
	switch {
	case waits && l.sharing.cancel == nil && len(vacant) > 0:
		l.askForSlot()
	case !waits && l.sharing.cancel != nil:
		l.sharing.cancel()
	}
	if !l.asking && !waits {
		l.giveBackUnused(0)
	}
}

func (l *loop) askForSlot() {
	ctx, cancel := context.WithCancel(l.life)
	l.sharing.cancel = cancel
	l.sharing.done.Go(func() {
		i, hold, err := l.study.sharer.Take(ctx, func() []int { return *l.sharing.vacant.Load() })
		if err != nil && ctx.Err() != nil {
			err = context.Canceled
		}
		l.sharing.unused = hold
		l.send(func() { l.onSlot(i, hold, err) })
	})
}

// onSlot keeps a slot for what is started next.
func (l *loop) onSlot(i int, hold []*os.File, err error) {
	l.sharing.cancel()
	l.sharing.cancel, l.sharing.unused = nil, nil
	switch {
	case errors.Is(err, context.Canceled):
	case err != nil:
		l.fatal = cmp.Or(l.fatal, fmt.Errorf("wait for a slot: %w", err))
	case l.taken[i] > 0, i >= l.open: // meanwhile, by an attempt that was found running
		release(hold)
	default:
		l.sharing.granted[i] = hold
	}
}

// unshare returns what no attempt uses, when the loop has ended.
func (l *loop) unshare() {
	l.sharing.done.Wait()
	release(l.sharing.unused)
	l.giveBackUnused(0)
}

// waits reports whether something could be started if there were another slot.
func (l *loop) waits() bool {
	starts := func(id layout.AttemptID) bool { return !l.rests(id) }
	return !l.halted() && l.freeSlots() == 0 && (slices.ContainsFunc(l.ready, starts) || l.mayAsk() || len(l.toConfirm()) > 0)
}
