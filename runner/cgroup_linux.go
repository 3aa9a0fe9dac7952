package runner

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Where we may make control groups (version 2), each attempt has one: a process is born in
// the group of its parent, and cuts that tie by no way of its own. A group is killed at
// once, which a fork bomb cannot outrun. Most users may make none; root may, and whoever was
// delegated a group (systemd-run --user --scope -p Delegate=yes).

// cgroupParent returns the directory of our own control group, "" if we may make no others in it.
func cgroupParent() string {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	own, _ := os.ReadFile("/proc/self/cgroup")
	dir := ownCgroup(string(mounts), string(own))
	if dir == "" {
		return ""
	}
	probe, err := os.MkdirTemp(dir, cgroupPrefix(os.Getpid())+"probe") // others of ours may try, too
	if err != nil {
		return ""
	}
	_, err = os.Stat(filepath.Join(probe, "cgroup.kill")) // since Linux 5.14
	if unix.Rmdir(probe) != nil || err != nil {
		return ""
	}
	clearCgroups(dir)
	return dir
}

// cgroupPrefix begins the names of the groups that a process makes. Containers may share the tree of groups, and
// know processes by numbers of their own: those hold in one namespace.
func cgroupPrefix(pid int) string {
	var space unix.Stat_t
	_ = unix.Stat("/proc/self/ns/pid", &space)
	return fmt.Sprintf("lbotune-%d-%d-", space.Ino, pid)
}

// clearCgroups removes the groups of orchestrators that were killed. One in which something lives cannot be removed.
func clearCgroups(parent string) {
	groups, _ := filepath.Glob(filepath.Join(parent, "lbotune-*-*-*"))
	for _, dir := range groups {
		var space uint64
		var pid int
		_, err := fmt.Sscanf(filepath.Base(dir), "lbotune-%d-%d-", &space, &pid)
		if err == nil && strings.HasPrefix(filepath.Base(dir), cgroupPrefix(pid)) && unix.Kill(pid, 0) == unix.ESRCH {
			_ = unix.Rmdir(dir)
		}
	}
}

// ownCgroup finds the directory of our group by /proc/self/mountinfo and /proc/self/cgroup.
func ownCgroup(mounts, own string) string {
	name := ""
	for line := range strings.Lines(own) {
		if rest, ok := strings.CutPrefix(line, "0::"); ok {
			name = strings.TrimSuffix(rest, "\n")
		}
	}
	for line := range strings.Lines(mounts) {
		// id parent device root mountpoint options [optional...] - type ...
		before, after, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if len(fields) < 5 || !strings.HasPrefix(after, "cgroup2 ") {
			continue
		}
		rel, err := filepath.Rel(fields[3], name)
		if name == "" || strings.HasPrefix(name, "/..") || err != nil || !filepath.IsLocal(rel) { // our group is not in sight
			return ""
		}
		return filepath.Join(fields[4], rel)
	}
	return ""
}

// cgroup is the directory of an attempt's control group, "" if it has none.
type cgroup string

// enclose has the supervisor born in a control group of its own. leave must be called afterwards.
func (l *Local) enclose(a *attempt, sys *syscall.SysProcAttr) (leave func()) {
	l.grouped.Do(func() { l.groups = cgroupParent() })
	a.release() // of a first start
	dir := filepath.Join(l.groups, cgroupPrefix(os.Getpid())+cgroupSuffix(a.marker()))
	if l.groups == "" || unix.Mkdir(dir, 0o700) != nil {
		return func() {}
	}
	fd, err := openDir(dir)
	if err != nil {
		_ = unix.Rmdir(dir)
		return func() {}
	}
	a.cgroup = cgroup(dir)
	sys.UseCgroupFD, sys.CgroupFD = true, fd
	return sync.OnceFunc(func() {
		unix.Close(fd)
		sys.UseCgroupFD = false
	})
}

// cgroupSuffix is the end of the name of an attempt's group.
func cgroupSuffix(marker string) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(marker))
	return fmt.Sprintf("%016x", sum.Sum64())
}

// regroup takes up the group that a record names, unless somebody has scribbled into it.
func (a *attempt) regroup(dir string) {
	var st unix.Statfs_t
	if filepath.Clean(dir) == dir && strings.HasPrefix(filepath.Base(dir), "lbotune-") && strings.HasSuffix(dir, "-"+cgroupSuffix(a.marker())) &&
		unix.Statfs(dir, &st) == nil && st.Type == unix.CGROUP2_SUPER_MAGIC {
		a.cgroup = cgroup(dir)
	}
}

// release removes the group, if nothing is left in it.
func (a *attempt) release() {
	if a.cgroup != "" {
		_ = unix.Rmdir(string(a.cgroup))
		a.cgroup = ""
	}
}

// pids returns the processes of the group, but not those of groups that they have made.
func (c cgroup) pids() []int {
	if c == "" {
		return nil
	}
	text, _ := os.ReadFile(string(c) + "/cgroup.procs")
	return pidsIn(text)
}

// populated reports whether something lives in the group, or may; in one that is removed nothing does.
func (c cgroup) populated() bool {
	if c == "" {
		return false
	}
	text, err := os.ReadFile(string(c) + "/cgroup.events")
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV) {
		return false
	}
	return err != nil || !bytes.Contains(text, []byte("populated 0"))
}

// kill sends SIGKILL to all of the group, and of those within it.
func (c cgroup) kill() {
	if c != "" {
		_ = os.WriteFile(string(c)+"/cgroup.kill", []byte("1"), 0)
	}
}
