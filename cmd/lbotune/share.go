package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/session/sharing"
	"github.com/lbotune/lbotune/study"
)

// shareDirVar names the folder in which studies find each other.
const shareDirVar = "LBOTUNE_SHARE_DIR"

// sharer grants a study's slots in turn with the other studies of this machine.
type sharer struct {
	most   int // trials at a time, those of the others that share included; 0 for no limit
	say    func(string)
	folder *sharing.Folder
	needs  []sharing.Need // of each slot
	what   string         // is waited for
	said   time.Time
}

// share finds out what the study has to share with others: GPUs in any case.
func (s *sharer) share(cfg *study.Config) (_ session.Sharer, err error) {
	devices := devicesOf(&cfg.Run)
	if _, elsewhere := can[runner.Locator](cfg, ""); elsewhere || s.most == 0 && len(devices) == 0 {
		return nil, nil
	}
	s.needs = make([]sharing.Need, cfg.Run.SlotCount())
	s.what = fmt.Sprintf("the studies that share this machine have all %s", count(s.most, "slot"))
	if len(devices) > 0 {
		s.what = "other studies have the GPUs"
		if s.most > 0 {
			s.what += " or the shared slots"
		}
		names := uuids()
		for i := range s.needs {
			s.needs[i] = needOf(devices, i, names)
		}
	}
	if s.most > 0 {
		places := placesOf("slot", s.most)
		for i := range s.needs {
			s.needs[i] = append(s.needs[i], places)
		}
	}
	if s.folder, err = openShared(); err != nil {
		return nil, err
	}
	return s, nil
}

// openShared opens the folder in which the studies on this machine find each other.
func openShared() (*sharing.Folder, error) {
	dir := os.Getenv(shareDirVar)
	given := dir != ""
	if !given {
		// $TMPDIR and $XDG_RUNTIME_DIR may differ between a terminal and cron.
		dir = fmt.Sprintf("/tmp/lbotune-%d", os.Geteuid())
	}
	f, err := sharing.Open(dir)
	if err == nil && !given && !f.Private() {
		err = fmt.Errorf("%s is not a directory of yours that nobody else can write to", dir)
	}
	if err != nil {
		return nil, hinted(usagef("cannot share this machine with other studies: %v", err),
			"set "+shareDirVar+" to a folder that all of them use")
	}
	return f, nil
}

// waitSaid is for how long nothing is said of having to wait, and how often it is.
const (
	waitSilent = time.Second
	waitSaid   = 10 * time.Minute
)

// Take implements session.Sharer.
func (s *sharer) Take(ctx context.Context, vacant func() []int) (int, []*os.File, error) {
	began := time.Now()
	return s.folder.Take(ctx, s.needs, vacant, func(ahead int) {
		now := time.Now()
		if now.Sub(began) < waitSilent || !s.said.IsZero() && now.Sub(s.said) < waitSaid {
			return
		}
		s.said = now
		text := "waiting: " + s.what
		if ahead > 0 {
			text += fmt.Sprintf(", and %d wait longer", ahead)
		}
		s.say(text)
	})
}

// devicesOf lists the GPUs that each slot names; nothing if none does.
func devicesOf(run *study.Run) [][]string {
	if !slices.ContainsFunc(run.Slots, func(s study.Slot) bool { return len(devicesIn(s)) > 0 }) {
		return nil
	}
	out := make([][]string, len(run.Slots))
	for i, s := range run.Slots {
		out[i] = devicesIn(s)
	}
	return out[:min(len(out), run.SlotCount())]
}

func devicesIn(s study.Slot) []string {
	var devices []string
	for _, e := range s.Env {
		if list, ok := strings.CutPrefix(e, visibleDevices+"="); ok && !strings.Contains(list, "{") {
			devices = strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return devices
}

// needOf is what slot i needs: each of its GPUs alone, or, where slots of this study share
// a GPU, together with others that allow it, as many as there are such slots.
func needOf(devices [][]string, i int, names map[string]string) sharing.Need {
	var need sharing.Need
	for _, d := range devices[i] {
		sharers := 0
		for _, other := range devices {
			if slices.Contains(other, d) {
				sharers++
			}
		}
		name := "gpu " + cmp.Or(names[d], d)
		need = append(need, []sharing.Lock{{Name: name, Shared: sharers > 1}})
		if sharers > 1 {
			need = append(need, placesOf(name, sharers))
		}
	}
	return need
}

func placesOf(name string, n int) []sharing.Lock {
	group := make([]sharing.Lock, n)
	for i := range group {
		group[i].Name = fmt.Sprintf("%s.%d", name, i)
	}
	return group
}

// uuids says which GPU of the machine each number stands for: in a container or a batch
// job 0 may be another one.
func uuids() map[string]string {
	names := map[string]string{}
	rows, _ := nvidiaSMI("--query-gpu=index,uuid")
	for _, row := range rows {
		if len(row) == 2 {
			names[row[0]] = row[1]
		}
	}
	return names
}

// othersOnGPUs tells of the processes on the GPUs of the study that no lbotune of this
// user has started.
func othersOnGPUs(cfg *study.Config) []string {
	used := map[string]string{}
	for _, devices := range devicesOf(&cfg.Run) {
		for _, d := range devices {
			used[d] = d
		}
	}
	if len(used) == 0 {
		return nil
	}
	for number, id := range uuids() {
		if used[number] != "" {
			used[id] = number
		}
	}
	var out []string
	rows, _ := nvidiaSMI("--query-compute-apps=gpu_uuid,pid,used_memory,process_name")
	for _, row := range rows {
		if len(row) < 4 || used[row[0]] == "" {
			continue
		}
		pid, err := strconv.Atoi(row[1])
		if err != nil || ofLbotune(pid) {
			continue
		}
		out = append(out, fmt.Sprintf("GPU %s is also used by process %d%s: %s, %s", used[row[0]], pid, ownerOf(pid),
			oneLine(filepath.Base(row[3])), oneLine(row[2])))
	}
	return out
}

// ofLbotune reports whether the process belongs to a trial of a study of this user.
func ofLbotune(pid int) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00LBOTUNE_ATTEMPT="))
}

// ownerOf names the user of a process, if that is known.
func ownerOf(pid int) string {
	info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return ""
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	if u, err := user.LookupId(strconv.Itoa(int(sys.Uid))); err == nil {
		return " of " + u.Username
	}
	return fmt.Sprintf(" of user %d", sys.Uid)
}
