package report

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/lists"
)

// Listed is a study in a list, as ls prints it with --json.
type Listed struct {
	Dir      string    `json:"dir"`
	Study    string    `json:"study,omitempty"`
	State    string    `json:"state"` // running, ended, stopped, or unreadable
	Finished int       `json:"finished"`
	Trials   int       `json:"trials,omitempty"` // of the budget
	Failed   int       `json:"failed"`
	Metric   string    `json:"metric,omitempty"`
	Best     *float64  `json:"best,omitempty"`
	Over     bool      `json:"over_limit,omitempty"` // the best is, as all are
	Updated  time.Time `json:"updated,omitzero"`
	Error    string    `json:"error,omitempty"`
}

// Folder shows the studies below a folder, with a page for each.
type Folder struct {
	board
	name    string
	list    func() ([]Listed, error)
	open    func(dir string) *Server
	control Control
	life    context.Context
	found   []Listed
	opened  map[string]http.Handler // servers that run, by the study's directory
}

// NewFolder returns a server of the studies that list lists anew each time: with
// directories below the folder. It opens the server of one when somebody wants to see it.
func NewFolder(name string, list func() ([]Listed, error), open func(dir string) *Server, control Control) *Folder {
	return &Folder{board: newBoard(), name: name, list: list, open: open, control: control, opened: map[string]http.Handler{}}
}

// Run looks for studies and what has become of them, until ctx ends.
func (f *Folder) Run(ctx context.Context) error {
	f.mu.Lock()
	f.life = ctx
	f.mu.Unlock()
	f.pace.Add(1)
	defer f.pace.Add(-1)
	for {
		begun := spent()
		found, err := f.list()
		if err != nil {
			return err
		}
		f.tell(found)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(f.rest(begun)):
		}
	}
}

func (f *Folder) tell(found []Listed) {
	running := slices.DeleteFunc(slices.Clone(found), func(s Listed) bool { return s.State != "running" })
	parts := []part{{"head", "top", render("folder head", map[string]any{"Name": f.name, "Some": len(found) > 0, "Tiles": [][2]string{
		{strconv.Itoa(len(found)), "studies"}, {strconv.Itoa(len(running)), "running"}}})}}
	parts = append(parts, lists.Map(found, Listed.part)...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.found = found
	f.show(parts)
}

// part is the row of a study.
func (s Listed) part() part {
	hash := fnv.New64a()
	hash.Write([]byte(s.Dir))
	id := "s" + strconv.FormatUint(hash.Sum64(), 36)
	link := (&url.URL{Path: "study/" + s.Dir + "/"}).String()
	return part{id, "studies", render("listed", map[string]any{"ID": id, "Study": s, "Link": link, "Share": min(100*s.Finished/max(s.Trials, 1), 100)})}
}

// Handler answers requests to one of the hosts, of those who know the token.
func (f *Folder) Handler(token string, hosts ...string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", f.page)
	mux.HandleFunc("GET /events", f.events)
	mux.HandleFunc("GET /api/v1/studies", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		found := append([]Listed{}, f.found...)
		f.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(found)
	})
	mux.HandleFunc("/study/{rest...}", f.one)
	return guard(mux, f.control != nil, token, hosts)
}

// one leaves a request to the server of the study that it is about. Which one that is
// follows from the list alone, and no file is looked for.
func (f *Folder) one(w http.ResponseWriter, r *http.Request) {
	rest := r.PathValue("rest")
	f.mu.Lock()
	var inner http.Handler
	for _, s := range f.found {
		if after, is := strings.CutPrefix(rest, s.Dir+"/"); is && s.State != "unreadable" {
			r = r.Clone(r.Context())
			r.URL.Path, r.URL.RawPath = "/"+after, ""
			inner = f.server(s.Dir)
		}
	}
	f.mu.Unlock()
	if inner == nil {
		http.NotFound(w, r)
		return
	}
	inner.ServeHTTP(w, r)
}

// server is that of a study, begun when it is first asked for.
func (f *Folder) server(dir string) http.Handler {
	if f.opened[dir] == nil {
		v := f.open(dir)
		v.Control, v.home, v.pace = f.control, "/", f.pace
		f.opened[dir] = v.mux()
		go func() {
			_ = v.Run(f.life) // a study that can't be read shows so in the list
			f.mu.Lock()
			delete(f.opened, dir)
			f.mu.Unlock()
		}()
	}
	return f.opened[dir]
}

func (f *Folder) page(w http.ResponseWriter, r *http.Request) {
	now := f.first(w, r)
	if now == nil {
		return
	}
	page := whole{Title: "lbotune: " + clean(f.name, 80), Feed: now.feed(), Listed: now.pieces()}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = deliver(w, []byte(render("page", page)))
}
