package draft_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/draft"
	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

func drafted(t *testing.T, d draft.Program) (study.Config, string) {
	t.Helper()
	src, _ := d.TOML()
	cfg, err := spec.Parse("spec.toml", src, "/")
	if err != nil {
		t.Fatalf("the draft of %q is not accepted: %v\n%s", d.Argv, err, src)
	}
	return cfg, string(src)
}

func TestDraftOfACommand(t *testing.T) {
	cfg, src := drafted(t, draft.Program{Argv: strings.Fields("python3 train.py --lr 0.01 --epochs 10 --batch-size=64 --dropout=0.5 --seed 3 --data x.csv --trial 2 -v")})
	want := "python3 train.py --lr {lr} --epochs 10 --batch-size={batch_size} --dropout={dropout} --seed 3 --data x.csv --trial {trial_value} -v"
	if got := strings.Join(cfg.Command.Argv, " "); got != want {
		t.Errorf("the command became\n%s, want\n%s", got, want)
	}
	if cfg.Name != "train" {
		t.Errorf("name %q", cfg.Name)
	}
	for _, left := range []string{"--epochs 10: how long", "--seed 3: chance"} {
		if !strings.Contains(src, "\n#   "+left) {
			t.Errorf("%q is not left as it is:\n%s", left, src)
		}
	}
}

func TestDraftOfAShellCommand(t *testing.T) {
	cfg, _ := drafted(t, draft.Program{Argv: []string{"A=1 python3 train.py --lr 0.01 --n=-3.5 -c 1 --rounds 1e2 --seed 4 --lr 5 model.dropout=0.3 x3 'y=4' | tail -n 1"}})
	want := "A=1 python3 train.py --lr 0.01 --n={n} -c {c} --rounds {rounds} --seed 4 --lr {lr} model.dropout={model_dropout} x3 'y=4' | tail -n 1"
	if cfg.Command.Shell != want || cfg.Name != "train" {
		t.Errorf("%s: %s\nwant %s", cfg.Name, cfg.Command.Shell, want)
	}
	var kinds []spaces.Kind
	for _, p := range cfg.Params {
		kinds = append(kinds, p.Kind)
	}
	// A cost of 1 may be 0.3; rounds of 1e2 may not be 99.5.
	if want := []spaces.Kind{spaces.KindFloat, spaces.KindFloat, spaces.KindInt, spaces.KindFloat, spaces.KindFloat}; !slices.Equal(kinds, want) {
		t.Errorf("kinds %v", kinds)
	}
}

// In a shell command words that are quoted or replaced stay, and those around them are looked at.
func TestDraftOfQuotedWords(t *testing.T) {
	cfg, _ := drafted(t, draft.Program{Argv: []string{`cd "$DIR" && python3 train.py --data "$DATA" --lr 0.1 --out='a b' --layers 3 > log 2>&1; tail -n 1 log`}})
	if want := `cd "$DIR" && python3 train.py --data "$DATA" --lr {lr} --out='a b' --layers {layers} > log 2>&1; tail -n 1 log`; cfg.Command.Shell != want {
		t.Errorf("%s\nwant %s", cfg.Command.Shell, want)
	}
	for line, want := range map[string]string{
		// What only looks like an option is a text, a comment, a document or arithmetic.
		`./train --note "tried --wd 0.5 before" --lr 0.1`: `./train --note "tried --wd 0.5 before" --lr {lr}`,
		"./train --lr 0.1 # --x 3":                        "./train --lr {lr} # --x 3",
		"cat <<E\n--lr 0.1\nE\n./train --wd 0.1":          "cat <<E\n--lr 0.1\nE\n./train --wd {wd}",
		"N=3; ./train -n $((N*2)) --wd 0.1":               "N=3; ./train -n $((N*2)) --wd {wd}",
		"./train --lr 0.1 --n `f --x 3`":                  "./train --lr {lr} --n `f --x 3`",
		// A command may go on in the next line, and have others around it.
		"./train --lr 0.1 \\\n\t--wd 0.2":             "./train --lr {lr} \\\n\t--wd {wd}",
		"if ! ./train --lr 0.1; then echo --x 3; fi":  "if ! ./train --lr {lr}; then echo --x 3; fi",
		"v=$(./train --lr 0.1 --wd $(f --x 3)); g $v": "v=$(./train --lr {lr} --wd $(f --x {x})); g $v",
		"a --size 8 && b --size 16 --lr 0.1":          "a --size {size} && b --size 16 --lr {lr}",
	} {
		t.Run(line, func(t *testing.T) {
			if cfg, _ := drafted(t, draft.Program{Argv: []string{line}}); cfg.Command.Shell != want {
				t.Errorf("%s\nbecame %s\nwant   %s", line, cfg.Command.Shell, want)
			}
			if cfg, _ := drafted(t, draft.Program{Argv: []string{"bash", "-euo", "pipefail", "-c", line}}); cfg.Command.Argv[4] != want {
				t.Errorf("with bash -c, %s\nbecame %s\nwant   %s", line, cfg.Command.Argv[4], want)
			}
		})
	}
}

