package report

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// board holds what a page shows, and tells those who look at the page of what is new.
type board struct {
	mu    sync.Mutex
	shown *shown
	pace  *atomic.Int32 // how many boards share the processor's hundredth
}

func newBoard(pace *atomic.Int32) board {
	return board{shown: &shown{newer: make(chan struct{})}, pace: pace}
}

// shown is what a page shows, and does not change: all who look share it.
type shown struct {
	version int           // counts what has been shown
	parts   []versioned   // those that have gone are the last
	newer   chan struct{} // closed when something newer is shown
}

type versioned struct {
	part
	version int    // since which it is as it is
	event   []byte // that tells of it
}

// part is a piece of the page that can be replaced by itself; one without HTML has gone.
type part struct {
	ID   string `json:"id"`
	In   string `json:"in"` // where it goes when it is new
	HTML string `json:"html"`
}

const (
	leastPause = 500 * time.Millisecond
	idleness   = 100 // pauses are so many times as long as the work between them
)

// watch looks again and again until ctx ends, and uses some hundredth of a processor for
// that: the more there is to do, the more seldom. What counts is processor time, so that a
// busy machine does not make it rest for long.
func (b *board) watch(ctx context.Context, look func() error) error {
	b.pace.Add(1)
	defer b.pace.Add(-1)
	for {
		begun := spent()
		if err := look(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(leastPause, time.Duration(idleness*b.pace.Load())*(spent()-begun))):
		}
	}
}

// spent is the processor time that this process has used.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("report: " + err.Error()) // the arguments are ours
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// show replaces the parts, with the lock held.
func (b *board) show(parts []part) {
	old := map[string]versioned{}
	for _, v := range b.shown.parts {
		old[v.ID] = v
	}
	next := &shown{version: b.shown.version, newer: make(chan struct{})}
	put := func(p part) {
		v, known := old[p.ID]
		if !known || v.part != p {
			data, err := json.Marshal(p)
			if err != nil {
				panic("report: " + err.Error()) // three strings
			}
			next.version = b.shown.version + 1
			v = versioned{p, next.version, fmt.Appendf(nil, "event: part\ndata: %s\n\n", data)}
		}
		delete(old, p.ID)
		next.parts = append(next.parts, v)
	}
	for _, p := range parts {
		put(p)
	}
	for _, v := range b.shown.parts {
		if _, gone := old[v.ID]; gone {
			put(part{ID: v.ID, In: v.In})
		}
	}
	if next.version > b.shown.version {
		close(b.shown.newer)
		b.shown = next
	}
}

// current is what is shown now.
func (b *board) current() *shown {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shown
}

// feed is where a page that has what is shown now learns of more.
func (s *shown) feed() string { return "events?since=" + strconv.Itoa(s.version) }

// events sends the parts that have changed since a version, and goes on with it. A version
// that there has not been yet is that of an earlier server: then everything is new.
func (b *board) events(w http.ResponseWriter, r *http.Request) {
	since, err := strconv.Atoi(r.Header.Get("Last-Event-ID"))
	if err != nil {
		since, _ = strconv.Atoi(r.URL.Query().Get("since"))
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for {
		s := b.current()
		if since > s.version {
			since = 0
		}
		for _, p := range s.parts {
			if p.version > since && deliver(w, p.event) != nil {
				return
			}
		}
		// A page that has not had all of it asks for all of it again.
		if deliver(w, fmt.Appendf(nil, "id: %d\n\n", s.version)) != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		since = s.version
		select {
		case <-r.Context().Done():
			return
		case <-s.newer:
		case <-time.After(15 * time.Second): // shows that the connection lives
		}
	}
}

const (
	patience = 30 * time.Second // with somebody who does not read
	atOnce   = 64 << 10         // bytes that somebody must read within it
)

// deliver writes a text that others share, unless its reader does not read.
func deliver(w http.ResponseWriter, text []byte) error {
	for piece := range slices.Chunk(text, atOnce) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience)) // tests record, and have none
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}
