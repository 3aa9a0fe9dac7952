package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Record is one verified line.
type Record struct {
	Seq    uint64          // the line's number, counted from 1
	Offset int64           // of the line's first byte in the file
	Raw    json.RawMessage // the whole object, "seq" and "crc" included; valid until visit returns
}

// A Summary describes a journal that has been read to its end.
type Summary struct {
	Records uint64 // verified, the first line included
	Size    int64  // bytes from the start of the file to the end of the last record
	CRC     uint32 // checksum of the last record, and so of the whole history
	Torn    *Torn  // what stands after the last record; nil when the file ends as it should
}

// A Torn is the end of a file whose last write was cut short. A reader that takes
// no lock also meets it when it comes in the middle of a write.
type Torn struct {
	Line   int   // in which the file ends
	Offset int64 // of the first byte that belongs to no record
	Length int64 // from there to the end of the file
	// Whole says that Line is a record, and counts as one, which only lacks its line end.
	Whole bool
	// Kept is the file to which Open has moved the bytes; empty when there are none.
	Kept string
}

func (t *Torn) String() string {
	switch {
	case t.Whole && t.Length == 0:
		return fmt.Sprintf("line %d lacks its line end", t.Line)
	case t.Whole:
		return fmt.Sprintf("line %d is followed by %d stray bytes instead of a line end", t.Line, t.Length)
	default:
		return fmt.Sprintf("line %d is incomplete: its %d bytes are not a whole record", t.Line, t.Length)
	}
}

// Read verifies the journal at path and hands each record to visit, the first line
// included. It takes no lock and changes nothing, so that it can be used while
// another process writes. An error of visit ends the reading and is returned as it is.
func Read(path string, visit func(Record) error, on ...FS) (Summary, error) {
	return read(path, visit, nil, on)
}

// Follow is Read that goes on behind the end of the file, after wait, whose error ends it.
func Follow(path string, visit func(Record) error, wait func() error, on ...FS) error {
	_, err := read(path, visit, wait, on)
	return err
}

func read(path string, visit func(Record) error, wait func() error, on []FS) (Summary, error) {
	path, file, err := openToRead(fileSystem(on), path)
	if err != nil {
		return Summary{}, err
	}
	defer file.Close()
	return scan(path, file, visit, wait)
}

func openToRead(fsys FS, path string) (string, File, error) {
	path, err := resolve(fsys, path)
	if err != nil {
		return "", nil, err
	}
	file, err := fsys.OpenFile(path, os.O_RDONLY)
	if err != nil {
		return "", nil, fmt.Errorf("open journal: %w", err)
	}
	return path, file, nil
}

// Verify reads the journal at path as Read does, and checks that each line is JSON in valid UTF-8.
func Verify(path string, on ...FS) (Summary, error) {
	return Read(path, func(r Record) error {
		if json.Valid(r.Raw) && utf8.Valid(r.Raw) {
			return nil
		}
		return &CorruptError{Path: path, Line: int(r.Seq), Offset: r.Offset,
			Reason: "its checksum is right, but it is not valid JSON: another program wrote it"}
	}, on...)
}

func resolve(fsys FS, path string) (string, error) {
	var info Info
	found, err := fsys.Resolve(path)
	if err == nil {
		info, err = fsys.Stat(found)
	}
	if err != nil {
		return "", fmt.Errorf("open journal: %w", err)
	}
	kind := "a special file (" + info.Mode.String() + ")"
	switch info.Mode.Type() {
	case 0:
		return found, nil
	case fs.ModeDir:
		kind = "a directory"
	case fs.ModeNamedPipe:
		kind = "a named pipe"
	}
	return "", &PlaceError{Path: path, Reason: "cannot be a journal: it is " + kind}
}

// scan verifies r from its start to its end.
//
// A line that seems damaged is read once more before it is called so: a process
// that repairs a torn end and goes on writing may have changed the bytes between
// two reads of ours.
//
// With wait the end of r is none: what stands after its last line end is looked at
// again once wait has returned.
func scan(path string, r io.ReaderAt, visit func(Record) error, wait func() error) (Summary, error) {
	var (
		sum   Summary
		link  chain
		lines = newScanner(r)
		again = int64(-1)
	)
	for {
		line, err := lines.next()
		if wait != nil && link.seq > 0 && (err == io.EOF || err == nil && !line.ended) {
			if err := wait(); err != nil {
				return sum, err
			}
			lines.seek(sum.Size)
			continue
		}
		switch {
		case err == io.EOF && link.seq == 0:
			return sum, &CorruptError{Path: path, Line: 1, Reason: "the file is empty"}
		case err == io.EOF:
			return sum, nil
		case err != nil:
			return sum, fmt.Errorf("read journal %s at byte %d: %w", path, lines.offset, err)
		}
		record, whole := line.record(&link)
		switch {
		case whole:
		case line.ended && again != line.offset:
			again = line.offset
			lines.seek(line.offset)
			continue
		case line.ended || link.seq == 0:
			return sum, damage(path, link, line)
		default:
			sum.Torn = &Torn{Line: int(link.seq) + 1, Offset: line.offset, Length: line.length}
			return sum, nil
		}
		if link.seq == 1 {
			if err := checkVersion(path, record); err != nil {
				return sum, err
			}
		}
		if err := visit(Record{link.seq, line.offset, record}); err != nil {
			return sum, err
		}
		sum.Records, sum.CRC, sum.Size = link.seq, link.crc, line.offset+int64(len(record))+1
		if !line.ended {
			sum.Size--
			sum.Torn = &Torn{Line: int(link.seq), Offset: sum.Size, Length: line.length - int64(len(record)), Whole: true}
		}
	}
}

