package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/internal/kinds"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/sharing"
	"github.com/lbotune/lbotune/session"
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
	if _, elsewhere, _ := able[kinds.Locator](cfg, ""); elsewhere || s.most == 0 && len(devices) == 0 {
		return nil, nil
	}
	s.needs = make([]sharing.Need, cfg.Run.SlotCount())
	s.what = fmt.Sprintf("the studies that share this machine have all %s", count(s.most, "slot"))
	var names map[string]string
	if len(devices) > 0 {
		s.what, names = "other studies have the GPUs"+when(s.most > 0, " or the shared slots"), uuids()
	}
	for i := range s.needs {
		if len(devices) > 0 {
			s.needs[i] = needOf(devices, i, names)
		}
		if s.most > 0 {
			s.needs[i] = append(s.needs[i], placesOf("slot", s.most))
		}
	}
	given := os.Getenv(shareDirVar)
	// $TMPDIR and $XDG_RUNTIME_DIR may differ between a terminal and cron.
	dir := cmp.Or(given, fmt.Sprintf("/tmp/lbotune-%d", os.Geteuid()))
	s.folder, err = sharing.Open(dir)
	if err == nil && given == "" && !s.folder.Private() {
		err = fmt.Errorf("%s is not a directory of yours that nobody else can write to", dir)
	}
	if err != nil {
		return nil, hinted(usagef("cannot share this machine with other studies: %v", err),
			"set "+shareDirVar+" to a folder that all of them use")
	}
	return s, nil
}

// waitSaid is for how long nothing is said of having to wait, and how often it is.
const waitSilent, waitSaid = time.Second, 10 * time.Minute

// Take implements session.Sharer.
func (s *sharer) Take(ctx context.Context, vacant func() []int) (int, []*os.File, error) {
	began := time.Now()
	return s.folder.Take(ctx, s.needs, vacant, func(ahead int) {
		if time.Since(began) < waitSilent || time.Since(s.said) < waitSaid {
			return
		}
		s.said = time.Now()
		s.say("waiting: " + s.what + when(ahead > 0, ", and %d wait longer", ahead))
	})
}

// devicesOf lists the GPUs that each slot names; nothing if none does.
func devicesOf(run *study.Run) [][]string {
	out := lists.Map(run.Slots, func(s study.Slot) (devices []string) {
		for _, e := range s.Env {
			if list, ok := strings.CutPrefix(e, visibleDevices+"="); ok && !strings.Contains(list, "{") {
				devices = strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
			}
		}
		return devices
	})
	if len(slices.Concat(out...)) == 0 {
		return nil
	}
	return out[:min(len(out), run.SlotCount())]
}

// needOf is what slot i needs: each of its GPUs alone, or, where slots of this study share
// a GPU, together with others that allow it, as many as there are such slots.
func needOf(devices [][]string, i int, names map[string]string) sharing.Need {
	var need sharing.Need
	for _, d := range devices[i] {
		sharers := len(slices.DeleteFunc(slices.Clone(devices), func(other []string) bool { return !slices.Contains(other, d) }))
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

// uuids says which GPU each number stands for: in a container 0 may be another one.
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

// othersOnGPUs tells of processes on the study's GPUs that no lbotune of this user started.
func othersOnGPUs(cfg *study.Config) []string {
	used := map[string]string{}
	for _, d := range slices.Concat(devicesOf(&cfg.Run)...) {
		used[d] = d
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
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || bytes.Contains(append([]byte{0}, env...), []byte("\x00LBOTUNE_ATTEMPT=")) { // of a study of this user
			continue
		}
		out = append(out, fmt.Sprintf("GPU %s is also used by process %d%s: %s, %s", used[row[0]], pid, ownerOf(pid),
			oneLine(filepath.Base(row[3])), oneLine(row[2])))
	}
	return out
}

// ownerOf names the user of a process, if that is known.
func ownerOf(pid int) string {
	var of syscall.Stat_t
	if syscall.Stat(fmt.Sprintf("/proc/%d", pid), &of) != nil {
		return ""
	}
	if u, err := user.LookupId(strconv.Itoa(int(of.Uid))); err == nil {
		return " of " + u.Username
	}
	return fmt.Sprintf(" of user %d", of.Uid)
}

const visibleDevices = "CUDA_VISIBLE_DEVICES"

// findGPUs gives a study with gpus = "auto" a slot, or per_gpu, for each GPU of this machine.
func findGPUs(cfg *study.Config) error {
	if cfg.Run.GPUs != "auto" {
		return nil
	}
	gpus, err := listGPUs()
	if err != nil {
		return hinted(usagef("gpus = \"auto\": %v", err), "name the slots instead: slots = [{ env = { CUDA_VISIBLE_DEVICES = \"0\" } }]")
	}
	slots := lists.Map(gpus, func(gpu string) study.Slot { return study.Slot{Env: []string{visibleDevices + "=" + gpu}} })
	cfg.Run.Slots = slices.Repeat(slots, max(cfg.Run.PerGPU, 1))
	return nil
}

// listGPUs names the GPUs that the environment grants, or else all that nvidia-smi lists.
func listGPUs() ([]string, error) {
	list, granted := os.LookupEnv(visibleDevices)
	if !granted {
		rows, err := nvidiaSMI("--query-gpu=index")
		if err != nil {
			return nil, fmt.Errorf("list the GPUs by nvidia-smi: %w", err)
		}
		list = strings.Join(lists.Map(rows, func(row []string) string { return row[0] }), ",")
	}
	gpus := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '\n' || r == ' ' || r == '\r' })
	// To CUDA, a device that there is none of hides itself and those after it.
	if i := slices.IndexFunc(gpus, func(g string) bool { return strings.HasPrefix(g, "-") }); i >= 0 {
		gpus = gpus[:i]
	}
	if len(gpus) == 0 {
		return nil, errors.New("there is no GPU")
	}
	return gpus, nil
}

func nvidiaSMI(query string) (rows [][]string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // it hangs with some broken drivers
	defer cancel()
	cmd := exec.CommandContext(ctx, "nvidia-smi", query, "--format=csv,noheader")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	columns := strings.Count(query, ",") + 1
	for line := range strings.Lines(string(out)) {
		row := strings.SplitN(line, ",", columns) // a program's name may have commas
		rows = append(rows, lists.Map(row, strings.TrimSpace))
	}
	return rows, nil
}
