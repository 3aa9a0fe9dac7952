//go:build race

package slurmtest

const raced = true
