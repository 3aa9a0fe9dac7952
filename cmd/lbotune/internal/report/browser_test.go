package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// browser is a Chromium without a window.
type browser struct {
	t   *testing.T
	ctx context.Context
	mu  sync.Mutex
	// heard are the messages of the page's console, and requests what it asked for.
	heard, requests []string
}

// chromium is the one process of which each test has a tab, with cookies of its own.
var chromium struct {
	ctx context.Context
	end []func()
}

func TestMain(m *testing.M) {
	m.Run()
	for _, end := range slices.Backward(chromium.end) {
		end()
	}
}

func startChromium(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "page") // not t.TempDir: of a socket below a long name it crashes
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.Env("TMPDIR="+dir),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1100, 900), chromedp.UserDataDir(dir), chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, endFirst := chromedp.NewContext(ctx)
	chromium.end = []func(){func() { _ = os.RemoveAll(dir) }, end, endFirst} // it leaves files
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	chromium.ctx = ctx
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is not installed")
	}
	if chromium.ctx == nil {
		startChromium(t)
	}
	b := &browser{t: t}
	ctx, end := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	b.ctx = ctx
	err := chromedp.Listen(b.ctx, func(e any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := e.(type) {
		case *runtime.EventConsoleAPICalled, *runtime.EventExceptionThrown, *log.EventEntryAdded:
			text, _ := json.Marshal(e)
			b.heard = append(b.heard, string(text))
		case *network.EventRequestWillBeSent:
			b.requests = append(b.requests, e.Request.URL)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// call is the answer to a command of the protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	r, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// eval is the value of an expression on the page, as text.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[any](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return fmt.Sprint(v)
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
	b.mu.Lock()
	b.heard, b.requests = nil, nil
	b.mu.Unlock()
	b.do(chromedp.Navigate(url))
	b.await("document.readyState + location.href", "complete"+strings.TrimSuffix(url, "?token=secret"))
}

// quiet checks that the page has complained of nothing and has asked nobody but these.
func (b *browser) quiet(servers ...string) {
	b.t.Helper()
	b.eval("1")
	b.mu.Lock()
	defer b.mu.Unlock()
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
	if err := json.Unmarshal([]byte(b.eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: 'center'});
		const r = e.getBoundingClientRect(); return JSON.stringify({x: r.x + r.width / 2, y: r.y + r.height / 2}) })()`, selector))), &at); err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at.X, at.Y))
	if kind == "click" {
		b.do(chromedp.MouseClickXY(at.X, at.Y))
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
		if err := HTML(&page, []*Study{s}); err != nil {
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
	if hidden := b.eval("document.getElementById('tip').hidden"); hidden != "true" {
		t.Error("the tip stands over the panel")
	}
	if text := b.eval("document.getElementById('t7').textContent"); !strings.Contains(text, "bowl 7") {
		t.Errorf("the panel of trial 7 has %q", text)
	}
	b.quiet("file://")
	// A small picture alone is not blown up to the width of the page.
	b.open("file://" + filepath.Join(dir, "one_parameter.html"))
	if width := b.eval("document.querySelector('#slice svg').getBoundingClientRect().width <= 380"); width != "true" {
		t.Error("the picture of the only parameter is as wide as the page")
	}
	// On a telephone the history and the timeline are seen from their first trial to their last, in letters that can be read.
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 400, Height: 800, DeviceScaleFactor: 1})
	b.open("file://" + filepath.Join(dir, "finished.html"))
	for _, id := range []string{"history", "timeline"} {
		if got := b.eval(`(() => { const card = document.getElementById('` + id + `'), tick = card.querySelector('.tick').getBoundingClientRect();
			return (card.scrollWidth <= card.clientWidth) + ' ' + (card.scrollHeight <= card.clientHeight) + ' ' + (tick.height > 10 && tick.left >= 0) })()`); got != "true true true" {
			t.Errorf("at a width of 400 the %s does not fit: %s", id, got)
		}
	}
	// Without scripts all is there, but for the marks.
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open("file://" + filepath.Join(dir, "finished.html") + "#t3")
	if n := b.eval("document.querySelectorAll('svg.chart').length + ' ' + getComputedStyle(document.getElementById('t3')).display"); n != "17 block" {
		t.Errorf("without scripts: %s", n)
	}
}

// live serves a study that grows. What takes longer is drawn when it may.
func live(t *testing.T) (url string, grow func(), may chan bool) {
	t.Helper()
	may = make(chan bool)
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
	load := func() (Source, error) {
		mu.Lock()
		defer mu.Unlock()
		st := h.st // what is read anew shares nothing that changes
		return Source{State: &st, Running: true}, nil
	}
	v := NewServer(journal, func() (Source, error) {
		select {
		case <-may:
		case <-t.Context().Done():
		}
		return load()
	}, looking(load))
	return serving(t, v.Run, v.Handler), grow, may
}

// New trials arrive on the page by themselves, and it asks for nothing twice.
func TestLivePageInABrowser(t *testing.T) {
	b := openBrowser(t)
	url, grow, may := live(t)
	close(may)
	b.open(url + "/?token=secret")
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
	if want := []string{url + "/?token=secret", url + "/", url + "/" + b.eval("document.body.dataset.feed")}; !slices.Equal(asked, want) {
		t.Errorf("requests %v; want %v", asked, want)
	}
}

// Head, history and table show a trial before the model has been asked, and do not wait for it
// when it is asked again; what it shows says of how many trials it is. A page that is loaded then
// shows no less.
func TestTheRecordComesBeforeTheModel(t *testing.T) {
	b := openBrowser(t)
	url, grow, may := live(t)
	shown := `[document.querySelectorAll('#history a').length, document.querySelectorAll('#all tbody tr').length,
		[...document.querySelectorAll('#head .tiles div')].find(d => d.textContent.includes('trials')).textContent.trim().split(' ')[0],
		(document.querySelector('#slice .age') || {textContent: '-'}).textContent.split(',')[0],
		document.querySelectorAll('#slice svg:first-of-type a').length > 0].join(' ')`
	b.open(url + "/?token=secret")
	b.await(shown, "2 2 2 - false")
	for range 8 {
		grow()
	}
	b.await(shown, "10 10 10 - false")
	may <- true
	b.await(shown, "10 10 10 model of 10 trials true")
	b.await(`/, \d+ s ago$/.test(document.querySelector('#slice .age').textContent)`, "true")
	for range 5 {
		grow()
	}
	b.await(shown, "15 15 15 model of 10 trials true")
	b.do(chromedp.Reload())
	b.await("document.readyState", "complete")
	b.await(shown, "15 15 15 model of 10 trials true")
	close(may)
	b.await(shown, "15 15 15 model of 15 trials true")
	b.await(`document.querySelector('#model .age').textContent.split(',')[0]`, "model of 15 trials")
	b.await(`fetch('api/v1/study').then(r => r.json()).then(s => s.trials.length + ' ' + s.model.slices.length)`, "15 2")
	b.quiet(url)
}

// drag holds the mouse down from one place to another.
// brush drags from one place to another until the page shows what is wanted: as parts of it arrive, what
// is below them moves.
func (b *browser) brush(place, shown, want string) {
	b.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); b.do(chromedp.KeyEvent(kb.Escape)) {
		b.eval(`document.querySelector('#parallel').scrollIntoView({block: 'center'})`)
		var at struct{ X, From, To float64 }
		if err := json.Unmarshal([]byte(b.eval(place)), &at); err != nil {
			b.t.Fatal(err)
		}
		b.drag(at.X, at.From, at.To)
		for range 20 {
			if b.eval(shown) == want {
				return
			}
			time.Sleep(25 * time.Millisecond)
		}
	}
	b.t.Fatalf("%s is never %s", shown, want)
}

func (b *browser) drag(x, from, to float64) {
	b.t.Helper()
	b.mouse(input.DispatchMouseEventTypeMousePressed, x, from)
	b.mouse(input.DispatchMouseEventTypeMouseMoved, x, (from+to)/2)
	b.mouse(input.DispatchMouseEventTypeMouseMoved, x, to)
	b.mouse(input.DispatchMouseEventTypeMouseReleased, x, to)
}

func (b *browser) mouse(kind input.DispatchMouseEventType, x, y float64) {
	b.t.Helper()
	b.do(chromedp.MouseEvent(kind, x, y, func(p *input.DispatchMouseEventParams) {
		p.Button, p.ClickCount = input.MouseButtonLeft, 1
	}))
}

// A page can be sorted, filtered and brushed, and what was chosen holds when parts are replaced.
func TestWorkingWithAPage(t *testing.T) {
	b := openBrowser(t)
	url, grow, may := live(t)
	close(may)
	for range 18 {
		grow()
	}
	b.open(url + "/?token=secret")
	b.await(`document.querySelectorAll('#all tbody tr').length + ' ' + document.querySelectorAll('#parallel a').length`, "20 20")
	first := `[...document.querySelectorAll('#all tbody tr:not(.gone)')].map(r => r.cells[0].textContent).slice(0, 3).join(' ')`
	best := b.eval(first)
	head := `#all th:nth-child(1)`
	b.eval(`document.querySelector('` + head + `').focus()`)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.await(first+` + document.querySelector('`+head+`').ariaSort`, "1 2 3ascending")
	b.mark(head, "click")
	b.await(first+` + document.querySelector('`+head+`').ariaSort`, "20 19 18descending")
	grow()
	b.await(first+` + document.querySelector('`+head+`').ariaSort + document.activeElement.dataset.focus`, "21 20 19descendingc0")
	b.mark(head, "click")
	b.await(first, best)

	set := func(selector, value string) {
		b.eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.value = %q; (e.oninput || e.onchange)(); })()`, selector, value))
	}
	rows := `document.querySelectorAll('#all tbody tr:not(.gone)').length + ' ' + document.querySelectorAll('#history a:not(.dim):not(.gone)').length + ' ' + document.querySelector('.tools output').value`
	set(".tools input[type=search]", "x < 0.2")
	b.await(rows, "6 6 6 of 21 trials")
	grow() // at 0
	b.await(rows, "7 7 7 of 22 trials")
	set(".tools input[type=search]", "trial 22")
	b.await(rows, "1 1 1 of 22 trials")
	set(".tools input[type=search]", "")
	set(".tools select:nth-of-type(1)", "")
	b.await(rows, "22 22 ")
	b.eval(`(() => { const e = document.querySelectorAll('.tools select')[1]; e.value = '0.1'; e.onchange(); })()`)
	b.await(rows, "3 3 3 of 22 trials")
	b.eval(`(() => { const e = document.querySelectorAll('.tools select')[1]; e.value = '1'; e.onchange(); })()`)

	b.eval(`document.querySelector('.tools details').open = true`)
	b.mark(".tools details label:nth-child(5) input", "click")
	hidden := `[...document.querySelectorAll('#all th')].filter(h => h.hidden).map(h => h.textContent).join() + document.querySelectorAll('#all td[hidden]').length`
	b.await(hidden, "origin22")
	grow()
	b.await(hidden, "origin23")

	y := `[...document.querySelectorAll('#history text.tick')].filter(t => t.getAttribute('x') < 55).map(t => t.textContent).join()`
	linear := b.eval(y)
	b.mark(".tools input[type=checkbox]", "click")
	b.await(y+` !== '`+linear+`' && document.querySelector('#history svg').dataset.y.split(' ')[2]`, "1")
	b.await(`document.querySelector('#slice svg').dataset.y.split(' ')[2]`, "1")
	grow()
	b.await(`document.querySelectorAll('#history a').length + document.querySelector('#history svg').dataset.y.split(' ')[2]`, "241")

	b.eval(`document.querySelector('.tools details').open = false`)
	dim := `document.querySelectorAll('#history a.dim').length + ' ' + document.querySelectorAll('#all tr.dim').length`
	b.brush(`(() => { const r = document.querySelector('#parallel .hold').getBoundingClientRect();
		return JSON.stringify({x: r.x + r.width / 2, from: r.bottom - 1, to: r.top + r.height * 0.79}) })()`, // x below 0.2 or so
		`document.querySelectorAll('#history a:not(.dim)').length`, b.eval(`[...document.querySelectorAll('#trials .trial')].filter(t => [...t.querySelectorAll('tr')].some(r => r.cells[0].textContent === 'x' && +r.cells[1].textContent < 0.2)).length`))
	if b.eval(dim) == "0 0" {
		t.Error("nothing is dim")
	}
	grow()
	b.await(`document.querySelectorAll('#history a').length + ' ' + (document.querySelectorAll('#history a.dim').length === document.querySelectorAll('#all tr.dim').length)`, "25 true")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.await(dim, "0 0")
	b.quiet(url)
}

// A range on the objective's axis is one of its values: it holds them when a trial changes what the axis
// is long.
func TestRangeOfTheObjective(t *testing.T) {
	b := openBrowser(t)
	h := begin(t, float("x"))
	var mu sync.Mutex
	more := func(loss float64) {
		mu.Lock()
		defer mu.Unlock()
		h.trialOf([]float64{0.5}, loss)
	}
	for k := range 8 {
		more(1 + float64(k))
	}
	load := func() (Source, error) {
		mu.Lock()
		defer mu.Unlock()
		st := h.st
		return Source{State: &st, Running: true}, nil
	}
	v := NewServer(filepath.Join(t.TempDir(), "none"), load, looking(load))
	url := serving(t, v.Run, v.Handler)
	b.open(url + "/?token=secret")
	b.await(`document.querySelectorAll('#parallel a').length`, "8")
	bright := `[...document.querySelectorAll('#history a:not(.dim)')].map(a => a.getAttribute('href')).join()`
	b.brush(`(() => { // the trials with 2 and 4
		 const svg = document.querySelector('#parallel svg'), x = +[...svg.querySelectorAll('line.axis')].at(-1).getAttribute('x1');
		const y = n => +document.querySelector('#parallel a[href="#t' + n + '"] path').getAttribute('d').split(' ').at(-1);
		const on = y => new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
		return JSON.stringify({x: on(0).x, from: on(y(2)).y + 5, to: on(y(4)).y - 5}) })()`, bright, "#t2,#t3,#t4")
	more(20)
	b.await(`document.querySelectorAll('#parallel a').length`, "9")
	b.await(bright, "#t2,#t3,#t4")
	low := `(() => { const r = [...document.querySelectorAll('#parallel .range')].at(-1), y = n => +document.querySelector('#parallel a[href="#t' + n + '"] path').getAttribute('d').split(' ').at(-1);
		const top = +r.getAttribute('y'), low = top + +r.getAttribute('height'); return [1, 2, 3, 4, 5].filter(n => y(n) >= top && y(n) <= low).join() })()`
	b.await(low, "2,3,4")
	// What arrives while an axis is dragged is shown when it is released, and does not take it away.
	b.eval(`document.querySelector('#parallel').dragged = true`)
	var axis struct{ X, From, To float64 }
	if err := json.Unmarshal([]byte(b.eval(`(() => { const e = document.querySelector('#parallel .hold'); e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();
		return JSON.stringify({x: r.x + r.width / 2, from: r.bottom - 1, to: r.top + 1}) })()`)), &axis); err != nil {
		t.Fatal(err)
	}
	b.mouse(input.DispatchMouseEventTypeMousePressed, axis.X, axis.From)
	b.mouse(input.DispatchMouseEventTypeMouseMoved, axis.X, axis.To)
	more(2.5)
	b.await(`fetch('api/v1/study').then(r => r.json()).then(s => s.trials.length)`, "10")
	for range 20 {
		if b.eval(`document.querySelector('#parallel').dragged`) != "true" {
			t.Fatal("the axis that is dragged is taken away")
		}
		time.Sleep(25 * time.Millisecond)
	}
	b.mouse(input.DispatchMouseEventTypeMouseReleased, axis.X, axis.To)
	b.await(`document.querySelectorAll('#parallel a').length`, "10")
	b.quiet(url)
}

// A range on the axis of a parameter with a long name is one of its values, though a metric's name begins
// and ends like it.
func TestRangeOfALongName(t *testing.T) {
	b := openBrowser(t)
	part := "a_long_name_"
	h := beginAs(t, func(c *study.Config) { c.Metrics[1].Name = strings.Repeat(part, 3) + "too_" + strings.Repeat(part, 3) }, float(strings.Repeat(part, 6)), float("x"))
	var mu sync.Mutex
	more := func(at, other float64) {
		mu.Lock()
		defer mu.Unlock()
		n := len(h.st.Trials) + 1
		h.record(study.Proposed{Trial: n, Told: n - 1, Values: h.st.Space.Decode(spaces.Point{at, 0.5})}, study.Started{Trial: n, Attempt: 1},
			study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": at, h.st.Config.Metrics[1].Name: other}})
	}
	for k := range 8 {
		more(float64(k)/8, float64(k))
	}
	load := func() (Source, error) {
		mu.Lock()
		defer mu.Unlock()
		st := h.st
		return Source{State: &st, Running: true}, nil
	}
	v := NewServer(filepath.Join(t.TempDir(), "none"), load, looking(load))
	url := serving(t, v.Run, v.Handler)
	b.open(url + "/?token=secret")
	b.await(`document.querySelectorAll('#parallel a').length`, "8")
	bright := `[...document.querySelectorAll('#history a:not(.dim)')].map(a => a.getAttribute('href')).sort().join()`
	b.brush(`(() => { // below the fourth trial
		 const svg = document.querySelector('#parallel svg'), x = +svg.querySelector('line.axis').getAttribute('x1');
		const y = n => +document.querySelector('#parallel a[href="#t' + n + '"] path').getAttribute('d').match(/[\d.]+ ([\d.]+)/)[1];
		const on = y => new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
		return JSON.stringify({x: on(0).x, from: on(y(4)).y + 5, to: on(y(1)).y + 5}) })()`, bright, "#t1,#t2,#t3")
	more(0.1, 99)
	b.await(`document.querySelectorAll('#parallel a').length`, "9")
	b.await(bright, "#t1,#t2,#t3,#t9")
	b.quiet(url)
}

// On an axis that the page draws anew, marks that differ have labels that differ, and the best so far goes through
// the best trials, however little the values differ.
func TestLogarithmOfANarrowRange(t *testing.T) {
	b := openBrowser(t)
	h := begin(t, float("x"))
	for k := range 9 {
		h.trialOf([]float64{float64(k) / 9}, 0.69315-1.23456789e-6*float64(k))
	}
	file := filepath.Join(t.TempDir(), "narrow.html")
	var page bytes.Buffer
	if err := HTML(&page, []*Study{h.of(false)}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, page.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	b.open("file://" + file)
	for _, log := range []string{"1", "0"} {
		b.mark(".tools input[type=checkbox]", "click")
		b.await(`document.querySelector('#history svg').dataset.y.split(' ')[2]`, log)
		b.await(`(() => { const [lo, hi, log, top, low] = document.querySelector('#history svg').dataset.y.split(' ').map(Number), f = +log ? Math.log : v => v;
			const shown = [...document.querySelectorAll('#history text.tick')].filter(t => +t.getAttribute('x') < 60);
			return shown.length > 2 && shown.every(t => Math.abs(+t.getAttribute('y') - 3.5 - low + (f(+t.textContent) - f(lo)) / (f(hi) - f(lo)) * (low - top)) < 0.2) })()`, "true")
		b.await(`(() => { const dots = [...document.querySelectorAll('#history circle')].map(c => +c.getAttribute('cy'));
			const line = document.querySelector('#history .bestline').getAttribute('d').slice(1).split('L').map(p => +p.split(' ')[1]);
			return line.length > 9 && line.every(y => dots.some(at => Math.abs(at - y) < 0.2)) })()`, "true")
	}
	b.quiet("file://")
}

// Columns and parameters of one name are told apart, texts that begin like numbers are sorted as texts, and
// Enter in the filter is no order.
func TestNamesOnAPage(t *testing.T) {
	b := openBrowser(t)
	long := strings.Repeat("a_long_name_", 5)
	h := begin(t, float("took"), float(long+"1"), float(long+"2"), spaces.Param{Name: "day", Kind: spaces.KindChoice,
		Choices: []spaces.Value{spaces.String("2020-06-01"), spaces.String("2020-01-01"), spaces.String("12345e67")}})
	for _, at := range [][]float64{{0.5, 0.1, 0.9, 0.1}, {0.9, 0.5, 0.5, 0.5}, {0.1, 0.9, 0.1, 0.9}} {
		h.trialOf(at, at[0])
	}
	v := showing(h.of(false))
	v.Control = func(context.Context, string, Order) (string, error) { return "", nil }
	v.draw(v.study.src, true)
	url := serving(t, func(ctx context.Context) error { <-ctx.Done(); return nil }, v.Handler)
	b.open(url + "/?token=secret")
	order := `[...document.querySelectorAll('#all tbody tr:not(.gone)')].map(r => r.cells[0].textContent).join(' ')`
	b.await(order, "3 1 2")
	for i, want := range []string{"3 1 2", "1 2 3", "3 2 1", "3 2 1"} { // in this order: the last one stays
		b.mark(fmt.Sprintf("#all th:nth-child(%d)", 6+i), "click")
		b.await(order+` + document.querySelectorAll('#all th[aria-sort=ascending]').length`, want+"1")
	}
	b.await(`[...document.querySelectorAll('#all td:nth-child(9)')].map(c => c.textContent).join()`, "12345e67,2020-01-01,2020-06-01")
	b.eval(`(() => { const e = document.querySelector('.tools input'); e.value = 'took < 0.3, ` + long + `1 > 0.8'; e.oninput(); e.focus() })()`)
	b.await(order, "3")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.await(order, "3")
	b.quiet(url)
}

// The filter compares how long trials took in seconds, whatever their unit is, and orders no texts.
func TestFilterComparesNumbers(t *testing.T) {
	b := openBrowser(t)
	h := begin(t, float("x"), spaces.Param{Name: "opt", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("adam"), spaces.String("sgd")}})
	for k, seconds := range []float64{0.34, 5, 90, 7200} {
		n := k + 1
		h.record(study.Proposed{Trial: n, Told: k, Origin: optimizer.OriginModel, Values: h.at(0.5, float64(k%2)*0.9)}, study.Started{Trial: n, Attempt: 1},
			study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: metrics(1 + float64(k)), Seconds: seconds})
	}
	v := showing(h.of(false))
	v.draw(v.study.src, true)
	url := serving(t, func(ctx context.Context) error { <-ctx.Done(); return nil }, v.Handler)
	b.open(url + "/?token=secret")
	left := `[...document.querySelectorAll('#all tbody tr:not(.gone)')].map(r => r.cells[0].textContent).join(' ')`
	b.await(left, "1 2 3 4")
	for _, c := range [][2]string{{"took > 10", "3 4"}, {"took <= 5", "1 2"}, {"took >= 7200, x = 0.5", "4"}, {"took = 340ms", "1"}, {"took != 5", "1 3 4"},
		{"took > 1m", ""}, {"opt > a", ""}, {"opt <= sgd", ""}, {"opt = sgd", "2 4"}, {"opt != sgd", "1 3"}, {"x < 1", "1 2 3 4"}} {
		b.eval(fmt.Sprintf(`(() => { const e = document.querySelector('.tools input'); e.value = %q; e.oninput() })()`, c[0]))
		if got := b.eval(left); got != c[1] {
			t.Errorf("%s: trials %s; want %s", c[0], got, c[1])
		}
	}
	b.quiet(url)
}

// serving lets a handler answer on a port of this machine.
func serving(t *testing.T, run func(context.Context) error, handler func(token string, hosts ...string) http.Handler) (url string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler("secret", ln.Addr().String())}
	go server.Serve(ln)
	done := make(chan struct{})
	go func() { defer close(done); _ = run(t.Context()) }()
	t.Cleanup(func() { server.Close(); <-done })
	return "http://" + ln.Addr().String()
}

// The list of a folder grows by itself, and leads to a page where a log can be followed and,
// with the token of the address, the study be steered.
func TestFolderInABrowser(t *testing.T) {
	b := openBrowser(t)
	h := begin(t, float("x"), float("dataset"))
	h.trial(0.1, 0.9)
	h.record(study.Proposed{Trial: 2, Told: 1, Origin: optimizer.OriginModel, Values: h.st.Space.Decode(spaces.Point{0.5, 0.5})}, study.Started{Trial: 2, Attempt: 1})
	journal := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(journal, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	more, orders, said := make(chan string), make(chan Order, 9), make(chan string)
	found := []Listed{{Dir: "b.study", Study: "b", State: "running", Finished: 1, Trials: 20, Metric: "loss"}, {Dir: "a" + evil, State: "unreadable", Error: evil}}
	f := NewFolder(evil, func() ([]Listed, error) {
		select {
		case name := <-more:
			found = append(found, Listed{Dir: name, State: "stopped"})
		default:
		}
		return found, nil
	}, func(string) *Server {
		load := func() (Source, error) {
			st := h.st
			return Source{State: &st, Running: true, Dir: "/b.study", Log: func(ctx context.Context, _ layout.AttemptID, stderr bool, w io.Writer, _ <-chan struct{}) error {
				fmt.Fprintln(w, evil, strings.Repeat("x", 1<<20))
				for {
					select {
					case text := <-said:
						fmt.Fprint(w, text)
					case <-ctx.Done():
						return ctx.Err()
					}
				}
			}}, nil
		}
		return NewServer(journal, load, looking(load))
	}, func(_ context.Context, _ string, o Order) (string, error) {
		orders <- o
		return "done <b>" + o.Action, nil
	})
	url := serving(t, f.Run, f.Handler)
	b.open(url + "/?token=secret")
	b.await(`document.querySelectorAll('#studies tr').length`, "2")
	more <- "c.study"
	b.await(`document.querySelectorAll('#studies tr').length + document.querySelector('#studies').lastChild.textContent.trim().slice(0, 7)`, "3c.study")
	b.quiet(url)
	b.do(chromedp.Navigate(url + "/study/b.study/"))
	b.await("document.readyState + location.href + !!document.getElementById('said') + document.cookie", "complete"+url+"/study/b.study/true")
	b.eval("location.hash = '#t2'")
	b.mark("#t2 a.log", "click")
	said <- "epoch 1 <b>\n"
	said <- "epoch 2\n"
	b.await(`document.querySelector('dialog pre').textContent.split('\n').slice(1).join()`, "epoch 1 <b>,epoch 2,")
	b.await(`document.querySelectorAll('dialog pre *').length + document.title`, "0lbotune: bowl")
	b.await(`document.querySelector('dialog span').textContent`, "Trial 2, standard output, going on")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.await(`document.querySelectorAll('dialog').length + location.hash`, "0#t2")
	b.mark("#t2 a.log", "click")
	b.await(`document.querySelectorAll('dialog[open]').length`, "1")
	b.mark("dialog button", "click")
	b.await(`document.querySelectorAll('dialog').length`, "0")
	b.mark("#t2 button[data-like]", "click")
	b.await(`document.querySelector('[name="p:x"]').value + location.hash`, "0.5#control")
	b.eval(`document.querySelector('[name="p:dataset"]').value = '<i>'`)
	b.mark("#enqueue button", "click")
	b.await(`document.getElementById('said').textContent`, "done <b>enqueue")
	if o := <-orders; o.Action != "enqueue" || o.Values["x"] != "0.5" || o.Values["dataset"] != "<i>" {
		t.Errorf("ordered %+v", o)
	}
	b.eval("location.hash = '#t1'")
	b.mark(`#t1 button[value="exclude"]`, "click")
	b.await(`document.getElementById('said').textContent`, "done <b>exclude")
	if o := <-orders; o.Action != "exclude" || o.Trial != 1 {
		t.Errorf("ordered %+v", o)
	}
	call(b, network.ClearBrowserCookies, cdp.Empty{})
	b.mark(`#t1 button[value="exclude"]`, "click")
	b.await(`document.getElementById('said').className`, "bad")
	b.eval("1")
	b.mu.Lock()
	b.heard = slices.DeleteFunc(b.heard, func(h string) bool { return strings.Contains(h, "401") })
	b.mu.Unlock()
	b.quiet(url)
	if len(orders) > 0 {
		t.Errorf("obeyed without the token: %+v", <-orders)
	}
}

