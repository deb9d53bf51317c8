package rank

import (
	"fmt"
	"math"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// How much of a predicted amount a change brings that is of the right kind, where the line is all that its function allocates:
// the middle four fifths of the cases of lab/truth, where a count is at stake. What stays of a call's own memory makes it
// less, what the change makes needless elsewhere makes it more.
const (
	leastRealised = 0.8
	mostRealised  = 1.25
)

// Realised gives the amounts of a prediction for a finding the interval that changes of its kind have had. Who changes a
// function often spares what else it allocates, too, so that this is in it; an operation cannot save more than it allocates.
func Realised(d *finding.Diagnosis, of *finding.Finding, p finding.Prediction) finding.Prediction {
	whole := amounts{math.Inf(1), math.Inf(1)}
	for _, r := range d.Runs {
		if r.Name == of.Run && r.Ops > 0 {
			whole = amounts{r.AllocsPerOp, r.BytesPerOp}
		}
	}
	p = AtLeastNothing(p)
	function := allocates(d, of.Site.Function, of.Run)
	p.ObjectsPerOp = around(p.ObjectsPerOp, function.objects, whole.objects)
	p.BytesPerOp = around(p.BytesPerOp, function.bytes, whole.bytes)
	return p
}

// AtLeastNothing is the prediction of cures that may be left alone: they never save less than nothing.
func AtLeastNothing(p finding.Prediction) finding.Prediction {
	p.CPU = p.CPU.Clip(0, 1)
	p.Caches = p.Caches.Clip(0, p.CPU.Value)
	return p
}

// amounts are those of an operation.
type amounts struct{ objects, bytes float64 }

// allocates is what the lines of a function allocate in a run.
func allocates(d *finding.Diagnosis, function, run string) (sum amounts) {
	for _, f := range d.Findings {
		if f.Site.Function != function {
			continue
		}
		for _, r := range append([]finding.RunCost{{Run: f.Run, Cost: f.Cost}}, f.ByRun...) {
			if r.Run == run {
				sum.objects, sum.bytes = sum.objects+r.Cost.ObjectsPerOp.Value, sum.bytes+r.Cost.BytesPerOp.Value
				break
			}
		}
	}
	return sum
}

func around(v stats.Interval, function, whole float64) stats.Interval {
	high := max(v.Value, min(max(v.High*mostRealised, function), whole))
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
