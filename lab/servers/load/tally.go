package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// tally counts operations by kind, and failures. The zero value is ready; it may be used by
// several goroutines.
type tally struct {
	mu     sync.Mutex
	done   map[string]int
	failed int
	first  error
}

// add counts n operations of a kind.
func (t *tally) add(kind string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done == nil {
		t.done = map[string]int{}
	}
	t.done[kind] += n
}

// fail counts an operation that failed.
func (t *tally) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed++
	if t.first == nil {
		t.first = err
	}
}

// summary begins as the output of wrk does, so that heaptrim reads the number of requests.
func (t *tally) summary(d time.Duration) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := 0
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(t.done)) {
		all += t.done[kind]
		parts = append(parts, fmt.Sprintf("%d %s", t.done[kind], kind))
	}
	return fmt.Sprintf("  %d requests in %.2fs, %d failed: %s\nRequests/sec: %.2f",
		all, d.Seconds(), t.failed, strings.Join(parts, ", "), float64(all)/d.Seconds())
}

// verdict is an error if the load was not what it should be: nothing was done, or more
// than one in a hundred operations failed.
func (t *tally) verdict() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := 0
	for _, n := range t.done {
		all += n
	}
	switch {
	case t.first != nil && t.failed*100 > all:
		return fmt.Errorf("%d of %d operations failed, the first with: %w", t.failed, all+t.failed, t.first)
	case all == 0:
		return fmt.Errorf("no operation was done")
	}
	return nil
}

// worker is one goroutine of a driver. It calls step until ctx ends.
type worker struct {
	kind string
	step func(ctx context.Context, turn int) (done int, err error)
}

// run runs workers until ctx ends. A worker that fails ends; the operation that was under
// way when ctx ended does not count.
func (t *tally) run(ctx context.Context, workers []worker) {
	var all sync.WaitGroup
	for _, w := range workers {
		all.Go(func() {
			for turn := 0; ctx.Err() == nil; turn++ {
				done, err := w.step(ctx, turn)
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					t.fail(fmt.Errorf("%s: %w", w.kind, err))
					return
				}
				t.add(w.kind, done)
			}
		})
	}
	all.Wait()
}

// dial opens a connection that is closed when ctx ends, which also ends a read or write
// under way.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { c.Close() })
	return c, nil
}
