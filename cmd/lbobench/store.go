package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// header is that of every result file: one row for each evaluation.
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
	runs map[key][]point
	file *os.File
}

// openStore reads the finished runs of a file and makes it ready for more. A
// torn last run, as after a crash, is cut.
func openStore(path string) (*store, error) {
	s := &store{path: path, runs: map[key][]point{}}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read results: %w", err)
	}
	whole := text[:strings.LastIndexByte(string(text), '\n')+1]
	if s.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	if err := s.file.Truncate(int64(len(whole))); err != nil {
		return nil, fmt.Errorf("cut the torn end of %s: %w", path, err)
	}
	if _, err := s.file.Seek(0, io.SeekEnd); err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	if len(whole) == 0 {
		_, err = s.file.WriteString(strings.Join(header, ",") + "\n")
		return s, err
	}
	return s, s.parse(string(whole))
}

func (s *store) parse(text string) error {
	r := csv.NewReader(strings.NewReader(text))
	r.ReuseRecord = true
	r.FieldsPerRecord = len(header)
	for line := 1; ; line++ {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", s.path, err)
		}
		if line == 1 {
			continue
		}
		seed, err1 := strconv.Atoi(rec[2])
		i, err2 := strconv.Atoi(rec[3])
		y, err3 := strconv.ParseFloat(rec[4], 64)
		best, err4 := strconv.ParseFloat(rec[5], 64)
		sec, err5 := strconv.ParseFloat(rec[6], 64)
		if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
			return fmt.Errorf("read %s, line %d: %w", s.path, line, err)
		}
		k := key{strings.Clone(rec[0]), strings.Clone(rec[1]), seed}
		s.runs[k] = append(s.runs[k], point{I: i, Y: y, Best: best, Sec: sec})
	}
}

func (s *store) close() error { return s.file.Close() }

// add writes one run with a single write.
func (s *store) add(k key, points []point) error {
	var b strings.Builder
	w := bufio.NewWriter(&b)
	for _, p := range points {
		fmt.Fprintf(w, "%s,%s,%d,%d,%s,%s,%.4g\n", k.peer, k.function, k.seed, p.I,
			strconv.FormatFloat(p.Y, 'g', 12, 64), strconv.FormatFloat(p.Best, 'g', 12, 64), p.Sec)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if _, err := s.file.WriteString(b.String()); err != nil {
		return fmt.Errorf("write %s: %w", s.path, err)
	}
	s.runs[k] = points
	return nil
}

// complete makes the missing runs, as many at a time as there are cores, and
// tells how far it is.
func (s *store) complete(ctx context.Context, jobs []job, progress io.Writer) error {
	var todo []job
	for _, j := range jobs {
		if _, done := s.runs[j.key()]; !done {
			todo = append(todo, j)
		}
	}
	type finished struct {
		key    key
		points []point
	}
	results := make(chan finished)
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(todo) {
					return nil
				}
				r, err := todo[n].run(ctx)
				if err != nil {
					return err
				}
				select {
				case results <- finished{todo[n].key(), r.points}:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
	}
	failed := make(chan error, 1)
	go func() { failed <- group.Wait(); close(results) }()
	var writeErr error
	count := 0
	for f := range results {
		count++
		if writeErr == nil {
			writeErr = s.add(f.key, f.points)
		}
		fmt.Fprintf(progress, "\r%d of %d runs", count, len(todo))
	}
	if count > 0 {
		fmt.Fprintln(progress)
	}
	return errors.Join(<-failed, writeErr)
}

func (j job) key() key { return key{j.variant, j.objective.Name, j.seed} }
