package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lbotune/lbotune/study"
)

// writeOut writes what -o asks for to the file at path, and says so. The studies are
// those that it is about.
func (g *global) writeOut(path string, text []byte, studies ...string) error {
	if err := outsideStudies("-o", path, studies...); err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		return usagef("-o: %w", err)
	}
	_, err := fmt.Fprintf(g.err, "wrote %s\n", oneLine(path))
	return err
}

// outsideStudies refuses a path, given by a flag or an argument, at which a file would
// take the place of one of a study's: the journal is all that there is of a study. The
// journals of the given studies are known by other names, too.
func outsideStudies(flag, path string, studies ...string) error {
	dir := studyAbove(path)
	for _, s := range studies {
		if sameFile(path, study.Layout(s).Journal()) {
			dir = s
		}
	}
	if dir == "" {
		return nil
	}
	return hinted(usagef("%s: %s belongs to the study %s", flag, path, dir), "what is in a study's directory is lbotune's: write to another one")
}

// studyAbove is the study in whose directory, or below it, a file at path would be
// written, "" if there is none.
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

// mostLinks is how many links lead to a file at most, as Linux has it.
const mostLinks = 40

// destination is where a file is written that is opened at path: behind all links, also
// behind one that leads to nothing yet. What stands before ".." may be a link, so that
// no path is made shorter by its text alone.
func destination(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	for range mostLinks {
		if !filepath.IsAbs(path) {
			path = dir + string(filepath.Separator) + path
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		above, name := filepath.Split(path)
		if dir, err = filepath.EvalSymlinks(above); err != nil {
			return path // nothing can be written there
		}
		path = filepath.Join(dir, name)
		to, err := os.Readlink(path)
		if err != nil {
			return path
		}
		path = to
	}
	return path
}
