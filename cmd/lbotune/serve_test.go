package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

const handSpec = `command = "echo loss={x}"
[objective]
metric = "loss"
[params.x]
type = "float"
min = 0
max = 1
[budget]
trials = 5
`

// byHand makes a study of one trial below a folder, without running anything.
func byHand(t *testing.T, dir string) layout.Study {
	t.Helper()
	spec := filepath.Join(dir, "a.toml")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(spec, []byte(handSpec), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"ask", spec}, {"tell", spec, "1", "0.5"}} {
		if code := execute(args, silence()); code != 0 {
			t.Fatalf("%v: exit code %d", args, code)
		}
	}
	return layout.Of(layout.DirFor(spec))
}

// What the API answers fits the documented schemas, and orders have the effect of the
// commands.
func TestServeAPI(t *testing.T) {
	folder := t.TempDir()
	l := byHand(t, filepath.Join(folder, "sub"))
	g := &global{streams: silence()}
	control := func(_ context.Context, dir string, o report.Order) (string, error) {
		return obey(t.Context(), g, dir, o)
	}
	_, v, err := toShow(g, folder, control)
	if err != nil {
		t.Fatal(err)
	}
	go v.Run(t.Context())
	handler := v.Handler("secret", "example.com")
	ask := func(method, path, body string) string {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer secret")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Body.String()
	}
	for ask("GET", "/api/v1/studies", "") == "[]\n" { // it is being looked for
		runtime.Gosched()
	}
	all, err := written()
	if err != nil {
		t.Fatal(err)
	}
	fits := func(kind, text string) {
		t.Helper()
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := all[kind].Validate(value); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	fits("study", strings.TrimSuffix(strings.TrimPrefix(ask("GET", "/api/v1/studies", ""), "["), "]\n"))
	fits("report", ask("GET", "/study/sub/a.study/api/v1/study", ""))
	for _, c := range []struct{ order, want string }{
		{`{"action": "enqueue", "values": {"x": "0.25"}}`, `{"done":"enqueued x=0.25"}`},
		{`{"action": "enqueue", "values": {"x": "2"}}`, `{"error":"parameter x: found \"2\"; want a number from 0 to 1"}`},
		{`{"action": "enqueue", "values": {"x": ""}}`, `{"error":"no values are given"}`},
		{`{"action": "exclude", "trial": 1}`, `{"done":"excluded trial 1"}`},
		{`{"action": "exclude", "trial": 2}`, `{"error":"there is no trial 2"}`},
		{`{"action": "note", "text": "<b>"}`, `{"done":"noted"}`},
		{`{"action": "note"}`, `{"error":"the note has no text"}`},
		{`{"action": "stop"}`, `{"done":"the study is stopped; lbotune resume goes on"}`},
	} {
		t.Run(c.order, func(t *testing.T) {
			fits("order", c.order)
			answer := strings.TrimSpace(ask("POST", "/study/sub/a.study/api/v1/requests", c.order))
			if fits("answer", answer); answer != c.want {
				t.Errorf("%s: %s; want %s", c.order, answer, c.want)
			}
		})
	}
	two := `{"action": "note", "text": "a"} {"action": "note", "text": "b"}`
	if got := ask("POST", "/study/sub/a.study/api/v1/requests", two); !strings.Contains(got, "something follows the JSON object, and nothing was taken") {
		t.Errorf("two orders: %s", got)
	}
	st, err := study.Load(string(l))
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Queue) != 1 || !st.Trials[0].Excluded || len(st.Notes) != 1 || st.Notes[0].Text != "<b>" {
		t.Errorf("queue %v, excluded %v, notes %v", st.Queue, st.Trials[0].Excluded, st.Notes)
	}
}

