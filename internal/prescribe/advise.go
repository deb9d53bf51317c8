package prescribe

import (
	"fmt"
	"go/version"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// roomierGOGC is the setting for which more headroom is priced. Beyond four times the
// default most programs gain little: the cost falls with the inverse of the headroom.
const roomierGOGC = 400

// advise lists remedies for the program as a whole whose saving reaches the threshold.
func advise(s *diagnose.Session) []finding.Advice {
	d := s.Diagnosis()
	var out []finding.Advice
	if w, ok := s.WithGOGC(roomierGOGC); ok && w.Saved.Value >= DefaultThreshold {
		p := proposal{
			Text: fmt.Sprintf("GOGC=%d would let the heap grow to %s instead of %s before each collection: %s cycles instead of %s",
				roomierGOGC, w.Goal, w.GoalNow, perSecond(w.CyclesShare*d.Totals.Cycles.PerSecond), perSecond(d.Totals.Cycles.PerSecond)),
			Why: fmt.Sprintf("the collector takes %.1f %% of CPU with %s live", 100*d.Totals.CollectorShare.Value, d.Totals.Heap.Live),
		}
		saves := finding.Prediction{CPU: w.Saved, Basis: "the pacer's formula with the recorded live heap and allocation rate"}
		out = append(out, finding.Advice{Remedy: gcHeadroom.remedy(p, saves), Title: gcHeadroom.Title})
	}
	if a, ok := newerGo(d); ok {
		out = append(out, a)
	}
	return out
}

func perSecond(v float64) string { return unit.FormatScaled(v) + "/s" }

// greenTea is the release whose collector is cheaper, and by how much of the
// collector's cost: the Go 1.26 release notes expect 10 to 40 % in programs that
// use the collector heavily.
const greenTea = "go1.26"

func newerGo(d *finding.Diagnosis) (finding.Advice, bool) {
	have := d.Environment.GoVersion
	if !version.IsValid(have) || version.Compare(have, greenTea) >= 0 || d.Totals.CollectorShare.Value*0.1 < DefaultThreshold {
		return finding.Advice{}, false
	}
	share := d.Totals.CollectorShare.Value
	saves := finding.Prediction{
		CPU:   stats.Interval{Value: 0.25 * share, Low: 0.1 * share, High: 0.4 * share},
		Basis: "10 to 40 % of the collector's cost by the release notes of Go 1.26; 'heaptrim prove' measures it on this program",
	}
	p := proposal{
		Text: fmt.Sprintf("build with Go 1.26 or newer instead of %s", have),
		Why:  fmt.Sprintf("the collector takes %.1f %% of CPU", 100*share),
	}
	return finding.Advice{Remedy: upgradeGo.remedy(p, saves), Title: upgradeGo.Title}, true
}
