package session

import (
	"fmt"
	"path/filepath"
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
func withSources(job *runner.Job, s *study.Sources, start string) {
	from, to := shell.Quote(absolute(start, s.From)), shell.Quote(filepath.Join(job.Dir, study.SourcesName))
	get := "cp -Rp -- " + from + " " + to + " && chmod go= -- " + to
	if s.Mode == "link" {
		get = "ln -s -- " + from + " " + to
	}
	get = fmt.Sprintf("%s && cd -- %s || exit %d", get, shell.Quote(job.Cwd), exitNoSources)
	job.Cwd = start
	if job.Shell != "" {
		job.Shell = get + "\n" + job.Shell
		return
	}
	job.Argv = append([]string{"/bin/sh", "-c", get + "\n" + `exec "$@"`, "sh"}, job.Argv...)
}

// checkSources refuses sources that hold the study: every copy would hold all others.
func checkSources(s *study.Sources, l study.Layout, start string) error {
	if s == nil || s.Mode == "link" {
		return nil
	}
	from := absolute(start, s.From)
	if rel, err := filepath.Rel(from, string(l)); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		return &LayoutError{fmt.Sprintf("sources: the study %s lies inside %s, so that every copy would hold the others; keep it elsewhere", l, from)}
	}
	return nil
}
