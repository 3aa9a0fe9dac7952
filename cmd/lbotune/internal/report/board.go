package report

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/lists"
)

// board holds what a page shows, and tells those who look at the page of what is new.
type board struct {
	mu    sync.Mutex
	shown *shown
	over  chan struct{} // closed when nothing more will be shown
	pace  *atomic.Int32 // how many boards share the processor's hundredths
}

func newBoard() board {
	first := &shown{version: int(time.Now().UnixMilli()), newer: make(chan struct{})}
	return board{shown: first, over: make(chan struct{}), pace: new(atomic.Int32)}
}

// shown is what a page shows, and does not change: all who look share it.
type shown struct {
	version int           // counts what has been shown, from where no earlier server has come
	parts   []versioned   // those that have gone are the last
	newer   chan struct{} // closed when something newer is shown
}

type versioned struct {
	part
	version int    // since which it is as it is
	event   []byte // that tells of it
	before  int    // the version of what the part was, if
	delta   []byte // that says how to make the part of it; nil where there is little to gain
}

// part is a piece of the page that can be replaced by itself; one without HTML has gone.
type part struct {
	ID   string `json:"id"`
	In   string `json:"in"` // where it goes when it is new
	HTML string `json:"html"`
}

const (
	leastPause = 500 * time.Millisecond
	mostGone   = 1000 // parts that have gone and are still told of
	idleness   = 33   // pauses are so many times as long as the work between them
)

// rest is how long to do nothing after work that began when so much processor time was used, so
// that the boards together use some hundredths of a processor: the more there is to do, the more
// seldom. Processor time counts, so that a busy machine does not make them rest for long.
func (b *board) rest(begun time.Duration) time.Duration {
	return max(leastPause, time.Duration(idleness*b.pace.Load())*(spent()-begun))
}

// spent is the processor time that this process has used.
func spent() time.Duration {
	var u syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &u)) // the arguments are ours
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// show replaces the parts, with the lock held, and says how much there is to send.
func (b *board) show(parts []part) (total int) {
	old := map[string]versioned{}
	for _, v := range b.shown.parts {
		old[v.ID] = v
	}
	next := &shown{version: b.shown.version, newer: make(chan struct{})}
	put := func(p part) {
		v, known := old[p.ID]
		if !known || v.part != p {
			next.version = b.shown.version + 1
			now := versioned{part: p, version: next.version, before: v.version, event: event(p)}
			size := len(now.event)
			if known && p.In == "cards" {
				if d := event(deltaOf(p.ID, v.HTML, p.HTML)); 2*len(d) < size {
					now.delta, size = d, len(d)
				}
			}
			v = now
			total += size
		}
		delete(old, p.ID)
		next.parts = append(next.parts, v)
	}
	for _, p := range parts {
		put(p)
	}
	for _, v := range b.shown.parts[:min(len(b.shown.parts), len(parts)+mostGone)] {
		if _, gone := old[v.ID]; gone {
			put(part{ID: v.ID, In: v.In})
		}
	}
	if next.version > b.shown.version {
		close(b.shown.newer)
		b.shown = next
	}
	return total
}

func (s *shown) pieces() []part { return lists.Map(s.parts, func(v versioned) part { return v.part }) }

func event(what any) []byte {
	text, err := journal.Plain(what) // which a parser of JSON reads
	must(err)                        // of texts and numbers
	return fmt.Appendf(nil, "event: part\ndata: %s\n\n", text)
}

// delta says how to make a part of what it was: of texts, and of runs of its lines, each the first
// and how many.
type delta struct {
	ID    string `json:"id"`
	Lines []any  `json:"lines"`
}

func deltaOf(id, before, after string) delta {
	was, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	at := make(map[string]int, len(was)) // from 1
	for i, line := range was {
		at[line] = i + 1
	}
	d := delta{ID: id}
	for i := 0; i < len(now); {
		fresh := i
		for i < len(now) && at[now[i]] == 0 {
			i++
		}
		if i > fresh {
			d.Lines = append(d.Lines, strings.Join(now[fresh:i], "\n"))
		}
		if i < len(now) {
			k, n := at[now[i]]-1, 1
			for i+n < len(now) && k+n < len(was) && now[i+n] == was[k+n] {
				n++
			}
			d.Lines = append(d.Lines, [2]int{k, n})
			i += n
		}
	}
	return d
}

func (b *board) current() *shown {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shown
}

// first is what is shown, once there is something; nil, and an answer that says so, if there is not.
func (b *board) first(w http.ResponseWriter, r *http.Request) *shown {
	for {
		now := b.current()
		if now.parts != nil {
			return now
		}
		select {
		case <-now.newer:
		case <-r.Context().Done():
			return nil
		case <-b.over:
			http.Error(w, "the study can't be read", http.StatusServiceUnavailable)
			return nil
		}
	}
}

// feed is where a page that has what is shown now learns of more.
func (s *shown) feed() string { return "events?since=" + strconv.Itoa(s.version) }

// events sends the parts that have changed since a version, and goes on with it. Since that of an
// earlier server everything has, and since one that there has not been.
func (b *board) events(w http.ResponseWriter, r *http.Request) {
	since, err := strconv.Atoi(r.Header.Get("Last-Event-ID"))
	if err != nil {
		since, _ = strconv.Atoi(r.URL.Query().Get("since"))
	}
	w.Header().Set("Content-Type", "text/event-stream")
	whole := map[string]bool{} // the cards that it has had here, and deltas can be of
	for {
		s := b.current()
		if since > s.version {
			since = 0
		}
		for _, p := range s.parts {
			text := p.event
			if p.version <= since {
				continue
			} else if p.In == "cards" {
				if p.delta != nil && whole[p.ID] && p.before <= since {
					text = p.delta
				}
				whole[p.ID] = true
			}
			if deliver(w, text) != nil {
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

// attend gives a reader time for what is written next.
func attend(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience)) // tests record, and have none
}

// deliver writes a text that others share, unless its reader does not read.
func deliver(w http.ResponseWriter, text []byte) error {
	for piece := range slices.Chunk(text, atOnce) {
		attend(w)
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}
