package journal

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A Repaired tells what Repair made of a journal.
type Repaired struct {
	Kept    uint64    // records in the new file
	Mended  []Finding // lines that are kept, but not as or where they stood
	Dropped []Finding // lines that are not
}

// A Finding is a line of the damaged file.
type Finding struct {
	Line   int    `json:"line"` // counted from 1
	Offset int64  `json:"offset"`
	Length int64  `json:"bytes"` // without the line end
	Reason string `json:"reason"`
}

// mendable is the longest line to look in for a flipped bit, which takes quadratic time.
const mendable = 16 << 10

// Repair writes a new journal to dst, which must not exist, with every record of the journal src that
// can be trusted: to which an unbroken chain of checksums leads from the first line, for nothing else
// tells a record of this journal from one of another.
//
// Lines are taken wherever they stand, in the order of the chain: lines out of place, repeated, empty,
// foreign, with a byte order mark or CR LF cost nothing, and one is also taken when a single bit, flipped
// back, makes it the one that belongs there. Where the chain ends, all that is left over is dropped.
// Without a first line nothing can be trusted: that is a *CorruptError.
func Repair(src, dst string, on ...FS) (Repaired, error) {
	fsys := fileSystem(on)
	src, file, err := openToRead(fsys, src)
	if err != nil {
		return Repaired{}, err
	}
	defer file.Close()
	r := &repairer{path: src, file: file, bySeq: map[uint64][]int{}, last: -1}
	if err := r.survey(); err != nil {
		return Repaired{}, err
	}
	first, err := r.next()
	switch {
	case err != nil:
	case first == nil:
		_, err = scan(src, file, nil, nil) // it has no record to visit
	default:
		err = checkVersion(src, first)
	}
	if err == nil {
		err = r.write(fsys, dst, first)
	}
	if err != nil {
		return Repaired{}, err
	}
	return r.result, nil
}

type repairer struct {
	path   string
	file   io.ReaderAt
	pieces []piece
	bySeq  map[uint64][]int // pieces by the number that they give themselves
	link   chain            // to the record taken last
	last   int              // piece taken last
	result Repaired
}

// A piece is a line, or what follows the last line end.
type piece struct {
	offset, length int64
	seq            uint64 // that it gives itself; 0 if none
	taken          bool
}

// survey notes where each line lies and which record it claims to be.
func (r *repairer) survey() error {
	lines := newScanner(r.file)
	for {
		line, err := lines.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read journal %s at byte %d: %w", r.path, lines.offset, err)
		}
		seq, ok := claimedSeq(trimMark(line.bytes))
		if ok {
			r.bySeq[seq] = append(r.bySeq[seq], len(r.pieces))
		}
		r.pieces = append(r.pieces, piece{line.offset, line.length, seq, false})
	}
}

// write makes the new file and accounts for what is left over.
func (r *repairer) write(fsys FS, dst string, record []byte) error {
	dst, err := resolveNew(fsys, dst)
	if err != nil {
		return err
	}
	out, err := publish(fsys, dst, dst+"."+rand.Text()[:10], func(f File) error {
		w := bufio.NewWriterSize(f, scanBuffer)
		for record != nil {
			r.result.Kept++
			_, _ = w.Write(record) // Flush returns the first error
			_ = w.WriteByte('\n')
			var err error
			if record, err = r.next(); err != nil {
				return err
			}
		}
		return errors.Join(r.account(), w.Flush())
	})
	return errors.Join(err, closeFile(out))
}

// next returns the record that continues the chain, or nil.
func (r *repairer) next() ([]byte, error) {
	suspects := r.bySeq[r.link.seq+1]
	for _, i := range suspects {
		raw, err := r.load(i)
		if err != nil {
			return nil, err
		}
		line := trimMark(raw)
		if length, ok := r.link.followStart(line); ok {
			if length < len(raw) {
				r.mended(i, fmt.Sprintf("stray bytes around the record were removed: %d", len(raw)-length))
			}
			r.take(i)
			return line[:length], nil
		}
	}
	if i := r.following(); i < len(r.pieces) {
		suspects = append(suspects[:len(suspects):len(suspects)], i)
	}
	for _, i := range suspects {
		raw, err := r.load(i)
		if err != nil {
			return nil, err
		}
		if bit, ok := r.link.flipBack(raw); ok {
			r.mended(i, fmt.Sprintf("bit %d of its byte %d was flipped back", bit%8, bit/8+1))
			r.take(i)
			return raw, nil
		}
	}
	return nil, nil
}

// flipBack corrects the one bit that keeps line from following c, and returns its number.
func (c *chain) flipBack(line []byte) (bit int, ok bool) {
	if len(line) > mendable {
		return 0, false
	}
	for bit := range 8 * len(line) {
		line[bit/8] ^= 1 << (bit % 8)
		if next := *c; next.follow(line) && json.Valid(line) {
			*c = next
			return bit, true
		}
		line[bit/8] ^= 1 << (bit % 8)
	}
	return 0, false
}

// take notes that piece i is the record that r.link has just moved on to.
func (r *repairer) take(i int) {
	if i < r.last {
		r.mended(i, fmt.Sprintf("record %d was moved back to its place", r.link.seq))
	}
	r.pieces[i].taken = true
	r.last = i
}

// following returns the next piece after the one taken last that is not taken.
func (r *repairer) following() int {
	i := r.last + 1
	for i < len(r.pieces) && r.pieces[i].taken {
		i++
	}
	return i
}

// account lists what was not taken.
func (r *repairer) account() error {
	end := r.following() // of the chain: the first line that should have continued it
	for end < len(r.pieces) && (r.pieces[end].taken || r.repeats(r.pieces[end])) {
		end++
	}
	for i, p := range r.pieces {
		var reason string
		switch {
		case p.taken:
			continue
		case r.repeats(p):
			reason = fmt.Sprintf("there is a record %d already", p.seq)
		case i < end:
			reason = "it is not a record of this journal"
		case i == end:
			raw, err := r.load(i)
			if err != nil {
				return err
			}
			reason = r.link.complaint(raw)
		default:
			reason = fmt.Sprintf("nothing ties it to the records before line %d", end+1)
		}
		r.result.Dropped = append(r.result.Dropped, r.finding(i, reason))
	}
	return nil
}

func (r *repairer) repeats(p piece) bool { return p.seq > 0 && p.seq <= r.link.seq }

func (r *repairer) mended(i int, reason string) {
	r.result.Mended = append(r.result.Mended, r.finding(i, reason))
}

func (r *repairer) finding(i int, reason string) Finding {
	return Finding{i + 1, r.pieces[i].offset, r.pieces[i].length, reason}
}

// load reads piece i, or as much as shows that it is too long.
func (r *repairer) load(i int) ([]byte, error) {
	raw := make([]byte, min(r.pieces[i].length, MaxLine+1))
	if n, err := r.file.ReadAt(raw, r.pieces[i].offset); n < len(raw) {
		return nil, fmt.Errorf("read journal %s at byte %d: %w", r.path, r.pieces[i].offset, err)
	}
	return raw, nil
}

// trimMark removes the byte order mark that some editors put before a text.
func trimMark(line []byte) []byte { return bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) }
