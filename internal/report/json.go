package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/heaptrim/heaptrim/internal/detect"
	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
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
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(newDocument(d, m)); err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	l := layout{w: bufio.NewWriter(w)}
	l.write(bytes.TrimSpace(b.Bytes()))
	l.w.WriteByte('\n')
	return l.w.Flush()
}

func newDocument(d *diagnose.Diagnosis, m Meta) document {
	k := knownOf(d)
	doc := document{
		Schema: Schema, Tool: m.Tool,
		Target: newTarget(d.Target), Environment: newEnvironment(d.Environment), Totals: newTotals(d.Totals, k),
		Decomposition: []bucket{}, Findings: []finding{}, SetApart: []finding{}, Advice: []advisedThing{}, Detections: rowsOf(m.Detections, newDetection), Latency: newLatency(m.Trace), Vet: []ruleHit{}, Runs: []runSummary{}, Missing: []missingThing{},
		Warnings: list(d.Warnings),
	}
	if !m.Created.IsZero() {
		at := m.Created.UTC()
		doc.Created = &at
	}
	for _, b := range d.Decomposition {
		doc.Decomposition = append(doc.Decomposition, bucket{b.Name, newInterval(b.Share, true), b.Memory, b.Charged})
	}
	for i, f := range d.Findings {
		f.Rank = rankOf(d, i)
		doc.Findings = append(doc.Findings, newFinding(f, k))
	}
	for _, f := range d.SetApart {
		f.Rank = 0
		doc.SetApart = append(doc.SetApart, newFinding(f, k))
	}
	doc.prescribed(d, m.Prescription, k)
	for _, r := range d.Runs {
		doc.Runs = append(doc.Runs, newRun(d, r))
	}
	for _, x := range d.Missing {
		doc.Missing = append(doc.Missing, missingThing(x))
	}
	return doc
}

// prescribed adds what is said of all cures.
func (doc *document) prescribed(d *diagnose.Diagnosis, p Prescription, k known) {
	doc.Threshold, doc.Below = positive(p.Threshold), d.BelowThreshold
	doc.Together = newPrediction(p.Together)
	for _, a := range d.Advice {
		doc.Advice = append(doc.Advice, advisedThing{newRemedy(a.Remedy), a.Title, newPrediction(a.Saves)})
	}
	for _, h := range p.Rules {
		s := h.Cost.Site
		doc.Vet = append(doc.Vet, ruleHit{
			h.Code, h.Message, site{s.Function, s.File, s.Line, s.Package}, h.Cost.Run,
			newInterval(h.Cost.CPU, k.cpu), number(h.Cost.BytesShare, k.allocated),
		})
	}
}

func newRemedy(r diagnose.Remedy) remedy {
	return remedy{r.Code, r.Safety, r.Text, r.Why, positive(r.Fit)}
}

func newPrediction(p diagnose.Prediction) predictedSaved {
	i := predictedIntervals{newInterval(p.BytesPerOp, false), newInterval(p.ObjectsPerOp, false)}
	return predictedSaved{newInterval(p.CPU, false), newInterval(p.Caches, false), newInterval(p.Cycles, false), i.BytesPerOp.value(), i.ObjectsPerOp.value(), i, p.Basis}
}

func newTarget(t evidence.Target) target {
	return target{t.Kind, list(t.Args), t.Module, t.ModuleDir, list(t.Workspace), list(t.Packages), list(t.BuildFlags), list(t.Command)}
}

func newEnvironment(e evidence.Environment) environment {
	return environment{
		GoVersion: e.GoVersion, GOOS: e.GOOS, GOARCH: e.GOARCH,
		GOMAXPROCS: positive(float64(e.GOMAXPROCS)), NumCPU: positive(float64(e.NumCPU)),
		GOGC: e.GOGC, GOMEMLIMIT: e.GOMEMLIMIT, GODEBUG: e.GODEBUG, GOEXPERIMENT: e.Experiment,
		MemoryBytes: positive(float64(e.MemoryBytes)), CgroupLimitBytes: positive(float64(e.CgroupLimit)), CgroupCPU: positive(e.CgroupCPU),
		THP: e.THP, CPUModel: e.CPUModel, Kernel: e.Kernel,
	}
}

