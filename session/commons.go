package session

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/study"
)

const (
	// commonsEntries is how many entries of a directory are looked at, those nearest to its
	// top first, and commonsAttempts how many attempts.
	commonsEntries  = 4000
	commonsAttempts = 24
	// commonsWitnesses is how many attempts in a row a file must have changed in.
	commonsWitnesses = 4
)

// commons watches the directory in which trials run beside each other for a file that they
// all change: whoever reads its results from there may get those of another.
//
// A look at the directory when an attempt begins, and another when it has ended, tell what
// changed meanwhile, though not by whom. A file of one trial's own changes within the time of
// that trial. One that changed during each of the last few trials, which overlapped, and for
// longer than any of them ran, belongs to them all. Files of a slot's own look the same, so
// that nothing is said where trials are told their slot.
type commons struct {
	mu      sync.Mutex
	dir     string // "" where nothing is watched
	apart   string // the study's directory, which does not count
	began   time.Time
	files   map[string]trace // as they were at the last look
	changes map[string][]int
	looks   int
	running map[layout.AttemptID]*span
	ended   []span // of attempts that did not run alone, in the order of their ends
	seen    int    // all attempts that have ended
	told    bool
}

// span is the looks between which an attempt ran: what it changed was seen at a later one
// than the first.
type span struct {
	first, last int
	alone       bool
}

func (s span) holds(look int) bool { return s.first < look && look <= s.last }

// commonDir is the directory in which trials of a config run beside each other, if there is one.
func commonDir(c *study.Config) string {
	texts := append(append([]string{c.Command.String()}, c.Run.Env...), c.Run.Cwd)
	for _, f := range c.Files {
		texts = append(texts, f.Text)
		for _, s := range f.Set {
			texts = append(texts, s.Value.Text())
		}
	}
	slotted := len(c.Run.Slots) > 0 || strings.Contains(strings.Join(texts, " "), "{slot}")
	if strings.Contains(c.Run.Cwd, "{") || c.Dir == "/" || slotted { // of the whole machine nothing is known
		return ""
	}
	return command.Inside(c.Dir, c.Run.Cwd)
}

// begin notes that an attempt begins in a directory that others may share.
func (c *commons) begin(id layout.AttemptID, dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		c.dir = dir
	}
	if c.over() || id.Trial == 0 || dir != c.dir {
		return
	}
	c.look()
	s := &span{first: c.looks, alone: len(c.running) == 0}
	for _, other := range c.running {
		other.alone = false
	}
	c.running[id] = s
}

// end notes that an attempt has ended. It returns the file that the attempts share, once.
func (c *commons) end(id layout.AttemptID) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, known := c.running[id]
	if !known {
		return ""
	}
	delete(c.running, id)
	if c.over() {
		return ""
	}
	c.look()
	s.last = c.looks
	c.seen++
	if s.alone {
		return ""
	}
	c.ended = append(c.ended, *s)
	name := c.shared()
	c.told = name != ""
	return name
}

func (c *commons) over() bool { return c.dir == "" || c.told || c.seen >= commonsAttempts }

// shared is a file that the last attempts have all changed, and that belongs to none of them.
func (c *commons) shared() string {
	last := c.ended[max(0, len(c.ended)-commonsWitnesses):]
	overlap := false
	for i, s := range last[1:] {
		overlap = overlap || s.first < last[i].last
	}
	if len(last) < commonsWitnesses || !overlap {
		return ""
	}
	var found []string
	for name, looks := range c.changes {
		missed := func(s span) bool { return !slices.ContainsFunc(looks, s.holds) }
		owner := func(s span) bool { return s.holds(looks[0]) && s.holds(looks[len(looks)-1]) }
		owned := slices.ContainsFunc(c.ended, owner)
		for _, s := range c.running {
			owned = owned || owner(span{first: s.first, last: c.looks})
		}
		if !slices.ContainsFunc(last, missed) && !owned {
			found = append(found, name)
		}
	}
	if found = c.unheld(found); len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}

// unheld leaves out those that others have open.
func (c *commons) unheld(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	held := heldElsewhere()
	return slices.DeleteFunc(names, func(name string) bool { return held[filepath.Join(c.dir, name)] })
}

// look notes which files have changed since the last look. Hidden directories, what Python and npm
// keep for all, and studies are left out; no link is followed.
func (c *commons) look() {
	c.looks++
	first := c.files == nil
	if first {
		c.began = time.Now().Add(-2 * time.Second) // file systems round
		c.files, c.changes = map[string]trace{}, map[string][]int{}
	}
	left := commonsEntries
	for dirs := []string{"."}; len(dirs) > 0 && left > 0; dirs = dirs[1:] {
		entries, err := os.ReadDir(filepath.Join(c.dir, dirs[0]))
		if err != nil {
			continue // it has gone, or is not for us
		}
		for _, e := range entries[:min(left, len(entries))] {
			left--
			name := filepath.Join(dirs[0], e.Name())
			switch {
			case e.IsDir() && strings.HasPrefix(e.Name(), ".") || e.Name() == "__pycache__" || e.Name() == "node_modules":
			case e.IsDir():
				if path := filepath.Join(c.dir, name); path != c.apart && !strings.HasSuffix(name, ".study") {
					dirs = append(dirs, name)
				}
			case e.Type().IsRegular():
				now, err := traceOf(filepath.Join(c.dir, name))
				if err != nil || !now.There {
					continue
				}
				was, known := c.files[name]
				c.files[name] = now
				if !first && now != was && (known || now.MTime >= c.began.UnixNano()) {
					c.changes[name] = append(c.changes[name], c.looks)
				}
			}
		}
	}
}

// heldElsewhere lists the paths that processes which are no trial's have open, as tee has the
// file that it writes lbotune's own output to. Where /proc does not tell, there are none.
func heldElsewhere() map[string]bool {
	out := map[string]bool{}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		env, err := os.ReadFile(filepath.Join(process, "environ"))
		if err != nil || strings.Contains("\x00"+string(env), "\x00LBOTUNE_TRIAL=") {
			continue
		}
		held, _ := os.ReadDir(filepath.Join(process, "fd"))
		for _, fd := range held {
			if to, err := os.Readlink(filepath.Join(process, "fd", fd.Name())); err == nil {
				out[to] = true
			}
		}
	}
	return out
}

// Wrote lists the files of the directory in which trials run that the first of them have
// changed, apart from the study's and from what is in hidden directories; trials with directories of their own
// have none. It must not be called while Run runs.
func (s *Study) Wrote() []string {
	return s.commons.unheld(slices.Sorted(maps.Keys(s.commons.changes)))
}
