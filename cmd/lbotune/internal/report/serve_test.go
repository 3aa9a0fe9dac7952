package report

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// Who comes without the token, by a foreign name, from a foreign page, to change something or to
// look around is refused.
func TestServerRefuses(t *testing.T) {
	shown := func(c Control) *Server {
		v := showing(studyOf(t, "finished"))
		v.journal, v.Control = filepath.Join(t.TempDir(), "none"), c
		return v
	}
	obeyed := 0
	control := func(context.Context, string, Order) (string, error) { obeyed++; return "done", nil }
	folder := NewFolder("f", nil, func(string) *Server { return shown(nil) }, nil)
	folder.life = t.Context()
	folder.tell([]Listed{{Dir: "a/b.study", State: "ended"}, {Dir: "bad.study", State: "unreadable"}})
	handlers := map[string]http.Handler{"": shown(nil).Handler("secret", "127.0.0.1:8765"), "control ": shown(control).Handler("secret", "127.0.0.1:8765"), "folder ": folder.Handler("secret", "127.0.0.1:8765")}
	for _, c := range []struct {
		method, path, host, origin string
		want                       int
	}{
		{"GET", "/", "127.0.0.1:8765", "", 200},
		{"HEAD", "/", "127.0.0.1:8765", "http://127.0.0.1:8765", 200},
		{"GET", "/api/v1/study", "127.0.0.1:8765", "", 200},
		{"GET", "/metrics", "127.0.0.1:8765", "", 200},
		{"GET", "/", "evil.example", "", 421},
		{"GET", "/", "evil.example:8765", "", 421},
		{"GET", "/api/v1/study", "127.0.0.1:8765", "http://evil.example", 403},
		{"GET", "/events", "127.0.0.1:8765", "null", 403},
		{"POST", "/", "127.0.0.1:8765", "", 405},
		{"DELETE", "/api/v1/study", "127.0.0.1:8765", "", 405},
		{"GET", "/../../etc/passwd", "127.0.0.1:8765", "", 404},
		{"GET", "/trials/000001/a1/stdout", "127.0.0.1:8765", "", 404},
		{"GET", "/%2e%2e/journal.jsonl", "127.0.0.1:8765", "", 404},
		{"GET", "/log/0", "127.0.0.1:8765", "", 404},
		{"GET", "/log/..%2f..%2fjournal.jsonl", "127.0.0.1:8765", "", 404},
		{"POST", "/api/v1/requests", "127.0.0.1:8765", "", 405},
		{"control GET", "/", "127.0.0.1:8765", "", 200},
		{"control POST", "/", "127.0.0.1:8765", "", 405},
		{"control PUT", "/api/v1/requests", "127.0.0.1:8765", "", 405},
		{"control GET", "/api/v1/requests", "127.0.0.1:8765", "", 405},
		{"GET anonymous", "/", "127.0.0.1:8765", "", 401},
		{"GET anonymous", "/?token=wrong", "127.0.0.1:8765", "", 401},
		{"GET anonymous", "/?token=", "127.0.0.1:8765", "", 401},
		{"GET anonymous", "/events", "127.0.0.1:8765", "", 401},
		{"GET anonymous", "/log/1", "127.0.0.1:8765", "", 401},
		{"GET anonymous", "/nothing", "127.0.0.1:8765", "", 401},
		{"HEAD wrong", "/metrics", "127.0.0.1:8765", "", 401},
		{"GET cookie", "/api/v1/study", "127.0.0.1:8765", "", 200},
		{"GET of another port", "/api/v1/study", "127.0.0.1:8765", "", 401},
		{"control POST anonymous", "/api/v1/requests", "127.0.0.1:8765", "", 401},
		{"control POST anonymous", "/api/v1/requests?token=secret", "127.0.0.1:8765", "", 401},
		{"control POST wrong", "/api/v1/requests", "127.0.0.1:8765", "", 401},
		{"control POST", "/api/v1/requests", "evil.example", "", 421},
		{"control POST", "/api/v1/requests", "127.0.0.1:8765", "http://evil.example", 403},
		{"control POST cookie", "/api/v1/requests", "127.0.0.1:8765", "http://127.0.0.1:9999", 403},
		{"control POST cookie", "/api/v1/requests", "127.0.0.1:8765", "", 401},
		{"control POST cookie", "/api/v1/requests", "127.0.0.1:8765", "http://127.0.0.1:8765", 200},
		{"folder GET anonymous", "/", "127.0.0.1:8765", "", 401},
		{"folder GET anonymous", "/study/a/b.study/", "127.0.0.1:8765", "", 401},
		{"folder GET", "/", "127.0.0.1:8765", "", 200},
		{"folder GET", "/api/v1/studies", "127.0.0.1:8765", "", 200},
		{"folder GET", "/study/a/b.study/", "127.0.0.1:8765", "", 200},
		{"folder GET", "/study/a/b.study/api/v1/study", "127.0.0.1:8765", "", 200},
		{"folder GET", "/study/bad.study/", "127.0.0.1:8765", "", 404},
		{"folder GET", "/study/a/", "127.0.0.1:8765", "", 404},
		{"folder GET", "/study/a/b.study/../../../etc/passwd", "127.0.0.1:8765", "", 404},
		{"folder GET", "/study//etc/passwd", "127.0.0.1:8765", "", 404},
		{"folder GET", "/study/a/b.study/", "evil.example", "", 421},
		{"folder POST", "/study/a/b.study/api/v1/requests", "127.0.0.1:8765", "", 405},
	} {
		t.Run(c.method, func(t *testing.T) {
			of, method := "", c.method
			for name := range handlers {
				if after, is := strings.CutPrefix(c.method, name); is && name != "" {
					of, method = name, after
				}
			}
			method, as, _ := strings.Cut(method, " ")
			r := httptest.NewRequest(method, "http://"+c.host+"/", strings.NewReader(`{"action":"note","text":"x"}`))
			r.URL.Path, r.URL.RawQuery, _ = strings.Cut(c.path, "?")
			switch as {
			case "":
				r.Header.Set("Authorization", "Bearer secret")
			case "wrong":
				r.Header.Set("Authorization", "Bearer wrong")
			case "cookie":
				r.AddCookie(&http.Cookie{Name: "lbotune-8765", Value: "secret"})
			case "of another port":
				r.AddCookie(&http.Cookie{Name: "lbotune-8766", Value: "secret"})
			}
			r.Host = c.host
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			w := httptest.NewRecorder()
			handlers[of].ServeHTTP(w, r)
			if w.Code != c.want && !(c.want == 404 && w.Code == http.StatusTemporaryRedirect) {
				t.Errorf("%s %s of %s from %q: %d; want %d", c.method, c.path, c.host, c.origin, w.Code, c.want)
			}
			if c.want != 404 && (obeyed > 0) != (c.method == "control POST cookie" && c.want == 200 || strings.HasPrefix(c.method, "folder")) {
				t.Errorf("after %s %s of %s from %q: %d orders are obeyed", c.method, c.path, c.host, c.origin, obeyed)
			}
			if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
				t.Errorf("%s: the policy is %q", c.path, csp)
			}
		})
	}
}

