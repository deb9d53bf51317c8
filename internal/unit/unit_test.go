package unit_test

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/unit"
)

func TestFormatBytes(t *testing.T) {
	f := func(in float64, want string) {
		t.Helper()
		if got := unit.FormatBytes(in); got != want {
			t.Errorf("FormatBytes(%v) = %q, want %q", in, got, want)
		}
	}
	f(0, "0 B")
	f(512, "512 B")
	f(1536, "1.5 KiB")
	f(23<<20, "23 MiB")
	f(-2048, "-2 KiB")
	f(0.25, "0.250 B")
	f(1<<41, "2 TiB")
}

func TestParseBytes(t *testing.T) {
	f := func(in string, want unit.Bytes, ok bool) {
		t.Helper()
		got, err := unit.ParseBytes(in)
		if got != want || (err == nil) != ok {
			t.Errorf("ParseBytes(%q) = %v, %v, want %v, ok %v", in, got, err, want, ok)
		}
	}
	f("4KiB", 4096, true)
	f("1.5 GiB", 3<<29, true)
	f("10MB", 10_000_000, true)
	f("77", 77, true)
	f("-1", 0, false)
	f("12 parsecs", 0, false)
	f("", 0, false)
	f("1e400GiB", 0, false)
}
