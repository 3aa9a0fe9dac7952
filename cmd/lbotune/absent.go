package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/lbotune/lbotune/study"
)

// scriptRE is a word of a command that names a script, or a program by its path.
var scriptRE = regexp.MustCompile(`^(\./[\w./-]+|[\w./-]+\.(py|sh|R|jl|pl|rb|js|lua|m))$`)

// warnOfAbsent says on standard error what a command lacks.
func warnOfAbsent(g *global, cfg *study.Config, spec string) {
	dir, err := filepath.Abs(filepath.Dir(spec))
	if err != nil {
		return // there is no working directory
	}
	if text := absent(cfg, dir); text != "" {
		fmt.Fprintln(g.err, "warning: "+oneLine(text))
	}
}

// absent names the first script or program of a command that is not where trials look for
// it, and what to do. It says nothing of a study whose setup or files may make it.
func absent(cfg *study.Config, specDir string) string {
	dir := cfg.Dir
	if cwd := cfg.Run.Cwd; cwd != "" && (cfg.Run.Sources == nil || cfg.Run.Sources.Mode != study.SourcesIsolate) {
		if strings.Contains(cwd, "{") {
			return ""
		}
		dir = filepath.Join(dir, cwd)
		if filepath.IsAbs(cwd) {
			dir = cwd
		}
	}
	if cfg.Setup != "" || len(cfg.Files) > 0 {
		return ""
	}
	words := cfg.Command.Argv
	if cfg.Command.Shell != "" {
		if strings.Contains(cfg.Command.Shell, "cd ") {
			return ""
		}
		words = strings.Fields(cfg.Command.Shell)
	}
	for i, word := range words {
		if !scriptRE.MatchString(word) || i > 0 && (strings.HasPrefix(words[i-1], "-") || strings.HasSuffix(words[i-1], ">")) {
			continue // what follows an option may be an output
		}
		in := func(dir string) bool {
			path := word
			if !filepath.IsAbs(word) {
				path = filepath.Join(dir, word)
			}
			_, err := os.Stat(path)
			return !errors.Is(err, fs.ErrNotExist)
		}
		switch {
		case in(dir):
		case specDir != dir && in(specDir):
			return fmt.Sprintf("there is no %s in %s, where trials run, but one in %s: start lbotune there, or write cwd = %q in [run]", word, dir, specDir, specDir)
		default:
			return fmt.Sprintf("there is no %s in %s, where trials run", word, dir)
		}
	}
	return ""
}
