package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

// studyDir finds the study that an argument names, and says so if it had to be made.
func (g *global) studyDir(arg string) (string, error) {
	dir, made, err := studyDir(arg)
	if made && !g.json && !g.quiet {
		fmt.Fprintf(g.err, "made the study %s of the journal %s\n", oneLine(dir), oneLine(arg))
	}
	return dir, err
}

// studyDir finds the study that an argument names: its directory, its journal, or its spec.
func studyDir(arg string) (dir string, made bool, err error) {
	arg = layout.Direct(arg)
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return arg, false, nil
	case err == nil && isJournal(arg):
		return filepath.Dir(arg), false, nil
	case err == nil && info.Mode().IsRegular() && saysJournal(arg):
		return restored(arg)
	case err == nil && info.Mode().IsRegular(), strings.HasSuffix(arg, ".toml"):
		return layout.DirFor(arg), false, nil
	case err != nil:
		beside, _ := filepath.Glob(filepath.Join(filepath.Dir(arg), "*.study"))
		hint := meant(arg, beside, "", "STUDY is a study directory, its journal, or the spec it came from")
		return "", false, hinted(usagef("there is no study %s", arg), hint)
	}
	return "", false, usagef("%s is neither a study directory, nor its journal, nor a spec", arg)
}

// saysJournal reports whether the first line of a file says that it is a journal.
func saysJournal(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 100)
	n, _ := io.ReadFull(f, head)
	return journal.Is(head[:n])
}

// restored is the directory of the study whose journal lies alone, under another name: beside it,
// with a copy of the journal, which is there as a whole or not at all, and may have gone on.
func restored(path string) (dir string, made bool, err error) {
	dir = path + ".study"
	l := layout.Study(dir)
	text, err := os.ReadFile(path)
	if err == nil && begun(dir) {
		whole := text[:bytes.LastIndexByte(text, '\n')+1] // who goes on cuts off what is torn
		copied, err := l.Read(l.Journal(), 1<<62)
		if err == nil && !bytes.HasPrefix(copied, whole) {
			err = hinted(usagef("%s has another journal than %s", dir, path),
				"it may be an earlier copy: remove that directory to have the journal copied again, or name the directory as the study")
		}
		return dir, false, err
	}
	if err == nil {
		err = journal.MakeDir(dir)
	}
	if err == nil {
		err = l.In(l.Journal(), func(d *door.Dir, name string) error { return d.Write(name, text) })
	}
	if err != nil {
		return "", false, hinted(err, "copy it as journal.jsonl into a directory of its own")
	}
	return dir, true, nil
}

func isJournal(path string) bool {
	return filepath.Base(path) == filepath.Base(layout.Study("").Journal())
}

// load reads the study that an argument names, and shows how far that is.
func (g *global) load(arg string) (*study.State, layout.Study, error) {
	if _, err := g.studyDir(arg); err != nil {
		return nil, "", err
	}
	m := g.meter("reading the study")
	defer m.end()
	return load(arg, m.read)
}

// thrifty has garbage of a large study collected before there is as much of it as of what lives:
// nearly all that is read lives on. Of a small one it would be collected again and again.
func thrifty(l layout.Study) {
	if info, err := os.Stat(l.Journal()); err == nil && info.Size() > 8<<20 {
		debug.SetGCPercent(18)
	}
}

// load reads the study that an argument names.
func load(arg string, visits ...func(before *study.State, r study.Record) error) (*study.State, layout.Study, error) {
	dir, _, err := studyDir(arg)
	if err != nil {
		return nil, "", err
	}
	l := layout.Of(dir)
	thrifty(l)
	st, err := study.Load(dir, visits...)
	return st, l, hintStudy(arg, err)
}

// onStudy runs a command on the study that its first argument names.
func (g *global) onStudy(run func(cmd *cobra.Command, st *study.State, l layout.Study) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		st, l, err := g.load(args[0])
		if err != nil {
			return err
		}
		return run(cmd, st, l)
	}
}

