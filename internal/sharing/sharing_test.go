package sharing_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/sharing"
)

func folder(t *testing.T) (*sharing.Folder, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shared")
	f, err := sharing.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f, dir
}

func ignore(int) {}

// all says that needs 0 to n-1 are open.
func all(n int) func() []int {
	var out []int
	for i := range n {
		out = append(out, i)
	}
	return func() []int { return out }
}

// slots is a need for any of n slots.
func slots(n int) sharing.Need {
	var group []sharing.Lock
	for i := range n {
		group = append(group, sharing.Lock{Name: fmt.Sprint("slot.", i)})
	}
	return sharing.Need{group}
}

// take takes what must be there to be had at once.
func take(t *testing.T, f *sharing.Folder, needs ...sharing.Need) (int, sharing.Held) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	i, held, err := f.Take(ctx, needs, all(len(needs)), func(int) { cancel() })
	if err != nil {
		t.Fatalf("not there at once: %v", err)
	}
	return i, held
}

// inVain checks that nothing of the needs can be had now.
func inVain(t *testing.T, f *sharing.Folder, needs ...sharing.Need) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	if _, _, err := f.Take(ctx, needs, all(len(needs)), func(int) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("taken; want to wait: %v", err)
	}
}

func TestNoMoreThanThereAre(t *testing.T) {
	f, dir := folder(t)
	_, a := take(t, f, slots(2))
	_, b := take(t, f, slots(2))
	inVain(t, f, slots(2))
	_, c := take(t, f, slots(3)) // who may go further has one more
	a.Release()
	_, d := take(t, f, slots(2))
	inVain(t, f, slots(2))
	for _, h := range []sharing.Held{b, c, d} {
		h.Release()
	}
	turns, err := filepath.Glob(filepath.Join(dir, "turn-*"))
	if len(turns) > 0 || err != nil {
		t.Errorf("still in line: %v, %v", turns, err)
	}
}

// A GPU is one trial's, or shared by those who all allow it, up to so many.
func TestShared(t *testing.T) {
	f, _ := folder(t)
	alone := sharing.Need{{{Name: "gpu"}}}
	half := sharing.Need{{{Name: "gpu", Shared: true}}, {{Name: "gpu.0"}, {Name: "gpu.1"}}}
	_, a := take(t, f, alone)
	inVain(t, f, half)
	a.Release()
	_, b := take(t, f, half)
	inVain(t, f, alone)
	_, c := take(t, f, half)
	inVain(t, f, half)
	b.Release()
	inVain(t, f, alone)
	c.Release()
	_, d := take(t, f, alone)
	d.Release()
}

// The first need that can be met is met, and of one that cannot nothing is kept.
func TestAllOrNothing(t *testing.T) {
	f, _ := folder(t)
	gpu := func(n int) sharing.Need {
		return append(sharing.Need{{{Name: fmt.Sprint("gpu/", n)}}}, slots(2)...)
	}
	i, a := take(t, f, gpu(0), gpu(1))
	if i != 0 {
		t.Errorf("need %d was met first", i)
	}
	i, b := take(t, f, gpu(0), gpu(1))
	if i != 1 {
		t.Errorf("need %d was met", i)
	}
	inVain(t, f, gpu(2)) // for want of a slot
	_, c := take(t, f, sharing.Need{{{Name: "gpu/2"}}})
	for _, h := range []sharing.Held{a, b, c} {
		h.Release()
	}
	if i, _, err := f.Take(t.Context(), []sharing.Need{gpu(0), gpu(1)}, func() []int { return []int{1} }, ignore); i != 1 || err != nil {
		t.Errorf("need %d, %v; want the one that is open", i, err)
	}
}

// Of what was taken before something could not be, for a fault of the folder, nothing is kept.
func TestNothingIsKeptAfterAFault(t *testing.T) {
	f, dir := folder(t)
	if err := os.Symlink("elsewhere", filepath.Join(dir, "link.lock")); err != nil {
		t.Fatal(err)
	}
	_, _, err := f.Take(t.Context(), []sharing.Need{{{{Name: "gpu"}}, {{Name: "link"}}}}, all(1), ignore)
	if err == nil || !strings.Contains(err.Error(), "link.lock") {
		t.Errorf("a link was taken: %v", err)
	}
	_, held := take(t, f, sharing.Need{{{Name: "gpu"}}})
	held.Release()
}