func newTotals(t diagnose.Totals, k known) totals {
	return totals{
		CPUSeconds: positive(t.CPUSeconds), Samples: positive(float64(t.Samples)),
		MemoryShare: newInterval(t.MemoryShare, k.cpu), CollectorShare: newInterval(t.CollectorShare, k.cpu),
		IdleMarkShare: newInterval(t.IdleMarkShare, k.cpu), Sites: newInterval(t.Sites, k.churn), Remainder: newInterval(t.Remainder, k.churn),
		Cycles: positive(float64(t.Cycles)), ForcedCycles: number(float64(t.ForcedCycles), t.Cycles > 0), CyclesPerS: positive(t.CyclesPerSecond),
		LiveHeapBytes: positive(float64(t.LiveHeap)), HeapGoalBytes: positive(float64(t.HeapGoal)), NoHeapGoal: t.NoGoal, PeakHeapBytes: positive(float64(t.PeakHeap)),
		PauseP50NS: positive(float64(t.PauseP50)), PauseMaxNS: positive(float64(t.PauseMax)), PauseTotalNS: positive(float64(t.PauseTotal)),
		BytesPerS: positive(t.BytesPerSecond), Why: t.Why, RetentionBasis: t.RetentionBasis,
	}
}

func newFinding(f diagnose.Finding, k known) finding {
	out := finding{
		Rank: f.Rank, Code: f.Code, Title: f.Title, Site: site{f.Site.Function, f.Site.File, f.Site.Line, f.Site.Package},
		Run: f.Run, Via: f.Via, Kind: string(f.Kind), Pointers: yesNo(f.Pointers),
		Stack: []frame{}, Stacks: []stack{}, Cost: newCost(f.Cost, k), ByRun: []runCost{},
		Lifetime: lifetime{string(f.Lifetime.Class), positive(float64(f.Lifetime.Mean)), f.Lifetime.Basis},
		Escape:   newEscape(f.Escape), Remedy: newRemedy(f.Remedy), Prediction: newPrediction(f.Prediction),
		Mix: []mixed{}, Sizes: []sizeCount{}, Others: []otherRemedy{},
	}
	for _, m := range f.Mix {
		out.Mix = append(out.Mix, mixed{string(m.Kind), m.Via, number(m.Objects, true), number(m.Bytes, true)})
	}
	for _, s := range f.Sizes {
		out.Sizes = append(out.Sizes, sizeCount{int64(s.Size), number(s.Objects, true)})
	}
	if f.Removal != nil {
		removal := newPrediction(*f.Removal)
		out.Removal = &removal
	}
	for _, r := range f.Others {
		out.Others = append(out.Others, otherRemedy{newRemedy(r), newPrediction(r.Saves)})
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
			out.Stack, out.StackShare = newFrames(s.Frames), positive(s.Share)
			continue
		}
		out.Stacks = append(out.Stacks, stack{positive(s.Share), newFrames(s.Frames)})
	}
	for _, r := range f.ByRun {
		out.ByRun = append(out.ByRun, runCost{r.Run, newCost(r.Cost, k)})
	}
	return out
}

func newFrames(frames []evidence.Frame) []frame {
	out := make([]frame, 0, len(frames))
	for _, f := range frames {
		out = append(out, frame{f.Function, f.File, f.Line})
	}
	return out
}