// onTrial runs a command on the trial that its two arguments name.
func (g *global) onTrial(run func(ctx context.Context, st *study.State, l layout.Study, t *study.Trial) error) func(*cobra.Command, []string) error {
	return g.onStudy(func(cmd *cobra.Command, st *study.State, l layout.Study) error {
		n, err := trialNumber(st, cmd.Flags().Arg(1))
		if err != nil {
			return err
		}
		return run(cmd.Context(), st, l, st.Trials[n-1])
	})
}

// loadSpec reads the spec that an argument names; - is standard input.
func loadSpec(g *global, arg string) (study.Config, error) {
	if !isStream(arg) {
		return spec.Load(layout.Direct(arg))
	}
	from := g.in
	if arg != "-" {
		f, err := os.Open(arg)
		if err != nil {
			return study.Config{}, fmt.Errorf("read spec: %w", err)
		}
		defer f.Close()
		from = f
	}
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	dir, errDir := os.Getwd()
	switch err := errors.Join(err, errDir); {
	case err != nil:
		return study.Config{}, fmt.Errorf("read spec: %w", err)
	case len(text) > most:
		return study.Config{}, errors.New("read spec: standard input has more than 1 MiB")
	}
	return spec.Parse("stdin", text, dir)
}

// specOf is the config of an argument that names a spec, nil for others.
func specOf(arg string) (*study.Config, error) {
	switch info, err := os.Stat(arg); {
	case err == nil && (!info.Mode().IsRegular() || saysJournal(arg)), isJournal(arg), err != nil && !strings.HasSuffix(arg, ".toml"):
		return nil, nil
	}
	cfg, err := spec.Load(layout.Direct(arg))
	if err != nil {
		return nil, asUsage(err)
	}
	return &cfg, nil
}

// isStream reports whether a spec is read from where no study can lie beside it, which /dev/shm is not:
// from a descriptor, whatever it leads to, or from a pipe or a device.
func isStream(spec string) bool {
	if spec == "-" || spec == "/dev/stdin" || strings.HasPrefix(spec, "/dev/fd/") {
		return true
	}
	info, err := os.Stat(spec)
	return strings.HasPrefix(spec, "/dev/") && err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// writeOut has what -o asks for, of some studies, written to path, or to standard output.
func (g *global) writeOut(path string, write func(io.Writer) error, studies ...string) error {
	if path == "" || path == "-" {
		return buffered(g.out, write)
	}
	if err := outsideStudies("-o", path, studies...); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return usagef("cannot write: %w", err)
	}
	if err := errors.Join(buffered(f, write), f.Close()); err != nil {
		return usagef("cannot write: %w", err)
	}
	_, err = fmt.Fprintf(g.err, "wrote %s\n", oneLine(path))
	return err
}

// buffered hands what is written on in large pieces.
func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 64<<10)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

// outsideStudies refuses a path, given by a flag or an argument, at which a file would
// take the place of one of a study's: the journal is all that there is of a study. The
// journals of the given studies are known by other names, too.
func outsideStudies(flag, path string, studies ...string) error {
	dir := studyAbove(path)
	for _, s := range studies {
		if sameFile(path, layout.Study(s).Journal()) {
			dir = s
		}
	}
	if dir == "" {
		return nil
	}
	return hinted(usagef("%s: %s belongs to the study %s", flag, path, dir), "what is in a study's directory is lbotune's: write to another one")
}

// studyAbove is the study in or below whose directory a file at path would be, "" if none.
func studyAbove(path string) string {
	path = destination(path)
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if begun(dir) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// destination is where a file is written that is opened at path: behind all links, also
// behind one that leads to nothing yet. What stands before ".." may be a link, so that
// no path is made shorter by its text alone.
func destination(path string) string {
	const mostLinks = 40
	dir, err := os.Getwd()
	for links := 0; err == nil && links < mostLinks; links++ {
		if !filepath.IsAbs(path) {
			path = dir + string(filepath.Separator) + path
		}
		above, name := filepath.Split(path)
		if dir, err = filepath.EvalSymlinks(above); err != nil {
			break // nothing can be written there
		}
		path = filepath.Join(dir, name)
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		path = to
	}
	return path
}

// here is lbotune's directory, by the name that the config has for it if it is the same.
func here(c *study.Config) string {
	dir, err := os.Getwd()
	if err != nil || sameFile(dir, c.Dir) {
		return c.Dir
	}
	return dir
}
