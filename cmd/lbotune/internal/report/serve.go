package report

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"
)

// Server shows a study in browsers while it runs.
type Server struct {
	board
	journal string
	load    func() (Source, error)
	follow  Follow
	study   *Study          // as it was last read; what else than its own there is may have gone on
	changes int             // that it had been told of
	cards   map[string]part // as they were last drawn
	model   *Model          // the newest, which may be older than the study
	noModel string
	made    map[string]func() (*spool, error) // of what is shown now, once for all who ask

	Control Control // lets people change the study; nil only shows it
	home    string  // the page that lists this study among others
}

// Follow reads a study and goes on with what is recorded, until it has ended. Look is called again
// and again, told whether there is something new. What it takes changes after it.
type Follow func(ctx context.Context, look func(changed bool, take func() (Source, error)) error) error

// NewServer returns a server of the study whose journal is the file at that path. Load reads it
// for whoever keeps it.
func NewServer(journal string, load func() (Source, error), follow Follow) *Server {
	return &Server{board: newBoard(), journal: journal, load: load, follow: follow, cards: map[string]part{}, noModel: unasked}
}

const (
	mostPause = 5 * time.Second        // until times and outputs are looked at without a record
	quickRest = 30                     // moments of rest after one of drawing what must be quick,
	mostRest  = 700 * time.Millisecond // unless that is as long
	sentRate  = 100 << 10              // bytes a second that the rest of the page may take
)

// unasked is why there is no model yet.
const unasked = "it is being asked"

var errReplaced = errors.New("another journal is in its place")

// Run keeps the page up to date until ctx ends: head, history, table and running trials with each
// record; what takes longer beside it, when it can.
func (v *Server) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer close(v.over)
	v.pace.Add(1)
	defer v.pace.Add(-1)
	var beside sync.WaitGroup
	beside.Go(func() { v.deepen(ctx) })
	defer beside.Wait()
	defer stop()
	for changed := true; ; {
		first, _ := os.Stat(v.journal)
		last, looked, rest := first, time.Time{}, time.Duration(0)
		err := v.follow(ctx, func(more bool, take func() (Source, error)) error {
			changed = changed || more
			begun, pause := time.Now(), rest
			if !changed {
				if last, _ = os.Stat(v.journal); !os.SameFile(first, last) {
					return errReplaced
				}
				pause = mostPause
			}
			if begun.Sub(looked) < pause || !changed && !v.study.Running {
				return ctx.Err()
			}
			src, err := take()
			if err != nil {
				return err
			}
			v.draw(src, changed)
			changed, looked = false, time.Now()
			rest = min(quickRest*looked.Sub(begun), mostRest)
			return nil
		})
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && v.study == nil {
			return err
		}
		replaced := errors.Is(err, errReplaced)
		if err != nil && !replaced {
			src := v.study.src
			src.Running, src.Lost = false, err
			v.draw(src, false)
		}
		for again := replaced || changed && err == nil; !again; { // it has ended, and may go on
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(leastPause):
				now, err := os.Stat(v.journal)
				again = err == nil && (v.study.Running || !os.SameFile(last, now) || last.Size() != now.Size())
			}
		}
		changed = true
	}
}

// draw draws what must be quick of a study that is followed.
func (v *Server) draw(src Source, changed bool) {
	old := v.study // which nobody else replaces
	s := after(src, old)
	s.Live = served{On: true, Home: v.home, Logs: src.Log != nil, Control: v.Control != nil}
	v.mu.Lock()
	defer v.mu.Unlock()
	if old != nil && old.ID != s.ID { // another study is in its place
		v.cards, v.model, v.noModel = map[string]part{}, nil, unasked
	}
	s.take(v.model, v.noModel)
	if v.study = s; changed {
		v.changes++
	}
	v.put(s.drawn(true, false))
}

// put shows cards that are drawn anew beside those that are not, with the lock held.
func (v *Server) put(drawn []part) (bytes int) {
	for _, p := range drawn {
		v.cards[p.ID] = p
	}
	var all []part
	for _, c := range append([]plot{{name: "head"}}, cards...) {
		p, drawn := v.cards[c.name]
		if !drawn {
			p = part{c.name, "cards", render("card", card{ID: c.name})}
		}
		all = append(all, p)
	}
	v.made = map[string]func() (*spool, error){}
	return v.show(append(all, v.study.panels()...))
}

