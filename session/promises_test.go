package session_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
)

// TestPromises simulates studies with settings that were drawn, and checks all that the table
// of promises calls held: every pair of settings, and some that seeds draw.
//
// LBOTUNE_SIMULATE=SEED draws settings by the seed and runs their study, FROM-TO runs these, and
// fresh/N runs N that nobody has run before; with LBOTUNE_SETTINGS="constraints+kill" all of
// them have these settings, and with "+kill" this one beside those that are drawn.
func TestPromises(t *testing.T) {
	base := promisesBase(t)
	t.Setenv("PATH", "") // nothing to ask for line buffering, in thousands of sessions
	tally, faulty := &simTally{}, atomic.Int64{}
	run := func(names []string, seed uint64) {
		p, err := drawnPlan(names, seed)
		if err != nil {
			why := refusalOf(err)
			if why == "" {
				t.Errorf("%s, seed %d: %v", strings.Join(names, "+"), seed, err)
			}
			tally.add(why)
			return
		}
		p.tally = tally
		if faults := simulate(t, base, p); len(faults) > 0 {
			p.tally = nil
			faulty.Add(1)
			p, faults = shorten(t, base, p, faults)
			t.Errorf("LBOTUNE_SETTINGS=%q LBOTUNE_SIMULATE=%d go test ./session -run 'TestPromises$'\n%v\n%s", strings.Join(p.settings, "+"), seed, p, strings.Join(faults, "\n"))
		}
	}
	var studies []func()
	if which := os.Getenv("LBOTUNE_SIMULATE"); which != "" {
		first, last := seedsOf(t, which)
		for seed := first; seed <= last; seed++ {
			names := drawnSettings(seed)
			if only, also := strings.CutPrefix(os.Getenv("LBOTUNE_SETTINGS"), "+"); also && !slices.Contains(names, only) {
				names = append(names, only)
			} else if only != "" && !also {
				names = strings.Split(only, "+")
			}
			studies = append(studies, func() { run(names, seed) })
		}
	} else {
		for _, c := range formerClashes {
			studies = append(studies, func() { run(strings.Split(c.settings, "+"), c.seed) })
		}
		groups, step := drawnPairs(), effort.Of(raced(421, 131), 23, 1)
		if step == 1 {
			groups = drawnGroups()
		}
		for i, names := range groups {
			if i%step == 0 {
				studies = append(studies, func() { run(names, uint64(i+1)) })
			}
		}
		for seed := range uint64(effort.Of(raced(3, 6), 30, 100)) {
			studies = append(studies, func() { run(drawnSettings(seed), seed) })
		}
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(studies)) && faulty.Load() < 3; i = next.Add(1) - 1 {
				studies[i]()
			}
		})
	}
	workers.Wait()
	if os.Getenv("LBOTUNE_SIMULATE") == "" && effort.Long() {
		for _, what := range mustHappen {
			if tally.of[what] == 0 {
				t.Errorf("in none of the studies: %s", what)
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(tally.of)) {
		t.Logf("%6d %s", tally.of[what], what)
	}
}

// mustHappen is what the promises are about; studies in which it never happens show nothing.
var mustHappen = []string{"a failure was taken back", "a range was changed", "a request was fulfilled", "a secret was hidden", "a trial was confirmed", "a trial was continued",
	"a trial was excluded", "a trial was handed out", "a value was enqueued", "an attempt was interrupted", "an attempt was lost", "ended by a certificate",
	"something earlier was read", "what was reported has ended a trial", "what was reported was broken off", "stopped at a limit", "stopped early", "stopped since it cannot be the best", "the disk was full",
	"with a best that holds limits which others break", "with a safety limit"}

// promisesBase makes what drawn studies need, and returns the directory in which they lie.
func promisesBase(t *testing.T) string {
	t.Helper()
	t.Setenv(simSecretName, simSecret)
	base := t.TempDir()
	if err := os.MkdirAll(simEarlier, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(simEarlier) })
	return base
}

// drawnPairs are all pairs of settings that the simulation can switch on.
func drawnPairs() (pairs [][]string) {
	for i, a := range settings {
		for _, b := range settings[i+1:] {
			if a.draw != nil && b.draw != nil {
				pairs = append(pairs, []string{a.name, b.name})
			}
		}
	}
	return pairs
}

// drawnGroups hold all pairs of settings in fewer studies, since one of three settings shows what each of its
// pairs shows. Two that no third can stand beside, or that cannot stand together, are a group of their own.
func drawnGroups() (groups [][]string) {
	covered := map[[2]string]bool{} // in the order of settings
	for _, pair := range drawnPairs() {
		a, b := pair[0], pair[1]
		if covered[[2]string{a, b}] {
			continue
		}
		group := pair
		for _, s := range settings[slices.IndexFunc(settings, func(s setting) bool { return s.name == b })+1:] {
			if c := s.name; s.draw != nil && !covered[[2]string{a, c}] && !covered[[2]string{b, c}] {
				three := []string{a, b, c}
				if _, err := drawnPlan(three, uint64(len(groups)+1)); err == nil {
					group, covered[[2]string{a, c}], covered[[2]string{b, c}] = three, true, true
					break
				}
			}
		}
		groups = append(groups, group)
	}
	return groups
}

// drawnSettings are two or three settings that a seed draws.
func drawnSettings(seed uint64) (names []string) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for want := 2 + rng.IntN(2); len(names) < want; {
		s := settings[rng.IntN(len(settings))]
		if s.draw != nil && !slices.Contains(names, s.name) {
			names = append(names, s.name)
		}
	}
	return names
}

// formerClash is a study that has shown a fault which is mended. A change of what settings draw
// makes it another one; the fault has a test of its own. The last three show what the pairs that are drawn
// show by chance alone: that what a program reports ends its trial.
type formerClash struct {
	settings string
	seed     uint64
}

var formerClashes = []formerClash{
	{"asha+slots, gpus+workers+shutdown", 794},
	{"gap+warm start, same+default", 100},
	{"stop at a limit+reachable", 6},
	{"confirm+slots, gpus", 21},
	{"rerun+guess+kill", 5003},
	{"confirm+patience of the budget+ask and tell, drive", 641835888458},
	{"stop at a limit+ask and tell, drive", 1},
	{"stop at a limit+ask and tell, drive", 3},
	{"patience+ask and tell, drive", 1},
}

// refusals are what lbotune check says of settings that cannot stand together.
var refusals = []string{
	"cannot be part of a relation",
	"cannot be part of a condition",
	"is for one objective",
	"safety: is for method lbo",
	"warm_start: is for method lbo",
	"budget.gap: is for method",
	"what is left to gain is known to method lbo alone",
	"says nothing of what is left to gain beside the training budget",
	"cannot stand beside successive halving",
	"warm_start: cannot stand beside constraints",
	"parameter x needs a default",
	"reachable compares readings of single runs",
	"keep: the checkpoints",
	"a grid tries every value",
	"guess: cannot stand beside default",
	"reachable bounds the last reading",
	"since only the last line is read",
	"each trial needs a slot to itself",
	"a trial can be stopped only for what it prints",
}

// refusalOf is what a plan that cannot be drawn counts as, empty if that is unexpected.
func refusalOf(err error) string {
	var clash *clashError
	if errors.As(err, &clash) {
		return "are two values of " + clash.key
	}
	for _, r := range refusals {
		if strings.Contains(err.Error(), r) {
			return "refused: " + r
		}
	}
	return ""
}