// A browser writes a host in small letters, and leaves out the port 80.
func TestHostsAsBrowsersWriteThem(t *testing.T) {
	for _, c := range []struct{ asked, at, host, url string }{
		{"127.0.0.1", "127.0.0.1:8765", "127.0.0.1:8765", "http://127.0.0.1:8765/"},
		{"Node7", "192.0.2.7:8765", "node7:8765", "http://node7:8765/"},
		{"127.0.0.1", "127.0.0.1:80", "127.0.0.1", "http://127.0.0.1:80/"},
		{"::1", "[::1]:80", "[::1]", "http://[::1]:80/"},
		{"", "[::]:8765", "localhost:8765", "http://localhost:8765/"},
	} {
		t.Run(c.asked+" at "+c.at, func(t *testing.T) {
			hosts, url := Hosts(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.at)), c.asked)
			if !slices.Contains(hosts, c.host) || url != c.url {
				t.Errorf("%s at %s: %v, %s; want %s and %s", c.asked, c.at, hosts, url, c.host, c.url)
			}
		})
	}
}

// showing is a server that shows a study as it is.
func showing(s *Study) *Server {
	load := func() (Source, error) { return s.src, nil }
	v := NewServer("", load, looking(load))
	v.model = s.Model
	v.draw(s.src, true)
	v.put(s.drawn(false, true))
	return v
}

