//go:build linux

package torture_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// A storm kills lbotune over and over while it works on a study.
type storm struct {
	*lab
	r      *rand.Rand
	trials int
	everyN int    // each so manieth kill is of everything, the trials included; 0: none
	before string // the journal as it was seen before the last kill
	whole  int    // kills of everything
}

func newStorm(t *testing.T, trials, workers, everyN int) *storm {
	s := &storm{lab: newLab(t), r: rand.New(rand.NewPCG(*seed, uint64(workers))), trials: trials, everyN: everyN}
	s.spec("spec.toml", as("work", s.dir+" {x} 80"), trials, workers)
	return s
}

// blow starts lbotune and kills it at a random moment, n times in all, and lets it
// finish then.
func (s *storm) blow(n int) {
	s.Helper()
	for i := range n {
		r := s.start("run", "spec.toml")
		// Kills come as quickly as the study: those of a study that is ahead hit the
		// first steps of a session, the others its middle.
		most := 25 * time.Millisecond
		if s.finished()*n <= s.trials*i {
			most = 200 * time.Millisecond
		}
		time.Sleep(time.Duration(s.r.Int64N(int64(most))))
		s.look()
		if s.everyN > 0 && s.r.IntN(s.everyN) == 0 {
			s.whole++
			s.kill()
		}
		_ = r.Process.Kill()
		if res := r.end(); res.code != 128+int(syscall.SIGKILL) && res.code != 0 {
			s.Fatalf("kill %d: exit code %d\n%s", i+1, res.code, res.err)
		}
		s.checkKept(r.said())
	}
	s.run(0, "run", "spec.toml")
	s.look()
}

// look checks that the journal goes on from where it was seen before.
func (s *storm) look() {
	s.Helper()
	if !s.exists("spec.study/journal.jsonl") {
		return
	}
	now := s.read("spec.study/journal.jsonl")
	now = now[:strings.LastIndexByte(now, '\n')+1]
	if !strings.HasPrefix(now, s.before) {
		s.Fatalf("records were lost or changed: there was\n%s\nthere is\n%s", s.before, now)
	}
	s.before = now
}

// finished counts the trials that the journal knows to be finished.
func (s *storm) finished() int { return strings.Count(s.before, `"type":"finished"`) }

// reported matches the line that tells of a finished trial, and its value.
var reported = regexp.MustCompile(`(?m)^ *([0-9]+)/[0-9]+ +([0-9.e-]+) .* x=.*\n`)

// results returns the values that were reported, by trial.
func results(said string) map[int]string {
	values := map[int]string{}
	for _, m := range reported.FindAllStringSubmatch(said, -1) {
		trial, _ := strconv.Atoi(m[1])
		values[trial] = m[2]
	}
	return values
}

// shownAs reports whether text is the value, rounded to the digits that it shows.
func shownAs(value float64, text string) bool {
	mantissa, _, _ := strings.Cut(text, "e")
	digits := len(strings.TrimLeft(strings.ReplaceAll(mantissa, ".", ""), "-0"))
	shown, err := strconv.ParseFloat(text, 64)
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(value, 'g', max(digits, 4), 64), 64)
	return err == nil && shown == rounded // zeros at the end are not shown
}

// checkKept checks that every result that was reported is in the journal.
func (s *storm) checkKept(said string) {
	s.Helper()
	s.look()
	shown := results(said)
	if len(shown) == 0 {
		return
	}
	st := s.load()
	for n, value := range shown {
		if trial := st.Trials[n-1]; !trial.Done() || !shownAs(trial.Value, value) {
			s.Errorf("trial %d was reported with the value %s; the journal has it as %v, %v", n, value, trial.Status, trial.Value)
		}
	}
}

// load reads the study of spec.toml, loadDir that of a directory.
func (l *lab) load() *study.State {
	l.Helper()
	return l.loadDir("spec.study")
}

func (l *lab) loadDir(dir string) *study.State {
	l.Helper()
	st, err := study.Load(l.path(dir))
	l.check(err)
	return st
}

// checkWhole checks the study that the storm has left, and returns what its trials
// have noted.
func (s *storm) checkWhole() map[int][]stretch {
	s.Helper()
	st := s.load()
	if len(st.Trials) != s.trials || st.Count(optimizer.Succeeded) != s.trials || !st.Ended() {
		s.Errorf("%d trials, %d succeeded, ended: %v; want %d", len(st.Trials), st.Count(optimizer.Succeeded), st.Ended(), s.trials)
	}
	for _, trial := range st.Trials {
		x, _ := trial.Values()[0].Value.Number()
		if want := (x - 0.3) * (x - 0.3); trial.Value != want {
			s.Errorf("trial %d has the value %v; want %v", trial.Number, trial.Value, want)
		}
	}
	for _, line := range finishedTwice(s.path("spec.study")) {
		s.Errorf("a second end: %s", line)
	}
	s.run(0, "journal", "verify", "spec.study")
	s.run(0, "journal", "replay", "spec.study")
	notes, overlaps := diary(s.read("diary"))
	if len(overlaps) > 0 {
		s.Errorf("two attempts of a trial at a time: %q", overlaps)
	}
	if alive := s.alive(); len(alive) > 0 {
		s.Errorf("alive at the end: %v", alive)
	}
	return notes
}

