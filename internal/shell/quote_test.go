package shell_test

import (
	"os/exec"
	"testing"

	"github.com/lbotune/lbotune/internal/shell"
)

func TestWords(t *testing.T) {
	for _, s := range []string{"", "plain", "two words", "it's", `"\$(false)`, "a\nb", "-n", "~", "=x", "a=b", "é\xff", "*", "1>x", "#", "''"} {
		t.Run(s, func(t *testing.T) {
			for name, word := range map[string]string{"Quote": shell.Quote(s), "Word": shell.Word(s)} {
				out, err := exec.Command("/bin/sh", "-c", "printf %s "+word).Output()
				if err != nil || string(out) != s {
					t.Errorf("%s(%q) = %s, which is %q, %v", name, s, word, out, err)
				}
			}
		})
	}
	if got := shell.Word("conf/a-1.yaml"); got != "conf/a-1.yaml" {
		t.Errorf("a plain word was quoted: %s", got)
	}
}
