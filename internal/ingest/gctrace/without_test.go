package gctrace

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/unit"
)

func TestWithout(t *testing.T) {
	f := func(name string, own, live, goal, end, wantLive, wantGoal, wantEnd unit.Bytes) {
		t.Helper()
		c := evidence.Cycle{HeapLive: live << 20, Goal: goal << 20, HeapStart: end << 20, HeapEnd: end << 20}
		Without(&c, own<<20)
		if c.HeapLive != wantLive<<20 || c.Goal != wantGoal<<20 || c.HeapEnd != wantEnd<<20 || c.HeapStart != c.HeapEnd {
			t.Errorf("%s: %+v, want %d live, goal %d, end %d MiB", name, c, wantLive, wantGoal, wantEnd)
		}
	}
	f("GOGC=100", 2, 20, 40, 42, 18, 36, 38)
	f("GOGC=300", 2, 10, 40, 40, 8, 32, 32)
	f("minimum heap", 2, 3, 4, 5, 1, 4, 5)
	f("down to the minimum", 2, 3, 6, 6, 1, 4, 2)
	f("more than is live", 5, 3, 8, 8, 0, 4, 3)
	f("nothing", 0, 3, 8, 9, 3, 8, 9)
}
