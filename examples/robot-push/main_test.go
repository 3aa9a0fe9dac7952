package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func output(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(args, &out, io.Discard); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String()
}

func TestPrintsTheDistance(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--rx=-3 --ry=0 --t=20 --gx=4 --gy=3", "distance=3.14298"},
		{"--mode=4 --rx=-2 --ry=2 --t=8 --theta=2.356 --gx=3 --gy=-3", "distance=1.61787"},
	} {
		t.Run(c.args, func(t *testing.T) {
			if got := output(t, strings.Fields(c.args)...); !strings.Contains(got, c.want) {
				t.Errorf("%s: printed %q, want %q in it", c.args, got, c.want)
			}
		})
	}
}

func TestNoiseNeedsItsFlag(t *testing.T) {
	quiet := output(t, "--rx=-3", "--ry=0.5")
	one, two := output(t, "--rx=-3", "--ry=0.5", "--noise-seed=0"), output(t, "--rx=-3", "--ry=0.5", "--noise-seed=7")
	if quiet == one || one == two {
		t.Errorf("without noise %q, with seed 0 %q, with seed 7 %q", quiet, one, two)
	}
	if again := output(t, "--rx=-3", "--ry=0.5", "--noise-seed=7"); again != two {
		t.Errorf("seed 7 gives %q, then %q", two, again)
	}
}

func TestRefusesBadArguments(t *testing.T) {
	for _, args := range []string{"--mode=5", "--rx=NaN", "--t=1e9", "--theta=1", "stray", "draw -o push.png"} {
		t.Run(args, func(t *testing.T) {
			if err := run(strings.Fields(args), io.Discard, io.Discard); err == nil {
				t.Errorf("%s was accepted", args)
			}
		})
	}
}

func TestDrawsAPicture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "push.svg")
	output(t, "draw", "--rx=-3", "--ry=0", "-o", path)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
	if count["circle"] < 5 || count["circle"] != count["polygon"] {
		t.Errorf("%d objects and %d hands are drawn", count["circle"], count["polygon"])
	}
	if !regexp.MustCompile(`>distance to the goal 3\.143 m<`).Match(data) {
		t.Error("the distance is not in the picture")
	}
}
