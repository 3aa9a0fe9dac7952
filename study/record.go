package study

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
)

// timeLayout is RFC 3339 in UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

type envelope struct {
	Type    kind    `json:"type"`
	At      string  `json:"at"`
	Elapsed float64 `json:"elapsed"` // seconds
}

// MarshalJSON writes one flat object: type, at and elapsed, then the event's
// own fields in the order of its struct.
func (r Record) MarshalJSON() ([]byte, error) {
	head, _ := journal.Plain(envelope{r.Event.kind(), r.At.UTC().Format(timeLayout), journal.Seconds(r.Elapsed)}) // two texts and a finite number
	event, err := journal.Plain(r.Event)
	if err != nil {
		return nil, fmt.Errorf("%s record: %w", r.Event.kind(), err)
	}
	if len(event) == len("{}") {
		return head, nil
	}
	return append(append(head[:len(head)-1], ','), event[1:]...), nil
}

// UnmarshalJSON reads what MarshalJSON writes. An event of unknown type is an
// error: it was written by a later version.
func (r *Record) UnmarshalJSON(line []byte) error {
	return r.read(line, nil)
}

// read is UnmarshalJSON that keeps each text of words once.
func (r *Record) read(line []byte, words map[string]string) error {
	c := cutter{rest: line, words: words}
	head := c.envelope()
	if c.lost {
		head = envelope{}
		if err := json.Unmarshal(line, &head); err != nil {
			return err
		}
	}
	at, err := time.Parse(time.RFC3339, head.At) // which is read much faster than timeLayout
	if err != nil {
		return fmt.Errorf("%s record: %w", head.Type, err)
	}
	ev := c.event(head.Type)
	if ev == nil {
		if ev, err = decodeEvent(head.Type, line); err != nil {
			return err
		}
	}
	*r = Record{At: at, Elapsed: time.Duration(math.Round(head.Elapsed*1000)) * time.Millisecond, Event: ev}
	return nil
}

// events are the kinds of events by their types.
var events = kinds(Created{}, Earlier{}, Session{}, SetupEnded{}, Enqueued{}, Proposed{}, Started{}, Measured{}, Readings{}, Cut{},
	Ended{}, Finished{}, Confirmed{}, Excluded{}, Included{}, Rerun{}, Noted{}, ConfigChanged{}, Refused{}, Closed{})

func kinds(all ...Event) map[kind]reflect.Type {
	out := map[kind]reflect.Type{}
	for _, e := range all {
		out[e.kind()] = reflect.TypeOf(e)
	}
	return out
}

func decodeEvent(t kind, line []byte) (Event, error) {
	of, known := events[t]
	if !known {
		return nil, fmt.Errorf("%w: its record %q was written by a later version of lbotune", journal.ErrVersion, t)
	}
	e := reflect.New(of)
	if err := json.Unmarshal(line, e.Interface()); err != nil {
		return nil, fmt.Errorf("%s record: %w", t, err)
	}
	return e.Elem().Interface().(Event), nil
}
