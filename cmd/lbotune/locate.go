package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/lbotune/lbotune/study"
)

// studyDir finds the study that an argument names: a study directory, its
// journal, or the spec that it came from.
func studyDir(arg string) (string, error) {
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return arg, nil
	case err == nil && filepath.Base(arg) == filepath.Base(study.Layout("").Journal()):
		return filepath.Dir(arg), nil
	case strings.HasSuffix(arg, ".toml"):
		return study.DirFor(arg), nil
	case err != nil:
		return "", hinted(usagef("there is no study %s", arg), "STUDY is a study directory, its journal, or the spec it came from")
	}
	return "", usagef("%s is neither a study directory, nor its journal, nor a .toml spec", arg)
}
