package runner

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What ends without an orchestrator is written to the disks that it may have written to: a sync of all
// others too would hang where a network disk does, and with it the end of the attempt.
func TestSyncsItsOwnDisks(t *testing.T) {
	for name, c := range map[string]struct{ sync, want string }{
		"sync of some":   {`echo "sync $*" >>"$LOG"`, "sync -f /dev/fd/4 .\n"},
		"sync of all":    {`echo "sync $*" >>"$LOG"; [ $# = 0 ]`, "sync -f /dev/fd/4 .\nsync \n"},
		"no sync at all": {`echo "sync $*" >>"$LOG"; exit 1`, "sync -f /dev/fd/4 .\nsync \n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := func(name string) string { return filepath.Join(dir, name) }
			job := Job{Shell: `until [ -e "$GO" ]; do sleep 0.01; done; exit 13`,
				Env: []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "LOG=" + file("log"), "GO=" + file("go"), "RECORD=" + file("record")}}
			argv, env, _, err := job.command(defaultShell, "a/b", "")
			attempt, err2 := os.Create(file("record"))
			output, err3 := os.Create(file("output"))
			if err := errors.Join(err, err2, err3, os.WriteFile(file("sync"), []byte("#!/bin/sh\n"+c.sync+"\n"), 0o700)); err != nil {
				t.Fatal(err)
			}
			defer attempt.Close()
			defer output.Close()
			orchestrator := exec.Command(defaultShell, append([]string{"-c", `"$@" & until [ -s "$RECORD" ]; do sleep 0.01; done`, "orchestrator"}, argv...)...)
			orchestrator.Env, orchestrator.ExtraFiles = env, []*os.File{attempt, output}
			if err := errors.Join(orchestrator.Run(), os.WriteFile(file("go"), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			var rec record
			for deadline := time.Now().Add(time.Minute); rec.Exit == nil; time.Sleep(time.Millisecond) {
				if rec, err = readRecord(int(attempt.Fd()), 0); err != nil || time.Now().After(deadline) {
					t.Fatalf("%+v, %v", rec, err)
				}
			}
			if done := !strings.HasSuffix(c.sync, "exit 1"); *rec.Exit != 13 || rec.Synced != done {
				t.Errorf("exit %d, synced %v", *rec.Exit, rec.Synced)
			}
			if log, err := os.ReadFile(file("log")); err != nil || string(log) != c.want {
				t.Errorf("%q, %v", log, err)
			}
		})
	}
}
