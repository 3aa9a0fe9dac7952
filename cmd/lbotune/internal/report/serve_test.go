package report

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/study"
)

// Who comes by a foreign name, from a foreign page, to change something or to look around
// is refused.
func TestServerRefuses(t *testing.T) {
	shown := func(c *Control) *Server {
		v := NewServer(filepath.Join(t.TempDir(), "none"), nil)
		v.study, v.Control = studies(t)["finished"], c
		return v
	}
	obeyed := 0
	control := &Control{Token: "secret", Obey: func(context.Context, string, Order) (string, error) { obeyed++; return "done", nil }}
	folder := NewFolder("f", nil, func(string) *Server { return shown(nil) }, nil)
	folder.life = t.Context()
	folder.tell([]Listed{{Dir: "a/b.study", State: "ended"}, {Dir: "bad.study", State: "unreadable"}})
	handlers := map[string]http.Handler{"": shown(nil).Handler("127.0.0.1:8765"), "control ": shown(control).Handler("127.0.0.1:8765"), "folder ": folder.Handler("127.0.0.1:8765")}
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
		{"control POST", "/api/v1/requests", "127.0.0.1:8765", "", 401},
		{"control POST wrong", "/api/v1/requests", "127.0.0.1:8765", "", 401},
		{"control POST secret", "/api/v1/requests", "evil.example", "", 421},
		{"control POST secret", "/api/v1/requests", "127.0.0.1:8765", "http://evil.example", 403},
		{"control POST secret", "/api/v1/requests", "127.0.0.1:8765", "http://127.0.0.1:8765", 200},
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
		of, method := "", c.method
		for name := range handlers {
			if after, is := strings.CutPrefix(c.method, name); is && name != "" {
				of, method = name, after
			}
		}
		method, token, _ := strings.Cut(method, " ")
		r := httptest.NewRequest(method, "http://"+c.host+"/", strings.NewReader(`{"action":"note","text":"x"}`))
		r.URL.Path = c.path
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
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
		if c.want != 404 && (obeyed > 0) != (c.method == "control POST secret" && c.want == 200 || strings.HasPrefix(c.method, "folder")) {
			t.Errorf("after %s %s of %s from %q: %d orders are obeyed", c.method, c.path, c.host, c.origin, obeyed)
		}
		if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: the policy is %q", c.path, csp)
		}
	}
}

// Who comes before the studies have been looked for waits for the list: only what is on the
// page can be kept up to date.
func TestFolderBeforeItsList(t *testing.T) {
	f := NewFolder("f", nil, nil, nil)
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		f.Handler("example.com").ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
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
	v := NewServer("", nil)
	v.study = studies(t)["finished"]
	v.Control = &Control{Token: "secret", Obey: func(_ context.Context, dir string, o Order) (string, error) {
		if got = append(got, o); dir != "/bowl.study" {
			t.Errorf("the order is for %s", dir)
		}
		return "done\x1b[31m", nil
	}}
	for body, want := range map[string]int{
		`{"action": "enqueue", "values": {"x": "0.5"}}`: 200, `{"action": "adjust", "trial": 3}`: 400, `{"action": "note", "path": "/etc"}`: 400,
		`{"action": "note", "text": "` + strings.Repeat("x", mostOrdered) + `"}`: 400, "": 400,
	} {
		r := httptest.NewRequest("POST", "/api/v1/requests", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer secret")
		w := httptest.NewRecorder()
		v.Handler("example.com").ServeHTTP(w, r)
		if w.Code != want || strings.Contains(w.Body.String(), `\u001b`) || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%.50s: %d %s; want %d", body, w.Code, w.Body, want)
		}
	}
	if want := []Order{{Action: "enqueue", Values: map[string]string{"x": "0.5"}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("obeyed %v; want %v", got, want)
	}
}

// A line of a megabyte does not reach the browser, and the lines around it do.
func TestLogOfLongLines(t *testing.T) {
	v := NewServer("", nil)
	v.study = studies(t)["finished"]
	v.src.Log = func(_ context.Context, t *study.Trial, stderr bool, w io.Writer, _ <-chan struct{}) error {
		for _, text := range []string{"one\ntwo ", strings.Repeat("é", 1<<19), "end\nthree <b>\n"} {
			if _, err := io.WriteString(w, text); err != nil || t.Number != 3 || !stderr {
				return err
			}
		}
		return nil
	}
	w := httptest.NewRecorder()
	v.Handler("example.com").ServeHTTP(w, httptest.NewRequest("GET", "/log/3?stderr", nil))
	lines := strings.Split(w.Body.String(), "\n")
	if len(lines) != 4 || lines[0] != "one" || !strings.HasPrefix(lines[1], "two éé") || !strings.HasSuffix(lines[1], "é ...") ||
		len(lines[1]) > longest+4 || len(lines[1]) < longest || lines[2] != "three <b>" {
		t.Errorf("%d lines: %.40q ...", len(lines), lines)
	}
	if kind := w.Header().Get("Content-Type"); kind != "text/plain; charset=utf-8" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("it comes as %s", kind)
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
