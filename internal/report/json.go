package report

import (
	"io"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/trace"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// JSON writes a report as one JSON document of [Schema], indented, with a
// newline at its end. Numbers that are not finite are written as null.
func JSON(w io.Writer, rep *finding.Report, m schema.Meta) error {
	return schema.Write(w, Document(rep, m))
}

// Document is the JSON document of a report.
func Document(rep *finding.Report, m schema.Meta) *schema.Report {
	k := knownOf(rep)
	doc := &schema.Report{
		Schema: schema.ReportVersion, Tool: m.Tool,
		Target: newTarget(rep.Diagnosis.Target), Environment: schema.NewEnvironment(
			rep.Diagnosis.Environment,
		), Totals: newTotals(rep.Diagnosis.Totals, k),
		Decomposition: []schema.Bucket{}, Groups: []schema.Group{}, Findings: []schema.Finding{}, Functions: []schema.Function{}, Excluded: []schema.Finding{},
		Advice: []schema.Advice{}, Detections: schema.Rows(
			rep.Detections, newDetection,
		), Latency: trace.Section(rep.Trace), Vet: []schema.RuleHit{}, Runs: []schema.RunSummary{},
		Gaps:     []schema.Gap{},
		Warnings: schema.List(rep.Warnings),
	}
	if !m.Created.IsZero() {
		at := m.Created.UTC()
		doc.Created = &at
	}
	for _, b := range rep.Diagnosis.Decomposition {
		doc.Decomposition = append(
			doc.Decomposition,
			schema.Bucket{Name: b.Name, Group: b.Group, CPUShare: schema.NewInterval(b.Share, true), Memory: b.Memory,
				Charged: b.Charged},
		)
	}
	for _, g := range rep.Diagnosis.Groups {
		doc.Groups = append(doc.Groups, schema.Group{Name: g.Name, CPUShare: schema.NewInterval(g.Share, true),
			Memory: g.Memory})
	}
	for i, f := range rep.Prescription.Rows {
		f.Rank = rankOf(rep, i)
		doc.Findings = append(doc.Findings, newFinding(f, k))
	}
	for i := range rep.Diagnosis.Excluded {
		doc.Excluded = append(doc.Excluded, newFinding(finding.Unranked(&rep.Diagnosis.Excluded[i]), k))
	}
	for _, e := range entries(rep.Prescription.Rows, rep.Prescription.Functions) {
		if e.lines > 0 {
			doc.Functions = append(doc.Functions, functionOf(e))
		}
	}
	addCures(doc, rep, k)
	for _, r := range rep.Diagnosis.Runs {
		doc.Runs = append(doc.Runs, newRun(rep, r))
	}
	for _, x := range rep.Diagnosis.Gaps {
		doc.Gaps = append(doc.Gaps, schema.Gap{What: x.What, Adds: x.Adds})
	}
	return doc
}

// functionOf is a function with several rows.
func functionOf(e entry) schema.Function {
	out := schema.Function{Function: e.row.Site.Function, Prediction: newPrediction(e.row.Remedy.Saves)}
	for i := range e.lines {
		out.Ranks = append(out.Ranks, e.row.Rank+i)
	}
	return out
}

// addCures adds the fields on all cures.
func addCures(doc *schema.Report, rep *finding.Report, k known) {
	p := rep.Prescription
	doc.Threshold, doc.Below = schema.Positive(p.Threshold), p.Below
	doc.Together = newPrediction(p.Together)
	_, _, doc.TogetherOf = counted(p.Rows)
	for _, a := range rep.Advice {
		doc.Advice = append(
			doc.Advice,
			schema.Advice{Remedy: newRemedy(a.Remedy), Title: a.Title, Prediction: newPrediction(a.Remedy.Saves)},
		)
	}
	for _, h := range rep.Rules {
		s := h.Cost.Site
		doc.Vet = append(doc.Vet, schema.RuleHit{
			Code: h.Code, Message: h.Message, Site: schema.Site{
				Function: s.Function, File: s.File, Line: s.Line, Package: s.Package,
			}, Run: h.Cost.Run,
			CPUShare: schema.NewInterval(h.Cost.CPU, k.cpu), BytesShare: schema.Number(h.Cost.BytesShare, k.allocated),
		})
	}
}

func newVerified(t *finding.Trial) *schema.Verified {
	if t == nil {
		return nil
	}
	return &schema.Verified{Text: t.Text, Question: t.Question, Benchmark: t.Bench, Tested: t.Tested, Before: schema.FixAmounts(t.Before),
		After: schema.FixAmounts(t.After)}
}

func newRemedy(r finding.Remedy) schema.Remedy {
	return schema.Remedy{Code: r.Code, Safety: r.Safety, Text: r.Text, Why: r.Why, Rule: r.Rule, Fit: schema.Positive(r.Fit)}
}

func newPrediction(p finding.Prediction) schema.Prediction {
	i := schema.PredictionIntervals{
		BytesPerOp: schema.NewInterval(p.BytesPerOp, false), ObjectsPerOp: schema.NewInterval(p.ObjectsPerOp, false),
	}
	return schema.Prediction{
		CPUShare: schema.NewInterval(p.CPU, false), CachesShare: schema.NewInterval(p.Caches, false),
		CyclesShare: schema.NewInterval(p.Cycles, false), BytesPerOp: i.BytesPerOp.Known(),
		ObjectsPerOp: i.ObjectsPerOp.Known(), Intervals: i, Basis: p.Basis,
	}
}

func newTarget(t evidence.Target) schema.Target {
	return schema.Target{
		Kind: t.Kind, Args: schema.List(t.Args), Module: t.Module, ModuleDir: t.ModuleDir,
		Workspace: schema.List(t.Workspace), Packages: schema.List(t.Packages), BuildFlags: schema.List(t.BuildFlags),
		Command: schema.List(t.Command),
	}
}

func newTotals(t finding.Totals, k known) schema.Totals {
	return schema.Totals{
		Run: t.Run, CPUSeconds: schema.Positive(t.CPUSeconds), Samples: schema.Positive(float64(t.Samples)),
		MemoryShare: schema.NewInterval(t.MemoryShare, k.cpu), CollectorShare: schema.NewInterval(t.CollectorShare,
			k.cpu),
		IdleMarkShare: schema.NewInterval(
			t.IdleMarkShare, k.cpu,
		), Sites: schema.NewInterval(t.Sites, k.churn), Remainder: schema.NewInterval(t.Remainder, k.churn),
		Cycles: schema.Positive(float64(t.Cycles.Automatic)), ForcedCycles: schema.Number(
			float64(t.Cycles.Forced), t.Cycles.Automatic > 0,
		), CyclesPerS: schema.Positive(t.Cycles.PerSecond), GctraceShare: schema.Positive(t.Cycles.TraceShare),
		LiveHeapBytes: schema.Positive(
			float64(t.Heap.Live),
		), HeapGoalBytes: schema.Positive(
			float64(t.Heap.Goal),
		), NoHeapGoal: t.Heap.NoGoal, PeakHeapBytes: schema.Positive(float64(t.Heap.Peak)),
		ResidentBytes: schema.Positive(float64(t.Heap.Resident)), RecorderLive: schema.Positive(float64(t.Heap.OwnLive)),
		RecorderResident: schema.Positive(float64(t.Heap.OwnResident)),
		PauseP50NS:       schema.Positive(float64(t.Pauses.P50)), PauseMaxNS: schema.Positive(float64(t.Pauses.Max)),
		PauseTotalNS: schema.Number(float64(t.Pauses.Total), t.Pauses.Total > 0 && t.Pauses.Unseen == 0),
		BytesPerS:    schema.Positive(t.BytesPerSecond), Why: t.Why, RetentionBasis: t.Retention.Text,
	}
}

func newFinding(f finding.Row, k known) schema.Finding {
	out := schema.Finding{
		Rank: f.Rank, Code: codeOf(f), Title: f.Title, Site: schema.Site{
			Function: f.Site.Function, File: f.Site.File, Line: f.Site.Line, Package: f.Site.Package,
		},
		Run: f.Run, Via: f.Allocation.Via, Kind: string(f.Allocation.Kind), Pointers: yesNo(f.Allocation.Pointers),
		Stack: []schema.Frame{}, Stacks: []schema.Stack{}, Cost: newCost(f.Cost, k.in(f.Run, f.Cost)), ByRun: []schema.RunCost{},
		Lifetime: schema.Lifetime{
			Class: string(f.Lifetime.Class), MeanNS: schema.Positive(float64(f.Lifetime.Mean)), Basis: f.Lifetime.Basis,
		},
		Life: schema.Life{
			End: lifeEnds[f.Remedy.Life.End], Function: f.Remedy.Life.Function, Holder: f.Remedy.Life.Holder, Unseen: f.Remedy.Life.Unknown,
		},
		Escape: newEscape(f.Escape), Remedy: newRemedy(f.Remedy), Verified: newVerified(f.Remedy.Trial), Prediction: newPrediction(f.Remedy.Saves),
		Mix: []schema.Mix{}, Sizes: []schema.SizeCount{}, Others: []schema.OtherRemedy{},
	}
	for _, m := range f.Allocation.Mix {
		out.Mix = append(
			out.Mix,
			schema.Mix{
				Kind: string(m.Kind), Via: m.Via, Objects: schema.Number(m.Objects, true),
				Bytes: schema.Number(m.Bytes, true),
			},
		)
	}
	for _, s := range f.Allocation.Sizes {
		out.Sizes = append(out.Sizes, schema.SizeCount{Bytes: int64(s.Size), Objects: schema.Number(s.Objects, true)})
	}
	out.Callers = schema.Rows(f.Allocation.Callers, func(c finding.Caller) schema.Caller {
		return schema.Caller{Function: c.Site.Function, File: c.Site.File, Line: c.Site.Line, Share: schema.Positive(c.Share)}
	})
	out.Places = schema.Rows(f.Allocation.Places, func(p finding.Place) schema.Caller {
		return schema.Caller{Function: p.Site.Function, File: p.Site.File, Line: p.Site.Line, Share: schema.Positive(p.Share)}
	})
	if f.Removal != nil {
		removal := newPrediction(*f.Removal)
		out.Removal = &removal
	}
	for _, r := range f.Others {
		out.Others = append(out.Others, schema.OtherRemedy{Remedy: newRemedy(r), Prediction: newPrediction(r.Saves)})
	}
	if out.Remedy.Code == "" {
		out.Remedy.Code = out.Code
	}
	if out.Lifetime.Class == "" {
		out.Lifetime.Class = string(finding.LifetimeUnknown)
	}
	for i, s := range f.Stacks {
		if i == 0 {
			out.Stack, out.StackShare = newFrames(s.Frames), schema.Positive(s.Share)
			continue
		}
		out.Stacks = append(out.Stacks, schema.Stack{Share: schema.Positive(s.Share), Frames: newFrames(s.Frames)})
	}
	for _, r := range f.ByRun {
		out.ByRun = append(out.ByRun, schema.RunCost{Run: r.Run, Cost: newCost(r.Cost, k.in(r.Run, r.Cost))})
	}
	return out
}

func newFrames(frames []evidence.Frame) []schema.Frame {
	out := make([]schema.Frame, 0, len(frames))
	for _, f := range frames {
		out = append(out, schema.Frame{Function: f.Function, File: f.File, Line: f.Line})
	}
	return out
}

func newCost(c finding.Cost, k known) schema.Cost {
	parts := !undivided(c)
	i := schema.CostIntervals{
		Malloc: schema.NewInterval(c.Malloc, k.cpu && parts), Zeroing: schema.NewInterval(c.Zeroing, k.cpu &&
			parts), GrowCopy: schema.NewInterval(c.GrowCopy, k.cpu && parts),
		Assist: schema.NewInterval(c.Assist, k.cpu && parts), Churn: schema.NewInterval(c.Churn, k.churn &&
			parts), Retention: schema.NewInterval(c.Retention, k.retention && parts),
		BytesPerOp: schema.NewInterval(c.BytesPerOp, false), ObjectsPerOp: schema.NewInterval(c.ObjectsPerOp, false),
		BytesPerS: schema.NewInterval(c.BytesPerSecond, false), ObjectsPerS: schema.NewInterval(c.ObjectsPerSecond,
			false),
		InUseBytes: schema.NewInterval(c.InUse, k.inUse),
	}
	return schema.Cost{
		CPUShare: schema.NewInterval(c.Share(), k.cpu), Intervals: i,
		Malloc: i.Malloc.Known(), Zeroing: i.Zeroing.Known(), GrowCopy: i.GrowCopy.Known(), Assist: i.Assist.Known(),
		Churn: i.Churn.Known(), Retention: i.Retention.Known(),
		BytesPerOp: i.BytesPerOp.Known(), ObjectsPerOp: i.ObjectsPerOp.Known(), BytesPerS: i.BytesPerS.Known(),
		ObjectsPerS: i.ObjectsPerS.Known(),
		InUseBytes:  i.InUseBytes.Known(), InUseObjects: schema.Number(c.InUseObjects, k.inUse),
		BytesAll: schema.Number(c.Bytes.Value, measured(c.Bytes)), ObjectsAll: schema.Number(
			c.Objects.Value, measured(c.Objects),
		),
	}
}

// undivided reports whether a cost has no columns, like that of a line with its callees: the
// columns are then not known, not zero.
func undivided(c finding.Cost) bool {
	for _, part := range []stats.Interval{c.Malloc, c.Zeroing, c.GrowCopy, c.Assist, c.Churn, c.Retention} {
		if part.Value != 0 {
			return false
		}
	}
	return c.CPU.Value != 0
}

func newEscape(r *finding.Escape) *schema.Escape {
	if r == nil {
		return nil
	}
	out := &schema.Escape{Reason: r.Text, Expr: r.Expr, File: r.At.File, Line: r.At.Line, Flow: []schema.Flow{}}
	if r.From != nil {
		out.Verb, out.Truncated = string(r.From.Verb), r.From.Cut
		if r.From.Col > 0 {
			col := r.From.Col
			out.Column = &col
		}
	}
	for _, step := range r.Flow {
		s := schema.Flow{Dst: step.Dst, Src: step.Src, Edges: []schema.FlowEdge{}}
		for _, e := range step.Edges {
			s.Edges = append(s.Edges, schema.FlowEdge{Expr: e.Expr, Why: e.Why, File: e.File, Line: e.Line,
				Column: e.Col})
		}
		out.Flow = append(out.Flow, s)
	}
	return out
}

func newRun(rep *finding.Report, r finding.RunSummary) schema.RunSummary {
	ops := perOpKnown(rep, r)
	var line *schema.FreshLine
	if c := r.FreshLine; c != nil {
		line = &schema.FreshLine{
			Threads: c.Threads, LiveBytes: c.LiveBytes, FreshBytes: c.FreshBytes, NS: schema.NewInterval(c.NS, true),
			UseNS: schema.Positive(c.UseNS),
		}
	}
	var cycle *schema.CycleCost
	if c := r.CycleCost; c != nil && schema.Finite(c.Times) {
		cycle = &schema.CycleCost{Pairs: c.Pairs, Times: c.Times, NS: schema.NewInterval(c.NS, true)}
	}
	return schema.RunSummary{
		Name: r.Name, Package: r.Package, Ops: schema.Positive(float64(r.Ops)), NsPerOp: schema.Positive(r.Pace.NsPerOp),
		BytesPerOp: schema.Number(r.BytesPerOp, ops), AllocsPerOp: schema.Number(
			r.AllocsPerOp, ops,
		), CyclesPerKiloOp: schema.Positive(r.CyclesPerKiloOp),
		MemoryShare: schema.NewInterval(
			r.MemoryShare, false,
		), CPUSecondsPerOp: schema.Positive(
			r.CPUSecondsPerOp,
		), RequestsPerS: schema.Positive(
			r.RequestsPerSec,
		), ProfilePace: schema.Positive(r.CycleScale), FreshLine: line, CycleCost: cycle,
	}
}

func yesNo(t finding.Tri) *bool {
	if t == finding.Unknown {
		return nil
	}
	yes := t == finding.Yes
	return &yes
}

func newDetection(d finding.Detection) schema.Detection {
	out := schema.Detection{
		Detector: d.Detector, Run: d.Run, Title: d.Title, Code: d.Code, Text: d.Text, Evidence: d.Evidence,
		Amount: schema.Positive(d.Amount), Saves: nil, Basis: d.Basis,
	}
	if d.Saves.Value != 0 {
		out.Saves = schema.NewInterval(d.Saves, true)
	}
	return out
}
