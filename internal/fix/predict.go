package fix

import (
	"math"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// How much of the amount that is foreseen an edit brings that does what its cure promises: as in the
// predictions of a report.
const (
	leastBrought = 0.8
	mostBrought  = 1.25
)

// predict says what an edit is expected to save: by its own cure, which may be another than the
// one that the report names for the finding.
func predict(r *finding.Report, row finding.Row, e code.Edit) finding.Prediction {
	named := row.Remedy.Saves
	var p finding.Prediction
	switch {
	case rebuilt(row.Finding, e):
		p = ofBuffer(r, row.Finding)
	case row.Remedy.Code == e.Code && named.ObjectsPerOp.Value > 0:
		return named
	default:
		p = ofLine(row.Finding, e)
	}
	for _, run := range r.Diagnosis.Runs {
		if run.Name == row.Run && run.Ops > 0 { // no more can be saved than there is
			p.ObjectsPerOp.High = max(p.ObjectsPerOp.Value, min(p.ObjectsPerOp.High, run.AllocsPerOp))
			p.BytesPerOp.High = max(p.BytesPerOp.Value, min(p.BytesPerOp.High, run.BytesPerOp))
		}
	}
	return p
}

// removing are the cures after which a line allocates nothing, or nothing for each operation.
func removing() []string {
	return []string{"keep-on-stack", "hoist-closure", "cache-compiled", "reuse-buffer", "pool-buffer", "pool-object", "skip-work"}
}

// ofLine is what the line of an edit allocates: all of it, if its cure leaves nothing, and at most that
// otherwise.
func ofLine(f *finding.Finding, e code.Edit) finding.Prediction {
	share := 1.0
	for _, at := range f.Allocation.Places {
		if at.Site.Line == e.Line && strings.HasSuffix(e.File, at.Site.File) {
			share = at.Share
		}
	}
	least := leastBrought
	if !slices.Contains(removing(), e.Code) || share < 1 {
		least = 0
	}
	scaled := func(v stats.Interval) stats.Interval {
		return stats.Interval{Value: v.Value * share, Low: v.Low * share * least, High: v.High * share * mostBrought}
	}
	p := finding.Prediction{ObjectsPerOp: scaled(f.Cost.ObjectsPerOp), BytesPerOp: scaled(f.Cost.BytesPerOp)}
	tiny(f, &p)
	return p
}

// tinyBlock is the size of the blocks that hold several small objects without pointers.
const tinyBlock = 16

// tiny widens a prediction for objects that share their blocks with others: how many were in each is an estimate, and
// what a block costs is charged to the one that begins it.
func tiny(f *finding.Finding, p *finding.Prediction) {
	blocks, small := 0.0, 0.0
	for _, s := range f.Allocation.Sizes {
		blocks += s.Objects
		if s.Size == tinyBlock {
			small += s.Objects
		}
	}
	objects := f.Cost.Objects.Value
	if f.Allocation.Pointers == finding.Yes || small < blocks/2 || objects <= blocks || blocks == 0 {
		return
	}
	p.ObjectsPerOp.Low *= blocks / objects
	p.BytesPerOp.Low = 0
	p.BytesPerOp.High = max(p.BytesPerOp.High, p.ObjectsPerOp.High*tinyBlock)
}

// buffer begins the methods of a bytes.Buffer.
const buffer = "bytes.(*Buffer)."

// rebuilt reports whether an edit changes what makes a string at the line of a finding, and not the line
// alone: a bytes.Buffer whose content is copied.
func rebuilt(f *finding.Finding, e code.Edit) bool {
	return e.Code == "avoid-conversion" && len(e.Changes) > 1 && slices.ContainsFunc(f.Allocation.Mix, func(m finding.Mix) bool { return m.Via == buffer+"String" })
}

// ofBuffer is what a string costs less that is built in place: the memory of the buffer, which is larger
// than what it holds. How often the memory grows until then nobody knows.
func ofBuffer(r *finding.Report, f *finding.Finding) finding.Prediction {
	var p finding.Prediction
	objects, bytes := 0.0, 0.0
	for i := range r.Diagnosis.Findings {
		other := &r.Diagnosis.Findings[i]
		if other.Run != f.Run || other.Site.Function != f.Site.Function {
			continue
		}
		for _, m := range other.Allocation.Mix {
			n, b := m.Objects*other.Cost.ObjectsPerOp.Value, m.Bytes*other.Cost.BytesPerOp.Value
			switch {
			case m.Via == buffer+"String":
				p.ObjectsPerOp.Value += n
				p.BytesPerOp.Value = max(p.BytesPerOp.Value, b)
				objects += n
			case strings.HasPrefix(m.Via, buffer):
				objects += n
				bytes += b
			}
		}
	}
	p.BytesPerOp.Value = max(p.BytesPerOp.Value, bytes)
	p.ObjectsPerOp.High = objects * mostBrought
	p.BytesPerOp.Low, p.BytesPerOp.High = p.BytesPerOp.Value*leastBrought, p.BytesPerOp.Value*mostBrought
	p.ObjectsPerOp.Value = math.Min(p.ObjectsPerOp.Value, p.ObjectsPerOp.High)
	return p
}
