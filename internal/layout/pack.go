package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/lbotune/lbotune/internal/door"
)

// packed is a line of the file that keeps the small files of attempts that have succeeded.
type packed struct {
	Trial   int               `json:"trial"`
	Attempt int               `json:"attempt"`
	Files   map[string]string `json:"files"`
}

const (
	packedName = "trials/packed.jsonl"
	mostPacked = 1 << 30
	mostRecord = 64 << 10
)

// Pack moves the record of an attempt, and its files that are as given by name, into one file for all. The success of
// the attempt must be on disk elsewhere.
func (l Study) Pack(id AttemptID, given map[string]string) error {
	return l.inAttempt(id, func(study, dir *door.Dir) error {
		record, err := dir.Read(RecordName, mostRecord)
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
		f, err := study.OpenFile(packedName, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
		if err != nil {
			return err
		}
		_, err = f.Write(append(line, '\n'))
		if err = errors.Join(err, f.Close()); err == nil {
			err = dir.Remove(RecordName) // the first: without it, Unpack puts back the others, too
		}
		for name := range p.Files {
			if err == nil {
				err = dir.Remove(name)
			}
		}
		return err
	})
}

// Unpack puts back what Pack has moved, for who asks again how the attempt ended.
func (l Study) Unpack(id AttemptID) error {
	return l.inAttempt(id, func(study, dir *door.Dir) error {
		_, recorded := dir.Stat(RecordName)
		_, ran := dir.Stat("stdout") // else it was only claimed
		if recorded == nil || ran != nil {
			return ran
		}
		text, err := study.Read(packedName, mostPacked)
		at := bytes.LastIndex(text, fmt.Appendf(nil, `{"trial":%d,"attempt":%d,`, id.Trial, id.Attempt))
		if err != nil || at < 0 {
			return err
		}
		var p packed
		err = json.NewDecoder(bytes.NewReader(text[at:])).Decode(&p)
		for _, name := range []string{"stderr", ParamsName, SlotName, RecordName} { // the last says that all are there
			if text, ok := p.Files[name]; ok && err == nil {
				err = dir.Write(name, []byte(text))
			}
		}
		return err
	})
}

// inAttempt calls do with the directories of the study and of an attempt.
func (l Study) inAttempt(id AttemptID, do func(study, dir *door.Dir) error) error {
	return l.In(l.Attempt(id), func(d *door.Dir, name string) error {
		dir, err := d.Dir(name)
		if err != nil {
			return err
		}
		defer dir.Close()
		return do(d, dir)
	})
}
