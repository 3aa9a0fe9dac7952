package study

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/spaces"
)

func TestCommandsAreExtended(t *testing.T) {
	lr := spaces.Param{Name: "lr", Kind: spaces.KindFloat, Min: 0, Max: 1}
	wd := spaces.Param{Name: "wd", Kind: spaces.KindFloat, Min: 0, Max: 1, Default: spaces.Float(0.25)}
	bn := spaces.Param{Name: "bn", Kind: spaces.KindBool, Default: spaces.Bool(false)}
	config := func(line string, params ...spaces.Param) Config {
		c := Config{Command: command.Command{Shell: line}, Params: append([]spaces.Param{lr}, params...)}
		if strings.HasPrefix(line, "[") {
			c.Command = command.Command{Argv: strings.Fields(strings.Trim(line, "[]"))}
		}
		return c
	}
	for _, c := range []struct {
		was, now string
		want     bool
	}{
		{"train --lr={lr}", "train --lr={lr} --wd={wd} {flag:bn}", true},
		{"train --lr {lr}", "train --wd {wd} --lr {lr} {flag:bn}", true},
		{"train --lr {lr} --wd 0.25", "train --lr {lr} --wd {wd} {flag:bn}", true},
		{"train --lr={lr} --wd=0.25", "train --lr={lr} --wd={wd} --bn={bn}", true},
		{"train --lr={lr} --wd=0.5", "train --lr={lr} --wd={wd} --bn={bn}", false},
		{"train --lr={lr}", "train --fast --lr={lr} --wd={wd} --bn={bn}", false},
		{"train --lr={lr}", "train --lr={lr} --wd={wd} --bn={bn} --fast", false},
		{"train --lr={lr}", "train --lr={lr} --fast --wd={wd} --bn={bn}", false},
		{"train --lr={lr}", "train --lr={lr} --set wd={wd} {flag:bn}", true},
		{"train --lr={lr} --slow", "train --lr={lr} --wd={wd} --bn={bn}", false},
		{"train --lr={lr} | tee log", "train --lr={lr} --wd={wd} --bn={bn} | tee log", true},
		{"[train --lr {lr}]", "[train --lr {lr} --wd {wd} {flag:bn}]", true},
		{"train --lr={lr}  --name 'a  b'", "train --lr={lr} --name 'a  b'  --wd={wd} {flag:bn}", true},
		{"train --lr={lr}\ntee log", "train --lr={lr} --wd={wd} {flag:bn}\ntee log\n", true},
		{"train --lr={lr}\ntee log", "train --lr={lr} --wd={wd} {flag:bn} tee log", false},
		{"train --lr={lr} --name 'a  b'", "train --lr={lr} --name 'a b' --wd={wd} {flag:bn}", false},
		{`train --lr={lr} "a\"  b" c`, `train --lr={lr} "a\" b" c --wd={wd} {flag:bn}`, false},
		{`train --lr={lr} a\  b`, `train --lr={lr} a\ b --wd={wd} {flag:bn}`, false},
		{"train \\\n --lr={lr}", "train \\\n --lr={lr} \\\n --wd={wd} {flag:bn}", true},
		{"train --lr={lr} <<E\n a\nE", "train --lr={lr} --wd={wd} {flag:bn} <<E\n a\nE", true},
		{"train --lr={lr} <<E\n a\nE", "train --lr={lr} --wd={wd} {flag:bn} <<E\n  a\nE", false},
		{"train 'a\\\nb' --lr={lr}", "train 'a b' --lr={lr} --wd={wd} {flag:bn}", false},
		{"train '1<<2' --lr={lr}", "train '1<<2' --lr={lr} --wd={wd} {flag:bn}", true},
		{"train --lr={lr}<in", "train --lr={lr} --wd={wd} {flag:bn} < in", true},
		{"[train --lr {lr}]", "train --lr {lr} --wd {wd} {flag:bn}", false},
	} {
		t.Run(c.was, func(t *testing.T) {
			if got := commandExtends(config(c.was), config(c.now, wd, bn)); got != c.want {
				t.Errorf("%s to %s: %v", c.was, c.now, got)
			}
		})
	}
	if commandExtends(config("a {lr}"), config("a {lr}")) {
		t.Error("a command without more parameters extends another")
	}

	file := func(text string, set ...command.Setting) []command.File {
		return []command.File{{Text: text, To: "conf", Set: set}}
	}
	setting := func(path, value string) command.Setting {
		return command.Setting{Path: path, Value: spaces.String(value)}
	}
	was, now := config("train"), config("train", wd)
	for _, c := range []struct {
		was, now []command.File
		want     bool
	}{
		{file("lr: {lr}\n"), file("lr: {lr}\nwd: {wd}\n"), true},
		{file("lr: {lr}\nwd: 0.25\n"), file("lr: {lr}\nwd: {wd}\n"), true},
		{file("lr: {lr}\nwd: 0.5\n"), file("lr: {lr}\nwd: {wd}\n"), false},
		{file("- lr: {lr}\n"), file("- lr: {lr}\n- fast: yes\n  wd: {wd}\n"), false},
		{file("a:\n  b: 1\n"), file("a:\nb: 1\nwd: {wd}\n"), false},
		{file("a:\n  wd: 0.25\n"), file("a:\nwd: {wd}\n"), false},
		{file("--lr\n{lr}\n"), file("--lr\n{lr}\n--wd\n{wd}\n"), true},
		{file("lr: 1\n", setting("lr", "{lr}")), file("lr: 1\n", setting("lr", "{lr}"), setting("wd", "{wd}")), true},
		{file("lr: 1\n", setting("lr", "{lr}")), file("lr: 2\n", setting("lr", "{lr}"), setting("wd", "{wd}")), false},
		{nil, file("wd: {wd}"), false},
	} {
		t.Run(fmt.Sprintf("%+v", c.now), func(t *testing.T) {
			was.Files, now.Files = c.was, c.now
			if got := filesExtend(was, now); got != c.want {
				t.Errorf("%+v to %+v: %v", c.was, c.now, got)
			}
		})
	}
}

// A value that cannot be shown in full ends with dots.
func TestBrief(t *testing.T) {
	for n, want := range map[int]string{118: strings.Repeat("x", 118) + `"`, 119: strings.Repeat("x", 119) + "..."} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if got := brief(strings.Repeat("x", n)); got != `"`+want {
				t.Errorf("%d characters are shown as %s", n, got)
			}
		})
	}
}
