package optuna

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

// How much of a row lies in its cell is by the file format's formulas: of pages with 512 bytes
// up to 477, or else 39 and what fills no page of its own, as long as that is 477 at most.
func TestRowsThatOverflow(t *testing.T) {
	const size = 512
	for length, here := range map[int]int{476: 476, 477: 477, 478: 39, 546: 39, 547: 39, 548: 40, 985: 477, 986: 39, 1493: 477, 1494: 39} {
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			row := make([]byte, length)
			for i := range row {
				row[i] = byte(i % 251)
			}
			d := &database{text: make([]byte, size), size: size, usable: size}
			page := func(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
			cell := bytes.Clone(row[:here])
			if here < length {
				cell = append(cell, page(2)...)
			}
			for rest := row[here:]; len(rest) > 0; {
				n := min(size-4, len(rest))
				next := append(page(len(d.text)/size+2), rest[:n]...)
				d.text = append(d.text, append(next, make([]byte, size-len(next))...)...)
				rest = rest[n:]
			}
			cell = append(cell, "the next cell"...)
			d.text = append(d.text, make([]byte, 2*size)...) // no row is longer than its file
			if got, err := d.payload(cell, int64(length)); err != nil || !bytes.Equal(got, row) {
				t.Errorf("of %d bytes %d in the cell: read %d, %v", length, here, len(got), err)
			}
		})
	}
}

// Whole numbers are stored in as few bytes as they need, in two's complement.
func TestStoredNumbers(t *testing.T) {
	for _, c := range []struct {
		kind byte
		data string
		want any
	}{
		{0, "", nil}, {8, "", int64(0)}, {9, "", int64(1)},
		{1, "\x7f", int64(127)}, {1, "\x80", int64(-128)}, {1, "\xff", int64(-1)},
		{2, "\x7f\xff", int64(math.MaxInt16)}, {2, "\x80\x00", int64(math.MinInt16)},
		{3, "\x80\x00\x00", int64(-1 << 23)}, {4, "\x80\x00\x00\x00", int64(math.MinInt32)},
		{5, "\x80\x00\x00\x00\x00\x00", int64(-1 << 47)}, {5, "\x7f\xff\xff\xff\xff\xff", int64(1<<47 - 1)},
		{6, "\x80\x00\x00\x00\x00\x00\x00\x00", int64(math.MinInt64)}, {7, "\xbf\xf8\x00\x00\x00\x00\x00\x00", -1.5},
		{13, "", ""}, {17, "ab", "ab"},
	} {
		t.Run(c.data, func(t *testing.T) {
			got, err := valuesOf(append([]byte{2, c.kind}, c.data...))
			if err != nil || !reflect.DeepEqual(got, []any{c.want}) {
				t.Errorf("type %d, %x: %v, %v; want %v", c.kind, c.data, got, err, c.want)
			}
		})
	}
}

// A choice that is none is said to be none, also where the database has no number for it.
func TestChoiceOfNone(t *testing.T) {
	const two = `{"name": "CategoricalDistribution", "attributes": {"choices": ["sgd", "adam"]}}`
	for _, at := range []float64{-1, 2, 1e300, math.Inf(1), math.NaN()} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			if err := new(Trial).set(&Study{}, "opt", two, at); err == nil || !strings.Contains(err.Error(), "parameter opt has choice") {
				t.Errorf("choice %v: %v", at, err)
			}
		})
	}
}
