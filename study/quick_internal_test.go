package study

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"slices"
	"testing"
)

// FuzzQuick holds what is read by hand against the JSON decoder: a line of which the cutter
// makes an event has the same in it for both.
func FuzzQuick(f *testing.F) {
	for line := range bytes.Lines(wholeJournal(f)) {
		f.Add(bytes.TrimSpace(line))
	}
	for _, more := range quickLines {
		f.Add([]byte(more.line))
	}
	f.Fuzz(func(t *testing.T, line []byte) { quickAgrees(t, line) })
}

// wholeJournal has every type of record.
func wholeJournal(t testing.TB) []byte {
	text, err := os.ReadFile("testdata/v1/journal.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// quickAgrees reports whether the cutter reads the line, and fails if the JSON decoder
// reads anything else.
func quickAgrees(t *testing.T, line []byte) bool {
	t.Helper()
	c := cutter{rest: line}
	head := c.envelope()
	ev := c.event(head.Type)
	if ev == nil {
		return false
	}
	var envelope envelope
	if err := json.Unmarshal(line, &envelope); err != nil || envelope != head {
		t.Errorf("%s\nbegins %+v, and to the JSON decoder %+v: %v", line, head, envelope, err)
	}
	want, err := decodeEvent(head.Type, line)
	if err != nil || !reflect.DeepEqual(withoutNaN(ev), withoutNaN(want)) {
		t.Errorf("%s\nis %+v, and to the JSON decoder %+v: %v", line, ev, want, err)
	}
	return true
}

// withoutNaN replaces NaN, which equals nothing, in an event's numbers.
func withoutNaN(e Event) Event {
	known := func(v *float64) {
		if math.IsNaN(*v) {
			*v = math.Pi
		}
	}
	all := func(m Metrics) {
		for name, v := range m {
			known(&v)
			m[name] = v
		}
	}
	switch e := e.(type) {
	case Finished:
		all(e.Metrics)
	case Measured:
		for _, m := range e.Measurements {
			all(m.Metrics)
		}
	case Readings:
		for i := range e.Readings {
			known(&e.Readings[i].Step)
			known(&e.Readings[i].Value)
			for j := range e.Readings[i].Others {
				known(&e.Readings[i].Others[j])
			}
		}
	}
	return e
}

const (
	quickHead = `{"seq":7,"type":"finished","at":"2026-01-02T03:04:05.006Z","elapsed":1.5,"trial":3,"attempt":1,"slot":0,"status":`
	quickTail = `,"crc":"00000000"}`
)

// quickLines are lines that the cutter reads, and such as it must leave to the decoder.
var quickLines = []struct {
	line string
	read bool
}{
	{quickHead + `"succeeded","metrics":{"a":1,"b":-0.5e-7,"c":"NaN","a":"-Infinity"},"failure":{"kind":"x","text":"\"}é"},"seconds":0,"leftovers":"9"` + quickTail, true},
	{quickHead + `"failed","seconds":1` + quickTail, true},
	{quickHead + `"failed","seconds":1` + quickTail + " ", false},
	{quickHead + `"failed","seconds":1,"more":1` + quickTail, false},
	{quickHead + `"failed","seconds":01` + quickTail, false},
	{quickHead + `"failed","seconds":+1` + quickTail, false},
	{quickHead + `"failed","seconds":1.` + quickTail, false},
	{quickHead + `"failed","seconds":.5` + quickTail, false},
	{quickHead + `"failed","seconds":0x1p3` + quickTail, false},
	{quickHead + `"failed","seconds":1_0` + quickTail, false},
	{quickHead + `"failed","seconds":1e999` + quickTail, false},
	{quickHead + `"failed","seconds":Inf` + quickTail, false},
	{quickHead + `"failed", "seconds":1` + quickTail, false},
	{quickHead + `"fail\u0065d","seconds":1` + quickTail, false},
	{quickHead + "\"fail\xffed\",\"seconds\":1" + quickTail, false},
	{quickHead + "\"fail\ted\",\"seconds\":1" + quickTail, false},
	{quickHead + `"failed","metrics":{"a":1,},"seconds":1` + quickTail, false},
	{quickHead + `"failed","metrics":{,"a":1},"seconds":1` + quickTail, false},
	{quickHead + `"failed","metrics":{"a":"nan"},"seconds":1` + quickTail, false},
	{quickHead + `"failed","failure":{"kind":"x","text":"}},"seconds":1` + quickTail, false},
	{quickHead + `"failed","failure":null,"seconds":1` + quickTail, false},
	{`{"seq":7,"type":"finished","at":"2026-01-02T03:04:05.006Z","elapsed":1.5,"trial":3.0,"attempt":1,"slot":0,"status":"failed","seconds":1` + quickTail, false},
	{`{"seq":7,"type":"started","at":"","elapsed":0,"trial":-0,"attempt":1,"slot":0,"host":"h","waited":0.25,"rejoined":true` + quickTail, true},
	{`{"seq":7,"type":"started","at":"","elapsed":0,"trial":1,"attempt":1,"slot":0,"rejoined":false` + quickTail, false},
	{`{"seq":7,"type":"started","at":"","elapsed":0,"trial":999999999,"attempt":1234567890,"slot":-7` + quickTail, true},
	{`{"seq":7,"type":"started","at":"","elapsed":0,"trial":1,"attempt":9223372036854775808,"slot":0` + quickTail, false},
	{`{"seq":7,"type":"started","at":"","elapsed":0,"trial":01,"attempt":1,"slot":0` + quickTail, false},
	{`{"seq":7,"type":"proposed","at":"","elapsed":0,"trial":1,"told":0,"pending":[3,4],"origin":"given","values":{"a":true,"b":false,"c":"é","d":1,"e":1.0,"f":1e3},"note":{},"hand":true,"continues":2` + quickTail, true},
	{`{"seq":7,"type":"proposed","at":"","elapsed":0,"trial":1,"told":0,"pending":[],"origin":"model","values":{},"note":{"why":"x","expected":2,"state":{"a":["\\"]}}` + quickTail, true},
	{`{"seq":7,"type":"proposed","at":"","elapsed":0,"trial":1,"told":0,"pending":[],"origin":"model","values":{},"note":{"why":"x"}` + quickTail, true},
	{`{"seq":7,"type":"proposed","at":"","elapsed":0,"trial":1,"told":0,"pending":[1 ,2],"origin":"model","values":{},"note":{}` + quickTail, false},
	{`{"seq":7,"type":"proposed","at":"","elapsed":0,"trial":1,"told":0,"pending":[],"origin":"model","values":{"a":9223372036854775808},"note":{}` + quickTail, false},
	{`{"seq":7,"type":"proposed","at":"","elapsed":0,"trial":1,"told":0,"pending":[],"origin":"model","values":{"a":null},"note":{}` + quickTail, false},
	{`{"seq":7,"type":"measured","at":"","elapsed":0,"trial":1,"attempt":1,"measurements":[{"step":1,"seconds":0.5,"metrics":{"a":4.5,"b":12}},{"step":2.5,"metrics":{"a":"NaN"}},{"step":3,"metrics":{}}]` + quickTail, true},
	{`{"seq":7,"type":"measured","at":"","elapsed":0,"trial":1,"attempt":1,"measurements":[]` + quickTail, true},
	{`{"seq":7,"type":"measured","at":"","elapsed":0,"trial":1,"attempt":1,"measurements":null` + quickTail, false},
	{`{"seq":7,"type":"measured","at":"","elapsed":0,"trial":1,"attempt":1,"measurements":[{"step":"NaN","metrics":{}}]` + quickTail, false},
	{`{"seq":7,"type":"readings","at":"","elapsed":0,"trial":1,"attempt":1,"readings":[[1,4.5],[2,"NaN"],[3,1,"Infinity",-2]]` + quickTail, true},
	{`{"seq":7,"type":"readings","at":"","elapsed":0,"trial":1,"attempt":1,"readings":[]` + quickTail, true},
	{`{"seq":7,"type":"readings","at":"","elapsed":0,"trial":1,"attempt":1,"readings":[[1]]` + quickTail, false},
	{`{"seq":7,"type":"session","at":"","elapsed":0,"session":1` + quickTail, false},
}

func TestQuick(t *testing.T) {
	read := map[kind]int{}
	for line := range bytes.Lines(wholeJournal(t)) {
		line = bytes.TrimSpace(line)
		e := (&cutter{rest: line}).envelope()
		if quickAgrees(t, line) {
			read[e.Type]++
		} else if slices.Contains([]kind{"proposed", "started", "measured", "readings", "finished"}, e.Type) {
			t.Errorf("not read by hand: %s", line)
		}
	}
	if len(read) != 5 {
		t.Errorf("read by hand: %v", read)
	}
	for _, c := range quickLines {
		if quickAgrees(t, []byte(c.line)) != c.read {
			t.Errorf("read by hand: %v, want %v: %s", !c.read, c.read, c.line)
		}
		// Nothing that a line can be damaged to is read otherwise than by the decoder.
		for i := range c.line {
			for _, b := range []byte(`"\{}[],:.-+0eE n`) {
				changed := []byte(c.line)
				changed[i] = b
				quickAgrees(t, changed)
			}
			quickAgrees(t, []byte(c.line[:i]+c.line[i+1:]))
			quickAgrees(t, []byte(c.line[:i]))
		}
	}
}
