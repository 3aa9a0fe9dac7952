package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

const tokenName = "LBOTUNE_TOKEN"

var tokenRE = pattern.Lazy(`^[A-Za-z0-9_-]{16,}$`)

// shower shows something in browsers: a study, or a folder of them.
type shower interface {
	Run(context.Context) error
	Handler(token string, hosts ...string) http.Handler
}

func newServe(g *global, above *cobra.Command) {
	cmd := newCommand(above, "serve [STUDY | FOLDER]", "Show studies in the browser while they run",
		`Serve shows the page of report, and keeps it up to date while the study runs. For a
FOLDER (default: the current one) it lists the studies in it and below, each with its
page. It follows the output of running trials. It also serves /api/v1/study, with what
report --format json prints, and /metrics, for Prometheus.

Anyone with the address that it prints, which ends in a token, can see the studies, and
with --control also enqueue, exclude, note and stop. The browser keeps the token;
programs send it in a header, "Authorization: Bearer TOKEN". The token is new each time,
or is the value of LBOTUNE_TOKEN, which is not printed. Serve listens only to this
machine unless --listen says otherwise.`)
	listen := cmd.Flags().String("listen", "127.0.0.1:8765", "listen at `HOST:PORT`")
	control := cmd.Flags().Bool("control", false, "let anyone with the token change the studies")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		arg := append(args, ".")[0]
		var c report.Control
		if *control {
			c = func(ctx context.Context, dir string, o report.Order) (string, error) { return obey(ctx, g, dir, o) }
		}
		token, secret := os.Getenv(tokenName), ""
		if token == "" {
			token = rand.Text()
			secret = "?token=" + token
		} else if !tokenRE().MatchString(token) {
			return usagef("%s: want 16 letters, digits, - and _ at least, and nothing else", tokenName)
		}
		what, v, err := toShow(g, arg, c)
		if err != nil {
			return err
		}
		host, _, err := net.SplitHostPort(*listen)
		if err != nil {
			return usagef("--listen: found %q; want HOST:PORT", *listen)
		}
		ln, err := net.Listen("tcp", *listen)
		if err != nil {
			return hinted(usagef("--listen: %w", err), "--listen 127.0.0.1:0 takes any port that is free")
		}
		hosts, url := report.Hosts(ln.Addr(), host)
		fmt.Fprintf(g.err, "%s%s shows %s; Ctrl-C ends it\n", url, secret, oneLine(what))
		return serve(cmd.Context(), ln, v.Handler(token, hosts...), v.Run)
	}
}

// toShow is what an argument names, and what shows it.
func toShow(g *global, arg string, c report.Control) (what string, v shower, err error) {
	dir, err := g.studyDir(arg)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Stat(dir)
	if begun(dir) || err != nil || !info.IsDir() {
		st, l, err := load(arg)
		if err != nil {
			return "", nil, err
		}
		s := serverOf(l)
		s.Control = c
		return st.Config.Name, s, nil
	}
	dir = string(layout.Of(dir))
	studies := lister{folder: dir}
	list := func() ([]report.Listed, error) {
		found, err := studies.list()
		for i, s := range found {
			found[i].Dir, _ = filepath.Rel(dir, s.Dir) // below which it lies
		}
		return found, err
	}
	open := func(rel string) *report.Server { return serverOf(layout.Of(filepath.Join(dir, rel))) }
	return "the studies below " + arg, report.NewFolder(filepath.Base(dir), list, open, c), nil
}

func serverOf(l layout.Study) *report.Server {
	proposed := &shelf{}
	return report.NewServer(l.Journal(), func() (report.Source, error) {
		thrifty(l)
		src, err := readSource(l, func() (*study.State, error) { return study.Load(string(l), proposed.visit()) })
		if os.Getenv("GOMEMLIMIT") == "" { // what is free goes back before more is taken
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			debug.SetMemoryLimit(max(76<<20, int64(now.HeapAlloc)*3/2))
		}
		return src, err
	}, followed(l, proposed))
}

// shelf holds what the trials of a study were proposed with, of which most of its memory is made: states
// that are read of it at the same time share that.
type shelf struct {
	mu     sync.Mutex
	points []spaces.Point
}