func newCost(c diagnose.Cost, k known) cost {
	parts := !undivided(c)
	i := costIntervals{
		Malloc: newInterval(c.Malloc, k.cpu && parts), Zeroing: newInterval(c.Zeroing, k.cpu && parts), GrowCopy: newInterval(c.GrowCopy, k.cpu && parts),
		Assist: newInterval(c.Assist, k.cpu && parts), Churn: newInterval(c.Churn, k.churn && parts), Retention: newInterval(c.Retention, k.retention && parts),
		BytesPerOp: newInterval(c.BytesPerOp, false), ObjectsPerOp: newInterval(c.ObjectsPerOp, false),
		BytesPerS: newInterval(c.BytesPerSecond, false), ObjectsPerS: newInterval(c.ObjectsPerSecond, false),
		InUseBytes: newInterval(c.InUse, k.inUse),
	}
	return cost{
		CPUShare: newInterval(c.CPU, k.cpu), Intervals: i,
		Malloc: i.Malloc.value(), Zeroing: i.Zeroing.value(), GrowCopy: i.GrowCopy.value(), Assist: i.Assist.value(),
		Churn: i.Churn.value(), Retention: i.Retention.value(),
		BytesPerOp: i.BytesPerOp.value(), ObjectsPerOp: i.ObjectsPerOp.value(), BytesPerS: i.BytesPerS.value(), ObjectsPerS: i.ObjectsPerS.value(),
		InUseBytes: i.InUseBytes.value(), InUseObjects: number(c.InUseObjects, k.inUse),
		BytesAll: number(c.Bytes.Value, measured(c.Bytes)), ObjectsAll: number(c.Objects.Value, measured(c.Objects)),
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

func newEscape(r *diagnose.Reason) *escapeReason {
	if r == nil {
		return nil
	}
	out := &escapeReason{Reason: r.Text, Expr: r.Expr, File: r.At.File, Line: r.At.Line, Flow: []flow{}}
	if r.From != nil {
		out.Verb, out.Truncated = string(r.From.Verb), r.From.Cut
		if r.From.Col > 0 {
			col := r.From.Col
			out.Column = &col
		}
	}
	for _, step := range r.Flow {
		s := flow{step.Dst, step.Src, []flowEdge{}}
		for _, e := range step.Edges {
			s.Edges = append(s.Edges, flowEdge{e.Expr, e.Why, e.File, e.Line, e.Col})
		}
		out.Flow = append(out.Flow, s)
	}
	return out
}

func newRun(d *diagnose.Diagnosis, r diagnose.RunSummary) runSummary {
	ops := perOpKnown(d, r)
	var line *freshLine
	if c := r.FreshLine; c != nil {
		line = &freshLine{c.Threads, c.LiveBytes, c.FreshBytes, newInterval(c.NS, true), positive(c.UseNS)}
	}
	var cycle *cycleCost
	if c := r.CycleCost; c != nil && finite(c.Times) {
		cycle = &cycleCost{c.Pairs, c.Times, newInterval(c.NS, true)}
	}
	var faults *pageFaults
	if c := r.PageFaults; c != nil {
		faults = &pageFaults{number(c.Alone, true), number(c.Profiled, true), newInterval(c.NS, true), positive(c.Counts)}
	}
	return runSummary{
		Name: r.Name, Package: r.Package, Ops: positive(float64(r.Ops)), NsPerOp: positive(r.NsPerOp),
		BytesPerOp: number(r.BytesPerOp, ops), AllocsPerOp: number(r.AllocsPerOp, ops), CyclesPerKiloOp: positive(r.CyclesPerKiloOp),
		MemoryShare: newInterval(r.MemoryShare, false), CPUSecondsPerOp: positive(r.CPUSecondsPerOp), RequestsPerS: positive(r.RequestsPerSec), ProfilePace: positive(r.ProfilePace), PageFaults: faults, FreshLine: line, CycleCost: cycle,
	}
}

// newInterval is nil for what is not a number, and for a zero that nothing
// measured.
func newInterval(i stats.Interval, zeroKnown bool) *interval {
	if !finite(i.Value) || !finite(i.Low) || !finite(i.High) || (i == stats.Interval{}) && !zeroKnown {
		return nil
	}
	return &interval{i.Value, i.Low, i.High}
}

func (i *interval) value() *float64 {
	if i == nil {
		return nil
	}
	v := i.Value
	return &v
}

func number(v float64, zeroKnown bool) *float64 {
	if !finite(v) || v == 0 && !zeroKnown {
		return nil
	}
	return &v
}

// positive is a quantity whose zero means that it is not known.
func positive(v float64) *float64 { return number(v, false) }

func yesNo(t diagnose.Tri) *bool {
	if t == diagnose.Unknown {
		return nil
	}
	yes := t == diagnose.Yes
	return &yes
}

// list is s, never nil.
func list(s []string) []string { return append([]string{}, s...) }
