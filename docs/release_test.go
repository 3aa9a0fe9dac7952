package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The commands of SECURITY.md accept what scripts/sign.sh has signed, and refuse an archive, checksums
// or a key that are others.
func TestSignedReleaseIsVerified(t *testing.T) {
	if _, err := exec.LookPath("minisign"); err != nil {
		t.Skip("minisign, which signs releases, is missing: ", err)
	}
	page, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, commands, found := strings.Cut(string(page), "```sh\n")
	commands, _, closed := strings.Cut(commands, "```")
	if !found || !closed || !strings.Contains(commands, "minisign") {
		t.Fatalf("SECURITY.md does not say how to verify a release")
	}
	script, err := filepath.Abs("scripts/sign.sh")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change string
		fine   bool
	}{
		"as it was signed":            {"true", true},
		"one of two archives":         {"rm b.tar.gz", true},
		"another archive":             {"echo more >> a.tar.gz", false},
		"its checksum changed too":    {"echo more >> a.tar.gz; sha256sum *.tar.gz > SHA256SUMS", false},
		"signed by somebody else":     {"minisign -G -W -p no.pub -s no.key; minisign -S -s no.key -m SHA256SUMS", false},
		"the signature is not there":  {"rm SHA256SUMS.minisig", false},
		"the signature of other sums": {"cp SHA256SUMS was; echo >> SHA256SUMS; minisign -S -s key -m SHA256SUMS; cp was SHA256SUMS", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			sh := func(text string) ([]byte, error) {
				cmd := exec.Command("bash", "-ec", text)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "MINISIGN_KEY="+filepath.Join(dir, "key"))
				return cmd.CombinedOutput()
			}
			if out, err := sh("echo a > a.tar.gz; echo b > b.tar.gz; minisign -G -W -p minisign.pub -s key; '" + script + "' .; " + c.change); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, out)
			}
			if out, err := sh(commands); (err == nil) != c.fine {
				t.Errorf("%s: %v\n%s", name, err, out)
			}
		})
	}
}
