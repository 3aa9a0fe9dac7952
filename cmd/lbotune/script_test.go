package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/internal/testing/tempdir"
	"github.com/lbotune/lbotune/spec"
)

func TestMain(m *testing.M) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGQUIT, syscall.SIGHUP} {
		if signal.Ignored(sig) { // in a background job or under nohup: children would ignore it too
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	_ = flag.Set("test.parallel", "8") // however few processors there are: they wait for programs
	maps.Copy(spec.Launchers, toys())
	testscript.Main(m, map[string]func(){"lbotune": main})
}

// The scripts are the program's behaviour as people see it. Beside testscript's
// own commands they know:
//
//	code N ARGS...                  run lbotune ARGS, which must exit with N
//	signal SIG[,SIG] FILE N ARGS... run lbotune ARGS; once FILE is there send the
//	                                signals, each after the last was answered; it
//	                                must exit with N
//	cutend FILE N                   cut the last N bytes off FILE
//
// and the conditions optuna, that it is installed, and raced, that the race detector watches.
func TestScripts(t *testing.T) {
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:         "testdata/script",
		WorkdirRoot: tempdir.New(t), // testscript leaves its own behind if -run has chosen some of them
		Setup: func(env *testscript.Env) error {
			env.Setenv(shareDirVar, filepath.Join(env.WorkDir, "shared"))
			env.Setenv("REPO", repo)
			return nil
		},
		Condition: func(word string) (bool, error) {
			switch word {
			case "optuna":
				return exec.Command("/usr/bin/python3", "-c", "import optuna").Run() == nil, nil // Debian's
			case "raced":
				return effort.Raced, nil
			}
			return false, fmt.Errorf("no condition is called %s", word)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":   code,
			"signal": sendSignals,
			"cutend": cutEnd,
		},
	})
}

func code(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	checkCode(ts, ts.Exec("lbotune", args[1:]...), want)
	checkSchema(ts, args[1:])
}

func checkCode(ts *testscript.TestScript, err error, want int) {
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Exited():
		got = exit.ExitCode()
	case errors.As(err, &exit):
		got = 128 + int(exit.Sys().(syscall.WaitStatus).Signal())
	default:
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d; want %d", got, want)
	}
}

// patience is how long a test waits for what must happen.
const patience = time.Minute

func sendSignals(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[2])
	ts.Check(err)
	var out, progress bytes.Buffer
	logPath := ts.MkAbs("stderr.log")
	log, err := os.Create(logPath)
	ts.Check(err)
	defer log.Close()
	path, err := exec.LookPath(filepath.Join(strings.Split(ts.Getenv("PATH"), ":")[0], "lbotune"))
	ts.Check(err)
	cmd := exec.Command(path, args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=/no-home"}
	cmd.Stdout, cmd.Stderr = &out, log
	ts.Check(cmd.Start())
	await(ts, args[1], func() bool { _, err := os.Stat(ts.MkAbs(args[1])); return err == nil })
	for i, name := range strings.Split(args[0], ",") {
		if i > 0 {
			time.Sleep(2 * samePress) // another press, not the same one
		}
		sig := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL, "QUIT": syscall.SIGQUIT}[name]
		ts.Check(cmd.Process.Signal(sig))
		if name == "KILL" {
			break
		}
		await(ts, "an answer to "+name, func() bool {
			text, err := os.ReadFile(logPath)
			ts.Check(err)
			return strings.Count(string(text), "stopping: ") > i
		})
	}
	err = cmd.Wait()
	text, readErr := os.ReadFile(logPath)
	ts.Check(readErr)
	progress.Write(text)
	ts.Logf("[stdout]\n%s[stderr]\n%s", &out, &progress)
	ts.Check(os.WriteFile(ts.MkAbs("stdout.log"), out.Bytes(), 0o600))
	checkCode(ts, err, want)
}

func await(ts *testscript.TestScript, what string, there func() bool) {
	for deadline := time.Now().Add(patience); !there(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("waited in vain for %s", what)
		}
	}
}

func cutEnd(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), info.Size()-n))
}
