package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/optimizer"
)

// common are the flags of every command.
type common struct {
	out      string // results
	page     string // Markdown file whose marked section is rewritten
	seeds    int
	first    int
	evals    int
	only     string
	variants []string
	peers    []string
	recorded string // CSV file of runs of others
}

// register adds the flags to a command.
func (c *common) register(cmd *cobra.Command, out string, seeds, evals int) {
	cmd.PreRunE = func(*cobra.Command, []string) error { return c.check() }
	f := cmd.Flags()
	f.StringVar(&c.out, "out", out, "CSV file of results; runs that it holds are not repeated")
	f.StringVar(&c.page, "page", "", "Markdown file whose marked section is rewritten; empty: print to stdout")
	f.IntVar(&c.seeds, "seeds", seeds, "runs of each variant on each objective")
	f.IntVar(&c.first, "first-seed", 0, "seed of the first run")
	f.IntVar(&c.evals, "evals", evals, "evaluations of each run")
	f.StringVar(&c.only, "only", "", "comma-separated objectives; empty: all")
	f.StringArrayVar(&c.variants, "variant", nil, `a variant to run, as NAME={"setting": ...}, or lbotune or random; repeatable`)
	f.StringArrayVar(&c.peers, "peer", nil, "another optimizer to run beside, as NAME=COMMAND, a program that speaks as scripts/optuna-peer.py does; repeatable")
}

// check refuses flags that leave nothing to run.
func (c *common) check() error {
	if c.seeds < 1 || c.evals < 1 {
		return fmt.Errorf("found --seeds %d and --evals %d; want at least 1 of each", c.seeds, c.evals)
	}
	return nil
}

// wants reports whether an objective is among those of --only.
func (c *common) wants(objective string) bool {
	return c.only == "" || slices.Contains(strings.Split(c.only, ","), objective)
}

// variant is a configuration under test.
type variant struct {
	name     string
	settings optimizer.Settings
	printed  *printed // nil but for bounds by the paper's letter
}

// parseVariants reads --variant flags; without any it returns the defaults. A name alone is one
// of these, lbotune or random.
func parseVariants(texts []string, defaults ...variant) ([]variant, error) {
	if len(texts) == 0 {
		return defaults, nil
	}
	var out []variant
	for _, text := range texts {
		name, config, given := strings.Cut(text, "=")
		v := variant{name: name}
		if !given {
			known := append(slices.Clone(defaults), variant{name: "lbotune"}, randomSearch())
			i := slices.IndexFunc(known, func(k variant) bool { return k.name == name })
			if i < 0 {
				return nil, fmt.Errorf(`--variant %s: want settings, as %s={"kappa": 3}, but for %s`, name, name, names(known))
			}
			v = known[i]
		} else {
			dec := json.NewDecoder(strings.NewReader(config))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&v.settings); err != nil {
				return nil, fmt.Errorf("--variant %s: %w", name, err)
			}
		}
		var errs []error
		for _, p := range v.settings.Validate() {
			errs = append(errs, p)
		}
		if err := errors.Join(errs...); err != nil {
			return nil, fmt.Errorf("--variant %s: %w", name, err)
		}
		out = append(out, v)
	}
	return out, nil
}

// names lists the different names of variants.
func names(variants []variant) string {
	var out []string
	for _, v := range variants {
		if !slices.Contains(out, v.name) {
			out = append(out, v.name)
		}
	}
	return strings.Join(out, ", ")
}

// parsePeers reads --peer flags: the commands of other optimizers by their names.
func parsePeers(texts []string) (names []string, commands map[string]string, err error) {
	commands = map[string]string{}
	for _, text := range texts {
		name, command, _ := strings.Cut(text, "=")
		if name == "" || command == "" {
			return nil, nil, fmt.Errorf("--peer %s: want NAME=COMMAND", text)
		}
		names, commands[name] = append(names, name), command
	}
	return names, commands, nil
}

// publish puts text between the markers <!-- begin NAME --> and <!-- end NAME -->
// of a page, or prints it.
func publish(cmd *cobra.Command, page, name, text string) error {
	if page == "" {
		_, err := fmt.Fprint(cmd.OutOrStdout(), text)
		return err
	}
	src, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", page, err)
	}
	begin, end := fmt.Sprintf("<!-- begin %s -->\n", name), fmt.Sprintf("<!-- end %s -->", name)
	from, to := bytes.Index(src, []byte(begin)), bytes.Index(src, []byte(end))
	if from < 0 || to < from {
		return fmt.Errorf("rewrite %s: it has no section %s", page, strings.TrimSpace(begin))
	}
	out := append([]byte(nil), src[:from+len(begin)]...)
	out = append(append(out, text...), src[to:]...)
	if err := os.WriteFile(page, out, 0o644); err != nil {
		return fmt.Errorf("rewrite %s: %w", page, err)
	}
	return nil
}
