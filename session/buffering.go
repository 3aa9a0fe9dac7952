package session

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/lbotune/lbotune/study"
)

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
	if !set("_STDBUF_O") && !set("LD_PRELOAD") {
		env = append(env, stdbuf...)
	}
	return env
}

// warnOfBurst says, once, that nothing can be stopped early where the readings of a trial came
// all at its end.
func (l *loop) warnOfBurst(t *study.Trial) {
	if !l.burst && l.study.state.Config.Prunes() && t.Burst() {
		l.burst = true
		l.study.opts.Log.Warn("all readings came at the end of the trial, too late to stop it early; have the program flush its output after each line", "trial", t.Number)
	}
}

// askStdbuf asks GNU stdbuf what it sets for line-buffered output; nothing if there is
// none, or if its library does not outlive it.
func askStdbuf() []string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "stdbuf", "-oL", "env")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	var env []string
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		switch name {
		case "LD_PRELOAD":
			if _, err := os.Stat(value); err != nil {
				return nil
			}
			env = append(env, name+"="+value)
		case "_STDBUF_O":
			env = append(env, name+"="+value)
		}
	}
	if len(env) != 2 {
		return nil
	}
	return env
}
