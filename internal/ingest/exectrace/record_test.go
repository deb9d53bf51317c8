package exectrace_test

import (
	"bytes"
	"context"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"sync"
	"testing"
	"time"
)

// recordTrace traces a fraction of a second of goroutines that allocate, take
// turns, and are pressed to assist.
func recordTrace(t testing.TB) []byte { return recordTraceFor(t, 0) }

// recordTraceFor is recordTrace over and over, for a while.
func recordTraceFor(t testing.TB, long time.Duration) []byte {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	live := make([]*[64]*int, 20_000)
	for i := range live {
		live[i] = new([64]*int)
	}
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skipf("cannot trace: %v", err)
	}
	for start := time.Now(); ; {
		takeTurns(live)
		if time.Since(start) >= long {
			break
		}
	}
	trace.Stop()
	runtime.KeepAlive(live)
	return b.Bytes()
}

func takeTurns(live []*[64]*int) {
	var wg sync.WaitGroup
	turns := make(chan int)
	for i := range 8 {
		wg.Go(func() {
			for range 300 {
				ctx, task := trace.NewTask(context.Background(), "turn")
				trace.WithRegion(ctx, "allocate", func() {
					for range 20 {
						live[i] = new([64]*int)
						_ = append([]byte(nil), make([]byte, 4000)...)
					}
				})
				turns <- 1
				task.End()
			}
		})
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	for range 8 * 300 {
		<-turns
	}
	wg.Wait()
}
