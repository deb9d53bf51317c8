// Package pagefault measures what it costs to touch a page that has no memory
// yet. The kernel finds the page, clears it and puts it into the process's page
// table; programs pay that where the heap grows, and again wherever it comes back to
// memory that the runtime's scavenger has given to the system.
package pagefault

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// errUnsupported says that this system does not take memory back on request, so
// that no page is touched for the first time twice.
var errUnsupported = errors.New("this system does not take memory back on request")

const (
	rounds = 5
	// pages of a round are as many as a small heap has.
	pages = 256
	// between is what is used between two faults, in bytes. A program does other work
	// meanwhile, and what the kernel needs for a fault has left the nearest
	// caches when it comes to the next: beside perf, which had 2.0 to 2.9 µs in three programs,
	// faults one right after the other took 1.2 µs on the same machine, with 256 KiB in between
	// 1.3, with 1 MiB 2.2, and with 4 MiB 2.9.
	between = 1 << 20
)

// Measure touches 1280 fresh pages on one thread, which uses 1 MiB of other memory
// before each. The cost of a page is the median, with the quartiles as bounds.
// Threads that fault at once wait for each other, so in a program that does so on
// several processors each fault is dearer. It takes about 0.1 s, and ends with
// ctx's error when ctx does.
func Measure(ctx context.Context) (evidence.PageFault, error) {
	all, err := measure(ctx)
	if err != nil {
		return evidence.PageFault{}, fmt.Errorf("measure page faults: %w", err)
	}
	slices.Sort(all)
	if all[0] <= 0 && all[len(all)/4] <= 0 {
		return evidence.PageFault{}, fmt.Errorf("measure page faults: %w", errUnsupported)
	}
	at := func(share float64) float64 { return all[int(share*float64(len(all)-1))] }
	return evidence.PageFault{Pages: len(all), NS: stats.Interval{Value: at(0.5), Low: at(0.25), High: at(0.75)}}, nil
}
