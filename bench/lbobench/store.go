package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/term"

	"github.com/lbotune/lbotune/optimizer"
)

// header is that of every result file: one row for each evaluation, and one with i = 0 that
// ends a run and holds the value of the recommended trial, what was expected there, and the
// standard deviation of that.
var header = []string{"peer", "function", "seed", "i", "y", "best", "sec"}

// key names one run.
type key struct {
	peer, function string
	seed           int
}

// store is a CSV file of runs that can be continued: a run is written whole
// or not at all, and a run that is there is not made again.
type store struct {
	path string
	runs map[key]run
	file *os.File
}

// run is what one session left.
type run struct {
	points      []point
	recommended choice
	found       optimizer.Earlier
}

// choice is the trial that an optimizer recommends: its noiseless value, what the optimizer
// expects there, and the standard deviation of that, 0 without a model.
type choice struct{ value, mean, sd float64 }

// openStore reads the finished runs of a file and makes it ready for more. A
// torn last run, as after a crash, is cut.
func openStore(path string) (*store, error) {
	s := &store{path: path, runs: map[key]run{}}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read results: %w", err)
	}
	whole, err := s.parse(string(text[:bytes.LastIndexByte(text, '\n')+1]))
	if err != nil {
		return nil, err
	}
	if s.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	if err := s.file.Truncate(whole); err != nil {
		return nil, fmt.Errorf("cut the torn end of %s: %w", path, err)
	}
	if _, err := s.file.Seek(0, io.SeekEnd); err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	if whole == 0 {
		_, err = s.file.WriteString(strings.Join(header, ",") + "\n")
	}
	return s, err
}

// parse reads the runs and returns the length of the text up to the end of the
// last complete one.
func (s *store) parse(text string) (whole int64, err error) {
	var points []point
	r := csv.NewReader(strings.NewReader(text))
	r.ReuseRecord = true
	r.FieldsPerRecord = len(header)
	for line := 1; ; line++ {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return whole, nil
		}
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", s.path, err)
		}
		if line == 1 {
			whole = r.InputOffset()
			continue
		}
		seed, err1 := strconv.Atoi(rec[2])
		i, err2 := strconv.Atoi(rec[3])
		y, err3 := strconv.ParseFloat(rec[4], 64)
		best, err4 := strconv.ParseFloat(rec[5], 64)
		sec, err5 := strconv.ParseFloat(rec[6], 64)
		if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
			return 0, fmt.Errorf("read %s, line %d: %w", s.path, line, err)
		}
		if i > 0 {
			points = append(points, point{I: i, Y: y, Best: best, Sec: sec})
			continue
		}
		s.runs[key{strings.Clone(rec[0]), strings.Clone(rec[1]), seed}] = run{points: points, recommended: choice{y, best, sec}}
		points, whole = nil, r.InputOffset()
	}
}

func (s *store) close() error { return s.file.Close() }

// add writes one run with a single write.
func (s *store) add(k key, r run) error {
	var b strings.Builder
	w := csv.NewWriter(&b)
	end := point{Y: r.recommended.value, Best: r.recommended.mean, Sec: r.recommended.sd}
	for _, p := range append(slices.Clip(r.points), end) {
		_ = w.Write([]string{k.peer, k.function, strconv.Itoa(k.seed), strconv.Itoa(p.I), // a strings.Builder takes everything
			strconv.FormatFloat(p.Y, 'g', -1, 64), strconv.FormatFloat(p.Best, 'g', -1, 64), strconv.FormatFloat(p.Sec, 'g', 4, 64)})
	}
	w.Flush()
	if _, err := s.file.WriteString(b.String()); err != nil {
		return fmt.Errorf("write %s: %w", s.path, err)
	}
	s.runs[k] = r
	return nil
}

// complete makes the missing runs, as many at a time as there are cores, and
// tells how far it is.
func (s *store) complete(ctx context.Context, jobs []job, progress io.Writer) error {
	var missing []job
	for _, j := range jobs {
		if _, done := s.runs[j.key()]; !done {
			missing = append(missing, j)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	count := 0
	file, isFile := progress.(*os.File)
	live := isFile && term.IsTerminal(int(file.Fd()))
	for _, j := range missing {
		group.Go(func() error {
			r, err := j.run(ctx)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			count++
			switch all := len(missing); {
			case live:
				fmt.Fprintf(progress, "\r%d of %d runs", count, all)
			case 10*count/all > 10*(count-1)/all:
				fmt.Fprintf(progress, "%d of %d runs\n", count, all)
			}
			return s.add(j.key(), r)
		})
	}
	err := group.Wait()
	if live && count > 0 {
		fmt.Fprintln(progress)
	}
	return err
}

func (j job) key() key { return key{j.variant, j.objective.Name, j.seed} }
