package count

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
)

// TestRefilled: a tolerance reaches what a run with empty pools allocates, from the run that found them full.
func TestRefilled(t *testing.T) {
	f := func(want string, more budget.Amount, runs ...budget.Amount) {
		t.Helper()
		fig := FigureOf(runs)
		fig.Ops = 10
		l := budget.Line{Subject: budget.Subject{Package: ".", Name: "B"}, Figure: refilled(fig, runs, more)}
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
