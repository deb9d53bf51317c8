package report

import (
	"time"

	"github.com/heaptrim/heaptrim/internal/detect"
)

type (
	// latencySection says who paid with time, and who caused it, by the execution
	// trace of the recording. Times are in nanoseconds.
	latencySection struct {
		Problem  string         `json:"problem"`
		LengthNS *time.Duration `json:"length_ns"`
		MarkN    *int           `json:"mark_count"`
		MarkNS   *time.Duration `json:"mark_ns"`
		Pauses   []tracePause   `json:"pauses"`
		Payers   *tracePayers   `json:"payers"`
	}

	detection struct {
		Detector string    `json:"detector"`
		Run      string    `json:"run"`
		Title    string    `json:"title"`
		Code     string    `json:"code"`
		Text     string    `json:"text"`
		Evidence string    `json:"evidence"`
		Amount   *float64  `json:"amount"`
		Saves    *interval `json:"saves_cpu_share"`
		Basis    string    `json:"basis"`
	}
)

// newLatency is the section of a trace; nil without one. The single mark phases
// are left to `heaptrim trace -json`: there can be very many.
func newLatency(t *Trace) *latencySection {
	if t == nil || t.Summary == nil {
		return nil
	}
	s := t.Summary
	out := &latencySection{
		Problem: t.Problem, LengthNS: &s.Length, MarkN: &s.Cycles.Count, MarkNS: &s.Cycles.Mark,
		Pauses: rowsOf(s.Pauses, pauseRow),
	}
	if t.Payers != nil {
		out.Payers = payersRow(t.Payers)
		out.Payers.Unlisted += len(out.Payers.Windows)
		out.Payers.Windows = []traceWindow{}
	}
	return out
}

func newDetection(d detect.Detection) detection {
	out := detection{d.Detector, d.Run, d.Title, d.Code, d.Text, d.Evidence, positive(d.Amount), nil, d.Basis}
	if d.Saves.Value != 0 {
		out.Saves = newInterval(d.Saves, true)
	}
	return out
}
