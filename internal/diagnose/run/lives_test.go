package run

import (
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestLives: of cycles of two lengths in turn, a short one after which much is live, the
// samples hit mostly the long ones. The median is that of all cycles all the same.
func TestLives(t *testing.T) {
	const short, long, every = 2 * time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond
	type span struct{ at, length time.Duration }
	var l CollectorLog
	var all []float64
	var spans []span
	at := time.Duration(0)
	for n := range 900 {
		live, length := 100.0, long
		if n%3 > 0 {
			live, length = 300, short
		}
		all, spans = append(all, live), append(spans, span{at, length})
		l.Cycles = append(l.Cycles, evidence.Cycle{N: n + 1, At: at})
		at += length
	}
	i := 0
	for now := time.Duration(0); now < at; now += every + 7*time.Microsecond {
		for spans[i].at+spans[i].length <= now {
			i++
		}
		l.Metrics = append(l.Metrics, evidence.Metrics{At: now, Values: map[string]float64{
			"/gc/cycles/total:gc-cycles": float64(i + 1), "/gc/heap/live:bytes": all[i], "/gc/heap/goal:bytes": 2 * all[i],
		}})
	}
	live, goals := l.Lives()
	if got, want := stats.MedianOf(live), stats.MedianOf(all); got != want {
		t.Errorf("%v live in the median of %d, want %v", got, len(live), want)
	}
	if got := stats.MedianOf(goals); got != 600 {
		t.Errorf("goal %v, want 600", got)
	}
}
