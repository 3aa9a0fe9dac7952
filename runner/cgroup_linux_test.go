package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestOwnCgroup(t *testing.T) {
	const pure = "25 1 0:23 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
	const hybrid = "24 1 0:22 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n" +
		"25 1 0:23 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	const container = "25 1 0:23 /docker/1f /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
	for _, c := range []struct{ mounts, own, want string }{
		{pure, "0::/\n", "/sys/fs/cgroup"},
		{pure, "0::/user.slice/run-1.scope\n", "/sys/fs/cgroup/user.slice/run-1.scope"},
		{hybrid, "8:pids:/other\n0::/own\n", "/sys/fs/cgroup/unified/own"},
		{container, "0::/docker/1f/inner\n", "/sys/fs/cgroup/inner"},
		{container, "0::/docker/2e\n", ""},
		{pure, "0::/../outside\n", ""},
		{pure, "8:pids:/other\n", ""},
		{"24 1 0:22 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n", "0::/\n", ""},
		{"", "", ""},
	} {
		t.Run(c.mounts, func(t *testing.T) {
			if got := ownCgroup(c.mounts, c.own); got != c.want {
				t.Errorf("%q in %q is %q, want %q", c.own, c.mounts, got, c.want)
			}
		})
	}
}

// TestCgroupParent: groups are made where a directory can be made that is a group.
func TestCgroupParent(t *testing.T) {
	mounts, err1 := os.ReadFile("/proc/self/mountinfo")
	own, err2 := os.ReadFile("/proc/self/cgroup")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	want := ownCgroup(string(mounts), string(own))
	probe := filepath.Join(want, fmt.Sprintf("lbotune-%d-test", os.Getpid()))
	if want == "" || unix.Mkdir(probe, 0o700) != nil {
		want = ""
	} else {
		if _, err := os.Stat(filepath.Join(probe, "cgroup.kill")); err != nil {
			want = ""
		}
		if err := unix.Rmdir(probe); err != nil {
			t.Error(err)
		}
	}
	var all sync.WaitGroup
	for range 16 { // launchers of one process, which begin at once
		all.Go(func() {
			if got := cgroupParent(); got != want {
				t.Errorf("groups are made in %q, want %q", got, want)
			}
		})
	}
	all.Wait()
}

// TestClearCgroups: what is removed are the empty groups of orchestrators that are gone.
func TestClearCgroups(t *testing.T) {
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	gone, ours := cgroupPrefix(dead.Process.Pid), cgroupPrefix(os.Getpid())
	// Of another namespace, where that process may live, although there is none here.
	foreign := "lbotune-1" + strings.TrimPrefix(gone, "lbotune-")
	keep := []string{ours + "a", gone + "full", gone + "full/inner", foreign + "a", fmt.Sprintf("lbotune-%d-a", dead.Process.Pid), "lbotune-x-a", "other-1-a"}
	slices.Sort(keep)
	for _, name := range append([]string{gone + "a", gone + "b"}, keep...) {
		if err := os.MkdirAll(filepath.Join(parent, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	clearCgroups(parent)
	var left []string
	_ = filepath.WalkDir(parent, func(path string, _ os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(parent, path); rel != "." {
			left = append(left, rel)
		}
		return err
	})
	if slices.Sort(left); !slices.Equal(left, keep) {
		t.Errorf("left are %q, want %q", left, keep)
	}
}

// TestCgroup: what has cut every other tie is found by its control group, and ended.
func TestCgroup(t *testing.T) {
	if cgroupParent() == "" {
		t.Skip("needs the right to make control groups of version 2")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "pid")
	job := Job{Dir: filepath.Join(dir, "a1"), ID: "runner" + dir, Timeout: time.Minute, Env: []string{"PID=" + file},
		Shell: `(setsid env -i /bin/sh -c 'exec 9>&- 8>&-; echo $$ >"$1"; exec sleep 1000 >/dev/null 2>&1' sh "$PID" &)
until [ -s "$PID" ]; do sleep 0.01; done
until [ "$(tr '\0' ' ' </proc/$(cat "$PID")/cmdline)" = "sleep 1000 " ]; do sleep 0.01; done`}
	exit, err := new(Local).Launch(context.Background(), job)
	if err != nil || exit.Code != 0 || len(exit.Leftovers) != 1 || exit.Leftovers[0].Command != "sleep 1000" {
		t.Fatalf("%+v, %v", exit, err)
	}
	if p, ok := readProcess(exit.Leftovers[0].PID); ok && !p.zombie {
		t.Errorf("%+v lives on", p)
	}
	if left, _ := filepath.Glob(filepath.Join(cgroupParent(), cgroupPrefix(os.Getpid())+"*")); len(left) > 0 {
		t.Errorf("the group is left behind: %q", left)
	}
}

// TestVanishedCgroup: a group that somebody has removed was empty.
func TestVanishedCgroup(t *testing.T) {
	if cgroup(filepath.Join(t.TempDir(), "gone")).populated() {
		t.Error("a group that is not there has processes")
	}
}

// TestScribbledCgroup: a group that is not the attempt's is never taken for it.
func TestScribbledCgroup(t *testing.T) {
	parent := cgroupParent()
	if parent == "" {
		t.Skip("needs the right to make control groups of version 2")
	}
	name := filepath.Join(parent, cgroupPrefix(os.Getpid())) // no other test process has it, and whoever comes later removes it
	mine, other := name+cgroupSuffix("mine/1"), name+cgroupSuffix("other")
	for _, dir := range []string{mine, other} {
		if err := unix.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = unix.Rmdir(dir) }()
	}
	outside := filepath.Join(t.TempDir(), filepath.Base(mine))
	if err := unix.Mkdir(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"mine": mine, "another attempt's": other, "above": parent, "no group": outside, "none": "", "root": "/",
		"by way of another": strings.Replace(mine, "lbotune-", "x/../lbotune-", 1)} {
		t.Run(name, func(t *testing.T) {
			want := cgroup("")
			if name == "mine" {
				want = cgroup(mine)
			}
			a := attempt{job: Job{ID: "mine"}, nonce: "1"}
			if a.regroup(dir); a.cgroup != want {
				t.Errorf("%s: took %q, want %q", dir, a.cgroup, want)
			}
		})
	}
}
