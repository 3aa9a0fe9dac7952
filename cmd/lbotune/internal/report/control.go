package report

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Control does what is ordered of the study in dir, and says what it has done.
type Control func(ctx context.Context, dir string, o Order) (string, error)

// Order is what a person asks for on the page, or a program at /api/v1/requests.
type Order struct {
	Action string            `json:"action"` // stop, enqueue, exclude, include or note
	Trial  int               `json:"trial,omitempty"`
	Values map[string]string `json:"values,omitempty"` // of parameters, as texts; empty ones are left out
	Text   string            `json:"text,omitempty"`
}

// Answer is what came of an order.
type Answer struct {
	Done  string `json:"done,omitempty"`
	Error string `json:"error,omitempty"`
}

// Actions are those that an order may have.
var Actions = []string{"stop", "enqueue", "exclude", "include", "note"}

// mostOrdered is how long an order may be, in bytes.
const mostOrdered = 64 << 10

func (a Answer) send(w http.ResponseWriter, code int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	text, err := json.Marshal(a)
	must(err)                          // of two strings
	_ = deliver(w, append(text, '\n')) // the client may be gone
}

func (v *Server) obey(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Now().Add(patience))
	var o Order
	in := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostOrdered))
	in.DisallowUnknownFields()
	err := in.Decode(&o)
	if _, end := in.Token(); err == nil && !errors.Is(end, io.EOF) {
		err = errors.New("something follows the JSON object, and nothing was taken")
	}
	_ = out.SetReadDeadline(time.Time{})
	if err != nil {
		Answer{Error: clean("this is no order: "+err.Error(), 300)}.send(w, http.StatusBadRequest)
		return
	}
	if !slices.Contains(Actions, o.Action) {
		Answer{Error: clean("there is no action "+o.Action, 80) + "; allowed are " + strings.Join(Actions, ", ")}.send(w, http.StatusBadRequest)
		return
	}
	s := v.now(w, r)
	if s == nil {
		return
	}
	done, err := v.Control(r.Context(), s.Dir, o)
	if err != nil {
		Answer{Error: clean(err.Error(), 1000)}.send(w, http.StatusConflict)
		return
	}
	Answer{Done: clean(done, 1000)}.send(w, http.StatusOK)
}
