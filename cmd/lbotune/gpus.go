package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/lbotune/lbotune/study"
)

const visibleDevices = "CUDA_VISIBLE_DEVICES"

// findGPUs gives the study a slot for every GPU of this machine, or per_gpu of
// them, if its spec says gpus = "auto".
func findGPUs(cfg *study.Config) error {
	if cfg.Run.GPUs != "auto" {
		return nil
	}
	gpus, err := listGPUs()
	if err != nil {
		return hinted(usagef("gpus = \"auto\": %v", err), "name the slots instead: slots = [{ env = { CUDA_VISIBLE_DEVICES = \"0\" } }]")
	}
	cfg.Run.Slots = nil
	for range max(cfg.Run.PerGPU, 1) {
		for _, gpu := range gpus {
			cfg.Run.Slots = append(cfg.Run.Slots, study.Slot{Env: []string{visibleDevices + "=" + gpu}})
		}
	}
	return nil
}

// listGPUs names the GPUs that this process may use: those that the environment
// grants, as under a batch system, else all that nvidia-smi lists.
func listGPUs() ([]string, error) {
	list, granted := os.LookupEnv(visibleDevices)
	if !granted {
		rows, err := nvidiaSMI("--query-gpu=index")
		if err != nil {
			return nil, fmt.Errorf("list the GPUs by nvidia-smi: %w", err)
		}
		for _, row := range rows {
			list += row[0] + ","
		}
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

// nvidiaSMI asks nvidia-smi for a table.
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
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		rows = append(rows, row)
	}
	return rows, nil
}
