// Package spec turns a TOML file into a study.Config. Whatever is wrong with
// the file is reported at once, each complaint with its line, its column, what
// was found and what is allowed.
package spec

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/study"
)

// maxSize bounds a spec and a template, which are kept in the journal: what is larger is surely
// some other file.
const maxSize = 1 << 20

// readSmall reads a file, if it is a regular one of at most maxSize.
func readSmall(path string) (text []byte, fits bool, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSize {
		return nil, false, err
	}
	text, err = os.ReadFile(path)
	return text, true, err
}

// Load reads and checks the spec at path. Complaints about its content come
// back as an *Error; if it is OnlyRule, with the configuration.
func Load(path string) (study.Config, error) {
	src, fits, err := readSmall(path)
	switch {
	case err != nil:
		return study.Config{}, fmt.Errorf("read spec: %w", err)
	case !fits:
		return study.Config{}, fmt.Errorf("read spec: %s is not a TOML file of at most 1 MiB", path)
	}
	dir, err := os.Getwd()
	if err != nil {
		return study.Config{}, fmt.Errorf("read spec: find the working directory: %w", err)
	}
	return Parse(path, src, dir)
}

// Parse checks the content of the spec that is named path in complaints. Setup
// and trials of the study run in dir; templates are looked up beside the spec.
func Parse(path string, src []byte, dir string) (study.Config, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if at := invalidUTF8(src); at >= 0 {
		line := 1 + bytes.Count(src[:at], []byte("\n"))
		return study.Config{}, &Error{Path: path, lines: strings.Split(string(src), "\n"), Problems: []Problem{{
			Line: line, Col: at - bytes.LastIndexByte(src[:at], '\n'), Message: "the file is not UTF-8 text",
		}}}
	}
	// No shell takes a carriage return for the end of a line.
	d := parseDocument(strings.ReplaceAll(string(src), "\r\n", "\n"))
	cfg := study.Config{Dir: dir}
	if len(d.problems) == 0 {
		d.config(&cfg, path)
	}
	if len(d.problems) > 0 {
		slices.SortStableFunc(d.problems, func(p, q Problem) int { return cmp.Or(p.Line-q.Line, p.Col-q.Col) })
		err := &Error{Path: path, Problems: d.problems, OnlyRule: d.noRule && len(d.problems) == 1, lines: d.lines}
		if !err.OnlyRule {
			cfg = study.Config{}
		}
		return cfg, err
	}
	return cfg, nil
}

// invalidUTF8 is the offset of the first byte that is not UTF-8, -1 if all are.
func invalidUTF8(src []byte) int {
	for i, r := range string(src) {
		if r == utf8.RuneError && !bytes.HasPrefix(src[i:], []byte(string(utf8.RuneError))) {
			return i
		}
	}
	return -1
}

func (d *document) config(cfg *study.Config, path string) {
	t := &table{doc: d, data: d.root}
	base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	cfg.Name = t.str("name", base)
	t.when(cfg.Name == "" || strings.ContainsAny(cfg.Name, "\n\r\x1b"), "name", "", "found %q; want one line of text", cfg.Name)
	cfg.Seed = uint64(t.Int("seed", 0, 0))
	cfg.Setup = t.Text("setup")
	cfg.Command = t.command()
	var okExit []int
	cfg.Metrics = t.metrics(&okExit)
	limited := t.constraints(cfg)
	cfg.Params = t.params()
	cfg.Where = t.where()
	cfg.WarmStart = t.warmStart()
	cfg.Budget = t.budget()
	cfg.Run = t.run()
	cfg.Run.OKExit = okExit
	t.sub("run").failedMeans(&cfg.Run, limited)
	t.optimizer(&cfg.Optimizer)
	cfg.Prune = t.prune()
	cfg.Safety = t.safety(*cfg)
	cfg.Hooks = t.hooks(cfg.Params)
	cfg.Files = t.files(filepath.Dir(path), reserved(cfg))
	cfg.Launcher = t.launcher(cfg.Run)
	t.done()
	for _, p := range cfg.Problems() {
		t.place(cfg, p)
	}
	t.checkWhere(cfg)
	t.checkDirectories(*cfg)
	var wrong study.InvalidError
	if len(d.problems) == 0 && errors.As(cfg.Validate(), &wrong) { // what can be said of a config that is right in itself
		for _, p := range wrong {
			if len(p.Key) > 0 {
				t.place(cfg, p)
			} else {
				t.placeByName(p)
			}
		}
	}
}

// checkDirectories finds directories that are named and not there, unless setup may make them.
func (t *table) checkDirectories(cfg study.Config) {
	if cfg.Setup != "" {
		return
	}
	run := t.sub("run")
	there := func(in *table, key, path string) {
		info, err := os.Stat(command.Inside(cfg.Dir, path))
		in.when(err != nil || !info.IsDir(), key, "relative ones are looked for in "+cfg.Dir+", where lbotune is started", "there is no directory %q", path)
	}
	if cwd := cfg.Run.Cwd; cwd != "" && !slices.ContainsFunc(command.Parse(cwd), command.Part.IsPlaceholder) {
		there(run, "cwd", cwd)
	}
	if src := cfg.Run.Sources; src != nil && src.From != "" {
		there(run.sub("sources"), "from", src.From)
	}
}
