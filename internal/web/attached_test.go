package web

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/schema"
)

func TestNewProof(t *testing.T) {
	finding := func(function, code string, saved *schema.Interval) schema.Finding {
		f := schema.Finding{Site: schema.Site{Function: function, File: "a.go", Line: 3}}
		f.Remedy.Code, f.Prediction.CPUShare = code, saved
		return f
	}
	saved := &schema.Interval{Value: 0.1, Low: 0.05, High: 0.2}
	then := &schema.Report{Findings: []schema.Finding{
		finding("m.gone", "pool-object", saved), finding("m.stays", "pool-object", saved), finding("m.left", "leave-it", nil),
	}}
	gone := curesGone(then, &schema.Report{Findings: []schema.Finding{finding("m.stays", "pool-object", saved)}})
	if len(gone) != 1 || gone[0].Function != "m.gone" || gone[0].CPU.Value != 0.1 {
		t.Errorf("gone: %+v, want m.gone", gone)
	}
	if gone := curesGone(nil, then); gone != nil {
		t.Errorf("gone since no report: %+v", gone)
	}
	doc := &schema.Prove{Comparisons: []schema.ProveComparison{{Name: "B", Runs: make([]schema.ProveRun, 3)}}}
	if p := newProof(doc); p.Comparisons[0].Name != "B" || p.Comparisons[0].Runs != nil || len(doc.Comparisons[0].Runs) != 3 {
		t.Errorf("of %+v the page shows %+v", doc, p)
	}
}

func TestNewPlan(t *testing.T) {
	// Without a resident set, memory is that of the heap.
	for rss, heapOnly := range map[float64]bool{0: true, 9: false} {
		plan := &schema.Tune{Measured: schema.TuneMeasured{Peak: 5, RSS: rss}}
		base := &schema.Tune{Recorded: schema.TuneSetting{GOGC: 400}, Measured: schema.TuneMeasured{Peak: 7}}
		v := newPlan(plan, base)
		if v.HeapOnly != heapOnly || v.Measured.Peak != 5 || v.Base.Recorded.GOGC != 400 || v.Base.Measured.Peak != 7 {
			t.Errorf("with a resident set of %v the plan is shown as %+v", rss, v)
		}
	}
	if v := newPlan(nil, nil); v != nil {
		t.Errorf("no plan: %v", v)
	}
}

func TestNewLatency(t *testing.T) {
	doc := &schema.TraceReport{Stops: make([]schema.TraceStop, 4), Delayed: &schema.TraceDelayed{Groups: make([]schema.TraceGroup, maxGroups+3)}}
	v := newLatency(doc)
	if len(v.Delayed.Groups) != maxGroups || v.Dropped != 3 || v.Stops != nil {
		t.Errorf("%d groups, %d dropped, %d stops, want %d, 3 and none", len(v.Delayed.Groups), v.Dropped, len(v.Stops), maxGroups)
	}
	if len(doc.Delayed.Groups) != maxGroups+3 || len(doc.Stops) != 4 {
		t.Error("the document was changed")
	}
	if v := newLatency(&schema.TraceReport{}); v != nil {
		t.Errorf("a trace without payers: %v", v)
	}
}
