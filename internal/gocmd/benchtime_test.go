package gocmd

import (
	"testing"
	"time"
)

func TestBenchTime(t *testing.T) {
	for text, want := range map[string]BenchTime{"300ms": {Time: 300 * time.Millisecond}, "2000x": {Ops: 2000}, "0": {}} {
		var b BenchTime
		if err := b.Set(text); err != nil || b != want || b.Given() != (want != BenchTime{}) {
			t.Errorf("%q: %+v, %v, want %+v", text, b, err, want)
		}
		if b.Given() && b.String() != text {
			t.Errorf("%q is printed as %q", text, b)
		}
	}
	for _, text := range []string{"", "x", "-1s", "0x", "-3x", "1.5x", "99999999999999999999x", "2000"} {
		b := BenchTime{Ops: 7}
		if err := b.Set(text); err == nil || b.Ops != 7 {
			t.Errorf("%q is accepted: %+v", text, b)
		}
	}
	if got := (BenchTime{Ops: 3}).Of(1e6); got != 3*time.Millisecond {
		t.Errorf("3 operations of a millisecond take %v", got)
	}
}
