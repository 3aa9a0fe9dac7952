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

	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/internal/shell"
)

// Descriptors of the supervisor. The command gets 0 to 2, and lockFD with all that it starts.
const (
	recordFD = 3
	stderrFD = 4
	selfFD   = 5 // this program, where there are variables that a shell does not hand on
	lockFD   = 9
)

// supervisor is the program of the process between the orchestrator and the command, so
// that the exit status is recorded although the orchestrator has died. It is on the path
// of every attempt, and therefore starts no process but the command while that lives.
//
//   - The traps let it survive a signal to the whole group; the command gets the default
//     actions back.
//   - "&& ||" keeps an inherited "set -e" from ending it.
//   - It writes down when the command ended, by the clock of its start, where there is one:
//     an orchestrator that was itself stopped meanwhile comes late.
//   - It writes down how long the outputs are when the command ends, as /proc says of the
//     descriptors that they were written to; -1 where there is no /proc.
//   - What the children have used is written down before the status, because the status
//     is the end. A failure of times, a special builtin, must not end the shell.
//   - What has ended without an orchestrator may have to outlast a power cut until the next
//     one comes. It is written to disk: to that of its directory and to that in which the
//     command works, since a sync of all waits for network disks that hang. Where sync cannot
//     choose it does all.
//   - The first trap on EXIT is reached only when it could not fork. The second writes the
//     status, whether or not it can.
//   - Its own stderr is /dev/null. Some shells write "Killed" to the command's stderr
//     nevertheless.
const supervisor = `trap 'echo "{\"fork\":$?}" >&3' EXIT
trap : HUP INT QUIT PIPE ALRM TERM USR1 USR2
echo "{\"pid\":$$}" >&3
"$@" 2>&4 3>&- 4>&- && s=0 || s=$?
d=false u=
trap 'echo "{\"exit\":$s,\"up\":\"$u\",\"printed\":{\"stdout\":$o,\"stderr\":$e},\"synced\":$d}" >&3; exit "$s"' EXIT
read -r u k </proc/uptime || :
read -r _ o </proc/self/fdinfo/1 && read -r _ e </proc/self/fdinfo/4 || o=-1 e=-1
command times >&3 || :%s
kill -0 "$PPID" || ! { sync -f /dev/fd/4 . || sync; } || d=true
exit "$s"`

// accounting is added where there is a control group, which may be gone when somebody looks later.
const accounting = `
{ read -r p <%[1]s/memory.peak; read -r k c <%[1]s/cpu.stat; } && :
echo "{\"cpu\":${c:-0},\"peak\":${p:-0}}" >&3`

// supervisorName is what the supervisor calls itself in error messages.
const supervisorName = "attempt"

const defaultShell = "/bin/sh"

// command returns arguments and environment of the supervisor's process, and its selfFD, or -1.
func (j *Job) command(sh, marker string, group cgroup) (argv, env []string, self int, err error) {
	account := ""
	if group != "" {
		account = fmt.Sprintf(accounting, shell.Quote(string(group)))
	}
	argv, env = []string{sh, "-c", fmt.Sprintf(supervisor, account), supervisorName}, j.environ(marker)
	if j.Shell != "" {
		return append(argv, sh, "-c", j.Shell), env, -1, nil
	}
	// With its full path the program cannot be taken for a builtin of the shell.
	program, err := lookPath(j.Argv[0], env, j.Cwd)
	if err != nil {
		return nil, nil, -1, err
	}
	env, odd := splitEnv(env)
	self = -1
	if len(odd) > 0 {
		path := ""
		if self, path, err = openSelf(); err != nil {
			return nil, nil, -1, spawnError("open this program", err)
		}
		argv = append(argv, path, becomer)
	}
	for i, kv := range odd {
		env = append(env, carrierName+strconv.Itoa(i)+"="+kv)
	}
	return append(append(argv, program), j.Argv[1:]...), env, self, nil
}

var errNotFound = errors.New("not found")

// lookPath returns the absolute path of a program as execvp(3) would find it in cwd with env's PATH.
// One that is there but may not be executed is left to exec.
func lookPath(name string, env []string, cwd string) (string, error) {
	cwd, err := filepath.Abs(cwd)
	if err != nil {
		return "", err
	}
	dirs := []string{"/bin", "/usr/bin"}
	for _, kv := range env {
		if list, ok := strings.CutPrefix(kv, "PATH="); ok {
			dirs = filepath.SplitList(list)
		}
	}
	if strings.Contains(name, "/") {
		dirs = []string{""}
	}
	found, err := "", errNotFound
	for _, dir := range dirs {
		path := name // joined without cleaning: ".." behind a symbolic link must stay
		if dir != "" {
			path = dir + "/" + name
		}
		if path[0] != '/' {
			path = cwd + "/" + path
		}
		var st unix.Stat_t
		if unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT == unix.S_IFDIR {
			continue
		}
		found, err = path, nil
		if unix.Access(path, unix.X_OK) == nil {
			break
		}
	}
	return found, err
}

// markerName is the environment variable that marks a tree of processes.
const markerName = "LBOTUNE_ATTEMPT"

// ofTrialRE matches the variables of the trial as which we may run ourselves.
var ofTrialRE = pattern.Lazy(`^LBOTUNE_(STUDY|TRIAL|SEED|TRIAL_DIR|CHECKPOINT_DIR|PARAM_\w*)=`)

// environ returns the environment of the command: ours, but for those of a trial, PWD as for any program
// started in a directory, the job's, the marker. The last value of a name counts. An attempt inside another has both markers.
func (j *Job) environ(marker string) []string {
	marker = markerName + "=" + marker
	if outer := os.Getenv(markerName); outer != "" {
		marker += " " + outer
	}
	all := slices.DeleteFunc(os.Environ(), ofTrialRE().MatchString)
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

// Any program that uses this package may have to become a trial's: hence this, when it is loaded.
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
		if shell.IsName(name) && !slices.Contains(shellOwned, name) {
			plain = append(plain, kv)
		} else if name != "" {
			odd = append(odd, kv)
		}
	}
	return plain, odd
}

// shellOwned are variables that one shell or another changes when it starts.
var shellOwned = []string{"IFS", "LINENO", "OPTIND", "OPTARG", "PPID", "SHELLOPTS", "BASHOPTS"}