// finishedTwice returns the records of trials that had been finished before.
func finishedTwice(dir string) (lines []string) {
	seen := map[int]bool{}
	_, _ = journal.Read(filepath.Join(dir, "journal.jsonl"), func(line journal.Record) error {
		var r study.Record
		if err := r.UnmarshalJSON(line.Raw); err != nil {
			return err
		}
		if f, ok := r.Event.(study.Finished); ok {
			if seen[f.Trial] {
				lines = append(lines, string(line.Raw))
			}
			seen[f.Trial] = true
		}
		return nil
	})
	return lines
}

func attempts(notes map[int][]stretch) (n int) {
	for _, s := range notes {
		n += len(s)
	}
	return n
}

// Whatever is killed, and whenever: no result is lost, no trial is missing, none ran
// twice at a time, and nothing is left over.
func TestKillStorm(t *testing.T) {
	kills := scaled(12, 200)
	s := newStorm(t, scaled(30, 100), 4, 4)
	s.blow(kills)
	notes := s.checkWhole()
	t.Logf("%d kills, %d of them of everything; %d trials took %d attempts in %d sessions",
		kills, s.whole, s.trials, attempts(notes), s.load().Sessions)
}

// A kill of lbotune alone costs nothing: what runs goes on running, and no work is
// done twice.
func TestKillsOfLbotuneAlone(t *testing.T) {
	kills := scaled(12, 200)
	s := newStorm(t, scaled(30, 100), 4, 0)
	s.write("spec.toml", `setup = "echo set up >> setups; sleep 0.3"`+"\n"+s.read("spec.toml"))
	s.blow(kills)
	notes := s.checkWhole()
	if n := strings.Count(s.read("setups"), "\n"); n != 1 {
		t.Errorf("setup ran %d times", n)
	}
	if n := attempts(notes); n != s.trials {
		t.Errorf("%d trials took %d attempts", s.trials, n)
	}
	t.Logf("%d kills; %d trials took %d attempts in %d sessions", kills, s.trials, attempts(notes), s.load().Sessions)
}

// A trial that was left running on another host is nobody's to judge until somebody says
// that it is dead. After a boot it is dead.
func TestOtherHostAndBoot(t *testing.T) {
	boot, host := regexp.MustCompile(`"boot":"[^"]*"`), regexp.MustCompile(`"host":"[^"]*"`)
	for name, elsewhere := range map[string]bool{"another host": true, "another boot": false} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.spec("spec.toml", "cd "+l.dir+"; echo {trial}.{attempt} >> log; touch started; until test -e go; do sleep 0.02; done; echo loss={x}", 2, 1)
			r := l.start("run", "spec.toml")
			l.await("the trial", func() bool { return l.exists("started") })
			l.check(r.Process.Kill())
			r.end().must(l, 137)
			l.kill()
			l.write("go", "")
			const record = "spec.study/trials/000001/a1/attempt.jsonl"
			text := boot.ReplaceAllString(l.read(record), `"boot":"x"`)
			args := []string{"run", "spec.toml"}
			if elsewhere {
				text = host.ReplaceAllString(text, `"host":"elsewhere"`)
				l.write(record, text)
				before := l.read("spec.study/journal.jsonl")
				l.run(1, args...).mustSay(l, "started on another host (elsewhere)", "--assume-lost")
				if after := l.read("spec.study/journal.jsonl"); strings.Contains(after[len(before):], `"type":"finished"`) || l.read("log") != "1.1\n" {
					t.Errorf("something ran beside it: %s", after[len(before):])
				}
				args = append(args, "--assume-lost")
			}
			l.write(record, text)
			l.run(0, args...)
			if log := l.read("log"); log != "1.1\n1.2\n2.1\n" {
				t.Errorf("these attempts ran: %q", log)
			}
		})
	}
}

// unclocked removes from a journal what differs between two equal studies: when,
// where and by how many sessions and attempts they were made.
func (l *lab) unclocked(dir string) string {
	l.Helper()
	var out strings.Builder
	_, err := journal.Read(l.path(dir+"/journal.jsonl"), func(line journal.Record) error {
		var r study.Record
		if err := r.UnmarshalJSON(line.Raw); err != nil {
			return err
		}
		switch e := r.Event.(type) {
		case study.Proposed:
			fmt.Fprintf(&out, "%s\n", regexp.MustCompile(`"trial":.*,"crc"`).Find(line.Raw))
		case study.Finished:
			fmt.Fprintf(&out, "%d %s %s\n", e.Trial, e.Status, strconv.FormatFloat(float64(e.Metrics["loss"]), 'x', -1, 64))
		}
		return nil
	})
	l.check(err)
	return out.String()
}

// With one worker an interrupted study equals one that never was, byte for byte.
func TestKilledStudyEqualsUninterrupted(t *testing.T) {
	slow(t)
	for _, method := range []string{"random", "lbo"} {
		t.Run(method, func(t *testing.T) {
			s := newStorm(t, scaled(12, 40), 1, 3)
			text := strings.Replace(s.read("spec.toml"), `"random"`, strconv.Quote(method), 1)
			s.write("spec.toml", text)
			s.write("quiet.toml", text)
			s.blow(scaled(8, 80))
			got := s.unclocked("spec.study")
			s.checkWhole()
			s.check(syscall.Unlink(s.path("diary")))
			s.run(0, "run", "quiet.toml")
			if want := s.unclocked("quiet.study"); got != want {
				t.Errorf("killed:\n%s\nuninterrupted:\n%s", got, want)
			}
			if lines := strings.Count(got, "\n"); lines != 2*s.trials {
				t.Errorf("compared %d records; want %d", lines, 2*s.trials)
			}
		})
	}
}
