package session

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

// exitNoSources is the exit code of an attempt that could not get its sources.
const exitNoSources = 125

// withSources makes the job get its view of the sources before its command
// runs, and only then go to its working directory, which may lie in it. The
// system's own cp and ln do the work, as part of the attempt: what they complain
// of stands in its stderr, and what stops the attempt stops them. The copy is the owner's
// alone, whatever its original.
func withSources(job *runner.Job, s *study.Sources, start string, linked []string) {
	from, to := shell.Quote(absolute(start, s.From)), shell.Quote(filepath.Join(job.Dir, study.SourcesName))
	get := "cp -Rp -- " + from + " " + to + " && chmod go= -- " + to
	switch s.Mode {
	case study.SourcesLink:
		get = "ln -s -- " + from + " " + to
	case study.SourcesIsolate:
		get = isolate(from, to, linked)
	}
	get = fmt.Sprintf("%s && cd -- %s || exit %d", get, shell.Quote(job.Cwd), exitNoSources)
	job.Cwd = start
	if job.Shell != "" {
		job.Shell = get + "\n" + job.Shell
		return
	}
	job.Argv = append([]string{"/bin/sh", "-c", get + "\n" + `exec "$@"`, "sh"}, job.Argv...)
}

// isolate is the command that makes a directory of the working directory's files in which a
// trial can write what it likes: copies, or clones where the file system makes them. Studies
// are left out, and some entries are links.
func isolate(from, to string, linked []string) string {
	links := ".*|node_modules"
	for _, name := range linked {
		links += "|" + shell.Quote(name)
	}
	return "(mkdir -m 700 -- " + to + " && cd -- " + from + ` && set -- && for f in * .[!.]*; do [ -e "$f" ] || [ -L "$f" ] || continue; case $f in
*.study) ;;
` + links + `) ln -s -- "$PWD/$f" ` + to + `/ || exit ` + strconv.Itoa(exitNoSources) + ` ;;
*) set -- "$@" "$f" ;;
esac; done && { [ $# = 0 ] || cp -Rp -- "$@" ` + to + `/; })`
}

// The sizes in isolated directories, in bytes.
const (
	isolateEntry = 64 << 20  // of an entry at the top; a larger one is a link
	isolateAll   = 256 << 20 // of all that is copied
)

// linkedEntries lists the entries of the working directory that isolated trials share because
// they are too large to be copied, or hold the study. What remains must not be too large.
func linkedEntries(start string, l study.Layout) (linked []string, err error) {
	entries, err := os.ReadDir(start)
	if err != nil {
		return nil, fmt.Errorf("isolate: %w", err)
	}
	total := int64(0)
	for _, e := range entries {
		path := filepath.Join(start, e.Name())
		if strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" || strings.HasSuffix(e.Name(), ".study") {
			continue
		}
		size, err := sizeOf(path)
		switch _, holds := below(path, string(l)); {
		case err != nil:
			return nil, fmt.Errorf("isolate: %w", err)
		case holds || size > isolateEntry:
			linked = append(linked, e.Name())
		default:
			total += size
		}
	}
	if total > isolateAll {
		return nil, &LayoutError{fmt.Sprintf("isolate: each trial would get a copy of %d MB of %s; the most is %d MB: keep data elsewhere, or in one directory of more than %d MB, which is linked",
			total>>20, start, isolateAll>>20, isolateEntry>>20)}
	}
	return linked, nil
}

// sizeOf is the size of the regular files at path and below it, as far as it matters.
func sizeOf(path string) (size int64, err error) {
	err = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if size += info.Size(); size > isolateEntry {
			return fs.SkipAll
		}
		return nil
	})
	return size, err
}

// checkSources refuses sources that hold the study: every copy would hold all others.
func checkSources(s *study.Sources, l study.Layout, start string) error {
	if s == nil || s.Mode != study.SourcesCopy {
		return nil
	}
	from := absolute(start, s.From)
	if rel, err := filepath.Rel(from, string(l)); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		return &LayoutError{fmt.Sprintf("sources: the study %s lies inside %s, so that every copy would hold the others; keep it elsewhere", l, from)}
	}
	return nil
}
