package report

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Control lets whoever knows the token change studies.
type Control struct {
	Token string
	// Obey does what is ordered of the study in dir, and says what it has done.
	Obey func(ctx context.Context, dir string, o Order) (string, error)
}

// Order is what a person asks for on the page, or a program at /api/v1/requests.
type Order struct {
	// Action is stop, enqueue, exclude, include or note.
	Action string            `json:"action"`
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

// obey has an order carried out for whoever knows the token.
func (v *Server) obey(w http.ResponseWriter, r *http.Request) {
	answer := func(code int, a Answer) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(a) // who has gone wants no answer
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if subtle.ConstantTimeCompare([]byte(token), []byte(v.Control.Token)) != 1 {
		answer(http.StatusUnauthorized, Answer{Error: "this needs the token that lbotune serve --control has printed"})
		return
	}
	var o Order
	in := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostOrdered))
	in.DisallowUnknownFields()
	if err := in.Decode(&o); err != nil {
		answer(http.StatusBadRequest, Answer{Error: clean("this is no order: "+err.Error(), 300)})
		return
	}
	if !slices.Contains(Actions, o.Action) {
		answer(http.StatusBadRequest, Answer{Error: clean("there is no action "+o.Action, 80) + "; allowed are " + strings.Join(Actions, ", ")})
		return
	}
	s, _, _ := v.now(r)
	if s == nil {
		return
	}
	done, err := v.Control.Obey(r.Context(), s.Dir, o)
	if err != nil {
		answer(http.StatusConflict, Answer{Error: clean(err.Error(), 1000)})
		return
	}
	answer(http.StatusOK, Answer{Done: clean(done, 1000)})
}
