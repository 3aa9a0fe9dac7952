package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/lbotune/lbotune/internal/door"
)

// packed is a line of the file that keeps the small files of attempts that have succeeded.
type packed struct {
	Version int               `json:"packed"`
	Trial   int               `json:"trial"`
	Attempt int               `json:"attempt"`
	Files   map[string]string `json:"files"`
}

const (
	packedName  = "trials/packed.jsonl"
	packedStart = `{"packed":1,` // the version
	mostPacked  = 1 << 30
	mostRecord  = 64 << 10
)

// Pack moves the record of an attempt, and its files that are as given by name, into one file for all. The success of
// the attempt must be on disk elsewhere.
func (l Study) Pack(id AttemptID, given map[string]string) error {
	return l.inAttempt(id, func(study, dir *door.Dir) error {
		record, err := dir.Read(RecordName, mostRecord)
		if err != nil {
			return err
		}
		p := packed{1, id.Trial, id.Attempt, map[string]string{RecordName: string(record)}}
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
			err = dir.Remove(RecordName) // the first: without it, an Unpacker puts back the others, too
		}
		for name := range p.Files {
			if err == nil {
				err = dir.Remove(name)
			}
		}
		return err
	})
}

// Unpacker returns what puts back what Pack has moved, for who asks again how an attempt ended. It reads the file
// once, when it is needed.
func (l Study) Unpacker() func(AttemptID) error {
	files := sync.OnceValues(func() (map[AttemptID]map[string]string, error) {
		text, err := l.Read(filepath.Join(string(l), packedName), mostPacked)
		files := map[AttemptID]map[string]string{}
		for _, line := range bytes.Split(text, []byte(packedStart))[1:] { // also behind one that was cut short
			var p packed
			if json.NewDecoder(strings.NewReader(packedStart+string(line))).Decode(&p) == nil { // and not what follows of other versions
				files[AttemptID{p.Trial, p.Attempt}] = p.Files
			}
		}
		return files, err
	})
	return func(id AttemptID) error {
		return l.inAttempt(id, func(_, dir *door.Dir) error {
			_, recorded := dir.Stat(RecordName)
			_, ran := dir.Stat("stdout") // else it was only claimed
			if recorded == nil || ran != nil {
				return ran
			}
			all, err := files()
			for _, name := range []string{"stderr", ParamsName, SlotName, RecordName} { // the last says that all are there
				text, ok := all[id][name]
				if _, gone := dir.Stat(name); ok && gone != nil && err == nil {
					err = dir.Write(name, []byte(text))
				}
			}
			return err
		})
	}
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
