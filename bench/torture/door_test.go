//go:build linux

package torture_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// doorSpec is of a study that has everything which a study can have.
const doorSpec = `setup = "true"
command = "echo {checkpoint_dir} > /dev/null; %secho {x} > {trial_dir}/other; echo loss={x}"
objective.metric = "loss"
metrics.other = { file = "{trial_dir}/other", last_number = true }
params.x = { type = "float", min = 0, max = 1 }
budget.trials = 2
optimizer.method = "random"
hooks.trial = "echo of a hook"
hooks.timeout = "5s"
run.keep = "%s"
run.retries = 1
`

// doorThings are what is put in the place of a study's files, at a path, by a shell whose
// variable O is a directory of others.
var doorThings = []struct{ name, make string }{
	{"link to a file", `ln -s "$O/file"`},
	{"link to a directory", `ln -s "$O/directory"`},
	{"link to nothing", `ln -s "$O/nothing"`},
	{"link to /dev/zero", `ln -s /dev/zero`},
	{"link to a pipe", `ln -s "$O/pipe"`},
	{"pipe", `mkfifo`},
	{"socket", `ln "$O/socket"`},
	{"directory", `mkdir`},
	{doorMount, `mkdir "$p" && mount --bind "$O/directory"`},
}

// doorMount is made in a mount namespace of the command's own, with which it vanishes.
const doorMount = "mount"

// doorCommands are all that look at a study, or change it; S is the study.
var doorCommands = []string{
	"status S", "best S", "trials S", "show S 1", "log S 1", "report S -o OUT", "export S", "explain S 2", "importance S", "ls .",
	"journal verify S", "journal replay S", "note S hello", "enqueue S x=0.5", "exclude S 1", "adjust S --trials 3", "rerun S 1", "stop S", "ask S",
	"tell S 3 --value 1", "drive S", "resume S", "run spec.toml --trials 3", "run fresh.toml", "check spec.toml", "check spec.toml --smoke", "journal repair S", "rm -y S",
	"run spec.toml --trials 3 --log-file spec.study/own.log", "plot S history", "journal follow S", "log -f S 1", "__complete show S 1",
}

// doorNames are the names that a study can have beside those that one has.
var doorNames = []string{"stop", "pilots", "requests", "requests/1000000000000000000-1-0a.json", "requests/1000000000000000000-1-0a.json.new",
	"trials/000003", "trials/000003/a1", "trials/000001/a2", "trials/000001/a1.slurm", "journal.jsonl.new", "setup/a2", "own.log"}

// Whatever lies in a study under the names of its files, whoever has put it there: nothing outside
// of the study changes, every command answers, none panics, and what is refused is named.
func TestDoor(t *testing.T) {
	slow(t)
	l := newLab(t)
	l.write("spec.toml", fmt.Sprintf(doorSpec, "", "all"))
	l.run(0, "run", "spec.toml")
	l.run(0, "note", "spec.toml", "of old")
	mounts := exec.Command("unshare", "-m", "true").Run() == nil // for root, and not in every container
	var cases []doorCase
	for _, name := range l.doorNames() {
		for _, thing := range doorThings {
			if thing.name == doorMount && !mounts {
				continue
			}
			for _, command := range doorCommands {
				cases = append(cases, doorCase{name: name, thing: thing.name, make: thing.make, command: command})
			}
			cases = append(cases, doorCase{name: name, thing: thing.name, make: thing.make, command: "a trial"})
		}
	}
	usual := map[string]int{} // the exit codes where nothing is wrong
	for _, command := range append(slices.Clone(doorCommands), "a trial") {
		usual[command] = doorCase{command: command}.run(l, 0).code
	}
	sample(t, cases, 31, func(c doorCase, number int) { c.check(l, number, usual) })
}

