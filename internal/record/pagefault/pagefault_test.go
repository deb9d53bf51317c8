package pagefault

import (
	"context"
	"errors"
	"runtime"
	"testing"
)

// TestMeasure checks that a page costs something, and far less than a disk access.
func TestMeasure(t *testing.T) {
	got, err := Measure(t.Context())
	if runtime.GOOS != "linux" {
		if !errors.Is(err, errUnsupported) {
			t.Errorf("Measure = %+v, %v", got, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if ns := got.NS; got.Pages != rounds*pages ||
		!(10 <= ns.Low && ns.Low <= ns.Value && ns.Value <= ns.High && ns.High < 1e6) {
		t.Errorf("Measure = %+v", got)
	}
}

func TestMeasureEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx); runtime.GOOS == "linux" && !errors.Is(err, context.Canceled) {
		t.Errorf("after its context: %v", err)
	}
}

func BenchmarkMeasure(b *testing.B) {
	sum := 0.0
	for b.Loop() {
		got, err := Measure(b.Context())
		if err != nil {
			b.Skip(err)
		}
		sum += got.NS.Value
	}
	b.ReportMetric(sum/float64(b.N), "ns/page")
}
