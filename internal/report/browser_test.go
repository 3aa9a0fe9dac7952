package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// browser is a Chromium without a window, spoken to over a pipe by its DevTools protocol.
type browser struct {
	t   *testing.T
	out *os.File
	in  *bufio.Reader
	ids int
	tab string
	// heard are the messages of the page's console, and requests what it asked for.
	heard, requests []string
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	theirIn, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	our, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
		"--no-first-run", "--window-size=1100,900", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirs} // it reads from 3 and writes to 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirs.Close()
	b := &browser{t: t, out: ours, in: bufio.NewReaderSize(our, 1<<20)}
	t.Cleanup(func() {
		b.call("", "Browser.close", nil)
		ours.Close()
		_ = cmd.Wait() // it may complain of having been closed
	})
	var made struct{ TargetID, SessionID string }
	b.decode(b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}), &made)
	b.decode(b.call("", "Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}), &made)
	b.tab = made.SessionID
	for _, domain := range []string{"Runtime", "Log", "Network", "Page"} {
		b.call(b.tab, domain+".enable", nil)
	}
	return b
}

func (b *browser) decode(from json.RawMessage, to any) {
	b.t.Helper()
	if err := json.Unmarshal(from, to); err != nil {
		b.t.Fatal(err)
	}
}

// call waits for the answer to a command and notes what happens before.
func (b *browser) call(tab, method string, params any) json.RawMessage {
	b.t.Helper()
	b.ids++
	if params == nil {
		params = struct{}{}
	}
	text, err := json.Marshal(map[string]any{"id": b.ids, "method": method, "params": params, "sessionId": tab})
	if tab == "" {
		text, err = json.Marshal(map[string]any{"id": b.ids, "method": method, "params": params})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.out.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		line, err := b.in.ReadBytes(0)
		if err != nil {
			if method == "Browser.close" {
				return nil
			}
			b.t.Fatalf("%s: %v", method, err)
		}
		var m struct {
			ID     int
			Method string
			Error  *struct{ Message string }
			Result json.RawMessage
			Params struct {
				Type    string
				Entry   struct{ Level, Text string }
				Request struct{ URL string }
			}
		}
		b.decode(bytes.TrimSuffix(line, []byte{0}), &m)
		switch m.Method {
		case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
			b.heard = append(b.heard, string(line))
		case "Network.requestWillBeSent":
			b.requests = append(b.requests, m.Params.Request.URL)
		}
		if m.ID == b.ids {
			if m.Error != nil {
				b.t.Fatalf("%s: %s", method, m.Error.Message)
			}
			return m.Result
		}
	}
}

// eval is the value of an expression on the page, as text.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Text string }
	}
	b.decode(b.call(b.tab, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}), &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails.Text)
	}
	return fmt.Sprint(r.Result.Value)
}

// await waits until an expression on the page has a value.
func (b *browser) await(expression, want string) {
	b.t.Helper()
	got := ""
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if got = b.eval(expression); got == want {
			return
		}
	}
	b.t.Fatalf("%s: %s; want %s", expression, got, want)
}

func (b *browser) open(url string) {
	b.t.Helper()
	b.heard, b.requests = nil, nil
	b.call(b.tab, "Page.navigate", map[string]any{"url": url})
	b.await("document.readyState + location.href", "complete"+url)
}

// quiet checks that the page has complained of nothing and has asked nobody but these.
func (b *browser) quiet(servers ...string) {
	b.t.Helper()
	b.eval("1")
	for _, h := range b.heard {
		b.t.Errorf("the console: %s", h)
	}
	for _, r := range b.requests {
		known := strings.HasPrefix(r, "data:")
		for _, s := range servers {
			known = known || strings.HasPrefix(r, s)
		}
		if !known {
			b.t.Errorf("the page asked for %s", r)
		}
	}
}