// deepen draws what takes longer, whenever something has changed and it has rested enough.
// Fitting the model takes longest: it is asked again when there is a fifth more to tell.
func (v *Server) deepen(ctx context.Context) {
	for seen := 0; ; {
		v.mu.Lock()
		s, changes, newer, old := v.study, v.changes, v.shown.newer, v.model
		v.mu.Unlock()
		if changes == seen {
			select {
			case <-ctx.Done():
				return
			case <-newer:
			}
			continue
		}
		seen = changes
		begun, sent := spent(), 0
		if src, err := v.load(); err == nil { // else it is told elsewhere
			live, running := s.Live, s.Running
			s = of(src)
			s.Live = live
			if !running || old == nil || len(s.ranked)*5 >= old.values*6 || !s.take(old, "") {
				s.ask(ctx)
			}
			if ctx.Err() != nil {
				return
			}
			drawn := s.drawn(false, true)
			v.mu.Lock()
			if now := *v.study; now.ID == s.ID {
				now.state = s.state // its own is changed meanwhile
				now.take(s.Model, s.NoModel)
				v.model, v.noModel = s.Model, s.NoModel
				sent = v.put(append(drawn, now.head()))
			}
			v.mu.Unlock()
		}
		ran, asked := s.Running, s.Model != old
		s = nil // its state is not needed while it rests
		if asked {
			debug.FreeOSMemory() // asking takes as much again as is kept
		}
		rest := max(v.rest(begun), time.Second*time.Duration(sent)/sentRate)
		for end := time.Now().Add(rest); time.Now().Before(end) && (!ran || v.running()); {
			select {
			case <-ctx.Done():
				return
			case <-time.After(leastPause):
			}
		}
	}
}

// Handler answers requests to one of the hosts, of those who know the token.
func (v *Server) Handler(token string, hosts ...string) http.Handler {
	return guard(v.mux(), v.Control != nil, token, hosts)
}

func (v *Server) mux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", v.answer("text/html; charset=utf-8", func(w io.Writer, s *Study, now *shown) error {
		page := whole{Title: title([]*Study{s}), Feed: now.feed(), Studies: []body{{s, now.pieces()}}}
		return pages().ExecuteTemplate(w, "page", page)
	}))
	mux.HandleFunc("GET /events", v.events)
	mux.HandleFunc("GET /log/{trial}", v.log)
	mux.HandleFunc("GET /api/v1/study", v.answer("application/json", func(w io.Writer, _ *Study, _ *shown) error {
		src, err := v.load()
		if err != nil {
			return err
		}
		s := of(src)
		v.mu.Lock()
		s.take(v.model, v.noModel)
		v.mu.Unlock()
		return s.writeJSON(w)
	}))
	mux.HandleFunc("GET /metrics", v.answer("text/plain; version=0.0.4; charset=utf-8", prometheus))
	if v.Control != nil {
		mux.HandleFunc("POST /api/v1/requests", v.obey)
	}
	return mux
}

func (v *Server) running() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.study.Running
}

// now is the study as it is now, once it has been read; nil, and an answer that says so, if it is not.
func (v *Server) now(w http.ResponseWriter, r *http.Request) *Study {
	if v.first(w, r) == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.study
}

// answer writes what is made of what is shown now, once for all who ask.
func (v *Server) answer(kind string, write func(io.Writer, *Study, *shown) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if v.now(w, r) == nil {
			return
		}
		v.mu.Lock()
		made := v.made[kind]
		if made == nil {
			s, now := v.study, v.shown
			made = sync.OnceValues(func() (*spool, error) {
				text := &spool{}
				return text, write(text, s, now)
			})
			v.made[kind] = made
		}
		v.mu.Unlock()
		text, err := made()
		if err != nil {
			v.mu.Lock()
			delete(v.made, kind) // it may go better the next time
			v.mu.Unlock()
			http.Error(w, clean(err.Error(), 500), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", kind)
		if text.deliver(w) != nil {
			panic(http.ErrAbortHandler) // else what is cut off would seem whole
		}
	}
}

func prometheus(w io.Writer, s *Study, _ *shown) error {
	var best map[string]float64
	if s.Best > 0 {
		best = map[string]float64{"Value": s.figures.Value}
	}
	return texts.ExecuteTemplate(w, "prometheus", map[string]any{"Study": s, "Best": best, "Count": s.count(), "Standings": standings, "Elapsed": s.figures.Elapsed})
}
