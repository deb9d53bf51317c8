package rank

import (
	"fmt"
	"math"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// How much of a predicted amount a change brings that is of the right kind: the middle four fifths of
// the cases of lab/truth, where a count is at stake. What stays of a call's own memory makes it
// less, what the change makes needless elsewhere makes it more.
const (
	leastRealised = 0.8
	mostRealised  = 1.25
)

// Realised gives the amounts of a prediction for a run the interval that changes of its kind have had. An operation cannot
// save more than it allocates.
func Realised(runs []finding.RunSummary, run string, p finding.Prediction) finding.Prediction {
	allocs, bytes := math.Inf(1), math.Inf(1)
	for _, r := range runs {
		if r.Name == run && r.Ops > 0 {
			allocs, bytes = r.AllocsPerOp, r.BytesPerOp
		}
	}
	p.ObjectsPerOp, p.BytesPerOp = around(p.ObjectsPerOp, allocs), around(p.BytesPerOp, bytes)
	return p
}

func around(v stats.Interval, most float64) stats.Interval {
	high := max(v.Value, min(v.High*mostRealised, most))
	return stats.Interval{Value: v.Value, Low: v.Low * leastRealised, High: high}
}

// Amount is a part of what a row allocates, in words: shares of its objects and of its bytes.
func Amount(cost finding.Cost, objects, bytes float64) string {
	if cost.ObjectsPerOp.Value <= 0 {
		return fmt.Sprintf("%s in the recording", unit.Bytes(math.Round(cost.Bytes.Value*bytes)))
	}
	return fmt.Sprintf("%s and %s an operation", count(cost.ObjectsPerOp.Value*objects), unit.Bytes(math.Round(cost.BytesPerOp.Value*bytes)))
}

// count prints how many objects there are: 1 object, 2.5 objects.
func count(v float64) string {
	n := unit.FormatCount(v)
	if n == "1" {
		return n + " object"
	}
	return n + " objects"
}
