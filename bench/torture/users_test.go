//go:build linux

package torture_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// doorPrivate is what others must not learn of the files outside.
const doorPrivate = "thesis"

// doorChanges are the commands of doorCommands that change a study, or run what it holds.
var doorChanges = []string{"note", "enqueue", "exclude", "adjust", "rerun", "stop", "ask", "tell", "drive", "resume", "rm"}

// What somebody puts into a study of her own: no command of another user, or of root, changes what
// she could not, shows what she could not see, or works on her study.
func TestDoorOfAnotherUser(t *testing.T) {
	slow(t)
	const her, other = 54321, 54322
	if os.Geteuid() != 0 {
		t.Skip("only root can be several users")
	}
	if err := (&exec.Cmd{Path: "/bin/true", SysProcAttr: user(her)}).Run(); err != nil {
		t.Skip("this machine does not let root become another user: ", err)
	}
	l := newLab(t)
	for dir := l.dir; dir != filepath.Dir(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		l.check(err)
		l.check(os.Chmod(dir, info.Mode()|0o111))
	}
	l.check(os.Chmod(l.dir, 0o1777))
	l.write("spec.toml", fmt.Sprintf(doorSpec, "", "all"))
	for _, args := range [][]string{{"run", "spec.toml"}, {"note", "spec.toml", "of old"}} {
		r := l.command(args...)
		r.SysProcAttr, r.Env = user(her), append(r.Env, "HOME="+l.dir, "TMPDIR="+l.dir)
		r.launch()
		r.end().must(l, 0)
	}
	c := doorCase{of: her}
	c.shell(l, her, "chmod -R go+rX '"+l.path("spec.study")+"'")
	var cases []doorCase
	for _, name := range l.doorNames() {
		for _, thing := range doorThings {
			if thing.name == doorMount || thing.name == "socket" { // which she cannot put there
				continue
			}
			for _, command := range doorCommands {
				for _, by := range []int{0, other} {
					cases = append(cases, doorCase{name, thing.name, thing.make, command, her, by})
				}
			}
		}
	}
	sample(t, cases, 211, func(c doorCase, number int) { c.checkUsers(l, number) })
}

func (c doorCase) checkUsers(l *lab, number int) {
	r := c.run(l, number)
	complain := func(format string, args ...any) {
		l.Errorf("a %s at %s, and %s by user %d: %s\n%s", c.thing, c.name, c.command, c.by, fmt.Sprintf(format, args...), r.said)
	}
	word, _, _ := strings.Cut(c.command, " ")
	changes := slices.Contains(doorChanges, word) || word == "run"
	switch {
	case r.late:
		complain("no answer")
	case strings.Contains(r.said, "goroutine ") || r.code == 1 || r.code < 0:
		complain("exit code %d", r.code)
	case changes && r.code == 0:
		complain("it is not refused")
	}
	if r.before != r.after {
		complain("outside was\n%s\nand is\n%s", r.before, r.after)
	}
	if r.study[0] != r.study[1] {
		complain("the study was\n%s\nand is\n%s", r.study[0], r.study[1])
	}
	if strings.Contains(r.said+r.printed, doorPrivate) {
		complain("it shows what is private:\n%s", r.printed)
	}
}
