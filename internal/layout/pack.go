package layout

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/lbotune/lbotune/internal/door"
)

// packed is a line of the file that keeps the small files of attempts that have succeeded, where each would be one of its own.
type packed struct {
	Trial   int               `json:"trial"`
	Attempt int               `json:"attempt"`
	Files   map[string]string `json:"files"`
}

const packedName = "trials/packed.jsonl"

// mostPacked bounds the record of an attempt, and a line of the file.
const mostPacked = 1 << 20

// Pack moves the record of an attempt into the file for all, and its files that are as given by name. What
// tells of its success must be on disk.
func (l Study) Pack(id AttemptID, given map[string]string) error {
	return l.In(l.Attempt(id), func(d *door.Dir, name string) error {
		dir, err := d.Dir(name)
		if err != nil {
			return err
		}
		defer dir.Close()
		record, err := dir.Read(RecordName, mostPacked/16)
		if err != nil {
			return err
		}
		p := packed{id.Trial, id.Attempt, map[string]string{RecordName: string(record)}}
		for name, want := range given {
			if text, err := dir.Read(name, int64(len(want))); err == nil && string(text) == want {
				p.Files[name] = want
			}
		}
		line, _ := json.Marshal(p) // strings: cannot fail
		f, err := d.OpenFile(packedName, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
		if err != nil {
			return err
		}
		_, err = f.Write(append(line, '\n'))
		if err = errors.Join(err, f.Close(), dir.Remove(RecordName)); err != nil { // without it, Unpack makes good whatever is cut short
			return err
		}
		for name := range p.Files {
			err = errors.Join(err, dir.Remove(name))
		}
		return err
	})
}

// Unpack puts back what Pack has moved, for who must know of an attempt what the journal has lost.
func (l Study) Unpack(id AttemptID) error {
	return l.In(l.Attempt(id), func(d *door.Dir, name string) error {
		dir, err := d.Dir(name)
		if err != nil {
			return err
		}
		defer dir.Close()
		if _, err := dir.Stat(RecordName); err == nil {
			return nil
		}
		if _, err := dir.Stat("stdout"); err != nil { // it was only claimed
			return err
		}
		f, err := d.OpenFile(packedName, os.O_RDONLY)
		if err != nil {
			return err
		}
		defer f.Close()
		var last packed
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, mostPacked)
		for head := fmt.Appendf(nil, `{"trial":%d,"attempt":%d,`, id.Trial, id.Attempt); lines.Scan(); {
			var p packed
			if bytes.HasPrefix(lines.Bytes(), head) && json.Unmarshal(lines.Bytes(), &p) == nil {
				last = p
			}
		}
		for _, name := range []string{"stderr", ParamsName, SlotName, RecordName} { // which says that all are there
			if text, ok := last.Files[name]; ok && err == nil {
				err = dir.Write(name, []byte(text))
			}
		}
		return err
	})
}
