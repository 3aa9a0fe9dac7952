package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

// studyDir finds the study that an argument names: a study directory, its
// journal, or the spec that it came from.
func studyDir(arg string) (string, error) {
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return arg, nil
	case err == nil && isJournal(arg):
		return filepath.Dir(arg), nil
	case err == nil && info.Mode().IsRegular(), strings.HasSuffix(arg, ".toml"):
		return study.DirFor(arg), nil
	case err != nil:
		return "", hinted(usagef("there is no study %s", arg), "STUDY is a study directory, its journal, or the spec it came from")
	}
	return "", usagef("%s is neither a study directory, nor its journal, nor a spec", arg)
}

func isJournal(path string) bool {
	return filepath.Base(path) == filepath.Base(study.Layout("").Journal())
}

// loadSpec reads the spec that an argument names; - is standard input.
func loadSpec(g *global, arg string) (study.Config, error) {
	if !isStream(arg) {
		return spec.Load(arg)
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

// isStream reports whether a spec is read from where no study can lie beside it.
func isStream(spec string) bool { return spec == "-" || strings.HasPrefix(spec, "/dev/") }
