package problems

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/examples/robot-push/push"
)

// Where Box2D is installed, the program that made the reference rows of robot-push's engine makes
// them again, and the two agree on pushes that nobody chose.
func TestRobotPushAgreesWithBox2D(t *testing.T) {
	header := exec.Command("g++", "-E", "-x", "c++", "-")
	header.Stdin = strings.NewReader("#include <box2d/box2d.h>\n")
	if err := header.Run(); err != nil {
		t.Skip("there is no g++ with Box2D (Debian: g++, libbox2d-dev)")
	}
	program := filepath.Join(t.TempDir(), "push")
	if out, err := exec.Command("g++", "-O2", "-o", program, "../scripts/push.cpp", "-lbox2d").CombinedOutput(); err != nil {
		t.Fatalf("g++: %v\n%s", err, out)
	}
	var pushes []push.Push
	var kept []push.Vector
	rows, err := os.ReadFile("../../examples/robot-push/push/testdata/box2d.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(rows)) {
		var p push.Push
		var end push.Vector
		scan(t, line, &p.Start.X, &p.Start.Y, &p.Angle, &p.Velocity.X, &p.Velocity.Y, &p.Duration, &end.X, &end.Y)
		pushes, kept = append(pushes, p), append(kept, end)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		x, y, tenths := 10*r.Float64()-5, 10*r.Float64()-5, 1+29*r.Float64()
		pushes = append(pushes, push.Straight(x, y, tenths), push.Turned(x, y, tenths, 2*math.Pi*r.Float64()))
	}
	var input bytes.Buffer
	for _, p := range pushes {
		fmt.Fprintln(&input, p.Start.X, p.Start.Y, p.Angle, p.Velocity.X, p.Velocity.Y, p.Duration)
	}
	cmd := exec.Command(program)
	cmd.Stdin = &input
	out, err := cmd.Output()
	ends := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(ends) != len(pushes) {
		t.Fatalf("%d pushes, %d ends, %v", len(pushes), len(ends), err)
	}
	worst := 0.0
	for i, line := range ends {
		var end push.Vector
		scan(t, line, &end.X, &end.Y)
		if i < len(kept) && end.Distance(kept[i]) > 1e-5 {
			t.Errorf("row %d is kept as %v, and made as %v", i+1, kept[i], end)
		}
		off := pushes[i].Run().Distance(end)
		if worst = max(worst, off); off > 1e-3 {
			t.Errorf("%+v: %v m off", pushes[i], off)
		}
	}
	t.Logf("at most %v m off", worst)
}

func scan(t *testing.T, line string, into ...any) {
	t.Helper()
	if _, err := fmt.Sscan(line, into...); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
}