// Whoever has waited longer has the next one; whoever waits for something else, or is
// short of something scarcer, keeps nobody.
func TestInTurn(t *testing.T) {
	f, _ := folder(t)
	_, held := take(t, f, slots(1))
	const n = 6
	var mu sync.Mutex
	var order []int
	free := false // the line moves on
	var done sync.WaitGroup
	for i := range n {
		waits := make(chan struct{})
		var once sync.Once
		done.Go(func() {
			_, h, err := f.Take(t.Context(), []sharing.Need{slots(1)}, all(1), func(ahead int) {
				mu.Lock()
				defer mu.Unlock()
				if ahead != i && !free {
					t.Errorf("%d is told of %d ahead", i, ahead)
				}
				once.Do(func() { close(waits) })
			})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			h.Release()
		})
		<-waits
	}
	_, other := take(t, f, sharing.Need{{{Name: "other"}}})
	inVain(t, f, slots(1))
	_, more := take(t, f, slots(2)) // slot.1, which nobody waits for
	more.Release()
	mu.Lock()
	free = true
	mu.Unlock()
	held.Release()
	done.Wait()
	other.Release()
	if !slices.IsSorted(order) || len(order) != n {
		t.Errorf("they had their turns in the order %v", order)
	}

	// Who waits for a GPU leaves the slots to others, and who waits for a slot for his
	// GPU leaves them neither.
	_, gpu := take(t, f, sharing.Need{{{Name: "gpu"}}})
	both := append(sharing.Need{{{Name: "gpu"}}}, slots(1)...)
	looked := make(chan struct{}, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	done.Go(func() {
		_, h, _ := f.Take(ctx, []sharing.Need{both}, all(1), func(int) { looked <- struct{}{} })
		h.Release()
	})
	<-looked
	_, slot := take(t, f, slots(1))
	gpu.Release()
	<-looked
	<-looked // one that has begun since
	inVain(t, f, sharing.Need{{{Name: "gpu"}}})
	cancel()
	done.Wait()
	slot.Release()
	_, gpu = take(t, f, sharing.Need{{{Name: "gpu"}}})
	gpu.Release()
}

// The line forgets the dead.
func TestDeadInLine(t *testing.T) {
	f, dir := folder(t)
	dead := filepath.Join(dir, "turn-00000000000000000001-1")
	if err := os.WriteFile(dead, []byte("slot.0"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, held := take(t, f, slots(1))
	held.Release()
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the dead are not removed: %v", err)
	}
}

// Who has not looked for long, as a process that is stopped, keeps his place and holds up nobody.
func TestAsleepInLine(t *testing.T) {
	f, dir := folder(t)
	name := filepath.Join(dir, fmt.Sprintf("turn-%020d-1", 1))
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("slot.0"); err != nil {
		t.Fatal(err)
	}
	inVain(t, f, slots(1)) // awake
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(name, long, long); err != nil {
		t.Fatal(err)
	}
	_, held := take(t, f, slots(1))
	held.Release()
	if _, err := os.Stat(name); err != nil {
		t.Errorf("his place: %v", err)
	}
}

// Whoever names a folder of his own keeps what lies in it, whatever its name begins with.
func TestFilesOfOthersStay(t *testing.T) {
	f, dir := folder(t)
	theirs := filepath.Join(dir, "turn-0.log")
	if err := os.WriteFile(theirs, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, held := take(t, f, slots(1))
	held.Release()
	if _, err := os.Stat(theirs); err != nil {
		t.Error(err)
	}
}

// A lock whose file somebody has removed does not count.
func TestRemovedFile(t *testing.T) {
	f, dir := folder(t)
	_, a := take(t, f, slots(1))
	a.Release()
	locks, err := filepath.Glob(filepath.Join(dir, "*.lock"))
	if err != nil || len(locks) != 1 {
		t.Fatal(locks, err)
	}
	if err := os.Remove(locks[0]); err != nil {
		t.Fatal(err)
	}
	_, b := take(t, f, slots(1))
	defer b.Release()
	inVain(t, f, slots(1))
}

// A file that is taken is as new: else who cleans up by age, as systemd does in /tmp, removes it while it is held.
func TestTakenIsNew(t *testing.T) {
	f, dir := folder(t)
	_, a := take(t, f, slots(1))
	a.Release()
	path, old := filepath.Join(dir, "slot.0.lock"), time.Unix(1e9, 0)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	_, b := take(t, f, slots(1))
	defer b.Release()
	if info, err := os.Stat(path); err != nil || !info.ModTime().After(old) {
		t.Errorf("the file that is held is of %v, %v", info.ModTime(), err)
	}
}

// Many take and give back at once: never more than there are.
func TestManyAtOnce(t *testing.T) {
	f, _ := folder(t)
	var mu sync.Mutex
	has, most := 0, 0
	var done sync.WaitGroup
	for range 12 {
		done.Go(func() {
			for range 5 {
				_, h, err := f.Take(t.Context(), []sharing.Need{slots(3)}, all(1), ignore)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				has++
				most = max(most, has)
				mu.Unlock()
				time.Sleep(time.Millisecond)
				mu.Lock()
				has--
				mu.Unlock()
				h.Release()
			}
		})
	}
	done.Wait()
	if most > 3 {
		t.Errorf("%d had one of three at a time", most)
	}
}

func TestFolder(t *testing.T) {
	f, dir := folder(t)
	if !f.Private() {
		t.Error("a new folder is not private")
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if f.Private() {
		t.Error("a folder that all can write is private")
	}
	if os.Getuid() == 0 {
		if err := errors.Join(os.Chmod(dir, 0o700), os.Chown(dir, 1, 1)); err != nil || f.Private() {
			t.Errorf("another's folder is private; %v", err)
		}
	}
	if err := os.Remove(dir); err != nil || f.Private() {
		t.Errorf("a folder that is gone is private; %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if l, err := sharing.Open(link); err != nil || l.Private() {
		t.Errorf("a link is private; %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sharing.Open(file); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file: %v", err)
	}
	if _, err := sharing.Open(filepath.Join(file, "x")); err == nil {
		t.Error("below a file")
	}
}
