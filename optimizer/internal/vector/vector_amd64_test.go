package vector

import (
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"os/exec"
	"testing"
)

// Processors of one name give the same digits, also those that lack what was switched off.
func TestKernelNamesTheDigits(t *testing.T) {
	if os.Getenv("LBOTUNE_SHOW_DIGITS") != "" {
		digest := fnv.New64()
		for i := range 500 {
			x, dots := float64(i)/100, make([]float64, 4)
			k := []float64{x, x + 1, x + 2, x + 3, x + 4}
			Matern52(k, nil, k, 1)
			Dots(dots, []float64{k[0], k[1], k[2], k[3], k[4], 1, 2, 3}, 0, []float64{1, x, 0.3, -x, 0.7, x, 1, -0.1})
			fmt.Fprintln(digest, math.Exp(-x), k, dots)
		}
		fmt.Printf("%s %x\n", Kernel(), digest.Sum64())
		return
	}
	digits := map[string]string{}
	for _, off := range []string{"", "cpu.avx2=off", "cpu.fma=off", "cpu.avx=off", "cpu.avx2=off,cpu.fma=off"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "GODEBUG="+off, "LBOTUNE_SHOW_DIGITS=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var kernel, sum string
		if _, err := fmt.Sscan(string(out), &kernel, &sum); err != nil {
			t.Fatal(err)
		}
		if was, seen := digits[kernel]; seen && sum != was {
			t.Errorf("%s with GODEBUG=%q: %s, and %s without", kernel, off, sum, was)
		}
		digits[kernel] = sum
	}
}
