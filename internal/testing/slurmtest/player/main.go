// Command player plays Slurm's programs for slurmtest: it starts sooner than a test binary.
package main

import "github.com/lbotune/lbotune/internal/testing/slurmtest"

func main() { slurmtest.Play() }
