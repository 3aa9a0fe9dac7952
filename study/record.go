package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/lbotune/lbotune/journal"
)

// timeLayout is RFC 3339 in UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

type envelope struct {
	Type    Type    `json:"type"`
	At      string  `json:"at"`
	Elapsed float64 `json:"elapsed"` // seconds
}

// MarshalJSON writes one flat object: type, at and elapsed, then the event's
// own fields in the order of its struct.
func (r Record) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	head := envelope{r.Event.Type(), r.At.UTC().Format(timeLayout), seconds(r.Elapsed)}
	_ = enc.Encode(head) // two texts and a finite number
	b.Truncate(b.Len() - len("}\n"))
	at := b.Len()
	if err := enc.Encode(r.Event); err != nil {
		return nil, fmt.Errorf("%s record: %w", r.Event.Type(), err)
	}
	out := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if out[at+1] != '}' {
		out[at] = ','
		return out, nil
	}
	return append(out[:at], '}'), nil
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

// decoders read the events of each type.
var decoders = map[Type]func(line []byte) (Event, error){
	TypeStudy:     decodeAs[Created],
	TypeEarlier:   decodeAs[Earlier],
	TypeSession:   decodeAs[Session],
	TypeSetup:     decodeAs[SetupEnded],
	TypeEnqueued:  decodeAs[Enqueued],
	TypeProposed:  decodeAs[Proposed],
	TypeStarted:   decodeAs[Started],
	TypeMeasured:  decodeAs[Measured],
	TypeReadings:  decodeAs[Readings],
	TypeCut:       decodeAs[Cut],
	TypeEnded:     decodeAs[Ended],
	TypeFinished:  decodeAs[Finished],
	TypeConfirmed: decodeAs[Confirmed],
	TypeExcluded:  decodeAs[Excluded],
	TypeIncluded:  decodeAs[Included],
	TypeRerun:     decodeAs[Rerun],
	TypeNoted:     decodeAs[Noted],
	TypeConfig:    decodeAs[ConfigChanged],
	TypeRefused:   decodeAs[Refused],
	TypeClosed:    decodeAs[Closed],
}

func decodeEvent(t Type, line []byte) (Event, error) {
	decode, known := decoders[t]
	if !known {
		return nil, fmt.Errorf("%w: its record %q was written by a later version of lbotune", journal.ErrVersion, t)
	}
	return decode(line)
}

func decodeAs[E Event](line []byte) (Event, error) {
	var e E
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, fmt.Errorf("%s record: %w", e.Type(), err)
	}
	return e, nil
}

// seconds is d in seconds, to the millisecond.
func seconds(d time.Duration) float64 {
	return float64(d.Milliseconds()) / 1000
}
