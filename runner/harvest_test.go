package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/runner"
)

// ended launches an attempt that exits with code 13, and returns its record.
func ended(t *testing.T) (runner.Job, string) {
	t.Helper()
	job := newJob(t)
	job.Shell = "echo out; exit 13"
	if _, err := new(runner.Local).Launch(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile(filepath.Join(job.Dir, "attempt.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return job, string(record)
}

// exitLine is what the supervisor has written at the end.
var exitLine = regexp.MustCompile(`\{"exit":13,.*\n`)

func rewrite(t *testing.T, job runner.Job, record string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(job.Dir, "attempt.jsonl"), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLook: from afar one sees by whom an attempt is run, since when, and how it ended.
func TestLook(t *testing.T) {
	job := newJob(t)
	over := filepath.Join(t.TempDir(), "over")
	job.Shell = "until [ -e " + over + " ]; do sleep 0.01; done; exit 13"
	supervisor := 0
	job.Started = func(pid int) {
		supervisor = pid
		seen, err := runner.Look(job.Dir)
		for ; seen.PID == 0 && err == nil; seen, err = runner.Look(job.Dir) {
			time.Sleep(time.Millisecond) // until the supervisor has written its number
		}
		if err != nil || seen.Ended || !seen.Alive || seen.PID != pid || seen.Started.IsZero() {
			t.Errorf("while %d runs it: %+v, %v", pid, seen, err)
		}
		copied := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(copied, os.DirFS(job.Dir)); err != nil {
			t.Error(err)
		}
		if seen, err := runner.Look(copied); err != nil || seen.PID != 0 || seen.Alive || seen.Started.IsZero() {
			t.Errorf("of a copy: %+v, %v", seen, err) // nobody is to end the original's process
		}
		if err := os.WriteFile(over, nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	if _, err := new(runner.Local).Launch(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	if seen, err := runner.Look(job.Dir); err != nil || !seen.Ended || seen.PID != supervisor {
		t.Errorf("afterwards: %+v, %v", seen, err)
	}
	if exit, err := runner.Harvest(job); err != nil || exit.Code != 13 {
		t.Errorf("harvested %+v, %v", exit, err)
	}
	text, err := os.ReadFile(filepath.Join(job.Dir, "attempt.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	mine := strings.Replace(string(text), fmt.Sprintf(`{"pid":%d}`, supervisor), fmt.Sprintf(`{"pid":%d}`, os.Getpid()), 1)
	rewrite(t, job, exitLine.ReplaceAllString(mine, ""))
	if seen, err := runner.Look(job.Dir); err != nil || seen.Ended || seen.Alive || seen.PID != os.Getpid() {
		t.Errorf("when its number has become another's: %+v, %v", seen, err)
	}
	none := runner.Job{Dir: job.Dir + "x", ID: job.ID}
	if seen, err := runner.Look(none.Dir); !errors.Is(err, os.ErrNotExist) || seen != (runner.Sight{}) {
		t.Errorf("of no attempt: %+v, %v", seen, err)
	}
	if _, err := runner.Harvest(none); !errors.Is(err, runner.ErrNeverStarted) {
		t.Errorf("of no attempt: %v", err)
	}
	if door.FullDisk(none.Dir, true) || door.FullDisk(job.Dir, true) {
		t.Error("a disk with room is full, or one that is not there")
	}
}

// TestHarvestOfARest: what a machine has not lived to write of an output is not passed over.
func TestHarvestOfARest(t *testing.T) {
	job, _ := ended(t)
	if exit, err := runner.Harvest(job); err != nil || exit.Code != 13 {
		t.Errorf("all of it: %+v, %v", exit, err)
	}
	if err := os.Truncate(filepath.Join(job.Dir, runner.StdoutName), 1); err != nil {
		t.Fatal(err)
	}
	if exit, err := runner.Harvest(job); !errors.Is(err, runner.ErrLost) {
		t.Errorf("a part: %+v, %v", exit, err)
	}
}

// TestTornRecord: a record that was cut anywhere never gives a wrong status.
func TestTornRecord(t *testing.T) {
	job, record := ended(t)
	lines := strings.SplitAfter(record, "\n")
	started := len(lines[0]) + len(lines[1])
	over := exitLine.FindStringIndex(record)[1]
	for n := 0; n <= len(record); n += effort.Of(11, 5, 1) {
		rewrite(t, job, record[:n])
		exit, err := new(runner.Local).Attach(context.Background(), job)
		switch {
		case n >= over:
			if err != nil || exit.Code != 13 {
				t.Errorf("%q: %+v, %v", record[:n], exit, err)
			}
		case n >= started:
			if !errors.Is(err, runner.ErrLost) {
				t.Errorf("%q: %+v, %v", record[:n], exit, err)
			}
		case !errors.Is(err, runner.ErrNeverStarted):
			t.Errorf("%q: %+v, %v", record[:n], exit, err)
		}
	}
}

func TestScribbledRecord(t *testing.T) {
	job, record := ended(t)
	rewrite(t, job, strings.ReplaceAll(record, "\n", "\nscribble\n{}\n[1]\n{\"exit\":\"x\"}\n"))
	if exit, err := new(runner.Local).Attach(context.Background(), job); err != nil || exit.Code != 13 {
		t.Errorf("%+v, %v", exit, err)
	}
}

// TestPlaces: attempts of another boot are dead, those of another host cannot be judged.
func TestPlaces(t *testing.T) {
	job, record := ended(t)
	boot := regexp.MustCompile(`"boot":"[^"]*"`)
	host := regexp.MustCompile(`"host":"[^"]*"`)
	elsewhere := host.ReplaceAllString(boot.ReplaceAllString(record, `"boot":"x"`), `"host":"other/1"`)
	rebooted := boot.ReplaceAllString(record, `"boot":"x"`)
	running := func(record string) string { return exitLine.ReplaceAllString(record, "") }
	remounted := func(record string) string { return strings.Replace(record, `"device":`, `"device":9`, 1) }
	for name, c := range map[string]struct {
		record string
		want   error
	}{
		"here, ended":                           {record, nil},
		"rebooted, ended":                       {strings.Replace(rebooted, `"synced":false`, `"synced":true`, 1), nil},
		"rebooted, unsynced":                    {rebooted, runner.ErrLost},
		"elsewhere, ended":                      {elsewhere, nil},
		"here, gone":                            {running(record), runner.ErrLost},
		"rebooted, gone":                        {running(rebooted), runner.ErrLost},
		"rebooted, another number for the disk": {remounted(running(rebooted)), runner.ErrLost},
		"another disk":                          {remounted(running(record)), runner.ErrCopied},
		"elsewhere, unsure":                     {running(elsewhere), runner.ErrElsewhere},
		"renamed host":                          {host.ReplaceAllString(running(record), `"host":"other/1"`), runner.ErrLost},
		"another container":                     {strings.Replace(running(record), `"pids":"`, `"pids":"x`, 1), runner.ErrLost},
	} {
		t.Run(name, func(t *testing.T) {
			rewrite(t, job, c.record)
			exit, err := new(runner.Local).Attach(context.Background(), job)
			if !errors.Is(err, c.want) || err == nil && exit.Code != 13 || c.want != runner.ErrCopied && errors.Is(err, runner.ErrCopied) {
				t.Errorf("%s: %+v, %v", name, exit, err)
			}
		})
	}
	rewrite(t, job, record)
	runner.NoteFullDisk(job.Dir + "x") // of no attempt
	for _, full := range []bool{false, true} {
		exit, err := new(runner.Local).Attach(context.Background(), job)
		if err != nil || exit.DiskFull != full {
			t.Errorf("noted %v: %+v, %v", full, exit, err)
		}
		runner.NoteFullDisk(job.Dir)
	}
	rewrite(t, job, strings.Replace(record, `{"attempt":1`, `{"attempt":99`, 1))
	if _, err := new(runner.Local).Attach(context.Background(), job); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("a future version: %v", err)
	}
}

// TestRebooted: after a boot, an attempt is lost unless its output is known to have been on
// disk, and is as long as it was.
func TestRebooted(t *testing.T) {
	job, record := ended(t)
	record = regexp.MustCompile(`"boot":"[^"]*"`).ReplaceAllString(record, `"boot":"x"`)
	rewrite(t, job, record)
	if exit, err := new(runner.Local).Attach(context.Background(), job); !errors.Is(err, runner.ErrLost) {
		t.Errorf("output that was not synced: %+v, %v", exit, err)
	}
	rewrite(t, job, strings.Replace(record, `"synced":false`, `"synced":true`, 1))
	if exit, err := new(runner.Local).Attach(context.Background(), job); err != nil || exit.Code != 13 {
		t.Errorf("the whole output: %+v, %v", exit, err)
	}
	for size := range int64(len("out\n")) {
		if err := os.Truncate(filepath.Join(job.Dir, runner.StdoutName), size); err != nil {
			t.Fatal(err)
		}
		if exit, err := new(runner.Local).Attach(context.Background(), job); !errors.Is(err, runner.ErrLost) {
			t.Errorf("%d bytes of it: %+v, %v", size, exit, err)
		}
		if err := os.Truncate(filepath.Join(job.Dir, runner.StdoutName), int64(len("out\n"))); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStoppedRecord: an attempt that was made to end keeps the reason, also if whoever
// ended it died before the status was written.
func TestStoppedRecord(t *testing.T) {
	job, record := ended(t)
	rewrite(t, job, exitLine.ReplaceAllString(record, `{"stop":"timeout"}`+"\n"))
	for range 2 {
		exit, err := new(runner.Local).Attach(context.Background(), job)
		if err != nil || !exit.TimedOut || !exit.Killed || exit.Signal != "SIGKILL" {
			t.Errorf("%+v, %v", exit, err)
		}
	}
}

// TestReplacedFiles: what a command puts in the place of a launcher's file is not followed.
func TestReplacedFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, replace := range map[string]func(path string) error{
		"symbolic link": func(path string) error { return os.Symlink(secret, path) },
		"fifo":          func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"directory":     func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			job, _ := ended(t)
			never := make(chan struct{})
			for _, file := range []string{runner.StdoutName, runner.StderrName, "attempt.jsonl"} {
				path := filepath.Join(job.Dir, file)
				if err := errors.Join(os.Remove(path), replace(path)); err != nil {
					t.Fatal(err)
				}
				if text, err := runner.ReadTail(runner.At(path), 100); err == nil {
					t.Errorf("%s for %s: read %q", name, file, text)
				}
				var heard strings.Builder
				if err := runner.Tail(context.Background(), runner.At(path), math.MaxInt64, &heard, never); err == nil {
					t.Errorf("%s for %s: followed, %q", name, file, &heard)
				}
				exit, err := new(runner.Local).Attach(context.Background(), job)
				if file == "attempt.jsonl" {
					if err == nil {
						t.Errorf("%s for the record: %+v", name, exit)
					}
				} else if err != nil || exit.Code != 13 {
					t.Errorf("%s for %s: %+v, %v", name, file, exit, err)
				}
			}
		})
	}
	job, _ := ended(t)
	link := filepath.Join(t.TempDir(), "a1")
	if err := os.Symlink(job.Dir, link); err != nil {
		t.Fatal(err)
	}
	job.Dir = link
	if _, err := new(runner.Local).Launch(context.Background(), job); !errors.Is(err, runner.ErrClaimed) {
		t.Errorf("launched through a link: %v", err)
	}
	if _, err := new(runner.Local).Attach(context.Background(), job); err == nil {
		t.Error("attached through a link")
	}
}

// TestRemovedDirectory: a command that removes its own directory keeps its exit status.
func TestRemovedDirectory(t *testing.T) {
	job := newJob(t)
	job.Shell = `rm -rf "$D"; exit 13`
	job.Env = []string{"D=" + job.Dir}
	if exit, err := new(runner.Local).Launch(context.Background(), job); err != nil || exit.Code != 13 {
		t.Errorf("%+v, %v", exit, err)
	}
}

// An attempt that has outlived its orchestrator ended when its supervisor says, however long that
// took to write what there was to disk, and whatever clock the file system has.
func TestEndedWhileAlone(t *testing.T) {
	job, record := ended(t)
	var head struct{ Uptime time.Duration }
	if err := json.Unmarshal([]byte(record[:strings.IndexByte(record, '\n')]), &head); err != nil {
		t.Fatal(err)
	}
	exit := regexp.MustCompile(`"up":"[^"]*"`).ReplaceAllString(exitLine.FindString(record), fmt.Sprintf(`"up":"%.2f"`, (head.Uptime+3*time.Second).Seconds()))
	at := exitLine.FindStringIndex(record)[0]
	rewrite(t, job, record[:at]+exit)
	for _, late := range []time.Duration{time.Hour, -time.Hour} {
		if err := os.Chtimes(filepath.Join(job.Dir, "attempt.jsonl"), time.Time{}, time.Now().Add(late)); err != nil {
			t.Fatal(err)
		}
		exit, err := new(runner.Local).Attach(t.Context(), job)
		if took := exit.Ended.Sub(exit.Started); err != nil || exit.Code != 13 || took.Round(time.Second) != 3*time.Second {
			t.Errorf("it took %v, %v; want 3 s", took, err)
		}
	}
}
