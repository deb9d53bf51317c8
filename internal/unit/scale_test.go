package unit_test

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/unit"
)

func TestFormatNanoseconds(t *testing.T) {
	f := func(in float64, want string) {
		t.Helper()
		if got := unit.FormatNanoseconds(in); got != want {
			t.Errorf("FormatNanoseconds(%v) = %q, want %q", in, got, want)
		}
	}
	f(0, "0 ns")
	f(0.31, "0.310 ns")
	f(46_000, "46 µs")
	f(1_240_000, "1.2 ms")
	f(-3.4e9, "-3.4 s")
	f(7200e9, "7200 s")
}

func TestFormatScaled(t *testing.T) {
	f := func(in float64, want string) {
		t.Helper()
		if got := unit.FormatScaled(in); got != want {
			t.Errorf("FormatScaled(%v) = %q, want %q", in, got, want)
		}
	}
	f(0, "0")
	f(12.5, "12.5")
	f(9800, "9800")
	f(48_000, "48 k")
	f(1_234_567, "1.2 M")
	f(-2e10, "-20 G")
}
