package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

func (a *attempt) job() (runner.Job, error) {
	b := a.bindings()
	job := runner.Job{
		Dir:    a.study.layout.Attempt(a.id),
		ID:     fmt.Sprintf("%s/%d/%d", a.study.state.ID, a.id.Trial, a.id.Attempt),
		Key:    a.key,
		Cwd:    a.config.Dir,
		Grace:  time.Duration(a.config.Run.Grace),
		Kill:   a.kill,
		MaxLog: a.config.Run.MaxLog,
		Hold:   a.hold,
		Env:    []string{"LBOTUNE_STUDY=" + b.Study},
	}
	canOpen := func(d *door.Dir, name string) error { return closed(d.Dir(name)) }
	if err := a.inStudy(filepath.Dir(job.Dir), canOpen); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return job, &runner.SpawnError{Op: "use the trial's directory", Err: err, Disk: true} // a trial may have made it a link
	}
	cmd := command.Command{Shell: a.config.Setup}
	if a.id.Trial > 0 {
		cmd = a.config.Command
		job.Timeout = time.Duration(a.config.Run.Timeout)
		job.Env = a.environment(b)
		job.Cwd = b.WorkDir()
		if b.Checkpoints() {
			if err := a.inStudy(b.CheckpointDir, makeCheckpoint); err != nil {
				return job, &runner.SpawnError{Op: "make the checkpoint directory", Err: err, Disk: true}
			}
		}
		var err error
		if job.Files, err = a.files(b); err != nil {
			return job, err
		}
	}
	cmd, err := cmd.Render(b)
	job.Shell, job.Argv = cmd.Shell, cmd.Argv
	if src := a.config.Run.Sources; src != nil && a.id.Trial > 0 {
		withSources(&job, src, a.config.Dir, a.study.linked)
	}
	return job, err
}

// makeCheckpoint makes a directory for checkpoints. One that is there may be a link: it is the
// program that uses it.
func makeCheckpoint(d *door.Dir, name string) error {
	if _, err := d.Stat(name); err == nil {
		return nil
	}
	return closed(d.Make(name))
}

// closed closes a directory that could be opened.
func closed(d *door.Dir, err error) error {
	if err != nil {
		return err
	}
	return d.Close()
}

// shortagePatience is how long is waited for descriptors, of which the process may have none.
const shortagePatience = 30 * time.Second

// inStudy is layout.Study's In, and waits for descriptors.
func (a *attempt) inStudy(path string, do func(d *door.Dir, name string) error) error {
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		err := a.study.layout.In(path, do)
		if short := errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE); !short || time.Since(begun) > shortagePatience {
			return err
		}
	}
}

// files renders what is written into the attempt's directory.
func (a *attempt) files(b *command.Bindings) ([]runner.File, error) {
	files := []runner.File{{Name: layout.ParamsName, Content: append(b.ParamsJSON(), '\n')}}
	for _, t := range a.config.Files {
		text, err := t.Render(b)
		if err != nil {
			return nil, err
		}
		files = append(files, runner.File{Name: filepath.ToSlash(t.To), Content: []byte(text)})
	}
	if a.variable() != "" {
		files = append(files, runner.File{Name: layout.ResultName})
	}
	own := func(f runner.File) bool { return f.Name == layout.SlotName } // of a spec that was checked for one worker
	if a.config.Run.SlotCount() > 1 && !slices.ContainsFunc(files, own) {
		files = append(files, runner.File{Name: layout.SlotName, Content: []byte(strconv.Itoa(a.slot) + "\n")})
	}
	return files, nil
}