// A study that can't be read any more is looked at again when its journal changes, and not without a
// pause. Its page says that it is old.
func TestStudyThatIsLost(t *testing.T) {
	h := begin(t, float("x"))
	h.trial(0.4)
	file := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(file, []byte("a journal"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		load := func() (Source, error) { return Source{State: &h.st, Running: true}, nil }
		asked := 0
		v := NewServer(file, load, func(_ context.Context, look func(bool, func() (Source, error)) error) error {
			switch asked++; asked {
			case 1:
				return look(true, load)
			case 1000:
				end()
			}
			return errors.New("a record is damaged")
		})
		if err := v.Run(ctx); err != nil || asked > 3 {
			t.Errorf("it was read %d times in a minute, %v", asked, err)
		}
		w := httptest.NewRecorder()
		v.mux().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if page := w.Body.String(); !strings.Contains(page, "this is how it was: a record is damaged") || strings.Contains(page, "running, ") {
			t.Errorf("the page is %.3000s", page)
		}
	})
}

// What another study's model says is not said of the one in its place, nor that of other ranges.
func TestModelOfAnotherStudy(t *testing.T) {
	of := func(id string, highest float64, n int) Source {
		x := float("x")
		x.Max = highest
		h := &history{t: t}
		c := begin(t, x).st.Config
		h.record(study.Created{ID: id, Fingerprint: "f", Config: c}, study.Session{Number: 1})
		for k := range n {
			h.trial(float64(k) / float64(n))
		}
		return Source{State: &h.st, Running: true}
	}
	first := of("1", 1, 20)
	v := showing(Of(t.Context(), first))
	card := func() string { return v.cards["model"].HTML }
	if !strings.Contains(card(), "x matters most") {
		t.Fatalf("nothing is said of the first: %s", card())
	}
	v.draw(of("2", 1, 4), true)
	if v.model != nil || strings.Contains(card(), "matters") {
		t.Errorf("of another study it is said: %s", card())
	}
	v = showing(Of(t.Context(), first))
	for highest, want := range map[float64]bool{1: true, 2: false} {
		v.draw(of("1", highest, 20), true)
		if took := v.study.Model != nil; took != want {
			t.Errorf("up to %g the model is taken: %v", highest, took)
		}
	}
}

// The page that is served says what the model has to say of the study, as that of report does.
func TestServedRemarks(t *testing.T) {
	h := begin(t, float("x"), float("y"))
	rng := rand.New(rand.NewPCG(1, 1))
	for range 40 {
		u := rng.Float64()
		h.trialOf([]float64{u, rng.Float64()}, u)
	}
	src := Source{State: &h.st}
	want := "y seems to change nothing"
	if s := Of(t.Context(), src); !strings.Contains(s.head().HTML, want) {
		t.Fatalf("report says %q", s.Remarks)
	}
	load := func() (Source, error) { return src, nil }
	v := NewServer("", load, looking(load))
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- v.Run(ctx) }()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		v.mu.Lock()
		head, asked := v.cards["head"].HTML, v.model != nil
		v.mu.Unlock()
		if asked || time.Now().After(deadline) {
			if !strings.Contains(head, want) {
				t.Errorf("the page says %s", head)
			}
			break
		}
	}
	w := httptest.NewRecorder()
	v.mux().ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/study", nil))
	if !strings.Contains(w.Body.String(), want) {
		t.Error("the API does not say it")
	}
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// looking follows what load reads.
func looking(load func() (Source, error)) Follow {
	return func(ctx context.Context, look func(bool, func() (Source, error)) error) error {
		for ctx.Err() == nil {
			if err := look(true, load); err != nil {
				return err
			}
			time.Sleep(10 * time.Millisecond)
		}
		return nil
	}
}

// known is a request of somebody who knows the token.
func known(path string) *http.Request {
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("Authorization", "Bearer secret")
	return r
}

