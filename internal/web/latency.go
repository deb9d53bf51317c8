package web

import (
	"encoding/json"
	"fmt"
)

// The parts of a heaptrim.trace/1 document that the page shows: what it says
// of single goroutines and of single stops stays in the document.
type (
	latencyView struct {
		Schema  string `json:"schema"`
		Problem string `json:"problem"`
		Length  int64  `json:"length_ns"`
		Mark    struct {
			Count int   `json:"count"`
			Total int64 `json:"total_ns"`
		} `json:"mark"`
		Pauses []struct {
			Reason string `json:"reason"`
			Count  int    `json:"count"`
			Total  int64  `json:"total_ns"`
			Max    int64  `json:"max_ns"`
		} `json:"pauses"`
		Payers *payers `json:"payers"`
	}

	payers struct {
		Goroutines int           `json:"goroutines"`
		STW        int64         `json:"stw_ns"`
		Groups     []payerGroup  `json:"groups"`
		Requests   []requestKind `json:"requests"`
		// Dropped is how many groups and kinds of request the page leaves out.
		Dropped int `json:"dropped"`
	}

	payerGroup struct {
		Start      string           `json:"start"`
		Handler    string           `json:"handler"`
		System     bool             `json:"system"`
		Goroutines int              `json:"goroutines"`
		Parts      map[string]int64 `json:"parts_ns"`
	}

	requestKind struct {
		Kind      string           `json:"kind"`
		Name      string           `json:"name"`
		Count     int              `json:"count"`
		P50       int64            `json:"p50_ns"`
		P90       int64            `json:"p90_ns"`
		P99       int64            `json:"p99_ns"`
		Max       int64            `json:"max_ns"`
		Parts     map[string]int64 `json:"parts_ns"`
		SlowCount int              `json:"slow_count"`
		SlowParts map[string]int64 `json:"slow_parts_ns"`
		Slowest   []oneRequest     `json:"slowest"`
		MostGC    []oneRequest     `json:"most_memory"`
	}

	oneRequest struct {
		Start  int64            `json:"start_ns"`
		Length int64            `json:"length_ns"`
		Mark   int64            `json:"mark_ns"`
		Parts  map[string]int64 `json:"parts_ns"`
	}
)

const traceSchema = "heaptrim.trace/1"

// Bounds of the lists of a page; the document has more.
const (
	maxGroups = 100
	maxKinds  = 50
)

// newLatency reads what a trace says of who pays; nil without one, and without
// anything that was paid.
func newLatency(trace json.RawMessage) (*latencyView, error) {
	if trace == nil {
		return nil, nil
	}
	var v latencyView
	if err := json.Unmarshal(trace, &v); err != nil {
		return nil, fmt.Errorf("read the trace report: %w", err)
	}
	if v.Schema != traceSchema {
		return nil, fmt.Errorf("read the trace report: its schema is %q, want %s", v.Schema, traceSchema)
	}
	if v.Payers == nil {
		return nil, nil
	}
	p := v.Payers
	p.Dropped = max(len(p.Groups)-maxGroups, 0) + max(len(p.Requests)-maxKinds, 0)
	p.Groups, p.Requests = p.Groups[:min(len(p.Groups), maxGroups)], p.Requests[:min(len(p.Requests), maxKinds)]
	return &v, nil
}
