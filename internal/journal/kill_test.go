package journal_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
)

// appendForEver runs in a process of its own, and says the number of each record
// that it was told is on disk.
func appendForEver(path string) error {
	j, sum, err := journal.Open(path, ignore)
	for i := 0; err == nil; i++ {
		if err = j.Append(sample("s1", i), sample("s1", i+1)); err == nil {
			sum.Records += 2
			fmt.Println(sum.Records)
		}
	}
	return err
}

// A process that is killed while it appends loses nothing of what it was told is on
// disk, and the next one goes on where it was.
func TestKill(t *testing.T) {
	path := newPath(t)
	j, err := journal.Create(path, header{"s1", 1})
	check(t, err)
	check(t, j.Close())
	r := rand.New(rand.NewPCG(5, 6))
	var before []string
	for range 20 {
		acked := killAfter(t, path, 1+r.IntN(20))
		var c collector
		_, err := journal.Read(path, c.visit)
		check(t, err)
		if len(c.lines) < acked || len(c.lines) <= len(before) || !slices.Equal(c.lines[:len(before)], before) {
			t.Fatalf("%d records, %d of them acknowledged, %d read before", len(c.lines), acked, len(before))
		}
		before = c.lines
	}
}

// killAfter starts a process that appends, kills it when it has acknowledged n times
// or more, and returns the number of the last record that it has.
func killAfter(t *testing.T, path string, n int) (acked int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "append", path)
	cmd.Env = append(os.Environ(), helperVar+"=1")
	stdout, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	for i := 1; lines.Scan(); i++ {
		acked, err = strconv.Atoi(lines.Text())
		check(t, err)
		if i == n {
			check(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait()
	return acked
}
