package runner_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/runner"
)

// hostile are values that a careless launcher takes for something else than data.
func hostile() []string {
	var every strings.Builder // each byte but NUL
	for b := 1; b < 256; b++ {
		every.WriteByte(byte(b))
	}
	return []string{
		"",
		" ",
		"a b  c\t",
		"line\nbreak\n",
		"\r",
		"'",
		`"`,
		`'"'"'`,
		`\`,
		`\n\t\0`,
		"$HOME ${HOME} $(touch injected) `touch injected`",
		"; touch injected #",
		"&& touch injected || touch injected | cat & > injected < /dev/null",
		"* ? [a-z] ~ {1,2} !!",
		"-n",
		"--help",
		"\x1b[2J\x07\x7f\x01\x81\x88",
		"\xff\xfe not UTF-8 \xc3",
		every.String(),
	}
}

func testHostile(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	values := hostile()
	var want, wantEnv strings.Builder
	var env []string
	for i, v := range values {
		want.WriteString(v + "\x00")
		name := "LBOTUNE_PARAM_" + string(rune('A'+i))
		env = append(env, name+"="+v)
		wantEnv.WriteString(name + "=" + v + "\x00")
	}
	line := "printf '%s\\0'"
	for _, v := range values {
		line += " " + shell.Quote(v)
	}
	jobs := map[string]runner.Job{
		"argv":  argvJob(t, append([]string{"printf", `%s\0`}, values...)...),
		"shell": shellJob(t, line),
	}
	for _, shell := range []string{"sh", "dash", "bash"} {
		jobs["shell in "+shell] = argvJob(t, shell, "-c", line)
	}
	for name, job := range jobs {
		job.Cwd = t.TempDir()
		if exit := launch(t, l, job); exit.Code == 127 {
			t.Logf("%s: not installed", name)
			continue
		}
		if got := stdout(t, job); got != want.String() {
			t.Errorf("%s: got %q, want %q", name, got, want.String())
		}
		if left, _ := os.ReadDir(job.Cwd); len(left) > 0 {
			t.Errorf("%s: a value was executed", name)
		}
	}
	for name, job := range map[string]runner.Job{
		"argv":  argvJob(t, "env", "-0"),
		"shell": shellJob(t, "env -0"),
		"bash":  argvJob(t, "bash", "-c", "env -0"),
	} {
		job.Env = env
		if exit := launch(t, l, job); exit.Code == 127 {
			continue
		}
		got := stdout(t, job)
		for kv := range strings.SplitSeq(strings.TrimSuffix(wantEnv.String(), "\x00"), "\x00") {
			if !strings.Contains("\x00"+got, "\x00"+kv+"\x00") {
				t.Errorf("environment of %s lacks %q", name, kv)
			}
		}
	}
}

// What a variable holds is on no command line of the machine, and all of it and nothing else arrives.
func testEnvironmentIsPrivate(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	value := "of-nobody-elses-" + strings.ToLower(rand.Text())
	script := filepath.Join(t.TempDir(), "script") // which does not say for whom
	if err := os.WriteFile(script, []byte(`cat /proc/[0-9]*/cmdline; echo; echo its own:; tr '\0' '\n' < /proc/$$/environ; ls /proc/$$/fd; :`), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("no /proc to look at command lines in")
	}
	out := func(env ...string) (before string, of []string) {
		job := argvJob(t, script)
		job.Env = append([]string{"CONTRACT_PLAIN=" + value}, env...)
		launch(t, l, job)
		before, own, _ := strings.Cut(strings.TrimSpace(stdout(t, job)), "\nits own:\n")
		of = strings.Split(own, "\n")
		return before, slices.DeleteFunc(of, func(kv string) bool { // a job of a cluster has more of its own, and a shell counts, and opens what it reads beyond 9
			if fd, err := strconv.Atoi(kv); err == nil {
				return fd > 9
			}
			name, _, _ := strings.Cut(kv, "=")
			return name == "LBOTUNE_ATTEMPT" || strings.HasPrefix(name, "SLURM") || name == "HOSTNAME" || name == "SHLVL" || name == "_"
		})
	}
	_, plain := out()
	before, all := out("spring.datasource.password="+value, "IFS="+value)
	if strings.Contains(before, value) {
		t.Errorf("a command line has the value: %.2000q", before)
	}
	odd := slices.DeleteFunc(slices.Clone(all), func(kv string) bool { return slices.Contains(plain, kv) })
	slices.Sort(odd)
	if want := []string{"IFS=" + value, "spring.datasource.password=" + value}; !slices.Equal(odd, want) {
		t.Errorf("besides the others the program has %q; want %q", odd, want)
	}
}

func testEnvironment(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	t.Setenv("CONTRACT_INHERITED", "inherited")
	t.Setenv("CONTRACT_CHANGED", "old")
	const outer = "of the trial as which lbotune itself may run"
	for _, name := range []string{"STUDY", "TRIAL", "SEED", "TRIAL_DIR", "CHECKPOINT_DIR", "PARAM_OUTER"} {
		t.Setenv("LBOTUNE_"+name, outer)
	}
	awkward := map[string]string{ // what a shell in between loses
		"BASH_FUNC_module%%": "() { echo module; }",
		"dotted.name":        "1",
		"dashed-name":        "2",
		"1digit":             "3",
		"IFS":                ":",
		"OPTIND":             "not a number",
	}
	cwd, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	job := argvJob(t, "env", "-0")
	job.Cwd = cwd
	job.Env = []string{"CONTRACT_CHANGED=first", "CONTRACT_CHANGED=new", "CONTRACT_EMPTY=", "LBOTUNE_TRIAL=7"}
	for name, value := range awkward {
		job.Env = append(job.Env, name+"="+value)
	}
	launch(t, l, job)
	got := make(map[string]string)
	for kv := range strings.SplitSeq(strings.TrimSuffix(stdout(t, job), "\x00"), "\x00") {
		name, value, _ := strings.Cut(kv, "=")
		got[name] = value
	}
	want := map[string]string{
		"CONTRACT_INHERITED": "inherited", "CONTRACT_CHANGED": "new", "CONTRACT_EMPTY": "", "PWD": cwd, "LBOTUNE_TRIAL": "7",
	}
	for name, value := range awkward {
		want[name] = value
	}
	for name, value := range want {
		if v, ok := got[name]; !ok || v != value {
			t.Errorf("%s is %q, want %q", name, v, value)
		}
	}
	for name, value := range got {
		if value == outer {
			t.Errorf("%s is inherited from another trial", name)
		}
	}
	job = shellJob(t, "pwd; ls -a")
	job.Cwd = cwd
	launch(t, l, job)
	if got := stdout(t, job); got != cwd+"\n.\n..\n" {
		t.Errorf("working directory %q, want an empty %q", got, cwd)
	}
}
