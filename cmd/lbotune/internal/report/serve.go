package report

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
)

// Server shows a study in browsers while it runs.
type Server struct {
	board
	load    func() (Source, error)
	journal string
	size    int64 // of the journal when it was read
	study   *Study
	made    map[string]func() ([]byte, error) // of the study as it is now, once for all who ask

	// Control, if there is one, lets people change the study; nil only shows it.
	Control Control
	home    string // the page that lists this study among others
}

// NewServer returns a server of the study that load reads anew, whenever the file at
// journal has changed.
func NewServer(journal string, load func() (Source, error)) *Server {
	return &Server{board: newBoard(new(atomic.Int32)), load: load, journal: journal, size: -1}
}

// parts are the pieces of a study's page by themselves, in their order.
func (s *Study) parts() []part {
	sh := s.sheet()
	out := []part{{"head", "top", render("head", sh)}}
	for _, c := range sh.Cards {
		out = append(out, part{c.ID, "cards", render("card", c)})
	}
	for _, t := range sh.Trials {
		out = append(out, part{t.ID, "trials", render("trial", t)})
	}
	return out
}

// Run reads the study again whenever it has changed, until ctx ends.
func (v *Server) Run(ctx context.Context) error {
	return v.watch(ctx, func() error {
		info, err := os.Stat(v.journal)
		if (err != nil || info.Size() == v.size) && (v.study == nil || !v.study.Running) {
			return nil
		}
		if err == nil {
			v.size = info.Size()
		}
		if err := v.refresh(ctx); err != nil && v.study == nil {
			return err
		}
		return nil
	})
}

// refresh draws the study anew, and notes which parts have changed. Fitting the model takes
// longest: it is asked again when there is a fifth more to tell.
func (v *Server) refresh(ctx context.Context) error {
	src, err := v.load()
	if err != nil {
		return err
	}
	s := of(src)
	s.live = served{Home: v.home, Logs: src.Log != nil, Control: v.Control != nil}
	if old := v.study; old != nil && old.Model != nil && s.Running && len(s.Params) == len(old.Params) &&
		len(s.valued())*5 < old.Model.values*6 {
		s.Model = old.Model
	} else {
		s.ask(ctx)
	}
	parts := s.parts()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.study, v.made = s, nil
	v.show(parts)
	return nil
}

// Handler answers requests to one of the hosts, of those who know the token.
func (v *Server) Handler(token string, hosts ...string) http.Handler {
	return guard(v.mux(), v.Control != nil, token, hosts)
}

func (v *Server) mux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		v.answer(w, r, "text/html; charset=utf-8", func(b *bytes.Buffer, s *Study, feed string) error { return HTML(b, []*Study{s}, feed) })
	})
	mux.HandleFunc("GET /events", v.events)
	mux.HandleFunc("GET /log/{trial}", v.log)
	mux.HandleFunc("GET /api/v1/study", func(w http.ResponseWriter, r *http.Request) {
		v.answer(w, r, "application/json", func(b *bytes.Buffer, s *Study, _ string) error { return json.NewEncoder(b).Encode(s.Complete()) })
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		v.answer(w, r, "text/plain; version=0.0.4; charset=utf-8", prometheus)
	})
	if v.Control != nil {
		mux.HandleFunc("POST /api/v1/requests", v.obey)
	}
	return mux
}

// now is the study as it is now, once it has been read; nil if the request ends before.
func (v *Server) now(r *http.Request) *Study {
	for {
		v.mu.Lock()
		s, newer := v.study, v.shown.newer
		v.mu.Unlock()
		if s != nil {
			return s
		}
		select {
		case <-newer:
		case <-r.Context().Done():
			return nil
		}
	}
}

// answer writes what is made of the study as it is now, and of the feed that goes on from there.
func (v *Server) answer(w http.ResponseWriter, r *http.Request, kind string, write func(b *bytes.Buffer, s *Study, feed string) error) {
	if v.now(r) == nil {
		return
	}
	v.mu.Lock()
	made := v.made[kind]
	if made == nil {
		s, feed := v.study, v.shown.feed()
		made = sync.OnceValues(func() ([]byte, error) {
			var b bytes.Buffer
			err := write(&b, s, feed)
			return b.Bytes(), err
		})
		if v.made == nil {
			v.made = map[string]func() ([]byte, error){}
		}
		v.made[kind] = made
	}
	v.mu.Unlock()
	text, err := made()
	if err != nil {
		http.Error(w, clean(err.Error(), 500), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	_ = deliver(w, text) // the client may be gone
}

// prometheus writes the study's figures in the text format of Prometheus.
func prometheus(b *bytes.Buffer, s *Study, _ string) error {
	count := map[string]int{}
	for _, t := range s.Trials {
		count[t.Standing]++
	}
	return texts.ExecuteTemplate(b, "prometheus", map[string]any{"Study": s, "Best": s.figures.Best, "Count": count,
		"Standings": []string{"succeeded", infeasible, "failed", "pruned", "excluded", "unfinished"}})
}