// The token of the address becomes a cookie that scripts do not see and other sites' pages do not
// send, and is gone from the address.
func TestTokenOfTheAddress(t *testing.T) {
	v := showing(studyOf(t, "finished"))
	for path, want := range map[string]string{
		"/?token=secret": "/", "/log/1?stderr&token=secret": "/log/1?stderr=", "//evil.example/?token=secret": "/evil.example/",
	} {
		t.Run(path, func(t *testing.T) {
			r := httptest.NewRequest("GET", "http://example.com:80/", nil)
			r.URL.Path, r.URL.RawQuery, _ = strings.Cut(path, "?")
			w := httptest.NewRecorder()
			v.Handler("secret", "example.com:80").ServeHTTP(w, r)
			cookies := w.Result().Cookies()
			if w.Code != http.StatusSeeOther || w.Header().Get("Location") != want || len(cookies) != 1 {
				t.Fatalf("%s: %d to %q, cookies %v; want one, and to be sent to %q", path, w.Code, w.Header().Get("Location"), cookies, want)
			}
			if c := cookies[0]; c.Name != "lbotune-80" || c.Value != "secret" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" {
				t.Errorf("%s: the cookie is %v", path, c)
			}
		})
	}
}

// taken keeps where what is written to it lies.
type taken struct {
	*httptest.ResponseRecorder
	at map[*byte]bool
}

func (t taken) Write(p []byte) (int, error) {
	t.at[&p[0]] = true
	return t.ResponseRecorder.Write(p)
}

// What is sent of a version is made once and shared by all who ask; the next version is made anew.
func TestTextsAreShared(t *testing.T) {
	s := studyOf(t, "finished")
	v := showing(s)
	ended, end := context.WithCancel(t.Context())
	end()
	get := func(path string) map[*byte]bool {
		w := taken{httptest.NewRecorder(), map[*byte]bool{}}
		v.Handler("secret", "example.com").ServeHTTP(w, known(path).WithContext(ended))
		if w.Body.Len() < 50 {
			t.Errorf("%s: %s", path, w.Body)
		}
		return w.at
	}
	for _, path := range []string{"/", "/api/v1/study", "/metrics", "/events"} {
		t.Run(path, func(t *testing.T) {
			first := get(path)
			for at := range get(path) {
				delete(first, at)
			}
			if most := map[bool]int{true: 1}[path == "/events"]; len(first) > most { // that is the id
				t.Errorf("%s: %d texts are made for one reader", path, len(first))
			}
			before := get(path)
			v.draw(s.src, true)
			v.put([]part{{"history", "cards", path}})
			if after := get(path); maps.Equal(before, after) {
				t.Errorf("%s: an old text is sent", path)
			}
		})
	}
}

// A page of an earlier server gets all that its successor has, however long each of them runs.
func TestPageOfAnEarlierServer(t *testing.T) {
	h := begin(t, float("x"))
	h.trial(0.5)
	synctest.Test(t, func(t *testing.T) {
		first := NewServer("", nil, nil)
		for range 20 {
			first.draw(Source{State: &h.st}, true)
			h.trial(0.5)
		}
		time.Sleep(time.Minute)
		next := NewServer("", nil, nil)
		for range 40 {
			next.draw(Source{State: &h.st}, true)
			h.trial(0.5)
		}
		ctx, end := context.WithCancel(t.Context())
		end()
		r := httptest.NewRequest("GET", "/events", nil).WithContext(ctx)
		r.Header.Set("Last-Event-ID", strconv.Itoa(first.shown.version))
		w := httptest.NewRecorder()
		next.events(w, r)
		if !strings.Contains(w.Body.String(), `"id":"t1"`) {
			t.Errorf("a trial is not sent: %.200s", w.Body)
		}
	})
}

// While the study goes on, what a trial prints can be looked at.
func TestLogOfATrialThatGoesOn(t *testing.T) {
	h := begin(t, float("x"))
	h.record(study.Proposed{Trial: 1, Origin: optimizer.OriginInitial, Values: h.st.Space.Decode(spaces.Point{0.5})})
	v := NewServer("", nil, nil)
	src := Source{State: &h.st, Running: true, Log: func(_ context.Context, id layout.AttemptID, _ bool, w io.Writer, ended <-chan struct{}) error {
		<-ended
		_, err := fmt.Fprint(w, id)
		return err
	}}
	v.draw(src, true)
	w, over := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(over)
		v.mux().ServeHTTP(w, known("/log/1"))
	}()
	h.record(study.Started{Trial: 1, Attempt: 1})
	time.Sleep(2 * leastPause) // in which it looks
	h.record(study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Succeeded, Metrics: metrics(1)})
	v.draw(src, true)
	if <-over; w.Body.String() != "trial 1, attempt 1" {
		t.Errorf("it has %s", w.Body)
	}
}

