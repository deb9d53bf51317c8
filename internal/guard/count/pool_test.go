package count

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
)

// TestRefilled: a tolerance reaches what a run with empty pools allocates, from the run that found them full.
func TestRefilled(t *testing.T) {
	f := func(want string, more budget.Amount, runs ...budget.Amount) {
		t.Helper()
		l := budget.Line{Subject: budget.Subject{Package: ".", Name: "B"}, Figure: refilled(FigureOf(runs, 10), runs, more)}
		if got := l.String(); got != ". B "+want+" N=10" {
			t.Errorf("%v, %v more: %q, want %q", runs, more, got, want)
		}
	}
	full, once := budget.Amount{Allocs: 480, Bytes: 420000}, budget.Amount{Allocs: 481.4, Bytes: 432800}
	f("480 allocs/op 420000 B/op", budget.Amount{}, full, full)
	f("480 allocs/op 420000 B/op", budget.Amount{Allocs: 4, Bytes: 64}, full, full) // as few as may be of any run
	f("480±2.8 allocs/op 420000±26000 B/op", budget.Amount{Allocs: 28, Bytes: 256000}, full, full)
	f("481.4±1.4 allocs/op 432800±13000 B/op", budget.Amount{Allocs: 28, Bytes: 256000}, full, once, once)
	f("481.4±1.4 allocs/op 432800±13000 B/op", budget.Amount{Allocs: 14, Bytes: 128000}, full, once, once)
}

// TestFigureOf: runs that differ by no more than a thread that the runtime starts need no tolerance.
func TestFigureOf(t *testing.T) {
	f := func(ops int64, want string, runs ...budget.Amount) {
		t.Helper()
		l := budget.Line{Subject: budget.Subject{Package: ".", Name: "B"}, Figure: FigureOf(runs, ops)}
		if got := l.String(); got != ". B "+want {
			t.Errorf("%v: %q, want %q", runs, got, want)
		}
	}
	f(1000, "5 allocs/op 80 B/op N=1000", budget.Amount{Allocs: 5, Bytes: 80}, budget.Amount{Allocs: 5, Bytes: 80})
	f(1000, "0 allocs/op 0 B/op N=1000", budget.Amount{}, budget.Amount{}, budget.Amount{Allocs: 0.007, Bytes: 6.1})
	f(1000, "0±0.018 allocs/op 0±13 B/op N=1000", budget.Amount{}, budget.Amount{}, budget.Amount{Allocs: 0.009, Bytes: 6.1})
	f(2, "0±7 allocs/op 0±6100 B/op N=2", budget.Amount{}, budget.Amount{}, budget.Amount{Allocs: 3.5, Bytes: 3050})
	f(1000, "1±0.6 allocs/op 570±800 B/op N=1000", budget.Amount{Allocs: 1, Bytes: 570}, budget.Amount{Allocs: 0.9, Bytes: 270}, budget.Amount{Allocs: 1.25, Bytes: 820})
}
