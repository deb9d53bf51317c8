package report

import (
	"io"
	"time"

	"github.com/heaptrim/heaptrim/internal/detect"
	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Meta is what a JSON report says of itself. The zero value leaves it out.
type Meta struct {
	Tool    string    // heaptrim's version
	Created time.Time // when the recording was made

	Prescription Prescription
	Trace        *Trace // who paid with time; nil without an execution trace
	Detections   []detect.Detection
}

// JSON writes a diagnosis as one JSON document of [Schema], indented, with a
// newline at its end. Numbers that are not finite are written as null.
func JSON(w io.Writer, d *diagnose.Diagnosis, m Meta) error {
	return schema.Write(w, newDocument(d, m))
}

func newDocument(d *diagnose.Diagnosis, m Meta) schema.Report {
	k := knownOf(d)
	doc := schema.Report{
		Schema: schema.ReportVersion, Tool: m.Tool,
		Target: newTarget(d.Target), Environment: schema.NewEnvironment(d.Environment), Totals: newTotals(d.Totals, k),
		Decomposition: []schema.Bucket{}, Findings: []schema.Finding{}, SetApart: []schema.Finding{}, Advice: []schema.Advice{}, Detections: schema.Rows(m.Detections, newDetection), Latency: newLatency(m.Trace), Vet: []schema.RuleHit{}, Runs: []schema.RunSummary{}, Missing: []schema.Gap{},
		Warnings: schema.List(d.Warnings),
	}
	if !m.Created.IsZero() {
		at := m.Created.UTC()
		doc.Created = &at
	}
	for _, b := range d.Decomposition {
		doc.Decomposition = append(doc.Decomposition, schema.Bucket{b.Name, schema.NewInterval(b.Share, true), b.Memory, b.Charged})
	}
	for i, f := range d.Findings {
		f.Rank = rankOf(d, i)
		doc.Findings = append(doc.Findings, newFinding(f, k))
	}
	for _, f := range d.SetApart {
		f.Rank = 0
		doc.SetApart = append(doc.SetApart, newFinding(f, k))
	}
	addCures(&doc, d, m.Prescription, k)
	for _, r := range d.Runs {
		doc.Runs = append(doc.Runs, newRun(d, r))
	}
	for _, x := range d.Missing {
		doc.Missing = append(doc.Missing, schema.Gap(x))
	}
	return doc
}

// addCures adds what is said of all cures.
func addCures(doc *schema.Report, d *diagnose.Diagnosis, p Prescription, k known) {
	doc.Threshold, doc.Below = schema.Positive(p.Threshold), d.BelowThreshold
	doc.Together = newPrediction(p.Together)
	for _, a := range d.Advice {
		doc.Advice = append(doc.Advice, schema.Advice{newRemedy(a.Remedy), a.Title, newPrediction(a.Saves)})
	}
	for _, h := range p.Rules {
		s := h.Cost.Site
		doc.Vet = append(doc.Vet, schema.RuleHit{
			h.Code, h.Message, schema.Site{s.Function, s.File, s.Line, s.Package}, h.Cost.Run,
			schema.NewInterval(h.Cost.CPU, k.cpu), schema.Number(h.Cost.BytesShare, k.allocated),
		})
	}
}

func newRemedy(r diagnose.Remedy) schema.Remedy {
	return schema.Remedy{r.Code, r.Safety, r.Text, r.Why, schema.Positive(r.Fit)}
}

func newPrediction(p diagnose.Prediction) schema.Prediction {
	i := schema.PredictionIntervals{schema.NewInterval(p.BytesPerOp, false), schema.NewInterval(p.ObjectsPerOp, false)}
	return schema.Prediction{schema.NewInterval(p.CPU, false), schema.NewInterval(p.Caches, false), schema.NewInterval(p.Cycles, false), i.BytesPerOp.Known(), i.ObjectsPerOp.Known(), i, p.Basis}
}

func newTarget(t evidence.Target) schema.Target {
	return schema.Target{t.Kind, schema.List(t.Args), t.Module, t.ModuleDir, schema.List(t.Workspace), schema.List(t.Packages), schema.List(t.BuildFlags), schema.List(t.Command)}
}

func newTotals(t diagnose.Totals, k known) schema.Totals {
	return schema.Totals{
		CPUSeconds: schema.Positive(t.CPUSeconds), Samples: schema.Positive(float64(t.Samples)),
		MemoryShare: schema.NewInterval(t.MemoryShare, k.cpu), CollectorShare: schema.NewInterval(t.CollectorShare, k.cpu),
		IdleMarkShare: schema.NewInterval(t.IdleMarkShare, k.cpu), Sites: schema.NewInterval(t.Sites, k.churn), Remainder: schema.NewInterval(t.Remainder, k.churn),
		Cycles: schema.Positive(float64(t.Cycles)), ForcedCycles: schema.Number(float64(t.ForcedCycles), t.Cycles > 0), CyclesPerS: schema.Positive(t.CyclesPerSecond),
		LiveHeapBytes: schema.Positive(float64(t.LiveHeap)), HeapGoalBytes: schema.Positive(float64(t.HeapGoal)), NoHeapGoal: t.NoGoal, PeakHeapBytes: schema.Positive(float64(t.PeakHeap)),
		PauseP50NS: schema.Positive(float64(t.PauseP50)), PauseMaxNS: schema.Positive(float64(t.PauseMax)), PauseTotalNS: schema.Positive(float64(t.PauseTotal)),
		BytesPerS: schema.Positive(t.BytesPerSecond), Why: t.Why, RetentionBasis: t.RetentionBasis,
	}
}

func newFinding(f diagnose.Finding, k known) schema.Finding {
	out := schema.Finding{
		Rank: f.Rank, Code: f.Code, Title: f.Title, Site: schema.Site{f.Site.Function, f.Site.File, f.Site.Line, f.Site.Package},
		Run: f.Run, Via: f.Via, Kind: string(f.Kind), Pointers: yesNo(f.Pointers),
		Stack: []schema.Frame{}, Stacks: []schema.Stack{}, Cost: newCost(f.Cost, k), ByRun: []schema.RunCost{},
		Lifetime: schema.Lifetime{string(f.Lifetime.Class), schema.Positive(float64(f.Lifetime.Mean)), f.Lifetime.Basis},
		Escape:   newEscape(f.Escape), Remedy: newRemedy(f.Remedy), Prediction: newPrediction(f.Prediction),
		Mix: []schema.Mix{}, Sizes: []schema.SizeCount{}, Others: []schema.OtherRemedy{},
	}
	for _, m := range f.Mix {
		out.Mix = append(out.Mix, schema.Mix{string(m.Kind), m.Via, schema.Number(m.Objects, true), schema.Number(m.Bytes, true)})
	}
	for _, s := range f.Sizes {
		out.Sizes = append(out.Sizes, schema.SizeCount{int64(s.Size), schema.Number(s.Objects, true)})
	}
	if f.Removal != nil {
		removal := newPrediction(*f.Removal)
		out.Removal = &removal
	}
	for _, r := range f.Others {
		out.Others = append(out.Others, schema.OtherRemedy{newRemedy(r), newPrediction(r.Saves)})
	}
	if out.Code == "" {
		out.Code = unclassified
	}
	if out.Remedy.Code == "" {
		out.Remedy.Code = out.Code
	}
	if out.Lifetime.Class == "" {
		out.Lifetime.Class = string(diagnose.LifetimeUnknown)
	}
	for i, s := range f.Stacks {
		if i == 0 {
			out.Stack, out.StackShare = newFrames(s.Frames), schema.Positive(s.Share)
			continue
		}
		out.Stacks = append(out.Stacks, schema.Stack{schema.Positive(s.Share), newFrames(s.Frames)})
	}
	for _, r := range f.ByRun {
		out.ByRun = append(out.ByRun, schema.RunCost{r.Run, newCost(r.Cost, k)})
	}
	return out
}

func newFrames(frames []evidence.Frame) []schema.Frame {
	out := make([]schema.Frame, 0, len(frames))
	for _, f := range frames {
		out = append(out, schema.Frame{f.Function, f.File, f.Line})
	}
	return out
}

func newCost(c diagnose.Cost, k known) schema.Cost {
	parts := !undivided(c)
	i := schema.CostIntervals{
		Malloc: schema.NewInterval(c.Malloc, k.cpu && parts), Zeroing: schema.NewInterval(c.Zeroing, k.cpu && parts), GrowCopy: schema.NewInterval(c.GrowCopy, k.cpu && parts),
		Assist: schema.NewInterval(c.Assist, k.cpu && parts), Churn: schema.NewInterval(c.Churn, k.churn && parts), Retention: schema.NewInterval(c.Retention, k.retention && parts),
		BytesPerOp: schema.NewInterval(c.BytesPerOp, false), ObjectsPerOp: schema.NewInterval(c.ObjectsPerOp, false),
		BytesPerS: schema.NewInterval(c.BytesPerSecond, false), ObjectsPerS: schema.NewInterval(c.ObjectsPerSecond, false),
		InUseBytes: schema.NewInterval(c.InUse, k.inUse),
	}
	return schema.Cost{
		CPUShare: schema.NewInterval(c.CPU, k.cpu), Intervals: i,
		Malloc: i.Malloc.Known(), Zeroing: i.Zeroing.Known(), GrowCopy: i.GrowCopy.Known(), Assist: i.Assist.Known(),
		Churn: i.Churn.Known(), Retention: i.Retention.Known(),
		BytesPerOp: i.BytesPerOp.Known(), ObjectsPerOp: i.ObjectsPerOp.Known(), BytesPerS: i.BytesPerS.Known(), ObjectsPerS: i.ObjectsPerS.Known(),
		InUseBytes: i.InUseBytes.Known(), InUseObjects: schema.Number(c.InUseObjects, k.inUse),
		BytesAll: schema.Number(c.Bytes.Value, measured(c.Bytes)), ObjectsAll: schema.Number(c.Objects.Value, measured(c.Objects)),
	}
}

// undivided reports whether a cost has no columns, as that of a line with all
// that it calls: they are not known then, and not zero.
func undivided(c diagnose.Cost) bool {
	for _, part := range []stats.Interval{c.Malloc, c.Zeroing, c.GrowCopy, c.Assist, c.Churn, c.Retention} {
		if part.Value != 0 {
			return false
		}
	}
	return c.CPU.Value != 0
}

func newEscape(r *diagnose.Reason) *schema.Escape {
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
		s := schema.Flow{step.Dst, step.Src, []schema.FlowEdge{}}
		for _, e := range step.Edges {
			s.Edges = append(s.Edges, schema.FlowEdge{e.Expr, e.Why, e.File, e.Line, e.Col})
		}
		out.Flow = append(out.Flow, s)
	}
	return out
}

