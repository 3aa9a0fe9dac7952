package main

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every module that is part of the program, on whatever system, has its license among the
// notices, and no other has.
func TestNotices(t *testing.T) {
	var want []string
	for _, system := range []string{"linux", "darwin"} {
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", ".")
		list.Env = append(os.Environ(), "GOOS="+system)
		out, err := list.Output()
		if err != nil {
			t.Skipf("go lists no modules: %v", err)
		}
		want = append(want, strings.Split(strings.TrimSpace(string(out)), "\n")...)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^== (.*)$`).FindAllStringSubmatch(string(notices), -1) {
		got = append(got, m[1])
	}
	if len(got) == 0 || !strings.HasPrefix(got[0], "Go ") || !slices.Equal(got[1:], want) {
		t.Errorf("notices.txt has the licenses of\n%s\nwant those of Go and\n%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), "run scripts/notices.sh")
	}
}
