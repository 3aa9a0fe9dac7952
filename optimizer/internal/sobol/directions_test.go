package sobol

import (
	"fmt"
	"strings"
	"testing"
)

// The polynomials must be primitive, different, and all of degree < 9 be used; the
// initial numbers odd and small enough.
func TestTable(t *testing.T) {
	lines := strings.Split(joeKuo, "\n")
	if len(lines) != tableDims-1 {
		t.Fatalf("%d lines, want %d", len(lines), tableDims-1)
	}
	seen := map[string]bool{}
	degrees := map[int]int{}
	for i, line := range lines {
		var s, a int
		if _, err := fmt.Sscan(line, &s, &a); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		fields := strings.Fields(line)[2:]
		if len(fields) != s {
			t.Fatalf("line %d: %d initial numbers for degree %d", i+1, len(fields), s)
		}
		for k, field := range fields {
			var m int
			if _, err := fmt.Sscan(field, &m); err != nil || m%2 == 0 || m >= 2<<k || m < 1 {
				t.Errorf("line %d: m_%d = %s", i+1, k+1, field)
			}
		}
		key := fmt.Sprint(s, a)
		if seen[key] {
			t.Errorf("line %d: the polynomial occurs twice", i+1)
		}
		seen[key] = true
		degrees[s]++
		if !primitive(s, a) {
			t.Errorf("line %d: polynomial %d of degree %d is not primitive", i+1, a, s)
		}
	}
	// φ(2^s - 1)/s primitive polynomials exist of degree s.
	for s, want := range map[int]int{1: 1, 2: 1, 3: 2, 4: 2, 5: 6, 6: 6, 7: 18, 8: 16} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			if degrees[s] != want {
				t.Errorf("%d polynomials of degree %d, want %d", degrees[s], s, want)
			}
		})
	}
}

// primitive reports whether x generates all 2^s - 1 nonzero residues.
func primitive(s, a int) bool {
	poly := 1<<s | a<<1 | 1
	r, order := 1, 0
	for {
		r <<= 1
		if r>>s&1 == 1 {
			r ^= poly
		}
		order++
		if r == 1 || order > 1<<s {
			return order == 1<<s-1
		}
	}
}

// A scramble must be a bijection in which no digit depends on a later one.
func TestScrambleIsNested(t *testing.T) {
	for seed := range uint64(200) {
		k := newKeys(seed, 5)
		for bits := 1; bits <= 10; bits++ {
			seen := map[uint32]bool{}
			for prefix := range uint32(1) << bits {
				top := k.scramble(prefix<<(32-bits)) >> (32 - bits)
				low := k.scramble(prefix<<(32-bits)|(1<<(32-bits)-1)) >> (32 - bits)
				if top != low {
					t.Fatalf("seed %d: the first %d digits depend on later ones", seed, bits)
				}
				seen[top] = true
			}
			if len(seen) != 1<<bits {
				t.Fatalf("seed %d: %d digits are not permuted", seed, bits)
			}
		}
	}
}

// Property A for the whole table: with the recurrence run to 64 digits, the leading
// digits of the first d direction numbers of the first d dimensions are linearly
// independent for every d. A wrong number breaks this in about every second case.
func TestPropertyAOfTheTable(t *testing.T) {
	rows := []uint64{1} // van der Corput: only the first number has the leading digit
	for _, line := range strings.Split(joeKuo, "\n") {
		var s int
		var a uint64
		if _, err := fmt.Sscan(line, &s, &a); err != nil {
			t.Fatal(err)
		}
		var v [tableDims]uint64
		row := uint64(0)
		for k := range v {
			if k < s {
				if _, err := fmt.Sscan(strings.Fields(line)[2+k], &v[k]); err != nil {
					t.Fatal(err)
				}
				v[k] <<= 63 - k
			} else {
				v[k] = v[k-s] ^ v[k-s]>>s
				for i := 1; i < s; i++ {
					v[k] ^= v[k-i] * (a >> (s - 1 - i) & 1)
				}
			}
			row |= v[k] >> 63 << k
		}
		rows = append(rows, row)
	}
	for d := 1; d <= tableDims; d++ {
		if !independent(rows[:d], d) {
			t.Errorf("the first %d dimensions do not have property A", d)
		}
	}
}

// independent reports whether the first cols bits of the rows are independent.
func independent(rows []uint64, cols int) bool {
	basis := make([]uint64, cols)
	for _, r := range rows {
		r &= ^uint64(0) >> (64 - cols)
		for c := range cols {
			if r>>c&1 == 0 {
				continue
			}
			if basis[c] == 0 {
				basis[c] = r
				break
			}
			r ^= basis[c]
		}
		if r == 0 {
			return false
		}
	}
	return true
}