// record returns the record that the line holds after link, and moves link on to it. Where the file
// ends without a line end, bytes may follow it.
func (l span) record(link *chain) (record []byte, whole bool) {
	if l.ended {
		return l.bytes, link.follow(l.bytes)
	}
	length, whole := link.followStart(l.bytes)
	return l.bytes[:length], whole
}

func damage(path string, link chain, line span) *CorruptError {
	reason := link.complaint(line.bytes)
	if !line.ended && strings.HasPrefix(firstLine, string(line.bytes[:min(len(firstLine), len(line.bytes))])) {
		reason = "the first line is cut short: nothing was recorded yet"
	}
	return &CorruptError{Path: path, Line: int(link.seq) + 1, Offset: line.offset, Reason: reason}
}

func checkVersion(path string, line []byte) error {
	rest, ok := bytes.CutPrefix(line, []byte(firstLine))
	if !ok {
		return &CorruptError{Path: path, Line: 1, Reason: notFirst}
	}
	digits, _, _ := bytes.Cut(rest, []byte(","))
	if string(digits) != strconv.Itoa(Version) {
		return versionError(fmt.Sprintf("journal %s has format version %s, but only version %d is known here: "+
			"read it with the program that wrote it, or a newer one", path, digits, Version))
	}
	return nil
}

const scanBuffer = 64 << 10

// A scanner cuts a file into lines.
type scanner struct {
	r      io.ReaderAt
	in     *bufio.Reader // of r, from offset on
	offset int64         // in the file, of the next line
	long   []byte        // holds a line that the buffer of in does not
	over   bool          // the last line had no end: what a writer has added since is no line of its own
}

func newScanner(r io.ReaderAt) *scanner {
	s := &scanner{r: r, in: bufio.NewReaderSize(nil, scanBuffer)}
	s.seek(0)
	return s
}

// A span is a line as it lies in the file.
type span struct {
	bytes  []byte // without the line end; no more than MaxLine+1 of them; valid until the next call
	offset int64
	length int64 // of the whole line, without its end
	ended  bool  // by a line end, not by the end of the file
}

// next returns the next line, or io.EOF after the last.
func (s *scanner) next() (span, error) {
	if s.over {
		return span{}, io.EOF
	}
	part, err := s.in.ReadSlice('\n')
	line := span{bytes: part, offset: s.offset, length: int64(len(part))}
	for s.long = s.long[:0]; err == bufio.ErrBufferFull; line.length += int64(len(part)) {
		s.keep(part)
		part, err = s.in.ReadSlice('\n')
	}
	if len(s.long) > 0 {
		s.keep(part)
		line.bytes = s.long
	}
	if err != nil && (err != io.EOF || line.length == 0) {
		return span{}, err
	}
	s.offset += line.length
	line.ended, s.over = err == nil, err != nil
	if line.ended {
		line.bytes = bytes.TrimSuffix(line.bytes, []byte("\n"))
		line.length--
	}
	line.bytes = slices.Clip(line.bytes)
	return line, nil
}

// keep adds a part to the long line, of which what is too long to be one of ours is passed over.
func (s *scanner) keep(part []byte) {
	s.long = append(s.long, part[:min(len(part), MaxLine+1-len(s.long))]...)
}

// seek makes the line at offset the next, read from the file again.
func (s *scanner) seek(offset int64) {
	s.in.Reset(&onward{s.r, offset})
	s.offset, s.over = offset, false
}

// onward reads from an offset to where nothing more is to be had: a writer may have gone on.
type onward struct {
	r  io.ReaderAt
	at int64
}

func (o *onward) Read(p []byte) (int, error) {
	n, err := o.r.ReadAt(p, o.at)
	if o.at += int64(n); n > 0 {
		err = nil
	}
	return n, err
}
