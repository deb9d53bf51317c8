package guard

import (
	"errors"
	"testing"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
)

// TestExtremes: a benchmark grew, or shrank, if all of its runs did.
func TestExtremes(t *testing.T) {
	figure := budget.Figure{Amount: budget.Amount{Allocs: 24, Bytes: 928}, Ops: 1000}
	f := func(want Status, bytes ...float64) {
		t.Helper()
		var e extremes
		for i, b := range bytes {
			a := budget.Amount{Allocs: 24, Bytes: b}
			if i == 0 {
				e = extremesOf(a)
			}
			e = e.with(a)
		}
		if got := e.against(figure); got != want {
			t.Errorf("runs of %v bytes: %v, want %v", bytes, got, want)
		}
	}
	f(Within, 928)
	f(Grew, 936)
	f(Grew, 936, 944)
	f(Within, 936, 928)
	f(Within, 936, 920)
	f(Shrank, 920)
	f(Shrank, 920, 912)
	f(Within, 920, 928)
}

// TestFirstLines: of a failed build, the first line that tells the cause is shown.
func TestFirstLines(t *testing.T) {
	err := errors.New("example.com/m does not build: go test failed:\n# example.com/m\n./m.go:3:1: syntax error")
	const want = "example.com/m does not build: go test failed: ./m.go:3:1: syntax error"
	if got := firstLines(err); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
