package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lbotune/lbotune/study"
)

// A Sharer grants the slots of a study that shares a machine with others.
type Sharer interface {
	// Take waits until one of the study's slots may be used that vacant lists, and returns
	// it. Closing hold gives it back, unless other processes have it open.
	Take(ctx context.Context, vacant func() []int) (slot int, hold []*os.File, err error)
}

// slot is a place for one attempt.
type slot struct {
	taken   bool // by an attempt
	granted bool // or kept for one, where slots are shared
	closed  bool // fewer are wanted now
	hold    []*os.File
}

// granted is the sharer's answer.
type granted struct {
	slot int
	hold []*os.File
	err  error
}

// release closes what is held.
func release(hold []*os.File) {
	for _, f := range hold {
		f.Close()
	}
}

// sharing is what a loop has to do with the sharer.
type sharing struct {
	asked  bool // a slot is asked for
	cancel context.CancelFunc
	done   sync.WaitGroup

	vacant atomic.Pointer[[]int] // slots that nothing of this study uses
}

// usable reports whether an attempt may be started in the slot now.
func (l *loop) usable(s slot) bool { return !s.taken && !s.closed && (s.granted || l.sharer == nil) }

// freeSlots counts the slots in which an attempt may be started.
func (l *loop) freeSlots() int {
	n := 0
	for _, s := range l.slots {
		if l.usable(s) {
			n++
		}
	}
	return n
}

// slotFor is the slot for an attempt that is about to be launched, -1 if there is none
// now. One that may be running goes on in its own, and needs none that is granted.
func (l *loop) slotFor(id study.AttemptID) int {
	if !l.resumed[id.Trial] {
		return slices.IndexFunc(l.slots, l.usable)
	}
	if id.Trial > 0 {
		if as := l.state.Trials[id.Trial-1].Attempts; len(as) > 0 {
			if a := as[len(as)-1]; a.Number == id.Attempt && a.Slot < len(l.slots) && !l.slots[a.Slot].taken {
				return a.Slot
			}
		}
	}
	return slices.IndexFunc(l.slots, func(s slot) bool { return !s.taken })
}

// giveBack frees the slot of an attempt that has ended. Whoever has waited longer for
// it has it next.
func (l *loop) giveBack(i int) {
	release(l.slots[i].hold)
	l.slots[i] = slot{closed: l.slots[i].closed}
}

// resize makes n slots the ones in which attempts are started from now on.
func (l *loop) resize(n int) {
	l.slots = append(l.slots, make([]slot, max(n-len(l.slots), 0))...)
	for i := range l.slots {
		l.slots[i].closed = i >= n
		if s := l.slots[i]; s.closed && !s.taken && s.granted {
			l.giveBack(i)
		}
	}
}

// share asks the sharer for a slot when something waits for one, and returns what
// nothing waits for any more.
func (l *loop) share() {
	if l.sharer == nil {
		return
	}
	var vacant []int
	for i, s := range l.slots {
		if !s.taken && !s.granted && !s.closed {
			vacant = append(vacant, i)
		}
	}
	l.sharing.vacant.Store(&vacant)
	waits := l.waits()
	switch {
	case waits && !l.sharing.asked && len(vacant) > 0:
		l.askForSlot()
	case !waits && l.sharing.asked:
		l.sharing.cancel()
	}
	if !l.asking && !waits {
		for i, s := range l.slots {
			if !s.taken && s.granted {
				l.giveBack(i)
			}
		}
	}
}

// askForSlot asks the sharer for a slot. The answer comes as granted.
func (l *loop) askForSlot() {
	ctx, cancel := context.WithCancel(l.life)
	l.sharing.asked, l.sharing.cancel = true, cancel
	l.sharing.done.Go(func() {
		i, hold, err := l.sharer.Take(ctx, func() []int { return *l.sharing.vacant.Load() })
		if err != nil && ctx.Err() != nil {
			err = context.Canceled
		}
		select {
		case l.inbox <- granted{slot: i, hold: hold, err: err}:
		case <-l.life.Done():
			release(hold)
		}
	})
}

// granted keeps a slot for what is started next.
func (l *loop) granted(g granted) {
	l.sharing.asked = false
	l.sharing.cancel()
	switch {
	case errors.Is(g.err, context.Canceled):
	case g.err != nil && l.fatal == nil:
		l.fatal = fmt.Errorf("wait for a slot: %w", g.err)
	case g.err != nil:
	case l.slots[g.slot].taken, l.slots[g.slot].closed: // meanwhile, by an attempt that was found running
		release(g.hold)
	default:
		l.slots[g.slot] = slot{granted: true, hold: g.hold}
	}
}

// unshare returns what no attempt uses, when the loop has ended.
func (l *loop) unshare() {
	l.sharing.done.Wait()
	for {
		select {
		case m := <-l.inbox:
			if g, ok := m.(granted); ok {
				release(g.hold)
			}
			continue
		default:
		}
		break
	}
	for i, s := range l.slots {
		if !s.taken {
			l.giveBack(i)
		}
	}
}

// waits reports whether something could be started if there were another slot.
func (l *loop) waits() bool {
	if l.halted() || l.freeSlots() > 0 {
		return false
	}
	more := l.state.SetUp && l.ending == nil && !l.asking && l.state.Room() > 0 && len(l.state.Order) >= l.waitsFor
	return len(l.ready) > 0 || more || len(l.toConfirm()) > 0
}