// visit puts the trials of a state that is being read on the shelf, or takes from there what they have alike.
func (s *shelf) visit() func(*study.State, study.Record) error {
	n := 0
	return func(st *study.State, _ study.Record) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		for ; n < len(st.Trials); n++ {
			t := st.Trials[n]
			if n == len(s.points) {
				s.points = append(s.points, nil)
			}
			if slices.Equal(t.Point, s.points[n]) {
				t.Point = s.points[n]
			}
			s.points[n] = t.Point
		}
		return nil
	}
}

// followed reads the study in l again and again, see report.Follow.
func followed(l layout.Study, proposed *shelf) report.Follow {
	return func(ctx context.Context, look func(bool, func() (report.Source, error)) error) error {
		changed, visit := false, proposed.visit()
		before, _ := journal.InUse(l.Journal()) // what is read next; an error comes again
		return study.Follow(ctx, string(l), func(st *study.State, r study.Record) error {
			changed = true
			return visit(st, r)
		}, func(st *study.State) error {
			err := look(changed, func() (report.Source, error) { return sourceOf(st, l, before) })
			changed = false
			before, _ = journal.InUse(l.Journal())
			return err
		})
	}
}

// How long a connection may be silent, and how many there may be: more are told to come back.
const (
	headPatience = 10 * time.Second // for a request that has begun
	idlePatience = 30 * time.Second // between two
	mostClients  = 1000
	unsent       = 128 << 10 // bytes that the system holds for a connection
)

// limited refuses requests of more connections than most.
func limited(inner http.Handler, most int64) *http.Server {
	var now atomic.Int64
	count := func(c net.Conn, is http.ConnState) {
		switch is {
		case http.StateNew:
			now.Add(1)
			if tcp, is := c.(*net.TCPConn); is { // else the system holds megabytes for who does not read
				_ = tcp.SetWriteBuffer(unsent)
			}
		case http.StateClosed, http.StateHijacked:
			now.Add(-1)
		}
	}
	return &http.Server{ReadHeaderTimeout: headPatience, IdleTimeout: idlePatience, ConnState: count,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if now.Load() > most {
				w.Header().Set("Connection", "close")
				w.Header().Set("Retry-After", "30")
				http.Error(w, "too many look at this; come back later", http.StatusServiceUnavailable)
				return
			}
			inner.ServeHTTP(w, r)
		})}
}

// serve answers until the context ends, and keeps what is shown up to date by look.
func serve(ctx context.Context, ln net.Listener, inner http.Handler, look func(context.Context) error) error {
	most, limit := int64(mostClients), syscall.Rlimit{}
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		most = int64(min(mostClients, limit.Cur/2)) // a descriptor of every two is left for the studies
	}
	server := limited(inner, most)
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	looked := make(chan error, 1)
	go func() {
		looked <- look(ctx)
		cancel()
	}()
	err := server.Serve(ln)
	cancel()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return cmp.Or(err, <-looked)
}

// obey does what the page's user orders, as the command of the same name would.
func obey(ctx context.Context, g *global, dir string, o report.Order) (string, error) {
	ask := func(*study.State) (study.Request, error) {
		return study.Request{Action: study.Action(o.Action), Trial: o.Trial, Text: o.Text}, nil
	}
	switch study.Action(o.Action) {
	case "stop":
		st, l, err := load(dir)
		if err == nil {
			err = stopStudy(ctx, g, st, l)
		}
		if err == nil {
			st, err = study.Load(dir) // as it has been left
		}
		if err == nil && st.Ended() {
			return "the study has ended: " + st.Closed.Detail, nil
		}
		return "the study is stopped; lbotune resume goes on", err
	case study.ActionEnqueue:
		var words []string
		for _, name := range slices.Sorted(maps.Keys(o.Values)) {
			if text := o.Values[name]; text != "" {
				words = append(words, name+"="+text)
			}
		}
		if len(words) == 0 {
			return "", usagef("no values are given")
		}
		ask = enqueueing(words)
	case study.ActionNote:
		ask = noting(o.Trial, o.Text)
	}
	c, err := request(ctx, g, nil, dir, ask)
	if err != nil {
		return "", err
	}
	return c.said(), nil
}