// What could not be read once is read when somebody asks again.
func TestErrorsAreNotKept(t *testing.T) {
	v, load := showing(studyOf(t, "finished")), error(nil)
	src := v.study.src
	v.load = func() (Source, error) { return src, load }
	for _, load = range []error{errors.New("too many open files"), nil} {
		w := httptest.NewRecorder()
		v.mux().ServeHTTP(w, known("/api/v1/study"))
		if ok := w.Code == http.StatusOK; ok != (load == nil) {
			t.Errorf("%v: %d, %.80s", load, w.Code, w.Body)
		}
	}
}

// Who asks a folder for a study that can't be read, though its list has it, is told so and does not wait.
func TestStudyOfAFolderThatIsLost(t *testing.T) {
	follow := func(context.Context, func(bool, func() (Source, error)) error) error { return errors.New("no") }
	f := NewFolder("f", nil, func(string) *Server { return NewServer("", nil, follow) }, nil)
	f.life = t.Context()
	f.tell([]Listed{{Dir: "a.study", State: "stopped"}})
	for _, path := range []string{"", "metrics", "api/v1/study", "log/1"} {
		t.Run(path, func(t *testing.T) {
			ctx, end := context.WithTimeout(t.Context(), 5*time.Minute)
			w := httptest.NewRecorder()
			f.Handler("secret", "example.com").ServeHTTP(w, known("/study/a.study/"+path).WithContext(ctx))
			if ctx.Err() != nil || w.Code != http.StatusServiceUnavailable {
				t.Errorf("%s: %d, %s, after %v", path, w.Code, w.Body, ctx.Err())
			}
			end()
		})
	}
}

// Who is connected gets a card as a whole once, and then what is new of it; who was not gets it
// as a whole.
func TestChangesAreSmall(t *testing.T) {
	h := begin(t, float("x"))
	for range 400 {
		h.trial(0.5)
	}
	v := NewServer("", nil, nil)
	v.draw(Source{State: &h.st, Running: true}, true)
	grow := func() (history versioned) {
		h.trial(0.4)
		v.draw(Source{State: &h.st, Running: true}, true)
		return v.shown.parts[slices.IndexFunc(v.shown.parts, func(p versioned) bool { return p.ID == "history" })]
	}
	synctest.Test(t, func(t *testing.T) {
		read := func(path string) (sent func() string) {
			w := &httptest.ResponseRecorder{Body: new(bytes.Buffer)}
			go v.events(w, httptest.NewRequest("GET", path, nil).WithContext(t.Context()))
			return func() string {
				synctest.Wait()
				defer w.Body.Reset()
				return w.Body.String()
			}
		}
		v.shown.newer = make(chan struct{})
		early := read(fmt.Sprint("/events?since=", v.shown.version))
		early()
		first := grow()
		if text := early(); !strings.Contains(text, string(first.event)) {
			t.Errorf("who comes does not get the whole: %.200s", text)
		}
		second := grow()
		if text := early(); !strings.Contains(text, string(second.delta)) || strings.Contains(text, string(second.event)) {
			t.Errorf("who has it does not get what is new: %.200s", text)
		}
		if late := read("/events?since=0")(); !strings.Contains(late, string(second.event)) || strings.Contains(late, `"lines"`) {
			t.Errorf("who comes late does not get the whole: %.200s", late)
		}
		if len(second.delta) == 0 || len(second.delta) > 4000 || len(second.event) < 20000 {
			t.Errorf("%d bytes tell of a trial; all of them take %d", len(second.delta), len(second.event))
		}
		text := ""
		for _, op := range deltaOf("", first.HTML, second.HTML).Lines {
			switch op := op.(type) {
			case string:
				text += op + "\n"
			case [2]int:
				text += strings.Join(strings.Split(first.HTML, "\n")[op[0]:op[0]+op[1]], "\n") + "\n"
			}
		}
		if text != second.HTML+"\n" {
			t.Error("what is new does not lead to the whole")
		}
	})
}