// environment is what the program finds in its environment beside lbotune's own.
func (a *attempt) environment(b *command.Bindings) []string {
	env := b.Environment()
	env = append(env, lineBuffered(env, a.study.stdbuf)...)
	add := func(name, value string) { env = append(env, name+"="+value) }
	add("LBOTUNE_STUDY", b.Study)
	add("LBOTUNE_TRIAL", strconv.Itoa(b.Trial))
	add("LBOTUNE_SEED", strconv.FormatUint(b.Seed, 10))
	add("LBOTUNE_TRIAL_DIR", b.TrialDir)
	if a.id.Trial > 0 && b.Checkpoints() {
		add("LBOTUNE_CHECKPOINT_DIR", b.CheckpointDir)
	}
	if v := a.variable(); v != "" {
		add(v, filepath.Join(b.TrialDir, layout.ResultName))
	}
	for _, v := range b.All() {
		add("LBOTUNE_PARAM_"+strings.ToUpper(v.Name), v.Value.Text())
	}
	return env
}

// exitNoSources is the exit code of an attempt that could not get its sources.
const exitNoSources = 125

// withSources makes the job get its view of the sources before its command
// runs, and only then go to its working directory, which may lie in it. The
// system's own cp and ln do the work, as part of the attempt: what they complain
// of stands in its stderr, and what stops the attempt stops them. The copy is the owner's
// alone, whatever its original, and is of what a link leads to. It is made again where a file has gone away
// while it was made, as those of editors do.
func withSources(job *runner.Job, s *study.Sources, start string, linked []string) {
	from, to := shell.Quote(command.Inside(start, s.From)), shell.Quote(filepath.Join(job.Dir, layout.SourcesName))
	get := "cp -RHp -- " + from + " " + to + " && chmod go= -- " + to
	switch s.Mode {
	case "link":
		get = "ln -s -- " + from + " " + to
	case "isolate":
		get = isolate(from, to, linked)
	}
	get = fmt.Sprintf("(for try in 1 2 3; do rm -rf -- %s; %s && exit; done; exit 1) && cd -- %s || exit %d", to, get, shell.Quote(job.Cwd), exitNoSources)
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
	links := strings.Join(append([]string{"node_modules"}, lists.Map(linked, shell.Quote)...), "|")
	return "(mkdir -m 700 -- " + to + " && cd -- " + from + ` && set -- && for f in * .[!.]* ..?*; do [ -e "$f" ] || [ -L "$f" ] || continue; case $f in
*.study) continue ;;
` + links + `) copy= ;;
.*) copy=; [ -f "$f" ] && [ ! -L "$f" ] && copy=1 ;;
*) copy=1 ;;
esac
if [ "$copy" ]; then set -- "$@" "$f"; else ln -s -- "$PWD/$f" ` + to + `/ || exit ` + strconv.Itoa(exitNoSources) + `; fi; done && { [ $# = 0 ] || cp -Rp -- "$@" ` + to + `/; })`
}

// The sizes in isolated directories, in bytes.
const (
	isolateEntry = 64 << 20  // of an entry at the top; a larger one is a link
	isolateAll   = 256 << 20 // of all that is copied
)

// apart refuses a result that trials with sources of their own would share.
func (s *Study) apart(c *study.Config) error {
	linked := func(inside string) bool {
		return s.leaves(command.Inside(c.Dir, c.Run.Sources.From), inside, maxLinks)
	}
	if m, shared := c.SharedResult(linked); shared && c.Run.SlotCount() > 1 {
		return &LayoutError{fmt.Errorf("sources: %s leads to the same place for all trials, of which %d would run at a time: "+
			"keep the result of %s elsewhere", m.File, c.Run.SlotCount(), m.Name)}
	}
	return nil
}

// maxLinks is how many links are followed, as by Linux: more are a circle.
const maxLinks = 40

// leaves reports whether the links on the way to a path in the sources lead out of a trial's copy of them.
func (s *Study) leaves(from, path string, most int) bool {
	if entry, _, _ := strings.Cut(path, "/"); slices.Contains(s.linked, entry) {
		return true
	}
	for i, c := range path + "/" {
		if c != '/' {
			continue
		}
		if to, err := os.Readlink(filepath.Join(from, path[:i])); err == nil {
			next := filepath.Join(filepath.Dir(path[:i]), to)
			return most == 0 || filepath.IsAbs(to) || !filepath.IsLocal(next) || s.leaves(from, filepath.Join(next, path[i:]), most-1)
		}
	}
	return false
}

