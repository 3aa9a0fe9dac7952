package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// board holds the parts of a page: it knows what has changed since when, and tells those
// who look at the page.
type board struct {
	mu      sync.Mutex
	version int // counts what has been shown
	parts   map[string]versioned
	order   []string
	changed chan struct{} // closed when there is a new version
	pace    *atomic.Int32 // how many boards share the processor's hundredth
}

func newBoard(pace *atomic.Int32) board {
	return board{parts: map[string]versioned{}, changed: make(chan struct{}), pace: pace}
}

type versioned struct {
	part
	version int
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
	next := b.version + 1
	old := b.parts
	b.parts, b.order = make(map[string]versioned, len(parts)), b.order[:0]
	put := func(p part) {
		v, known := old[p.ID]
		if !known || v.part != p {
			v = versioned{p, next}
			b.version = next
		}
		b.parts[p.ID] = v
		b.order = append(b.order, p.ID)
	}
	for _, p := range parts {
		put(p)
	}
	for id, v := range old {
		if _, stays := b.parts[id]; !stays {
			put(part{ID: id, In: v.In})
		}
	}
	if b.version == next {
		close(b.changed)
		b.changed = make(chan struct{})
	}
}

// feed is where a page that has what is shown now learns of more.
func feed(version int) string { return "events?since=" + strconv.Itoa(version) }

// events sends the parts that have changed since a version, and goes on with it. A version
// that there has not been yet is that of an earlier server: then everything is new.
func (b *board) events(w http.ResponseWriter, r *http.Request) {
	since, err := strconv.Atoi(r.Header.Get("Last-Event-ID"))
	if err != nil {
		since, _ = strconv.Atoi(r.URL.Query().Get("since"))
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for {
		b.mu.Lock()
		var text bytes.Buffer
		if since > b.version {
			since = 0
		}
		for _, id := range b.order {
			if p := b.parts[id]; p.version > since {
				data, err := json.Marshal(p.part)
				if err != nil {
					panic("report: " + err.Error()) // three strings
				}
				fmt.Fprintf(&text, "event: part\nid: %d\ndata: %s\n\n", b.version, data)
			}
		}
		since = b.version
		changed := b.changed
		b.mu.Unlock()
		if text.Len() == 0 {
			text.WriteString(": nothing new\n\n")
		}
		if _, err := w.Write(text.Bytes()); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		case <-time.After(15 * time.Second): // shows that the connection lives
		}
	}
}
