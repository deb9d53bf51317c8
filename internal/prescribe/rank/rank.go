// Package rank orders rows by what their cures save, sums up what they save together, and prints the amounts.
package rank

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// figure is what a row is ranked by and what reports show in its column: the predicted share of
// CPU; without CPU samples the bytes of an operation, or of the recording. Of a row without a
// cure it is the cost.
func figure(s *diagnose.Session, r *finding.Row) float64 {
	left := r.Remedy.Code == cures.LeaveIt
	switch saves := r.Remedy.Saves; {
	case s.Diagnosis().Totals.Samples > 0 && left:
		return r.Cost.CPU.Value
	case s.Diagnosis().Totals.Samples > 0:
		return saves.CPU.Value
	case left && r.Cost.BytesPerOp.Value > 0:
		return r.Cost.BytesPerOp.Value
	case saves.BytesPerOp.Value > 0:
		return saves.BytesPerOp.Value
	case left:
		return s.ByteShare(r.Finding)
	}
	return bytesSaved(s, r)
}

// bytesSaved is the share of all bytes that the row's cure removes.
func bytesSaved(s *diagnose.Session, r *finding.Row) float64 {
	sum := 0.0
	for _, c := range r.Cuts {
		sum += c.Bytes * s.ByteShare(c.Finding)
	}
	return sum
}

// Rows orders rows and drops those below the threshold, whose number it returns. Functions
// are in the order of what all their cures save, with their lines together, the best first;
// after them come the rows without a cure, by what they cost. It also returns what the cures
// of each function with several save together.
func Rows(s *diagnose.Session, rows []finding.Row, threshold float64) (kept []finding.Row, functions map[string]finding.Prediction, left int) {
	for i := range rows {
		r := rows[i]
		if r.Remedy.Code != cures.LeaveIt && under(r.Remedy.Saves.CPU.Value, telling(s.Diagnosis(), &r, bytesSaved(s, &r)), threshold) && figure(s, &r) < nextToNothing*r.Cost.CPU.Value {
			r = tooLittle(r)
		}
		if below(s, &r, threshold) {
			left++
			continue
		}
		kept = append(kept, r)
	}
	functions = map[string]finding.Prediction{}
	whole := map[string]float64{}
	for function, lines := range byFunction(kept) {
		whole[function] = figure(s, lines[0])
		if len(lines) > 1 {
			functions[function] = AtLeastNothing(s.Saving(cutsOf(lines)))
			whole[function] = figure(s, &finding.Row{Finding: lines[0].Finding, Remedy: finding.Remedy{Saves: functions[function]}})
		}
	}
	slices.SortStableFunc(kept, func(a, b finding.Row) int {
		at, bt := a.Site, b.Site
		leftA, leftB := a.Remedy.Code == cures.LeaveIt, b.Remedy.Code == cures.LeaveIt
		if leftA || leftB {
			return cmp.Or(compareBool(leftA, leftB), cmp.Compare(figure(s, &b), figure(s, &a)), cmp.Compare(s.ByteShare(b.Finding), s.ByteShare(a.Finding)), comparePlace(at, bt))
		}
		return cmp.Or(
			cmp.Compare(whole[bt.Function], whole[at.Function]), cmp.Compare(at.Function, bt.Function),
			cmp.Compare(figure(s, &b), figure(s, &a)), cmp.Compare(bytesSaved(s, &b), bytesSaved(s, &a)), comparePlace(at, bt),
		)
	})
	for i := range kept {
		kept[i].Rank = i + 1
	}
	return kept, functions, left
}

// nextToNothing is the part of a row's cost below which a cure does not touch what costs.
const nextToNothing = 0.1

// tooLittle leaves a row alone whose cure saves next to nothing of what it costs.
func tooLittle(r finding.Row) finding.Row {
	which := "of the catalogue"
	if len(r.Others) > 0 {
		which = "that is sure enough to name"
	}
	text := fmt.Sprintf("no cure %s saves enough: %s would take away next to nothing of it", which, r.Remedy.Code)
	r.Remedy = finding.Remedy{Code: cures.LeaveIt, Safety: "safe", Text: text, Saves: finding.Prediction{Basis: "nothing is changed"}, Life: r.Remedy.Life}
	r.Cuts = nil
	return r
}

// byFunction gathers the rows that name a cure by their function.
func byFunction(rows []finding.Row) map[string][]*finding.Row {
	out := map[string][]*finding.Row{}
	for i := range rows {
		if r := &rows[i]; r.Remedy.Code != cures.LeaveIt {
			out[r.Site.Function] = append(out[r.Site.Function], r)
		}
	}
	return out
}

func cutsOf(rows []*finding.Row) []finding.Cut {
	var cuts []finding.Cut
	for _, r := range rows {
		for _, c := range r.Cuts {
			cuts = AddCut(cuts, c)
		}
	}
	return cuts
}

func comparePlace(a, b evidence.Site) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// below reports whether a row is below the threshold, by what its line costs and by what its cure saves.
func below(s *diagnose.Session, r *finding.Row, threshold float64) bool {
	cpu := max(r.Remedy.Saves.CPU.Value, r.Cost.CPU.Value)
	return under(cpu, telling(s.Diagnosis(), r, max(bytesSaved(s, r), s.ByteShare(r.Finding))), threshold)
}