// doorNames are the names of all that a study has, and of what it can have.
func (l *lab) doorNames() []string {
	names, study := slices.Clone(doorNames), l.path("spec.study")
	l.check(filepath.WalkDir(study, func(path string, _ fs.DirEntry, err error) error {
		if name := strings.TrimPrefix(path, study+"/"); err == nil && path != study && !slices.Contains(names, name) {
			names = append(names, name)
		}
		return err
	}))
	return names
}

// sample checks every so many of the cases, or at length all. A step that has no divisor in common
// with the numbers of commands and things has them all in the sample.
func sample(t *testing.T, cases []doorCase, step int, check func(c doorCase, number int)) {
	t.Helper()
	if step = scaled(step, 1); os.Getenv("LBOTUNE_LONG_TESTS") != "" {
		step = 1
	}
	work, done := make(chan int), sync.WaitGroup{}
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			for i := range work {
				check(cases[i], i+1)
			}
		})
	}
	for i := 0; i < len(cases); i += step {
		work <- i
	}
	close(work)
	done.Wait()
	t.Logf("%d of %d cases", (len(cases)+step-1)/step, len(cases))
}

type doorCase struct {
	name, thing, make, command string
	of, by                     int // the users whose study it is and who runs the command, 0 for this one
}

type doorResult struct {
	code          int
	said, printed string
	before, after string // what is outside
	study         [2]string
	late          bool
}

// run has the command run on a copy of the study, in which the thing is.
func (c doorCase) run(l *lab, number int) (r doorResult) {
	dir := l.path(fmt.Sprintf("%d", number))
	others := filepath.Join(dir, "others")
	l.check(errors.Join(os.MkdirAll(filepath.Join(others, "directory", "a1"), 0o755), os.WriteFile(filepath.Join(others, "file"), []byte(doorPrivate), 0o644),
		os.WriteFile(filepath.Join(others, "directory", "a.json"), []byte("{}"), 0o644), os.WriteFile(filepath.Join(others, "directory", "stdout"), []byte("loss=0"), 0o644),
		os.WriteFile(filepath.Join(others, "directory", "a1", "stdout"), []byte(doorPrivate), 0o644), syscall.Mkfifo(filepath.Join(others, "pipe"), 0o600)))
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: shortened(l, others)})
	l.check(err)
	listener.SetUnlinkOnClose(false)
	defer listener.Close()
	l.check(os.Rename(shortened(l, others), filepath.Join(others, "socket")))
	place := fmt.Sprintf("O='%s'; p='%s/spec.study/%s'; [ -d \"${p%%/*}\" ] || mkdir -p \"${p%%/*}\"; ! [ -e \"$p\" -o -h \"$p\" ] || rm -rf \"$p\"; %s \"$p\"; ", others, dir, c.name, c.make)
	if c.name == "" {
		place = ""
	}
	script := fmt.Sprintf("cp -a '%s' '%s/spec.study'; ", l.path("spec.study"), dir)
	args := strings.Fields(c.command)
	keep, own := "all", ""
	switch {
	case c.command == "a trial": // puts it there itself
		args, keep = strings.Fields("run spec.toml --trials 4"), "best"
		l.check(os.WriteFile(filepath.Join(dir, "place"), []byte(place), 0o700))
		own = "[ {trial} != 3 ] || sh " + dir + "/place; "
	case strings.Contains(c.command, "fresh"): // a study is begun there
		script = ""
	}
	program := []string{os.Getenv(programVar)}
	switch {
	case c.thing == doorMount && c.command == "a trial":
		program = append([]string{"unshare", "-m"}, program...)
	case c.thing == doorMount:
		program = append([]string{"unshare", "-m", "sh", "-c", place + `exec "$@"`, "sh"}, program...)
	case c.command != "a trial" && c.of == 0:
		script += place
	}
	l.check(os.WriteFile(filepath.Join(dir, "spec.toml"), fmt.Appendf(nil, doorSpec, own, keep), 0o644))
	c.shell(l, 0, script)
	if c.of != 0 { // who cannot look into what is outside
		c.shell(l, 0, fmt.Sprintf("chown -R %d:%d '%s'; chmod 700 '%s'; chmod 1777 '%s'; ", c.by, c.by, others, others, dir))
		c.shell(l, c.of, place)
	}
	for i, a := range args {
		switch a {
		case "S":
			args[i] = "spec.study"
		case "OUT":
			args[i] = "out.html"
		case "fresh.toml":
			args = []string{"run", "spec.toml"}
		}
	}
	r.before, r.study[0] = snapshot(others), snapshot(filepath.Join(dir, "spec.study"))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program[0], append(program[1:], args...)...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = append(os.Environ(), l.env...)
	if c.by != 0 {
		cmd.SysProcAttr = user(c.by)
		cmd.Env = append(cmd.Env, "HOME="+dir, "TMPDIR="+dir)
	}
	var said, printed bytes.Buffer
	cmd.Stderr, cmd.Stdout = &said, &printed
	_ = cmd.Run()
	r.code, r.said, r.printed, r.late = cmd.ProcessState.ExitCode(), said.String(), printed.String(), ctx.Err() != nil
	r.after, r.study[1] = snapshot(others), snapshot(filepath.Join(dir, "spec.study"))
	l.check(os.RemoveAll(dir))
	return r
}

