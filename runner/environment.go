package runner

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// markerName is the environment variable that marks a tree of processes.
const markerName = "LBOTUNE_ATTEMPT"

// environ returns the environment of the command: ours, then PWD as for any program
// started in a directory, then the job's, then the marker. Of two values for one name the
// last one counts. An attempt inside an attempt carries both markers.
func (j *Job) environ(marker string) []string {
	marker = markerName + "=" + marker
	if outer := os.Getenv(markerName); outer != "" {
		marker += " " + outer
	}
	all := os.Environ()
	if cwd, err := filepath.Abs(j.Cwd); err == nil {
		all = append(all, "PWD="+cwd)
	}
	whole := exec.Cmd{Env: append(append(all, j.Env...), marker)}
	return whole.Environ()
}

// Between the supervisor and a program stands, where the environment has variables that a shell
// does not hand on, this program once more: it takes them from others that a shell hands on, and
// becomes the program. As arguments of env(1) everybody would see their values.

// becomer is the first argument of this program there.
const becomer = "lbotune-become"

// carrierName begins the names of the variables that carry others.
const carrierName = "LBOTUNE_CARRIED_"

// carried returns variables that a shell hands on, each with another one, as NAME=value, for its value.
func carried(odd []string) (env []string) {
	for i, kv := range odd {
		env = append(env, carrierName+strconv.Itoa(i)+"="+kv)
	}
	return env
}

// Any program that uses this package may have to become a trial's, whatever its main does: so
// this is the one thing that is done when the package is loaded.
func init() {
	if len(os.Args) > 2 && os.Args[1] == becomer && os.Getenv(carrierName+"0") != "" {
		os.Exit(become(os.Args[2:]))
	}
}

// become replaces this program. If that fails it says so as a shell does.
func become(argv []string) (code int) {
	env := os.Environ()
	for i, kv := range env {
		if kv, is := strings.CutPrefix(kv, carrierName); is {
			_, env[i], _ = strings.Cut(kv, "=")
		}
	}
	syscall.CloseOnExec(selfFD)
	err := syscall.Exec(argv[0], argv, env)
	if errors.Is(err, unix.ENOEXEC) { // a script that does not say for whom is a shell's
		err = syscall.Exec(defaultShell, append([]string{defaultShell}, argv...), env)
	}
	fmt.Fprintf(os.Stderr, "%s: %s: %v\n", supervisorName, argv[0], err)
	if errors.Is(err, unix.ENOENT) {
		return 127
	}
	return 126
}

// splitEnv separates the variables that a shell hands on from those that it drops (a name
// that is no identifier, such as an exported function of bash), replaces, or trips over.
func splitEnv(env []string) (plain, odd []string) {
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if isIdentifier(name) && !slices.Contains(shellOwned, name) {
			plain = append(plain, kv)
		} else if name != "" {
			odd = append(odd, kv)
		}
	}
	return plain, odd
}

// shellOwned are variables that one shell or another changes when it starts.
var shellOwned = []string{"IFS", "LINENO", "OPTIND", "OPTARG", "PPID", "SHELLOPTS", "BASHOPTS"}

// isIdentifier reports whether name is what a shell calls a name: letters, digits and
// underscores, no digit first.
func isIdentifier(name string) bool {
	for i, c := range []byte(name) {
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