// linkedEntries lists the entries of the working directory that isolated trials share because they are
// links, hidden directories, node_modules, too large to be copied, or hold the study. What remains must not be too large.
func linkedEntries(start string, l layout.Study) (linked []string, err error) {
	entries, err := os.ReadDir(start)
	if err != nil {
		return nil, fmt.Errorf("isolate: %w", err)
	}
	total := int64(0)
	for _, e := range entries {
		path := filepath.Join(start, e.Name())
		if strings.HasSuffix(e.Name(), ".study") {
			continue
		}
		if strings.HasPrefix(e.Name(), ".") && !e.Type().IsRegular() || e.Name() == "node_modules" {
			linked = append(linked, e.Name())
			continue
		}
		size, err := sizeOf(path)
		switch _, holds := below(path, string(l)); {
		case err != nil:
			return nil, fmt.Errorf("isolate: %w", err)
		case holds || path == string(l) || size > isolateEntry || e.Type()&fs.ModeSymlink != 0:
			linked = append(linked, e.Name())
		default:
			total += size
		}
	}
	if total > isolateAll {
		return nil, &LayoutError{fmt.Errorf("isolate: each trial would get a copy of %d MB of %s; the most is %d MB: keep data elsewhere, or in one directory of more than %d MB, which is linked",
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
func checkSources(s *study.Sources, l layout.Study, start string) error {
	if s == nil || s.Mode != "copy" {
		return nil
	}
	from := command.Inside(start, s.From)
	if rel, err := filepath.Rel(resolved(from), resolved(string(l))); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		return &LayoutError{fmt.Errorf("sources: the study %s lies inside %s, so that every copy would hold the others; keep it elsewhere", l, from)}
	}
	return nil
}

// A program whose output goes to a file gathers it in blocks of some kilobytes, and its
// readings come all at once at its end: too late to stop it early. Python can be asked
// for better by its environment, and so can programs that use the C library's streams,
// where GNU stdbuf is installed: it works by a small library that they load first.

// lineBuffered returns what is added to the environment of a trial so that its lines
// come as they are printed. What the person or the spec has set stays as it is.
func lineBuffered(given, stdbuf []string) []string {
	set := func(name string) bool {
		_, inherited := os.LookupEnv(name)
		return inherited || slices.ContainsFunc(given, func(e string) bool { return strings.HasPrefix(e, name+"=") })
	}
	var env []string
	if !set("PYTHONUNBUFFERED") {
		env = append(env, "PYTHONUNBUFFERED=1")
	}
	if !set("_STDBUF_O") && !set("LD_PRELOAD") && !set("ASAN_OPTIONS") && len(stdbuf) > 0 {
		// AddressSanitizer ends a program before which any library is loaded, unless it is told not to.
		env = append(append(env, stdbuf...), "ASAN_OPTIONS=verify_asan_link_order=0")
	}
	return env
}

// askStdbuf asks GNU stdbuf what it sets for line-buffered output; nothing if there is
// none, or if its library does not outlive it.
func askStdbuf(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "stdbuf", "-oL", "env")
	cmd.WaitDelay = time.Second // for what stdbuf may have started
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	var env []string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if library, is := strings.CutPrefix(line, "LD_PRELOAD="); is {
			if _, err := os.Stat(library); err != nil {
				return nil
			}
		}
		if strings.HasPrefix(line, "LD_PRELOAD=") || strings.HasPrefix(line, "_STDBUF_O=") {
			env = append(env, line)
		}
	}
	if len(env) != 2 {
		return nil
	}
	return env
}