// shell has a user run a script. That a file stands where a directory would have to be is no fault.
func (c doorCase) shell(l *lab, as int, script string) {
	cmd := exec.Command("sh", "-c", "set -e; "+script)
	if as != 0 {
		cmd.SysProcAttr = user(as)
	}
	if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(out), "Not a directory") {
		l.Fatalf("%v: %v: %s", c, err, out)
	}
}

// user has a process belong to another user.
func user(id int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(id)}}
}

// shortened is a path that is not too long for a socket.
func shortened(l *lab, dir string) string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("lbotune-door-%d-%s", os.Getpid(), filepath.Base(filepath.Dir(dir))))
}

func (c doorCase) check(l *lab, number int, usual map[string]int) {
	r := c.run(l, number)
	complain := func(format string, args ...any) {
		l.Errorf("a %s at %s, and %s: %s\n%s", c.thing, c.name, c.command, fmt.Sprintf(format, args...), r.said)
	}
	if r.late {
		complain("no answer")
	}
	// Mounts are used as what they are, and so are the owner's links from trials and setup to a
	// directory, and from the journal to a file, beside which its lock stands. There something may
	// come, and nothing goes or changes.
	used := c.thing == doorMount || c.thing == "link to a directory" && (c.name == "trials" || c.name == "setup") ||
		c.thing == "link to a file" && c.name == "journal.jsonl"
	now := strings.Split(r.after, "\n")
	lost := slices.ContainsFunc(strings.Split(r.before, "\n"), func(line string) bool { return !slices.Contains(now, line) })
	if lost || r.before != r.after && !used {
		complain("outside was\n%s\nand is\n%s", r.before, r.after)
	}
	if strings.Contains(r.said, "goroutine ") || r.code == 1 || r.code < 0 {
		complain("exit code %d", r.code)
	}
	known := func(part string) bool { return strings.Contains(r.said, part) }
	named := slices.ContainsFunc(append(strings.Split(strings.TrimSuffix(c.name, ".new"), "/"), "others/", "there is no study in", "there is no journal in"), known)
	if r.code != usual[c.command] && !named {
		complain("exit code %d, and the path is not named", r.code)
	}
}

// snapshot lists all that is in a directory, with modes and contents.
func snapshot(dir string) string {
	var out strings.Builder
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			fmt.Fprintln(&out, path, err)
			return nil
		}
		info, err := e.Info()
		if err != nil {
			fmt.Fprintln(&out, path, err)
			return nil
		}
		fmt.Fprint(&out, strings.TrimPrefix(path, dir), " ", info.Mode())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			fmt.Fprintf(&out, " %q %v", text, err)
		}
		fmt.Fprintln(&out)
		return nil
	})
	return out.String()
}