// The figures of docs/seeing.md for large studies: when something is first seen of the page,
// when all of it is there, and how long it takes to mark a trial.
//
//	LBOTUNE_LONG_TESTS=1 go test ./cmd/lbotune/internal/report -run ManyTrialsInABrowser -v
func TestManyTrialsInABrowser(t *testing.T) {
	if !effort.Long() {
		t.Skip("draws tens of thousands of trials")
	}
	b := openBrowser(t)
	call(b, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	busy := func() float64 { // processor time of the page's thread, in seconds
		for _, m := range call(b, performance.GetMetrics, cdp.Empty{}).Metrics {
			if m.Name == "TaskDuration" {
				return m.Value
			}
		}
		return math.NaN()
	}
	for _, n := range []int{10000, 46000} {
		h := begin(t, float("x"), float("y"), float("z"))
		for k := range n {
			u := float64(k)
			h.trial(math.Mod(u*0.618, 1), math.Mod(u*0.414, 1), math.Mod(u*0.732, 1))
		}
		begun := time.Now()
		var page bytes.Buffer
		if err := HTML(&page, []*Study{h.of(false)}); err != nil {
			t.Fatal(err)
		}
		drawn := time.Since(begun)
		file := filepath.Join(t.TempDir(), "many.html")
		if err := os.WriteFile(file, page.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		b.open("about:blank")
		idle := busy()
		b.open("file://" + file)
		b.await("performance.getEntriesByName('first-contentful-paint').length", "1")
		loaded := busy()
		figures := b.eval(`(async () => {
			const paint = performance.getEntriesByName('first-contentful-paint')[0].startTime, load = performance.timing.loadEventEnd - performance.timing.navigationStart;
			const dots = document.querySelectorAll('#history a .d'), took = [];
			for (let k = 0; k < 21; k++) {
				const begun = performance.now();
				dots[k * 40].dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
				document.body.offsetHeight;
				took.push(performance.now() - begun);
				await new Promise(requestAnimationFrame);
			}
			took.sort((a, b) => a - b);
			return 'first paint ' + Math.round(paint) + ' ms, all ' + Math.round(load) + ' ms, hover ' + took[10].toFixed(1) + ' ms, at most ' + took[20].toFixed(1) + ' ms';
		})()`)
		t.Logf("%d trials: drawn in %v, %d kB; %s; processor time of the page %.0f ms, of a hover %.1f ms",
			n, drawn.Round(time.Millisecond), page.Len()>>10, figures, 1000*(loaded-idle), 1000*(busy()-loaded)/21)
		if marked := b.eval("document.querySelectorAll('.on').length > 3"); marked != "true" {
			t.Error("no trial is marked")
		}
		b.quiet("file://")
	}
}
