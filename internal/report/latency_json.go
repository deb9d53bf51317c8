package report

import (
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/latency"
	"github.com/heaptrim/heaptrim/internal/schema"
)

// newLatency is the section of a trace; nil without one. The single mark phases
// are left to `heaptrim trace -json`: there can be very many.
func newLatency(t *latency.Trace) *schema.Latency {
	if t == nil || t.Summary == nil {
		return nil
	}
	s := t.Summary
	out := &schema.Latency{
		Problem: t.Problem, LengthNS: &s.Length, MarkN: &s.Cycles.Count, MarkNS: &s.Cycles.Mark,
		Pauses: schema.Rows(s.Pauses, pauseRow),
	}
	if t.Payers != nil {
		out.Payers = payersRow(t.Payers)
		out.Payers.Unlisted += len(out.Payers.Windows)
		out.Payers.Windows = []schema.TraceWindow{}
	}
	return out
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