// Who does not read is given up, and not waited for.
func TestReaderWhoDoesNotRead(t *testing.T) {
	v := showing(studyOf(t, "finished"))
	for _, path := range []string{"/", "/api/v1/study", "/metrics", "/events"} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				here, there := net.Pipe()
				ln := &lone{conn: there, closed: make(chan struct{})}
				over := make(chan time.Time, 1)
				handler := v.Handler("secret", "example.com")
				server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					handler.ServeHTTP(w, r)
					over <- time.Now()
				})}
				go server.Serve(ln)
				begun := time.Now()
				fmt.Fprintf(here, "GET %s HTTP/1.1\r\nHost: example.com\r\nAuthorization: Bearer secret\r\n\r\n", path)
				if took := (<-over).Sub(begun); path != "/metrics" && took != patience { // which fits into a buffer
					t.Errorf("%s: waited %v; want %v", path, took, patience)
				}
				server.Close()
				here.Close()
			})
		})
	}
}

// What a trial prints comes to its end, however long nothing was printed before that.
func TestLogThatIsSilentAtItsEnd(t *testing.T) {
	h := begin(t, float("x"))
	h.trial(0.5)
	synctest.Test(t, func(t *testing.T) {
		v := NewServer("", nil, nil)
		v.draw(Source{State: &h.st, Log: func(_ context.Context, _ layout.AttemptID, _ bool, w io.Writer, _ <-chan struct{}) error {
			_, err := io.WriteString(w, "begun\n")
			time.Sleep(time.Hour)
			return err
		}}, true)
		here, there := net.Pipe()
		server := http.Server{Handler: v.Handler("secret", "example.com")}
		go server.Serve(&lone{conn: there, closed: make(chan struct{})})
		fmt.Fprint(here, "GET /log/1 HTTP/1.1\r\nHost: example.com\r\nAuthorization: Bearer secret\r\n\r\n")
		answer, err := http.ReadResponse(bufio.NewReader(here), nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "begun\n" {
			t.Errorf("%q, %v", text, err)
		}
		server.Close()
		here.Close()
	})
}

// lone is a listener to which one connection comes.
type lone struct {
	conn   net.Conn
	closed chan struct{}
}

func (o *lone) Accept() (c net.Conn, err error) {
	if c, o.conn = o.conn, nil; c == nil {
		<-o.closed
		return nil, net.ErrClosed
	}
	return c, nil
}

func (o *lone) Close() error   { close(o.closed); return nil }
func (o *lone) Addr() net.Addr { return &net.UnixAddr{} }

// Who comes before the studies have been looked for waits for the list: only what is on the
// page can be kept up to date.
func TestFolderBeforeItsList(t *testing.T) {
	f := NewFolder("f", nil, nil, nil)
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		f.Handler("secret", "example.com").ServeHTTP(w, known("/"))
	}()
	f.tell(nil)
	<-done
	if page := w.Body.String(); !strings.Contains(page, `id="studies"`) || !strings.Contains(page, "There is none yet") {
		t.Errorf("the page has no list: %s", page[max(len(page)-200, 0):])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	NewFolder("f", nil, nil, nil).page(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil).WithContext(ctx))
}

