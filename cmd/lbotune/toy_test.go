package main

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/lbotune/lbotune/internal/kinds"
	"github.com/lbotune/lbotune/runner"
)

// toys are two more kinds of launchers: toy can nothing but run and rejoin attempts, far says
// where it does so.
func toys() map[string]kinds.Kind {
	settings := func(k kinds.Keys, _ kinds.Run) []byte {
		if k.Text("host") == "" {
			k.Missing("host", "", "needs a host")
		}
		return strconv.AppendQuote(nil, k.Text("host"))
	}
	local := func([]byte, kinds.Site) (kinds.Rejoiner, error) { return &runner.Local{Adopt: true}, nil }
	distant := func(text []byte, _ kinds.Site) (kinds.Rejoiner, error) {
		host, err := strconv.Unquote(string(text))
		return far{&runner.Local{Adopt: true}, host}, err
	}
	return map[string]kinds.Kind{"toy": {Settings: settings, New: local}, "far": {Settings: settings, New: distant}}
}

type far struct {
	*runner.Local
	host string
}

// Where implements kinds.Locator.
func (f far) Where(dir string) (string, bool) {
	_, err := os.Stat(filepath.Join(dir, runner.StdoutName))
	return "seat 7 of " + f.host, err == nil
}
