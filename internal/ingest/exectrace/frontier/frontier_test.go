package frontier

import (
	"math/rand/v2"
	"testing"
)

// TestOrder: whatever is added, moved and taken out, the earliest reader is first.
func TestOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var f Frontier[int]
	for n := range 2000 {
		switch what := random.IntN(4); {
		case what < 2 || len(f) == 0:
			f.Add(random.Int64N(1000), n)
		case what == 2:
			f.Moved(random.IntN(len(f)), random.Int64N(1000))
		default:
			f.Remove(random.IntN(len(f)))
		}
		for _, a := range f {
			if a.Time < f[0].Time {
				t.Fatalf("after %d steps %d is first, and %d is there", n, f[0].Time, a.Time)
			}
		}
	}
	f.Sort()
	for i := range f[1:] {
		if f[i].Time > f[i+1].Time {
			t.Fatalf("%d before %d", f[i].Time, f[i+1].Time)
		}
	}
}