// Of an order everything counts, and what is none is not obeyed.
func TestOrders(t *testing.T) {
	var got []Order
	v := showing(studyOf(t, "finished"))
	v.Control = func(_ context.Context, dir string, o Order) (string, error) {
		if got = append(got, o); dir != "/bowl.study" {
			t.Errorf("the order is for %s", dir)
		}
		return "done\x1b[31m", nil
	}
	for body, want := range map[string]int{
		`{"action": "enqueue", "values": {"x": "0.5"}}`: 200, `{"action": "adjust", "trial": 3}`: 400, `{"action": "note", "path": "/etc"}`: 400,
		`{"action": "note", "text": "` + strings.Repeat("x", mostOrdered) + `"}`: 400, "": 400,
	} {
		t.Run(body, func(t *testing.T) {
			r := httptest.NewRequest("POST", "/api/v1/requests", strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer secret")
			w := httptest.NewRecorder()
			v.Handler("secret", "example.com").ServeHTTP(w, r)
			if w.Code != want || strings.Contains(w.Body.String(), `\u001b`) || !json.Valid(w.Body.Bytes()) {
				t.Errorf("%.50s: %d %s; want %d", body, w.Code, w.Body, want)
			}
		})
	}
	if want := []Order{{Action: "enqueue", Values: map[string]string{"x": "0.5"}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("obeyed %v; want %v", got, want)
	}
}

// A line of a megabyte does not reach the browser, and the lines around it do.
func TestLogOfLongLines(t *testing.T) {
	v, src := showing(studyOf(t, "finished")), studyOf(t, "finished").src
	whole := strings.Repeat("x", longest)
	src.Log = func(_ context.Context, id layout.AttemptID, stderr bool, w io.Writer, _ <-chan struct{}) error {
		for _, text := range []string{"one\ntwo ", strings.Repeat("é", 1<<19), "end\nthree <b>\n" + whole + "\n"} {
			if _, err := io.WriteString(w, text); err != nil || id != (layout.AttemptID{Trial: 3, Attempt: 1}) || !stderr {
				return err
			}
		}
		return nil
	}
	v.draw(src, true)
	w := httptest.NewRecorder()
	v.Handler("secret", "example.com").ServeHTTP(w, known("/log/3?stderr"))
	lines := strings.Split(w.Body.String(), "\n")
	if len(lines) != 5 || lines[3] != whole || lines[0] != "one" || !strings.HasPrefix(lines[1], "two éé") || !strings.HasSuffix(lines[1], "é ...") ||
		len(lines[1]) > longest+4 || len(lines[1]) < longest || lines[2] != "three <b>" {
		t.Errorf("%d lines: %.40q ...", len(lines), lines)
	}
	if kind := w.Header().Get("Content-Type"); kind != "text/plain; charset=utf-8" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("it comes as %s", kind)
	}
}

// The notes are as they were written, those of a trial also with it; on the page its number stands before.
func TestNotesOfTrials(t *testing.T) {
	h := begin(t, float("x"))
	h.trial(0.2)
	h.trial(0.4)
	h.record(study.Noted{Text: "of the study"}, study.Noted{Trial: 2, Text: "of a trial"}, study.Noted{Trial: 9, Text: "of none"})
	s := h.of(false)
	var shown struct {
		Notes  []string
		Trials []struct{ Notes []string }
	}
	var text bytes.Buffer
	if err := s.writeJSON(&text); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text.Bytes(), &shown); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(shown.Notes, []string{"of the study", "of a trial", "of none"}) || shown.Trials[0].Notes != nil || !slices.Equal(shown.Trials[1].Notes, []string{"of a trial"}) {
		t.Errorf("the notes are %+v", shown)
	}
	var page strings.Builder
	if err := HTML(&page, []*Study{s}); err != nil || !strings.Contains(page.String(), `<p class="note">trial 2: of a trial</p>`) {
		t.Errorf("the page does not say which trial the note is about, %v", err)
	}
}

// The figures are those of the study, and the API's fields those that docs/seeing.md has.
func TestAPI(t *testing.T) {
	v := showing(studyOf(t, "finished"))
	get := func(path string) string {
		w := httptest.NewRecorder()
		v.Handler("secret", "example.com").ServeHTTP(w, known(path))
		return w.Body.String()
	}
	if text := get("/metrics"); !strings.Contains(text, fmt.Sprintf("\nlbotune_best %g\n", v.study.figures.Best.Value)) || !strings.Contains(text, "lbotune_trials{status=\"succeeded\"} 19\n") || !strings.Contains(text, "lbotune_trials{status=\"failed\"} 1\n") {
		t.Errorf("metrics:\n%s", text)
	}
	var answer map[string]any
	if err := json.Unmarshal([]byte(get("/api/v1/study")), &answer); err != nil {
		t.Fatal(err)
	}
	s := of(v.study.src)
	s.take(v.model, v.noModel)
	whole, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if text := get("/api/v1/study"); text != string(whole)+"\n" {
		t.Errorf("the report has %d bytes, and the API others: %d", len(whole), len(text))
	}
	page, err := os.ReadFile("../../../../docs/seeing.md")
	if err != nil {
		t.Fatal(err)
	}
	trial := answer["trials"].([]any)[3].(map[string]any)
	for _, fields := range []map[string]any{answer, trial} {
		for name := range fields {
			if !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("docs/seeing.md does not tell of %s", name)
			}
		}
	}
}
