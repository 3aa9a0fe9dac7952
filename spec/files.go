package spec

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/spelling"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

// files reads [[files]] and the templates that they name. The reserved names are
// taken in every attempt's directory.
func (t *table) files(base string, reserved []string) []command.File {
	var out []command.File
	for _, f := range t.subs("files") {
		tpl := command.File{From: f.str("from", ""), Text: f.str("text", ""), To: f.str("to", "")}
		if f.has("from") == f.has("text") {
			f.Missing("from", `for example from = "config.yaml.in"`, "needs either from, a template file, or text")
		} else if f.has("from") {
			tpl.Text = f.template(base, tpl.From)
		}
		if tpl.To == "" && tpl.From != "" {
			tpl.To = strings.TrimSuffix(filepath.Base(tpl.From), ".in")
		}
		f.settings(&tpl)
		if tpl.To == "" {
			f.Missing("to", `for example to = "config.yaml"`, "the file has no name: add to")
		} else if problem := problemOf(tpl.To, out, reserved); problem != "" {
			f.Wrong("to", "", "%s", problem)
		}
		f.done()
		out = append(out, tpl)
	}
	return out
}

// settings reads the values that are set in a base file.
func (t *table) settings(f *command.File) {
	if _, there := t.get("set"); !there {
		return
	}
	t.when(!f.Settable(), "set", "name it in from or to, as base.yaml", "values are set in JSON, YAML and TOML files; %q is none by its name", cmp.Or(f.From, f.To))
	t.sub("set").setting(f, "")
}

// setting reads the settings in a table, whose own place in the file is prefix.
func (t *table) setting(f *command.File, prefix string) {
	for _, k := range slices.Sorted(maps.Keys(t.data)) {
		path := prefix + k
		if _, nested := t.data[k].(map[string]any); nested { // model.lr = "{lr}" without quotes
			t.sub(k).setting(f, path+".")
			continue
		}
		s := command.Setting{Path: path, Value: t.value(k)}
		t.when(slices.ContainsFunc(f.Set, func(other command.Setting) bool { return other.Path == path }), k, "keep one of them", "%s is set twice", path)
		f.Set = append(f.Set, s)
		if !f.Settable() || f.Text == "" {
			continue
		}
		err, hint := f.CheckSet(s), ""
		var pe *command.PathError
		if errors.As(err, &pe) {
			hint = spelling.DidYouMean(pe.Missing, pe.Allowed)
		}
		t.when(err != nil, k, hint, "%v", err)
	}
}

// reserved lists the names in an attempt's directory that no file of the spec's can have.
func reserved(c *study.Config) []string {
	names := []string{layout.RecordName, runner.StdoutName, runner.StderrName, layout.ParamsName}
	if c.Run.Sources != nil {
		names = append(names, layout.SourcesName)
	}
	if c.Run.SlotCount() > 1 {
		names = append(names, layout.SlotName)
	}
	for _, m := range c.Metrics {
		if m.File != "" {
			names = append(names, layout.BeforeName)
		}
		if p, err := parser.Compile(m.Rule); err == nil && p.Variable() != "" {
			names = append(names, layout.ResultName)
		}
	}
	return names
}

// longestName is what file systems take for one element of a path, in bytes.
const longestName = 255

// problemOf says why no file can be rendered to a name beside others, "" if one can.
func problemOf(to string, others []command.File, reserved []string) string {
	name := filepath.Clean(to)
	top, _, _ := strings.Cut(name, "/")
	for element := range strings.SplitSeq(name, "/") {
		if len(element) > longestName {
			return fmt.Sprintf("found %q...; no file system takes a name of %d bytes", element[:20], len(element))
		}
	}
	switch {
	case !filepath.IsLocal(to), name == ".", strings.HasSuffix(to, "/"):
		return fmt.Sprintf("found %q; want the name of a file inside the trial's directory", to)
	// Some file systems do not tell capitals from small letters.
	case slices.ContainsFunc(reserved, func(r string) bool { return strings.EqualFold(r, top) }):
		return fmt.Sprintf("found %q; lbotune itself writes a file of this name into the trial's directory", to)
	}
	for _, f := range others {
		switch other := filepath.Clean(f.To); {
		case f.To == "":
		case other == name:
			return fmt.Sprintf("two files are rendered to %q", to)
		case strings.HasPrefix(name, other+"/"), strings.HasPrefix(other, name+"/"):
			return fmt.Sprintf("%q and %q cannot both be: one is a directory of the other", to, f.To)
		}
	}
	return ""
}

// template reads a template file, which a relative path looks for in base.
func (t *table) template(base, from string) string {
	path := command.Inside(base, from)
	text, fits, err := readSmall(path)
	t.when(err == nil && !fits, "from", "", "%s is not a regular file of at most 1 MiB", path)
	t.when(err != nil, "from", "", "cannot read the template: %v", err)
	at := invalidUTF8(text)
	t.when(at >= 0, "from", "convert it, with iconv for example", "%s is not UTF-8 text, by which the journal keeps it: see its line %d", path, 1+bytes.Count(text[:max(at, 0)], []byte("\n")))
	return string(text)
}
