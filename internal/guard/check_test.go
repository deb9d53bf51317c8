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

// TestVersus: runs of two versions that draw their input by chance are above each other now and then.
func TestVersus(t *testing.T) {
	f := func(want bool, before, now []float64) {
		t.Helper()
		amounts := func(bytes []float64) (out []budget.Amount) {
			for _, b := range bytes {
				out = append(out, budget.Amount{Allocs: 1, Bytes: b})
			}
			return out
		}
		if _, grew := versus(amounts(before), amounts(now), 1000); grew != want {
			t.Errorf("%v, then %v: grew %v, want %v", before, now, grew, want)
		}
	}
	f(false, []float64{80}, []float64{80})
	f(true, []float64{80, 80, 80, 80}, []float64{96, 96, 96, 96})
	f(true, []float64{80}, []float64{96})
	f(false, []float64{570.1, 578.3, 574.6, 561.9}, []float64{580.5, 591.2, 585.7, 603.3})
	f(false, []float64{578.3, 578.4}, []float64{580.5, 591.2, 603.3})
	f(true, []float64{570.1, 578.3, 574.6, 561.9}, []float64{680.5, 691.2, 685.7, 703.3})
	f(false, []float64{80, 96}, []float64{96, 96})
}
