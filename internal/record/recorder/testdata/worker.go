// Command worker allocates in known places for a given time.
//
// Usage: worker TASK DURATION [PROFILE STOP]
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"
)

var keep []string

func main() {
	defer htrim7qFlush() // as the overlay inserts it
	d, err := time.ParseDuration(os.Args[2])
	if err != nil {
		panic(err)
	}
	switch os.Args[1] {
	case "return":
		work(d)
	case "exit":
		work(d)
		htrim7qExit(3) // as the overlay replaces os.Exit
	case "close": // descriptors that it does not know, as daemons do; then it has a file of its own
		for fd := 3; fd < 256; fd++ {
			syscall.Close(fd)
		}
		f, err := os.Create(os.Args[3])
		if err != nil {
			panic(err)
		}
		work(d)
		time.Sleep(time.Millisecond)
		f.Close()
	case "profiled":
		f, err := os.Create(os.Args[3])
		if err != nil {
			panic(err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			fmt.Println("own profile:", err)
		}
		fmt.Println("profiling")
		work(d)
		for { // until the test ends the process
			if _, err := os.Stat(os.Args[4]); err == nil {
				break
			}
			work(10 * time.Millisecond)
		}
		pprof.StopCPUProfile()
	case "recursive": // with 2048 deep stacks
		for i := 0; i < 2048; i++ {
			wide(40, i)
		}
	case "parent":
		child := exec.Command(os.Args[0], "return", "50ms")
		child.Env = os.Environ()
		if err := child.Run(); err != nil {
			panic(err)
		}
		work(d)
	}
}

func work(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
		grow(200)
		deep(60)
		box(7)
		if len(keep) < 1000 {
			keep = append(keep, strings.Repeat("k", 512))
		}
	}
}

//go:noinline
func grow(n int) (list []int) {
	for i := 0; i < n; i++ {
		list = append(list, i)
	}
	return list
}

//go:noinline
func deep(n int) string {
	if n == 0 {
		return strings.Repeat("d", 64)
	}
	return deep(n-1) + ""
}

// wide calls itself in one of two places at the last levels, by the bits of a number.
//
//go:noinline
func wide(n, bits int) string {
	if n == 0 {
		return strings.Repeat("w", 64)
	}
	if n <= 11 && bits>>uint(n-1)&1 == 1 {
		return wide(n-1, bits) + ""
	}
	return wide(n-1, bits) + ""
}

var boxed interface{}

//go:noinline
func box(n int) { boxed = [2]int{n, n} }
