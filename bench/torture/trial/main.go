//go:build linux

// Command trial is what torture's studies run: a small program, which starts sooner than one
// that has all of the tests in it.
//
//	trial ROLE ARGUMENT...
package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	roles := map[string]func([]string) error{
		"work":  work,
		"flood": flood,
		"count": count,
		"noise": noise,
		"args":  writeArgs,
	}
	if err := roles[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// work logs the start and the end of an attempt and prints a loss. Arguments: a
// directory for the log, x, and the longest that the work may take, in milliseconds.
func work(args []string) error {
	x, err := strconv.ParseFloat(args[1], 64)
	if err != nil {
		return err
	}
	most, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	trial := os.Getenv("LBOTUNE_TRIAL")
	n, err := strconv.ParseUint(trial, 10, 64)
	if err != nil {
		return err
	}
	diary, err := os.OpenFile(args[0]+"/diary", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	note := func(what string) error {
		_, err := fmt.Fprintf(diary, "%s %s %s %d\n", what, trial, os.Getenv("LBOTUNE_ATTEMPT"), now())
		return err
	}
	// The kernel knows better than any log whether two attempts overlap.
	room, err := os.OpenFile(args[0]+"/room-"+trial, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(room.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return note("overlap")
	}
	if err := note("start"); err != nil {
		return err
	}
	pace := rand.New(rand.NewPCG(n, 1))
	time.Sleep(time.Duration(pace.IntN(most*1000)) * time.Microsecond)
	fmt.Printf("loss=%v\n", (x-0.3)*(x-0.3))
	return note("end")
}

// now is the time since boot in nanoseconds, the same for all processes.
func now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}

// flood writes MIBS mebibytes of one character without a line end, after the text
// before it, and then the text after it.
func flood(args []string) error {
	mibs, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	fmt.Print(args[1])
	chunk := []byte(strings.Repeat("x", 1<<20))
	for range mibs {
		if _, err := os.Stdout.Write(chunk); err != nil {
			return err
		}
	}
	fmt.Print(args[2])
	return nil
}

// count writes so many lines with a metric, of which the last one is the least, and
// that in the middle the greatest.
func count(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	w := bufio.NewWriter(os.Stdout)
	for i := range n {
		value := 1 + float64(i%1000)/1000
		switch i {
		case n / 2:
			value = 1000
		case n - 1:
			value = 0.25
		}
		fmt.Fprintf(w, "step %d loss=%v\n", i, value)
	}
	return w.Flush()
}

// noise writes mebibytes of random bytes, and then a metric.
func noise(args []string) error {
	mibs, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	r := rand.NewChaCha8([32]byte{})
	chunk := make([]byte, 1<<20)
	for range mibs {
		_, _ = r.Read(chunk)
		for _, f := range []*os.File{os.Stdout, os.Stderr} {
			if _, err := f.Write(chunk); err != nil {
				return err
			}
		}
	}
	fmt.Print("\nloss=0.25\n")
	return nil
}

// writeArgs prints its arguments and the parameters in its environment, quoted.
func writeArgs(args []string) error {
	fmt.Printf("%s\nloss=1\n", strconv.QuoteToASCII(strings.Join(args, "\x00")+"\x00"+os.Getenv("LBOTUNE_PARAM_S")))
	return nil
}