// What is left as it is comes with the reason, also where the shell has a say in a value; what an interpreter runs is
// no value of the option before it.
func TestDraftSaysWhatIsLeft(t *testing.T) {
	const noPlain = ": no plain value; {NAME} in its place, with its range or choices, makes it a parameter"
	for line, want := range map[string][]string{
		`python3 -S t.py --lr 0.1`:                    {},
		`python3 -m pkg --lr 0.1`:                     {},
		`python3 -u t.py --lr 0.1 -c 5 a`:             {},
		`python3 -c 'import sys' --lr 0.1 --name 'a'`: {`--name 'a'` + noPlain},
		`julia -O 2 t.jl --n "$N"`:                    {`--n "$N"` + noPlain},
		`./t --opt 'adam' --lr "$LR" --wd=$WD --n 3`:  {`--opt 'adam'` + noPlain, `--lr "$LR"` + noPlain, `--wd=$WD` + noPlain},
		`./t --hidden 64 32 -8 --lr 0.1 a`:            {"32: behind the value of --hidden; {NAME} in its place makes it a parameter"},
		`./t --hidden 64 32 16 --layers 3 4`:          {"32 16: behind the value of --hidden; {NAME} in its place makes it a parameter"},
		`./t --out out.csv --n 3`:                     {"--out out.csv: names a file"},
		"./t --data \"$DATA\" --seed $S --n 3":        {`--data "$DATA"` + noPlain, "--seed $S: chance"},
	} {
		t.Run(line, func(t *testing.T) {
			if _, left := (draft.Program{Argv: []string{line}}).TOML(); !slices.Equal(left, want) {
				t.Errorf("left are\n%s\nwant\n%s", strings.Join(left, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// Of an option that is given twice the last counts for most programs.
func TestDraftOfRepeatedOptions(t *testing.T) {
	for argv, want := range map[string]string{
		"./train --lr 0.1 --wd=1e-3 --wd=1e-4 --lr 0.2": "./train --lr 0.1 --wd=1e-3 --wd={wd} --lr {lr}",
		"./train --lr=0.1 --lr 0.2":                     "./train --lr=0.1 --lr {lr}",
		"gcc --param=a=1 --param=b=2 x.c":               "gcc --param=a={a} --param=b={b} x.c",
	} {
		t.Run(argv, func(t *testing.T) {
			if cfg, src := drafted(t, draft.Program{Argv: strings.Fields(argv)}); strings.Join(cfg.Command.Argv, " ") != want {
				t.Errorf("%s became %s\n%s", argv, strings.Join(cfg.Command.Argv, " "), src)
			}
		})
	}
	_, left := draft.Program{Argv: strings.Fields("./train --lr 0.1 --l-r 3 --lr 0.2 --l_r 4")}.TOML()
	if want := []string{"--lr 0.1: given again further on, where it may count alone", "--l_r 4: another parameter has its name"}; !slices.Equal(left, want) {
		t.Errorf("left: %q", left)
	}
}

// A configuration file that is named twice is one, and so is a file of results.
func TestDraftOfFilesNamedTwice(t *testing.T) {
	dir := t.TempDir()
	files := map[string]command.File{}
	for _, name := range []string{"run.yaml", "other/run.yaml"} {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte("rate: 0.1\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
		files[name] = command.File{From: at, Text: "rate: 0.1\n"}
	}
	d := draft.Program{Argv: strings.Fields("./train -c run.yaml --check=run.yaml other/run.yaml -o out.csv --also=out.csv"), Files: files, Source: "out.csv", Rule: parser.Rule{Metric: "loss"}}
	cfg, src := drafted(t, d)
	want := "./train -c {trial_dir}/run.yaml --check={trial_dir}/run.yaml other/run.yaml -o {trial_dir}/out.csv --also={trial_dir}/out.csv"
	if got := strings.Join(cfg.Command.Argv, " "); got != want || len(cfg.Files) != 1 || cfg.Objective().File != "{trial_dir}/out.csv" {
		t.Errorf("%s\nwant %s\n%s", got, want, src)
	}
}

func TestHelpCommand(t *testing.T) {
	for argv, want := range map[string]string{
		"python3 train.py --lr 0.1":          "python3 train.py --help",
		"python3 -u -m pkg.fit run --lr 0.1": "python3 -u -m pkg.fit run --help",
		"timeout 60 ./train 0.1 3":           "timeout 60 ./train --help",
		"fasttext supervised -input a.txt":   "fasttext supervised --help",
		"./train data.csv lr=3":              "./train --help",
		"bash -c ./train":                    "",
		"mpirun -n 4 ./train --lr 0.1":       "mpirun -n 4 ./train --help",
		"sudo -u me ./train --lr 0.1":        "",
		"/usr/bin/srun -n 4 ./train":         "",
		"python3 -c print(1)":                "",
	} {
		t.Run(argv, func(t *testing.T) {
			if got := strings.Join(draft.HelpCommand(strings.Fields(argv)), " "); got != want {
				t.Errorf("%s: %s, want %s", argv, got, want)
			}
		})
	}
	for line, want := range map[string]string{"A=1 ./train --lr 1 | tail -n 1": "A=1 ./train --help", "cd x && ./train --lr 1": "", "$TRAIN --lr 1": ""} {
		t.Run(line, func(t *testing.T) {
			if got := strings.Join(draft.HelpCommand([]string{line}), " "); got != want {
				t.Errorf("%s: %s, want %s", line, got, want)
			}
		})
	}
}

func TestDraftRanges(t *testing.T) {
	for option, want := range map[string]string{
		"--alpha 1e-4":           "float 1e-06 0.01 log",
		"-ratioGap 0.01":         "float 0.0001 1 log",
		"--lr 0.1":               "float 0.001 1 log",
		"--beta2 0.999":          "float 0.99 0.9999 logit",
		"--momentum 0.9":         "float 0 0.99 ",
		"--wd 0":                 "float 0 0.1 ",
		"--dropout 0.5":          "float 0 0.99 ",
		"--dropout 0":            "float 0 0.99 ",
		"--subsample 1.0":        "float 0.1 1 ",
		"--temperature 0.7":      "float 0.007 70 log",
		"--warmth 0.7":           "float 0.07 7 log",
		"--shift -0.5":           "float -5 0 ",
		"--batch_size 64":        "int 8 512 log",
		"--layers 3":             "int 1 9 ",
		"--n_estimators 100":     "int 12 800 log",
		"model.dropout=0.3":      "float 0 0.99 ",
		"optimizer.lr=3e-4":      "float 3e-06 0.03 log",
		"--C=1":                  "float 0.01 100 log",
		"+trainer.clip_val=0.05": "float 0.005 0.5 log",
	} {
		t.Run(option, func(t *testing.T) {
			argv := append([]string{"./train"}, strings.Fields(option)...)
			cfg, src := drafted(t, draft.Program{Argv: argv})
			p := cfg.Params[0]
			if got := fmt.Sprint(p.Kind, " ", p.Min, " ", p.Max, " ", p.Scale); got != want && got != want+"linear" {
				t.Errorf("%s: %s, want %s", option, got, want)
			}
			if !p.Default.IsValid() {
				t.Errorf("%s: today's value is not the default in\n%s", option, src)
			}
		})
	}
}

// What only wraps the program is left alone; variables are varied where nothing else can be.
func TestDraftOfWrappedPrograms(t *testing.T) {
	for argv, want := range map[string]string{
		"timeout -k 5 60 ./train 0.01":               "timeout -k 5 60 ./train {arg1}",
		"env LR=0.1 nice -n 10 ./train --wd 0.01":    "env LR=0.1 nice -n 10 ./train --wd {wd}",
		"env OMP_NUM_THREADS=2 LEVEL=6 sh bench.sh":  "env OMP_NUM_THREADS=2 LEVEL={LEVEL} sh bench.sh",
		"/usr/bin/timeout -s KILL 1.5h ./train lr=3": "/usr/bin/timeout -s KILL 1.5h ./train lr={lr}",
		"taskset 0x3 stdbuf -oL ./train 7":           "taskset 0x3 stdbuf -oL ./train {arg1}",
		"mpirun -np 4 -H a,b ./train --lr 0.1":       "mpirun -np 4 -H a,b ./train --lr {lr}",
		"srun -n 4 -c 2 --mem=8 ./train --lr 0.1":    "srun -n 4 -c 2 --mem=8 ./train --lr {lr}",
		"taskset -c 0-3 ./train 7 -- 8":              "taskset -c 0-3 ./train {arg1} -- {arg2}",
		"./train -0.5 7":                             "./train {arg1} {arg2}",
	} {
		t.Run(argv, func(t *testing.T) {
			cfg, _ := drafted(t, draft.Program{Argv: strings.Fields(argv)})
			if got := strings.Join(cfg.Command.Argv, " "); got != want {
				t.Errorf("%s became %s", argv, got)
			}
		})
	}
	cfg, _ := drafted(t, draft.Program{Argv: []string{"SEED=1 LEVEL=6 bash bench.sh | tee log"}})
	if got := cfg.Command.Shell; got != "SEED=1 LEVEL={LEVEL} bash bench.sh | tee log" {
		t.Errorf("the shell command became %s", got)
	}
	nothingToVary(t, []string{"nice -n"}) // and its value is missing
}

// A program that takes its numbers without options has them varied by their places.
func TestDraftOfPositionalNumbers(t *testing.T) {
	cfg, src := drafted(t, draft.Program{Argv: strings.Fields("timeout 60 sh train.sh 0.01 data.csv 3 --seed 7")})
	if got := strings.Join(cfg.Command.Argv, " "); got != "timeout 60 sh train.sh {arg1} data.csv {arg2} --seed 7" {
		t.Errorf("the command became\n%s", got)
	}
	if len(cfg.Params) != 2 || cfg.Params[0].Scale != spaces.Log || cfg.Params[1].Kind != spaces.KindInt || !strings.Contains(src, "# from arg1 0.01\n") {
		t.Errorf("parameters %+v in\n%s", cfg.Params, src)
	}
	// Where there are options, the numbers beside them are more likely data.
	cfg, _ = drafted(t, draft.Program{Argv: strings.Fields("./train 7 --lr 0.1")})
	if got := strings.Join(cfg.Command.Argv, " "); got != "./train 7 --lr {lr}" {
		t.Errorf("the command became\n%s", got)
	}
}

func TestDraftLeavesAlone(t *testing.T) {
	for _, option := range []string{"--epochs 10", "--max_iter 100", "--seed 0", "--port 8080", "--gpu 1", "--log-interval 10", "--n-jobs 4",
		"--threshold 0", "--data a.csv", "--num-workers=4", "trainer.max_steps=1000", "--cpus 4", "--gpus-per-node=2", "--mem 16", "--parallel 3", "--concurrency 8",
		"--walltime 60", "--time 60", "--max-seconds 5", "--repeats 5", "--max_evals 500", "--timesteps 1000", "--rng 4", "--date 20240101", "--run 3", "--subject 007",
		"--width 1_000", "--width 0x1p3", "--width 10k", "--rate inf"} {
		t.Run(option, func(t *testing.T) {
			nothingToVary(t, append([]string{"./train"}, strings.Fields(option)...))
		})
	}
}

// nothingToVary demands that the draft of a command says that there is nothing to vary, and
// runs nothing.
func nothingToVary(t *testing.T, argv []string) {
	t.Helper()
	src, _ := draft.Program{Argv: argv}.TOML()
	_, err := spec.Parse("spec.toml", src, "/")
	if !strings.Contains(string(src), draft.NothingToVary) || !lacksOnlyParameters(err) {
		t.Errorf("%q: %v\n%s", argv, err, src)
	}
}

func lacksOnlyParameters(err error) bool {
	var wrong *spec.Error
	return errors.As(err, &wrong) && len(wrong.Problems) == 1 && strings.Contains(err.Error(), "there is no parameter to tune")
}

// What a shell runs by -c is looked into, and the machine, limits and the like are no parameters.
func TestDraftOfAShellsScript(t *testing.T) {
	for _, c := range []struct{ argv, want []string }{
		{[]string{"bash", "-c", "source ve/bin/activate && python many.py --lr 0.01"}, []string{"bash", "-c", "source ve/bin/activate && python many.py --lr {lr}"}},
		{[]string{"/bin/sh", "-e", "-uc", "./train --wd 0.1 | tee log", "sh"}, []string{"/bin/sh", "-e", "-uc", "./train --wd {wd} | tee log", "sh"}},
		{[]string{"env", "A=1", "bash", "-lc", "./train --lr=0.1 --x {x}"}, []string{"env", "A=1", "bash", "-lc", "./train --lr={lr} --x {x}"}},
	} {
		t.Run(strings.Join(c.argv, " "), func(t *testing.T) {
			cfg, src := drafted(t, draft.Program{Argv: c.argv})
			if !slices.Equal(cfg.Command.Argv, c.want) {
				t.Errorf("%q became %q\n%s", c.argv, cfg.Command.Argv, src)
			}
		})
	}
	nothingToVary(t, []string{"bash", "-c", "source ve/bin/activate && python many.py"})
	nothingToVary(t, []string{"sh", "-c", "python many.py", "--lr", "0.1"}) // the script's own argument
	for _, option := range []string{"--nproc_per_node 4", "--num_processes 4", "-thread 1", "--limit 100", "--subset=50", "--keep-last 3", "--max-len 128", "--vocab-size 1000", "--nnodes 2", "--num-machines 2"} {
		t.Run(option, func(t *testing.T) {
			nothingToVary(t, append([]string{"./train"}, strings.Fields(option)...))
		})
	}
}

// Variables before a program are its environment, and are varied where nothing else can be.
func TestDraftOfVariables(t *testing.T) {
	cfg, src := drafted(t, draft.Program{Argv: strings.Fields("OMP_NUM_THREADS=1 RATE=0.5 python3 train.py --lr 0.01")})
	if got := strings.Join(cfg.Command.Argv, " "); got != "python3 train.py --lr {lr}" || !slices.Equal(cfg.Run.Env, []string{"OMP_NUM_THREADS=1", "RATE=0.5"}) {
		t.Errorf("%s with %q\n%s", got, cfg.Run.Env, src)
	}
	cfg, src = drafted(t, draft.Program{Argv: strings.Fields("OMP_NUM_THREADS=1 RATE=0.5 python3 train.py")})
	if !slices.Equal(cfg.Run.Env, []string{"OMP_NUM_THREADS=1", "RATE={RATE}"}) || len(cfg.Params) != 1 {
		t.Errorf("%q\n%s", cfg.Run.Env, src)
	}
}

func TestDraftKeepsPlaceholders(t *testing.T) {
	cfg, _ := drafted(t, draft.Program{Argv: []string{"./train", "--x={x}", "{flag:bn}", "--seed={seed}", "${HOME}"}})
	if got := strings.Join(cfg.Command.Argv, " "); got != "./train --x={x} {flag:bn} --seed={seed} ${HOME}" {
		t.Error(got)
	}
	if len(cfg.Params) != 2 || cfg.Params[0].Name != "x" || cfg.Params[1].Kind != spaces.KindBool {
		t.Errorf("parameters %+v", cfg.Params)
	}
	cfg, _ = drafted(t, draft.Program{Argv: []string{"./fit-{kind}", "--wd", "0.1"}})
	if got := strings.Join(cfg.Command.Argv, " "); got != "./fit-{kind} --wd {wd}" || len(cfg.Params) != 2 {
		t.Error(got)
	}
	// Where no value can stand, braces are text.
	cfg, _ = drafted(t, draft.Program{Argv: []string{`./fit "{x}" '{lr}' --wd {wd} # {y}`}})
	if got := cfg.Command.Shell; got != `./fit "{{x}}" '{{lr}}' --wd {wd} # {{y}}` || len(cfg.Params) != 1 {
		t.Error(got)
	}
	// Where shells do not agree, nothing is varied.
	nothingToVary(t, []string{"./fit --wd 0.1 \r\n\"$A\" --lr 0.2"})
}

const argparseHelp = `usage: train.py [-h] [--optimizer {sgd,adam,rmsprop}] [--alpha ALPHA]

options:
  -h, --help            show this help message and exit
  --optimizer {sgd,adam,rmsprop}
                        the optimizer
  -k {rbf,linear}, --kernel {rbf,linear}
  --alpha ALPHA         (default: 1)
`

const clapHelp = `Usage: train [OPTIONS]

Options:
      --optimizer <OPTIMIZER>  The optimizer [default: adam] [possible values: sgd, adam]
  -k, --kernel <KERNEL>
          The kernel

          [possible values: rbf, linear]
`

const clickHelp = `Usage: train.py [OPTIONS]

Options:
  --optimizer [sgd|adam]
  -k, --kernel [rbf|linear]  the kernel
  --help                     Show this message and exit.
`

const abslHelp = `flags:

train.py:
  --optimizer: <sgd|adam>: the optimizer
    (default: 'adam')
`

func TestDraftOffersTheWordsThatHelpLists(t *testing.T) {
	for name, c := range map[string]struct{ help, option, want string }{
		"argparse":       {argparseHelp, "--optimizer adam", "[sgd adam rmsprop]"},
		"argparse short": {argparseHelp, "-k rbf", "[rbf linear]"},
		"argparse long":  {argparseHelp, "--kernel=rbf", "[rbf linear]"},
		"clap":           {clapHelp, "--optimizer adam", "[sgd adam]"},
		"click":          {clickHelp, "--optimizer sgd", "[sgd adam]"},
		"click short":    {clickHelp, "-k rbf", "[rbf linear]"},
		"absl":           {abslHelp, "--optimizer=adam", "[sgd adam]"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, src := drafted(t, draft.Program{Argv: append([]string{"./train"}, strings.Fields(c.option)...), Help: c.help})
			if p := cfg.Params[0]; p.Kind != spaces.KindChoice || fmt.Sprint(p.Choices) != c.want {
				t.Errorf("%s: %v of %s\n%s", name, p.Choices, p.Kind, src)
			}
		})
	}
	cfg, _ := drafted(t, draft.Program{Argv: []string{"./train", "--optimizer", "lion", "--lr", "0.1"}, Help: argparseHelp})
	if len(cfg.Params) != 1 || cfg.Params[0].Name != "lr" {
		t.Error("a word that help does not list became a choice")
	}
}

// What is only in --help is taken over as it is: a default that is not read right, or an option that
// deletes, would be given to a program that was run without.
func TestDraftOfOptionsInHelp(t *testing.T) {
	const help = `Options:
  --rate R        how fast (default: 0.1)
  --k {1,2,4}     (default: 2)
  --depth <N>     [default: 3] [possible values: 1, 3, 9]
  --width N       (default: 1,000)
  --share N       default 5%
  --pair N        in [1, 2] (default: 1)
  --delete-old N  delete outputs older than N days (default: 7)
  --trash N       remove so many (default: 7)
  --color {always,never,auto}  (default: auto)
`
	cfg, src := drafted(t, draft.Program{Argv: []string{"./train", "x.csv"}, Help: help})
	if got, want := strings.Join(cfg.Command.Argv, " "), "./train --rate={rate} --k={k} --depth={depth} --pair={pair} x.csv"; got != want {
		t.Errorf("%s\nwant %s\n%s", got, want, src)
	}
	var got []string
	for _, p := range cfg.Params {
		got = append(got, fmt.Sprint(p.Kind, p.Choices, p.Default))
	}
	if want := []string{"float[] 0.1", "choice[1 2 4] 2", "choice[1 3 9] 3", "int[] 1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Whatever the command line, its draft is a valid spec.
func TestDraftIsAlwaysAccepted(t *testing.T) {
	pieces := []string{"python3", "train.py", "--lr", "0.1", "1e-4", "-x", "5", "--x=3", "a.b=0.1", "'quoted --lr 3'", `"--d 4"`, "{lr}", "{", "}", "$HOME", "$(date)",
		"`date`", "|", "tee", ">", "out.txt", "&&", "#", "--dropout=0.5", "--é=3", "awk '{print $1}'", "-1", "=", "--", "\\", "\n", "\t", "--trial=7", "0", "--m 0", "--beta 0.9999999", "--huge 1e308", "--tiny 1e-320", "{flag:x}", "\"{x}\"", "\r", "<<'E F'\nE F\n", "<<E+{lr}", "[[ -z {x} ]]", "<<EOF", "--a\x1bb=3", "--c\nd 4", "-z\n", "--file=\xff"}
	rng := rand.New(rand.NewPCG(3, 3))
	for range effort.Sequential(400, 2000, 2000) {
		argv := make([]string, 1+rng.IntN(6))
		for i := range argv {
			argv[i] = pieces[rng.IntN(len(pieces))]
		}
		if rng.IntN(2) == 0 {
			argv = []string{strings.Join(argv, " ")}
		}
		if strings.TrimSpace(argv[0]) == "" {
			continue
		}
		src, _ := draft.Program{Argv: argv, Help: argparseHelp}.TOML()
		_, err := spec.Parse("spec.toml", src, "/")
		if err != nil && !(strings.Contains(string(src), draft.NothingToVary) && strings.Contains(err.Error(), "there is no parameter to tune")) {
			t.Fatalf("%q: %v\n%s", argv, err, src)
		}
	}
}

// With today's values the command of a draft is what was typed, but for how its numbers are written.
func TestDraftRunsWhatWasTyped(t *testing.T) {
	numberRE := regexp.MustCompile(`[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?`)
	plain := func(text string) string {
		text = strings.ReplaceAll(text, "'", "") // that a value has in a shell's command
		return numberRE.ReplaceAllStringFunc(strings.ReplaceAll(text, "DIR/conf.yaml", "conf.yaml"), func(n string) string {
			x, _ := strconv.ParseFloat(n, 64)
			return fmt.Sprint(" ", x)
		})
	}
	pieces := []string{"python3", "train.py", "./fit", "bash", "-c", "timeout 60", "env", "A=1", "RATE=0.5", "--lr", "0.1", "1e-4", "-x", "5", "--x=3", "a.b=0.1", "'--lr 3'", `"--d 4"`,
		`"a $(f --lr 3) b"`, "{", "}", "{{", "{}", "}}", "${HOME}", "$((1+2))", "`date --lr 3`", "|", "> out.txt", "2>&1", "&&", ";", "# --lr 3", "--dropout=0.5", "--\u00e9=3", "-1", "--", "\\\n",
		"\n", "\t", "--trial=7", "0", "-O2", "-n4", "--lr=0.1", "--b 0.9 0.99", "--bs 0.9 0.99", "<<E\n--lr 3\nE\n", "--n=007", "1_000", "0x10", "+3", "5.", ".5", "--\u2212x", "\u22123", "50%", "conf.yaml", "--c=conf.yaml"}
	rng := rand.New(rand.NewPCG(5, 5))
	dir := t.TempDir()
	file := command.File{From: filepath.Join(dir, "conf.yaml"), Text: "rate: 0.1\n"}
	if err := os.WriteFile(file.From, []byte(file.Text), 0o644); err != nil {
		t.Fatal(err)
	}
	varied := 0
	for range 600 {
		argv := make([]string, 1+rng.IntN(7))
		for i := range argv {
			argv[i] = pieces[rng.IntN(len(pieces))]
		}
		if rng.IntN(2) == 0 {
			argv = []string{strings.Join(argv, " ")}
		}
		src, _ := draft.Program{Argv: argv, Files: map[string]command.File{"conf.yaml": file}}.TOML()
		cfg, err := spec.Parse("spec.toml", src, "/")
		if err != nil {
			continue // there is nothing to vary
		}
		b := &command.Bindings{Params: cfg.Params, TrialDir: "DIR"}
		for _, p := range cfg.Params {
			b.Values = append(b.Values, spaces.Assignment{Name: p.Name, Value: p.Default})
		}
		got, err := cfg.Command.Render(b)
		if err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, src)
		}
		words := got.Argv
		if got.Shell != "" {
			words = []string{got.Shell}
		}
		for _, e := range cfg.Run.Env {
			text, _ := b.Expand(e)
			words = slices.Insert(words, 0, text)
		}
		want := slices.Clone(argv)
		for i := range want {
			want[i] = plain(want[i])
		}
		for i := range words {
			words[i] = plain(words[i])
		}
		slices.Sort(want)
		slices.Sort(words) // env is in another order
		if varied++; strings.Join(words, "|") != strings.Join(want, "|") {
			t.Fatalf("%q\n   would be run as %q,\nwant %q\n%s", argv, words, want, src)
		}
	}
	if varied < 100 {
		t.Errorf("only %d of the commands have parameters", varied)
	}
}

// Words that are named in a sentence are those of a choice, if today's is one of them.
func TestDraftReadsWordsInProse(t *testing.T) {
	const help = "  -policy string\n    \tlru, lfu or fifo (default \"lru\")\n  --mode auto  a file, a directory or auto, else the mode is guessed\n  -act f  the activation: relu, tanh, or gelu\n"
	cfg, src := drafted(t, draft.Program{Argv: []string{"./train", "-policy", "lru", "--mode", "auto", "-act", "relu", "-kind", "x"}, Help: help})
	var got []string
	for _, p := range cfg.Params {
		got = append(got, fmt.Sprint(p.Name, p.Choices))
	}
	if want := []string{"policy[lru lfu fifo]", "act[relu tanh gelu]"}; !slices.Equal(got, want) || !strings.Contains(src, "-kind x: no number; {NAME} in its place, with its choices, makes it a parameter") {
		t.Errorf("%q, want %q\n%s", got, want, src)
	}
}
