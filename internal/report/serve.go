package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// Server shows a study in browsers while it runs. It only reads.
type Server struct {
	load    func() (Source, error)
	journal string

	mu      sync.Mutex
	study   *Study
	version int // counts what has been shown
	parts   map[string]versioned
	order   []string
	changed chan struct{} // closed when there is a new version
}

// NewServer returns a server of the study that load reads anew, whenever the file at
// journal has changed.
func NewServer(journal string, load func() (Source, error)) *Server {
	return &Server{load: load, journal: journal, changed: make(chan struct{})}
}

type versioned struct {
	part
	version int
}

// part is a piece of the page that can be replaced by itself.
type part struct {
	ID   string `json:"id"`
	In   string `json:"in"` // where it goes when it is new
	HTML string `json:"html"`
}

const (
	leastPause = 500 * time.Millisecond
	idleness   = 100 // pauses are so many times as long as the work between them
)

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

// Run reads the study again whenever it has changed, until ctx ends, and uses some
// hundredth of a processor for that: the more there is to draw, the more seldom.
func (v *Server) Run(ctx context.Context) error {
	var size int64 = -1
	for {
		begun := time.Now()
		if info, err := os.Stat(v.journal); err == nil && info.Size() != size || v.study != nil && v.study.Running {
			if err == nil {
				size = info.Size()
			}
			if err := v.refresh(ctx); err != nil && v.study == nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(leastPause, idleness*time.Since(begun))):
		}
	}
}

// refresh draws the study anew, and notes which parts have changed. Fitting the model takes
// longest: it is asked again when there is a fifth more to tell.
func (v *Server) refresh(ctx context.Context) error {
	src, err := v.load()
	if err != nil {
		return err
	}
	s := of(src)
	if old := v.study; old != nil && old.Model != nil && s.Running && len(s.Params) == len(old.Params) &&
		len(s.valued())*5 < old.Model.values*6 {
		s.Model = old.Model
	} else {
		s.ask(ctx)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	next := v.version + 1
	parts, order := map[string]versioned{}, []string{}
	for _, p := range s.parts() {
		old, known := v.parts[p.ID]
		if !known || old.part != p {
			old = versioned{p, next}
			v.version = next
		}
		parts[p.ID] = old
		order = append(order, p.ID)
	}
	v.study, v.parts, v.order = s, parts, order
	if v.version == next {
		close(v.changed)
		v.changed = make(chan struct{})
	}
	return nil
}

// Handler answers requests to one of the hosts: those by which the server can be reached
// honestly. Any other comes from a page that has a foreign name lead here.
func (v *Server) Handler(hosts ...string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", v.page)
	mux.HandleFunc("GET /events", v.events)
	mux.HandleFunc("GET /api/v1/study", func(w http.ResponseWriter, r *http.Request) {
		v.answer(w, r, "application/json", func(b *bytes.Buffer, s *Study, _ int) error { return json.NewEncoder(b).Encode(s) })
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		v.answer(w, r, "text/plain; version=0.0.4; charset=utf-8", prometheus)
	})
	honest := map[string]bool{}
	for _, h := range hosts {
		honest[h] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy()+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		origin := r.Header.Get("Origin")
		switch {
		case !honest[r.Host]:
			http.Error(w, "this is not the host that you look for", http.StatusMisdirectedRequest)
		case origin != "" && origin != "http://"+r.Host:
			http.Error(w, "not for other sites", http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "this server only shows", http.StatusMethodNotAllowed)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// answer writes what is made of the study as it is now, once it has been read.
func (v *Server) answer(w http.ResponseWriter, r *http.Request, kind string, write func(*bytes.Buffer, *Study, int) error) {
	v.mu.Lock()
	s, version, changed := v.study, v.version, v.changed
	v.mu.Unlock()
	if s == nil {
		select {
		case <-changed:
			v.answer(w, r, kind, write)
		case <-r.Context().Done():
		}
		return
	}
	var b bytes.Buffer
	if err := write(&b, s, version); err != nil {
		http.Error(w, clean(err.Error(), 500), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(b.Bytes()) // who has gone wants no answer
}

func (v *Server) page(w http.ResponseWriter, r *http.Request) {
	v.answer(w, r, "text/html; charset=utf-8", func(b *bytes.Buffer, s *Study, version int) error {
		return HTML(b, []*Study{s}, "/events?since="+strconv.Itoa(version))
	})
}

// events sends the parts that have changed since a version, and goes on with it.
func (v *Server) events(w http.ResponseWriter, r *http.Request) {
	since, err := strconv.Atoi(r.Header.Get("Last-Event-ID"))
	if err != nil {
		since, _ = strconv.Atoi(r.URL.Query().Get("since"))
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for {
		v.mu.Lock()
		var b bytes.Buffer
		for _, id := range v.order {
			if p := v.parts[id]; p.version > since {
				data, err := json.Marshal(p.part)
				if err != nil {
					panic("report: " + err.Error()) // three strings
				}
				fmt.Fprintf(&b, "event: part\nid: %d\ndata: %s\n\n", v.version, data)
			}
		}
		since = v.version
		changed := v.changed
		v.mu.Unlock()
		if b.Len() == 0 {
			b.WriteString(": nothing new\n\n")
		}
		if _, err := w.Write(b.Bytes()); err != nil || out.Flush() != nil {
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

// prometheus writes the study's figures in the text format of Prometheus.
func prometheus(b *bytes.Buffer, s *Study, _ int) error {
	count := map[string]int{}
	for _, t := range s.Trials {
		count[t.Standing]++
	}
	b.WriteString("# TYPE lbotune_trials gauge\n")
	for _, k := range []string{"succeeded", infeasible, "failed", "pruned", "excluded", "unfinished"} {
		fmt.Fprintf(b, "lbotune_trials{status=%q} %d\n", k, count[k])
	}
	running := 0
	if s.Running {
		running = 1
	}
	fmt.Fprintf(b, "# TYPE lbotune_running gauge\nlbotune_running %d\n", running)
	fmt.Fprintf(b, "# TYPE lbotune_seconds counter\nlbotune_seconds %g\n", s.Seconds)
	if s.Best > 0 {
		fmt.Fprintf(b, "# TYPE lbotune_best gauge\nlbotune_best %g\n", s.Trials[s.Best-1].y())
	}
	return nil
}

// Hosts are the names under which a listener is reached honestly, and the address that a
// person opens.
func Hosts(a net.Addr, asked string) (hosts []string, url string) {
	_, port, _ := net.SplitHostPort(a.String())
	hosts = []string{a.String(), net.JoinHostPort(asked, port)}
	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		hosts = append(hosts, net.JoinHostPort(name, port))
	}
	return hosts, "http://" + hosts[1] + "/"
}
