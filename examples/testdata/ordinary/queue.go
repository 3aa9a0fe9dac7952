package main

import (
	"flag"
	"fmt"
	"math"
)

func main() {
	rate := flag.Float64("rate", 0.1, "arrivals")
	batch := flag.Int("batch", 8, "taken at a time")
	flag.Parse()
	latency := math.Abs(math.Log(*rate/0.4)) + math.Abs(float64(*batch)-20)/10
	fmt.Printf("{\"served\": 1000, \"latency\": %g}\n", latency)
}
