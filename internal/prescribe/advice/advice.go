// Package advice names what helps a program as a whole, other than settings of its collector.
package advice

import (
	"fmt"
	"go/version"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Of lists what reaches the threshold of findings.
func Of(d *finding.Diagnosis) []finding.Advice {
	var out []finding.Advice
	if a, ok := newerGo(d); ok {
		out = append(out, a)
	}
	return out
}

// greenTea is the release whose collector is cheaper, and by how much of the
// collector's cost: the Go 1.26 release notes expect 10 to 40 % in programs that
// use the collector heavily.
const greenTea = "go1.26"

func newerGo(d *finding.Diagnosis) (finding.Advice, bool) {
	have := d.Environment.GoVersion
	if !version.IsValid(have) || version.Compare(have, greenTea) >= 0 || d.Totals.CollectorShare.Value*0.1 < finding.DefaultThreshold {
		return finding.Advice{}, false
	}
	share := d.Totals.CollectorShare.Value
	saves := finding.Prediction{
		CPU:   stats.Interval{Value: 0.25 * share, Low: 0.1 * share, High: 0.4 * share},
		Basis: "10 to 40 % of the collector's cost by the release notes of Go 1.26; 'heaptrim prove' measures it on this program",
	}
	c, _ := cures.Find(cures.UpgradeGo)
	return finding.Advice{Title: c.Title, Remedy: finding.Remedy{Code: c.Code, Safety: string(c.Safety), Saves: saves,
		Text: fmt.Sprintf("build with Go 1.26 or newer instead of %s", have), Why: fmt.Sprintf("the collector takes %.1f %% of CPU", 100*share)}}, true
}
