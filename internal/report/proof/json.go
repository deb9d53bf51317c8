package proof

import (
	"io"
	"maps"
	"math"

	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// JSON writes a comparison as JSON in the schema [ProveSchema].
func JSON(w io.Writer, r *prove.Result, m schema.Meta) error {
	return schema.Write(w, newProveDocument(r, m))
}

func newProveDocument(r *prove.Result, m schema.Meta) schema.Prove {
	doc := schema.Prove{
		Schema: schema.ProveVersion, Tool: m.Tool,
		Verdict: newProveVerdict(r.Verdict), A: newProveSide(
			sides.Info{},
		), B: newProveSide(sides.Info{}), Sides: []schema.ProveNamed{},
		Target: schema.ProveTarget{
			Kind: r.Target.Kind, Args: schema.List(r.Target.Args), Bench: r.Target.Bench, Load: r.Target.Load,
			BuildFlags: schema.List(r.Target.Flags), RunTimeNS: int64(r.Target.RunTime),
		},
		Rules: schema.ProveRules{
			Alpha: r.Rules.Alpha, MinEffect: r.Rules.MinEffect, Precision: r.Rules.Precision,
			MaxPairs: r.Rules.MaxPairs,
			Gate:     schema.List(r.Rules.Gate),
		},
		Seed: r.Seed, MeasuredNS: int64(r.Measured), ClearAfter: schema.Positive(float64(r.ClearAfter)), Partial: r.Partial,
		Environment: schema.NewEnvironment(r.Environment),
		Comparisons: []schema.ProveComparison{}, LeftOut: schema.List(r.LeftOut), Warnings: schema.List(r.Warnings),
	}
	if !m.Created.IsZero() {
		created := m.Created.UTC()
		doc.Created = &created
	}
	for i, s := range r.Sides {
		named := schema.ProveNamed{Name: prove.Letter(i), Side: newProveSide(s)}
		switch i {
		case 0:
			doc.A = named.Side
		case 1:
			doc.B = named.Side
		}
		if i > 0 && i <= len(r.BySide) {
			v := newProveVerdict(r.BySide[i-1])
			named.Verdict = &v
		}
		doc.Sides = append(doc.Sides, named)
	}
	for _, c := range r.Comparisons {
		doc.Comparisons = append(doc.Comparisons, newProveComparison(c))
	}
	return doc
}

func newProveVerdict(v prove.Verdict) schema.ProveVerdict {
	out := schema.ProveVerdict{Outcome: string(v.Outcome), Sentence: v.Sentence, Counts: map[string]int{}}
	for o, n := range v.Counts {
		out.Counts[string(o)] = n
	}
	return out
}

func newProveSide(s sides.Info) schema.ProveSide {
	out := schema.ProveSide{
		Spec: s.Spec, Commit: s.Commit, Dirty: s.Dirty, Version: s.Version, GoVersion: s.GoVersion,
		Env: schema.List(s.Env), Binaries: []schema.ProveBinary{},
	}
	for _, b := range s.Binaries {
		out.Binaries = append(out.Binaries, schema.ProveBinary(b))
	}
	return out
}

func newProveComparison(c prove.Comparison) schema.ProveComparison {
	out := schema.ProveComparison{
		Name: c.Name, Package: c.Package, Side: prove.Letter(max(c.Side, 1)), Outcome: string(c.Outcome),
		Iterations: schema.Positive(float64(c.Iterations)), Pairs: c.Pairs,
		PausesA: newProvePauses(c.Pauses[0]), PausesB: newProvePauses(c.Pauses[1]),
		Changes: []schema.ProveChange{}, Differs: schema.List(c.Differs), FailedA: c.Failed[0], FailedB: c.Failed[1],
		Warnings: schema.List(c.Warnings), Runs: []schema.ProveRun{},
	}
	for _, ch := range c.Changes {
		out.Changes = append(out.Changes, schema.ProveChange{
			Unit: ch.Unit, Label: ch.Label, Sense: ch.Sense, Judged: ch.Judged, Outcome: string(ch.Outcome),
			A: newRange(ch.A), B: newRange(ch.B), RunsA: ch.Runs.A, RunsB: ch.Runs.B, Change: newRange(ch.Delta),
			Exact: ch.Exact, Apart: ch.Separated, P: known0(ch.Tests.P), Adjusted: known0(ch.Tests.AdjustedP),
			Rank:     known0(ch.Tests.RankSumP),
			Warnings: schema.List(ch.Warnings),
		})
	}
	for _, r := range c.Runs {
		values := maps.Clone(r.Values)
		maps.DeleteFunc(values, func(_ string, v float64) bool { return !schema.Finite(v) })
		out.Runs = append(
			out.Runs,
			schema.ProveRun{
				Side: prove.Letter(r.Side * max(c.Side,
					1)), Pair: r.Pair, Collector: r.Collector, WallNS: int64(r.Wall),
				Values: values,
			},
		)
	}
	return out
}

func newProvePauses(p prove.Pauses) *schema.ProvePauses {
	if p.Count == 0 {
		return nil
	}
	return &schema.ProvePauses{Count: p.Count, P50NS: p.P50, P99NS: p.P99, MaxNS: p.Max}
}

func newRange(i stats.Interval) *schema.OpenInterval {
	if math.IsNaN(i.Value) || math.IsInf(i.Value, 0) {
		return nil
	}
	return &schema.OpenInterval{Value: i.Value, Low: known0(i.Low), High: known0(i.High)}
}

// known0 is a number in which 0 is a measured zero.
func known0(v float64) *float64 { return schema.Number(v, true) }
