package cachemiss_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/cachemiss"
)

func TestMeasure(t *testing.T) {
	f := func(s cachemiss.Shape, threads int, live int64) {
		t.Helper()
		for n := range 4 {
			got, err := cachemiss.Measure(t.Context(), s, n)
			if err != nil {
				t.Fatal(err)
			}
			if got.Threads != threads || got.LiveBytes != live || got.FreshBytes < 64<<10 ||
				got.FreshBytes > cachemiss.MaxFresh {
				t.Errorf("%+v: %d threads and %d bytes, want %d and %d", s, got.Threads, got.LiveBytes, threads, live)
			}
			if ns := got.NS; ns.Low < 0 || ns.Low > ns.Value || ns.Value > ns.High || got.UseNS <= 0 ||
				got.UseNS < ns.Value {
				t.Errorf("%+v: %v of %v", s, ns, got.UseNS)
			}
		}
	}
	f(cachemiss.Shape{}, 1, 64<<10)
	f(cachemiss.Shape{Threads: -1, LiveBytes: -1}, 1, 64<<10)
	f(cachemiss.Shape{Threads: 1 << 20, LiveBytes: 1 << 20, FreshBytes: -5}, runtime.GOMAXPROCS(0), 1<<20)
	f(cachemiss.Shape{Threads: 1, LiveBytes: 1 << 62, FreshBytes: 1 << 62}, 1, cachemiss.MaxLive)
}

func TestMeasureEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := cachemiss.Measure(ctx, cachemiss.Shape{}, 3); !errors.Is(err, context.Canceled) ||
		got != (evidence.CacheMiss{}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// BenchmarkMeasure prints this machine's costs in nanoseconds per line.
func BenchmarkMeasure(b *testing.B) {
	for threads := 1; threads <= runtime.GOMAXPROCS(0); threads *= 2 {
		for live := int64(1); live <= cachemiss.MaxLive>>20; live *= 2 {
			b.Run(fmt.Sprintf("threads=%d/live=%dMiB", threads, live), func(b *testing.B) {
				var c evidence.CacheMiss
				for b.Loop() {
					var err error
					if c, err = cachemiss.Measure(b.Context(),
						cachemiss.Shape{Threads: threads, LiveBytes: live << 20,
							FreshBytes: live << 20}, 15); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(c.NS.Value, "ns/line")
				b.ReportMetric(c.NS.Low, "low-ns/line")
				b.ReportMetric(c.NS.High, "high-ns/line")
			})
		}
	}
}
