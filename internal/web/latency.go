package web

import "github.com/heaptrim/heaptrim/internal/schema"

// latencyView is what a trace says of who pays. What it says of single
// goroutines, stops and mark phases stays in the document.
type latencyView struct {
	schema.TraceReport
	// Dropped is how many groups and kinds of request the page leaves out.
	Dropped int `json:"dropped"`
}

// Bounds of the lists of a page; the document has more.
const (
	maxGroups = 100
	maxKinds  = 50
)

// newLatency is the part of a trace's document that the page shows; nil without
// one, and without anything that was paid.
func newLatency(t *schema.TraceReport) *latencyView {
	if t == nil || t.Delayed == nil {
		return nil
	}
	v := &latencyView{TraceReport: *t}
	v.Stops, v.Goroutines, v.Mark.Cycles = nil, nil, nil
	p := *t.Delayed
	p.Windows, p.Causes = nil, schema.TraceCauses{}
	v.Dropped = max(len(p.Groups)-maxGroups, 0) + max(len(p.Requests)-maxKinds, 0)
	p.Groups, p.Requests = p.Groups[:min(len(p.Groups), maxGroups)], p.Requests[:min(len(p.Requests), maxKinds)]
	v.Delayed = &p
	return v
}