func newRun(d *diagnose.Diagnosis, r diagnose.RunSummary) schema.RunSummary {
	ops := perOpKnown(d, r)
	var line *schema.FreshLine
	if c := r.FreshLine; c != nil {
		line = &schema.FreshLine{c.Threads, c.LiveBytes, c.FreshBytes, schema.NewInterval(c.NS, true), schema.Positive(c.UseNS)}
	}
	var cycle *schema.CycleCost
	if c := r.CycleCost; c != nil && schema.Finite(c.Times) {
		cycle = &schema.CycleCost{c.Pairs, c.Times, schema.NewInterval(c.NS, true)}
	}
	var faults *schema.PageFaults
	if c := r.PageFaults; c != nil {
		faults = &schema.PageFaults{schema.Number(c.Alone, true), schema.Number(c.Profiled, true), schema.NewInterval(c.NS, true), schema.Positive(c.Counts)}
	}
	return schema.RunSummary{
		Name: r.Name, Package: r.Package, Ops: schema.Positive(float64(r.Ops)), NsPerOp: schema.Positive(r.NsPerOp),
		BytesPerOp: schema.Number(r.BytesPerOp, ops), AllocsPerOp: schema.Number(r.AllocsPerOp, ops), CyclesPerKiloOp: schema.Positive(r.CyclesPerKiloOp),
		MemoryShare: schema.NewInterval(r.MemoryShare, false), CPUSecondsPerOp: schema.Positive(r.CPUSecondsPerOp), RequestsPerS: schema.Positive(r.RequestsPerSec), ProfilePace: schema.Positive(r.ProfilePace), PageFaults: faults, FreshLine: line, CycleCost: cycle,
	}
}

func yesNo(t diagnose.Tri) *bool {
	if t == diagnose.Unknown {
		return nil
	}
	yes := t == diagnose.Yes
	return &yes
}