// under reports whether shares of CPU and of bytes are below the threshold.
func under(cpu, bytes, threshold float64) bool {
	return threshold >= 0 && cpu < threshold && bytes < threshold
}

// telling is a share of bytes; zero where a benchmark allocates nearly never, for there it says nothing. A service
// counts no operations that could be rare.
func telling(d *finding.Diagnosis, r *finding.Row, bytes float64) float64 {
	if d.Target.Kind == evidence.TargetPackages && r.Cost.BytesPerOp.Value > 0 && r.Cost.ObjectsPerOp.Value < RareObjects {
		return 0
	}
	return bytes
}

// Together predicts what the remedies of all rows save together. The share of CPU is not a
// sum: with less garbage there are fewer cycles, which counts once. A row without a cut
// is ignored, since its saving overlaps with that of other rows. The zero Prediction says that no finding has a cut.
func Together(s *diagnose.Session, rows []finding.Row) finding.Prediction {
	var cuts []finding.Cut
	for _, r := range rows {
		for _, c := range r.Cuts {
			cuts = AddCut(cuts, c)
		}
	}
	if len(cuts) == 0 {
		return finding.Prediction{}
	}
	return AtLeastNothing(s.Saving(cuts))
}

// AddCut adds a cut to a list that has one for each finding.
func AddCut(list []finding.Cut, c finding.Cut) []finding.Cut {
	for i := range list {
		if l := &list[i]; l.Finding == c.Finding {
			l.Added = mean(l.Added, l.Objects, c.Added, c.Objects)
			l.Objects, l.Bytes, l.Live = min(l.Objects+c.Objects, 1), min(l.Bytes+c.Bytes, 1), min(l.Live+c.Live, 1)
			return list
		}
	}
	return append(list, c)
}

// mean is that of two costs of an object, each for so many objects.
func mean(a stats.Interval, n float64, b stats.Interval, m float64) stats.Interval {
	if n+m <= 0 {
		return a
	}
	return a.Scale(n / (n + m)).Add(b.Scale(m / (n + m)))
}

// RareObjects is the number of objects an operation below which a line is not told to change:
// warm-up, set-up, a pool's first objects, a cache that fills.
const RareObjects = 0.01

// PlacedAt is the finding with the place of the change as its site, and the lines that allocate below it.
func PlacedAt(f *finding.Finding, at evidence.Site) *finding.Finding {
	if at.Line == 0 || at.File == f.Site.File && at.Line == f.Site.Line {
		return f
	}
	moved := *f
	if len(f.Allocation.Places) == 0 {
		moved.Allocation.Places = []finding.Place{{Site: f.Site, Share: 1}}
	}
	moved.Site = at
	return &moved
}

// mostIdle bounds the bytes that a line allocates in a run, as a multiple of the bytes it keeps alive, for its memory to
// count as made once.
const mostIdle = 4

// beside reports whether a line of a benchmark allocates far more in an operation than package testing counted for all
// lines together: most of them come from set-up, from code that runs while the timer is stopped, or from another goroutine.
func beside(d *finding.Diagnosis, f *finding.Finding) bool {
	const (
		most  = 2  // multiple of the counted bytes; the passes differ in their number of operations, so it is above 1
		small = 64 // bytes; package testing truncates its figure
	)
	for _, r := range d.Runs {
		if d.Target.Kind == evidence.TargetPackages && r.Name == f.Run && r.BytesPerOp > 0 {
			return f.Cost.BytesPerOp.Value > most*r.BytesPerOp+small
		}
	}
	return false
}

// Idle reports whether a line of a benchmark allocates nearly nothing in an operation, or only the smaller part of what
// it allocates; of a program, nearly nothing for a request, and next to nothing of all bytes. Where no line of the
// benchmark is known to allocate, the pass that counts allocations is missing, and nothing is known.
func Idle(d *finding.Diagnosis, f *finding.Finding) bool {
	if beside(d, f) {
		return true
	}
	if cost := f.Cost; d.Target.Kind != evidence.TargetPackages && cost.Bytes.Value > mostIdle*cost.InUse.Value {
		return false // a connection may be made for thousands of requests
	}
	run, counted, bytes := false, false, 0.0
	for _, r := range d.Runs {
		run = run || r.Name == f.Run && r.Ops > 0
	}
	for _, other := range d.Findings {
		if other.Run == f.Run {
			counted, bytes = counted || other.Cost.ObjectsPerOp.Value > 0, bytes+other.Cost.Bytes.Value
		}
	}
	if d.Target.Kind != evidence.TargetPackages && f.Cost.Bytes.Value >= finding.DefaultThreshold*bytes {
		return false // few large blocks
	}
	return run && counted && f.Cost.ObjectsPerOp.Value < RareObjects
}

// Runs reports whether one of some functions is on the stack of an allocation of a run.
func Runs(d *finding.Diagnosis, run string, functions []string) bool {
	for _, f := range d.Findings {
		for _, st := range f.Stacks {
			if f.Run == run && slices.ContainsFunc(st.Frames, func(at evidence.Frame) bool { return slices.Contains(functions, at.Function) }) {
				return true
			}
		}
	}
	return false
}
