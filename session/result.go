package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/runner"
)

// resultFile is the file that the program writes a metric to.
func (a *attempt) resultFile(metric int) string {
	if a.study.patterns[metric].Variable() != "" {
		return filepath.Join(a.study.layout.Attempt(a.id), layout.ResultName)
	}
	b := a.bindings()
	name, _ := b.Expand(a.config.Metrics[metric].File)
	return command.Inside(b.WorkDir(), name)
}

// opens says how the file at path is opened that the attempt writes: in the study without following a
// link, but for the sources and elsewhere, which are the user's, at its path.
func (a *attempt) opens(path string) func() (*os.File, error) {
	inside, _ := below(a.study.layout.Attempt(a.id), path)
	_, source := a.source(inside)
	if _, ours := below(string(a.study.layout), path); ours && !source {
		return a.study.layout.Output(path)
	}
	return runner.At(path)
}

// trace is what tells a file that was written from one that was not: whatever writes
// a file, or puts another in its place, changes it.
type trace struct {
	There bool   `json:"there"`
	Dev   uint64 `json:"dev,omitempty"`
	Ino   uint64 `json:"ino,omitempty"`
	Size  int64  `json:"size,omitempty"`
	MTime int64  `json:"mtime,omitempty"` // nanoseconds since 1970
	CTime int64  `json:"ctime,omitempty"`
	Sum   string `json:"sum,omitempty"` // of the content of a file that is not long
	// Copied says that the attempt's copy of the sources holds a copy of the file.
	Copied bool `json:"copied,omitempty"`
}

func traceOf(path string) (trace, error) {
	var st unix.Stat_t
	err := unix.Lstat(path, &st) // a result that is a link is not read
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return trace{}, nil
	}
	return trace{There: true, Dev: uint64(st.Dev), Ino: st.Ino, Size: st.Size, MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano()}, err
}

// longestSum bounds in bytes the files that are read to know their content.
const longestSum = 1 << 20

// longestBefore bounds the file with the traces.
const longestBefore = 16 << 20

// sum stands for the content of the file at path; empty for one that is too long to read.
func (t trace) sum(path string) string {
	if !t.There || t.Size > longestSum {
		return ""
	}
	f, err := door.OpenFile(path, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.CopyN(sum, f, t.Size); err != nil {
		return ""
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// same reports whether now is of the file at path as it was. Another name, owner or mode
// changes the time of its inode alone, and so does a file that goes away and comes back; a copy that keeps its
// time has another inode, and a network's file system is another device on another machine. Only its content
// tells then, since times can be set back.
func (was trace) same(now trace, path string) bool {
	if was.Copied {
		const second = int64(time.Second)
		apart := max(now.MTime-was.MTime, was.MTime-now.MTime)
		switch { // the copy's file system may keep no more than seconds, or other steps, of which only the content tells
		case !was.There || !now.There || was.Size != now.Size:
			return false
		case apart == 0 || now.MTime%second == 0 && now.MTime/second == was.MTime/second:
			return true
		}
		return now.MTime%100 == 0 && apart <= 2*second && was.Sum != "" && was.Sum == now.sum(path)
	}
	content := was.Sum
	was.Sum = ""
	if was == now {
		return true
	}
	was.CTime, was.Dev, was.Ino = now.CTime, now.Dev, now.Ino
	return was == now && content == now.sum(path)
}

// freshness is how long ago a file must have changed for any change to come to have
// another time, on file systems that count it in steps of up to two seconds.
const freshness = 3 * time.Second

// recordResults returns the file that keeps the traces of what stands in the places of
// the attempt's results before its start, for whoever reads the results, be it a later
// session. There is none where nothing can stand.
func (a *attempt) recordResults() ([]runner.File, error) {
	dir := a.study.layout.Attempt(a.id)
	traces := map[string]trace{}
	for metric, m := range a.config.Metrics {
		if m.File == "" || a.id.Trial == 0 {
			continue
		}
		if _, err := a.study.layout.Stat(dir); err == nil {
			return nil, nil // it was launched already, with traces of its own
		}
		path := a.resultFile(metric)
		if _, known := traces[path]; known {
			continue
		}
		before, needed, err := a.before(dir, path)
		if err != nil {
			return nil, fmt.Errorf("look at the result file %s: %w", path, err)
		}
		if needed {
			traces[path] = before
		}
	}
	if len(traces) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(traces)
	return []runner.File{{Name: layout.BeforeName, Content: append(text, '\n')}}, err
}

// before is the trace of what stands at path before the start, if anything can.
func (a *attempt) before(dir, path string) (t trace, needed bool, err error) {
	copied := false
	if inside, ok := below(dir, path); ok {
		if path, ok = a.source(inside); !ok {
			return t, false, nil // the directory is new
		}
		copied = a.config.Run.Sources.Mode != "link"
	}
	t, err = traceOf(path)
	if age := time.Since(time.Unix(0, t.CTime)); err == nil && t.There && !copied && age < freshness {
		// The clock may not have moved on since, or may be set back.
		back := unix.NsecToTimespec(t.MTime - int64(time.Second))
		if err := unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{back, back}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			time.Sleep(20 * time.Millisecond) // not ours to change: two steps of the slowest clock of a kernel
		}
		t, err = traceOf(path)
	}
	t.Copied, t.Sum = copied, t.sum(path)
	return t, true, err
}

// unwritten says why what stands in a metric's file is not the attempt's, "" if it is. The error is of what
// cannot be read.
func (a *attempt) unwritten(metric int) (why string, err error) {
	if a.config.Metrics[metric].File == "" {
		return "", nil
	}
	path, dir := a.resultFile(metric), a.study.layout.Attempt(a.id)
	now, err := traceOf(path)
	if err != nil || !now.There {
		return "", unread(err, false) // there is no value then
	}
	inside, ok := below(dir, path)
	if _, source := a.source(inside); ok && !source {
		if a.rendered(inside, path) {
			return fmt.Sprintf("the program wrote no file %s; the one that is there is as lbotune rendered it", path), nil
		}
		return "", nil
	}
	text, err := a.study.layout.Read(filepath.Join(dir, layout.BeforeName), longestBefore)
	var traces map[string]trace
	if err == nil {
		err = json.Unmarshal(text, &traces)
	}
	if err != nil {
		return fmt.Sprintf("it cannot be told whether the program wrote %s: %v", path, err), unread(err, true)
	}
	if before, known := traces[path]; !known || before.same(now, path) {
		return fmt.Sprintf("the program wrote no file %s; the one that is there was there before", path), nil
	}
	return "", nil
}

// rendered reports whether the file at path in the attempt's directory has the
// content that the spec gives it.
func (a *attempt) rendered(inside, path string) bool {
	i := slices.IndexFunc(a.config.Files, func(f command.File) bool { return filepath.Clean(f.To) == inside })
	if i < 0 {
		return false
	}
	rendered, err := a.config.Files[i].Render(a.bindings())
	if err != nil {
		return false
	}
	text, err := a.study.layout.Read(path, int64(len(rendered)))
	return err == nil && bytes.Equal(text, []byte(rendered))
}

// source is what a path in the attempt's directory is a copy of, or leads to, if it
// lies in its view of the sources.
func (a *attempt) source(inside string) (path string, ok bool) {
	rest, ok := below(layout.SourcesName, inside)
	if !ok || a.config.Run.Sources == nil {
		return "", false
	}
	return filepath.Join(command.Inside(a.config.Dir, a.config.Run.Sources.From), rest), true
}

func below(dir, path string) (rest string, ok bool) {
	return strings.CutPrefix(filepath.Clean(path), filepath.Clean(dir)+"/")
}