// mark points the mouse at the middle of an element.
func (b *browser) mark(selector, kind string) {
	b.t.Helper()
	var at struct{ X, Y float64 }
	b.decode(json.RawMessage(b.eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: 'center'});
		const r = e.getBoundingClientRect(); return JSON.stringify({x: r.x + r.width / 2, y: r.y + r.height / 2}) })()`, selector))), &at)
	b.call(b.tab, "Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": at.X, "y": at.Y})
	if kind == "click" {
		for _, what := range []string{"mousePressed", "mouseReleased"} {
			b.call(b.tab, "Input.dispatchMouseEvent", map[string]any{"type": what, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1})
		}
	}
}

// In a browser every kind of study has its page, without a complaint or a request; and on
// that of a finished one the mouse marks a trial everywhere and a click opens it.
func TestPagesInABrowser(t *testing.T) {
	b := openBrowser(t)
	dir := t.TempDir()
	for name, s := range studies(t) {
		file := filepath.Join(dir, strings.ReplaceAll(name, " ", "_")+".html")
		var page bytes.Buffer
		if err := HTML(&page, []*Study{s}, ""); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, page.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		b.open("file://" + file)
		b.quiet("file://" + file)
		if title := b.eval("document.title"); !strings.HasPrefix(title, "lbotune: ") {
			t.Errorf("%s: the title is %q", name, title)
		}
	}
	b.open("file://" + filepath.Join(dir, "finished.html"))
	b.mark(`#history a[href="#t7"] .d`, "move")
	b.await(`document.querySelectorAll('a.on[href="#t7"]').length > 5 && document.querySelectorAll('.on:not([href="#t7"]):not(#rt7)').length === 0`, "true")
	b.await("document.getElementById('tip').textContent.split('\\n')[0]", "Trial 7, succeeded")
	b.mark(`#history a[href="#t7"] .d`, "click")
	b.await("getComputedStyle(document.getElementById('t7')).display", "block")
	if text := b.eval("document.getElementById('t7').textContent"); !strings.Contains(text, "bowl 7") {
		t.Errorf("the panel of trial 7 has %q", text)
	}
	b.quiet("file://")
	// Without scripts all is there, but for the marks.
	b.call(b.tab, "Emulation.setScriptExecutionDisabled", map[string]any{"value": true})
	b.open("file://" + filepath.Join(dir, "finished.html") + "#t3")
	if n := b.eval("document.querySelectorAll('svg.chart').length + ' ' + getComputedStyle(document.getElementById('t3')).display"); n != "16 block" {
		t.Errorf("without scripts: %s", n)
	}
}

// live serves a study that grows.
func live(t *testing.T) (url string, grow func()) {
	t.Helper()
	h := begin(t, float("x"), float("y"))
	h.trial(0.1, 0.9)
	var mu sync.Mutex
	journal := filepath.Join(t.TempDir(), "journal")
	grow = func() {
		mu.Lock()
		defer mu.Unlock()
		h.trial(float64(len(h.st.Trials)%7)/7, float64(len(h.st.Trials)%5)/5)
		if err := os.WriteFile(journal, bytes.Repeat([]byte("x"), len(h.st.Trials)), 0o666); err != nil {
			t.Error(err)
		}
	}
	grow()
	v := NewServer(journal, func() (Source, error) {
		mu.Lock()
		defer mu.Unlock()
		st := h.st // what is read anew shares nothing that changes
		return Source{State: &st, Running: true}, nil
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: v.Handler(ln.Addr().String())}
	go server.Serve(ln)
	done := make(chan struct{})
	go func() { defer close(done); _ = v.Run(t.Context()) }()
	t.Cleanup(func() { server.Close(); <-done })
	return "http://" + ln.Addr().String(), grow
}

// New trials arrive on the page by themselves, and it asks for nothing twice.
func TestLivePageInABrowser(t *testing.T) {
	b := openBrowser(t)
	url, grow := live(t)
	b.open(url + "/")
	b.await(`document.querySelectorAll('#history a').length`, "2")
	for range 8 {
		grow()
	}
	b.await(`document.querySelectorAll('#history a').length`, "10")
	b.await(`document.querySelector('#head b').textContent !== '' && document.getElementById('t10') !== null`, "true")
	b.mark(`#history a[href="#t10"] .d`, "click")
	b.await("getComputedStyle(document.getElementById('t10')).display", "block")
	b.quiet(url)
	asked := slices.DeleteFunc(b.requests, func(r string) bool { return strings.HasPrefix(r, "data:") })
	if want := []string{url + "/", url + "/events?since=1"}; !slices.Equal(asked, want) {
		t.Errorf("requests %v; want %v", asked, want)
	}
}

// Who comes by a foreign name, from a foreign page, to change something or to look around
// is refused.
func TestServerRefuses(t *testing.T) {
	v := NewServer(filepath.Join(t.TempDir(), "none"), nil)
	v.study = studies(t)["finished"]
	handler := v.Handler("127.0.0.1:8765")
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
	} {
		r := httptest.NewRequest(c.method, "http://"+c.host+"/", nil)
		r.URL.Path = c.path
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != c.want && !(c.want == 404 && w.Code == http.StatusTemporaryRedirect) {
			t.Errorf("%s %s of %s from %q: %d; want %d", c.method, c.path, c.host, c.origin, w.Code, c.want)
		}
		if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: the policy is %q", c.path, csp)
		}
	}
}

// The figures are those of the study, and the API's fields those that docs/seeing.md has.
func TestAPI(t *testing.T) {
	v := NewServer("", nil)
	v.study = studies(t)["finished"]
	get := func(path string) string {
		w := httptest.NewRecorder()
		v.Handler("example.com").ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w.Body.String()
	}
	if text := get("/metrics"); !strings.Contains(text, "lbotune_trials{status=\"succeeded\"} 19\n") || !strings.Contains(text, "lbotune_trials{status=\"failed\"} 1\n") {
		t.Errorf("metrics:\n%s", text)
	}
	var answer map[string]any
	if err := json.Unmarshal([]byte(get("/api/v1/study")), &answer); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/seeing.md")
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