// A list reads again what has changed, and nothing else.
func TestListerReadsWhatHasChanged(t *testing.T) {
	folder := t.TempDir()
	byHand(t, folder)
	ls := lister{folder: folder}
	if _, err := ls.list(); err != nil {
		t.Fatal(err)
	}
	for path, s := range ls.seen {
		s.study.Study = "as it was"
		ls.seen[path] = s
	}
	found, err := ls.list()
	if err != nil || len(found) != 1 || found[0].Study != "as it was" || found[0].Finished != 1 {
		t.Fatalf("%+v, %v; want the study as it was", found, err)
	}
	byHand(t, filepath.Join(folder, "b"))
	if code := execute([]string{"note", filepath.Join(folder, "a.study"), "x"}, silence()); code != 0 {
		t.Fatal(code)
	}
	if found, err = ls.list(); err != nil || len(found) != 2 || found[0].Study != "a" || found[1].Study != "a" {
		t.Errorf("%+v, %v; want both studies anew", found, err)
	}
}

func silence() streams { return streams{strings.NewReader(""), io.Discard, io.Discard} }

// A log is shown without what commands a terminal and without secrets, and a link that a
// program has put in its place leads nowhere.
func TestServedLog(t *testing.T) {
	l := byHand(t, t.TempDir())
	id := layout.AttemptID{Trial: 1, Attempt: 1}
	if err := os.MkdirAll(l.Attempt(id), 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(l.Attempt(id), runner.StdoutName)
	ended := make(chan struct{})
	close(ended)
	read := func() (string, error) {
		var b bytes.Buffer
		err := followLog(t.Context(), l, id, runner.StdoutName, &sanitizer{w: &b, secrets: map[string]string{"KEY": "hunter2"}}, ended)
		return b.String(), err
	}
	if got, err := read(); got != "" || err != nil {
		t.Errorf("before anything is printed: %q, %v", got, err)
	}
	text := "gone\n" + strings.Repeat("y", logEnd) + "\n\x1b[31mred\x1b[0m hunter2\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := read(); !strings.HasSuffix(got, "y\nred [KEY]\n") || strings.Contains(got, "gone") || err != nil {
		t.Errorf("%.20q ... %q, %v", got, got[max(0, len(got)-20):], err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("private"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{path, filepath.Dir(path)} {
		if err := os.RemoveAll(link); err != nil {
			t.Fatal(err)
		}
		to := map[bool]string{true: secret, false: filepath.Dir(secret)}[link == path]
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		if link != path {
			if err := os.Rename(secret, filepath.Join(to, runner.StdoutName)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := read(); got != "" || err == nil {
			t.Errorf("through the link %s: %q, %v", link, got, err)
		}
	}
}

// Serving ends when it is told to, without an error, and when what is shown or the listener
// fails, with that one.
func TestServeEnds(t *testing.T) {
	broken := errors.New("broken")
	wait := func(ctx context.Context) error { <-ctx.Done(); return nil }
	for name, c := range map[string]struct {
		look   func(context.Context) error
		before func(stop context.CancelFunc, ln net.Listener)
		want   error
	}{
		"told to":         {wait, func(stop context.CancelFunc, _ net.Listener) { time.AfterFunc(10*time.Millisecond, stop) }, nil},
		"the page fails":  {func(context.Context) error { return broken }, func(context.CancelFunc, net.Listener) {}, broken},
		"no more clients": {wait, func(_ context.CancelFunc, ln net.Listener) { ln.Close() }, net.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			c.before(stop, ln)
			if err := serve(ctx, ln, http.NotFoundHandler(), c.look); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if _, err := net.Dial("tcp", ln.Addr().String()); err == nil {
				t.Error("somebody still listens")
			}
		})
	}
}

// More connections than may be are told to come back, until others have gone.
func TestServeHasALimit(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.Config = limited(http.NotFoundHandler(), 2)
	server.Start()
	defer server.Close()
	var open []*http.Client
	get := func() int {
		c := &http.Client{Transport: &http.Transport{}} // with connections of its own
		got, err := c.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, got.Body)
		got.Body.Close()
		open = append(open, c)
		return got.StatusCode
	}
	if a, b, c := get(), get(), get(); a != 404 || b != 404 || c != 503 {
		t.Errorf("three get %d, %d and %d", a, b, c)
	}
	for _, c := range open {
		c.CloseIdleConnections()
	}
	for end := time.Now().Add(time.Minute); get() != 404; {
		if time.Now().After(end) {
			t.Fatal("nobody gets in although all have gone")
		}
	}
}

// Who orders a study to stop that has ended is told so.
func TestStopOfAStudyThatHasEnded(t *testing.T) {
	l := byHand(t, t.TempDir())
	spec := strings.TrimSuffix(string(l), ".study") + ".toml"
	for n := 2; n <= 5; n++ {
		for _, args := range [][]string{{"ask", spec}, {"tell", spec, strconv.Itoa(n), "0.5"}} {
			if code := execute(args, silence()); code != 0 {
				t.Fatalf("%v: exit code %d", args, code)
			}
		}
	}
	said, err := obey(t.Context(), &global{streams: silence()}, string(l), report.Order{Action: "stop"})
	if want := "the study has ended: all 5 trials are finished"; said != want || err != nil {
		t.Errorf("%q, %v; want %q", said, err, want)
	}
}

// A study that ends while it is read is shown as it was read: running, and not as one that was lost.
func TestStudyThatEndsWhileItIsRead(t *testing.T) {
	l := byHand(t, t.TempDir())
	lock, err := os.OpenFile(journal.LockPath(l.Journal()), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} { // it is read, and read again
		src, err := readSource(l, func() (*study.State, error) {
			defer lock.Close()
			return study.Load(string(l))
		})
		if err != nil || src.Running != want {
			t.Errorf("running: %v, %v; want %v", src.Running, err, want)
		}
	}
}

// A study that ends after its last record was read and before it is asked who works on it was running as
// it was read: it is not taken for one that was interrupted.
func TestStudyThatEndsWhileItIsFollowed(t *testing.T) {
	l := byHand(t, t.TempDir())
	s, err := session.Open(nil, session.Options{Dir: string(l)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	done, standing := errors.New("done"), []string{}
	err = followed(l, &shelf{})(t.Context(), func(_ bool, take func() (report.Source, error)) error {
		if err := s.Close(); err != nil {
			return err
		}
		src, err := take()
		if standing = append(standing, src.State.Standing(src.Running)); err == nil && len(standing) == 2 {
			err = done
		}
		return err
	})
	if want := []string{"running", "stopped"}; !errors.Is(err, done) || !slices.Equal(standing, want) {
		t.Errorf("it is %q, %v; want %q", standing, err, want)
	}
}

// What a study is read for twice at the same time, while it is followed and to ask a model, takes its trials'
// values once; those of another study in its place stay its own.
func TestWhatIsReadTwiceIsKeptOnce(t *testing.T) {
	proposed := &shelf{}
	read := func(dir string) *study.State {
		st, err := study.Load(dir, proposed.visit())
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	const dir = "../../study/testdata/v1"
	first, again := read(dir), read(dir)
	plain, err := study.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	shared := 0
	for i, tr := range again.Trials {
		if !tr.Values().Equal(plain.Trials[i].Values()) || !slices.Equal(tr.Point, plain.Trials[i].Point) {
			t.Errorf("trial %d is another: %v", tr.Number, tr.Values())
		}
		if &tr.Point[0] == &first.Trials[i].Point[0] {
			shared++
		}
	}
	if shared < len(plain.Trials)-1 || shared == 0 {
		t.Errorf("%d trials of %d share their values", shared, len(plain.Trials))
	}
	for i := range proposed.points { // as of another study
		proposed.points[i] = slices.Clone(proposed.points[i])[:0]
	}
	for i, tr := range read(dir).Trials {
		if !tr.Values().Equal(plain.Trials[i].Values()) {
			t.Errorf("trial %d has another's values: %v", tr.Number, tr.Values())
		}
	}
}
