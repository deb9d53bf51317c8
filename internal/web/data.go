package web

import (
	"encoding/json"
	"fmt"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Schema is the version of the page's data. Page and data travel in one file,
// so nobody but the page of the same release reads it.
const Schema = "heaptrim.page/1"

// Options tunes Data. Only Report is required.
type Options struct {
	Report json.RawMessage // the heaptrim.report/1 document of the same diagnosis
	Proof  json.RawMessage // a heaptrim.prove/1 document; nil: no proof
	Trace  json.RawMessage // a heaptrim.trace/1 document of the recording's trace; nil: none

	Plan     json.RawMessage // a heaptrim.tune/1 document; nil: none
	BasePlan json.RawMessage // one of Base, for what was measured under its setting; nil: none

	// Source reads a file as findings name it, to show its lines; nil leaves
	// source out.
	Source func(file string) ([]byte, error)
	// Base is a diagnosis to compare with, its recording still open; nil: none.
	Base *diagnose.Diagnosis
	// BaseReport is the heaptrim.report/1 document of Base, for what it predicted.
	BaseReport json.RawMessage
	// MaxNodes bounds the flame graph: beyond it the lightest calls are counted
	// to their callers, and the page says how much that moved. 0 means 24 000.
	MaxNodes int
	// MaxSource bounds the source text in bytes. 0 means 512 KiB.
	MaxSource int
	// Code returns the machine code of functions of a binary, in any order, those
	// that cannot be had left out; the error says why. Nil leaves instructions out.
	Code func(b Binary, functions []string) ([]evidence.Code, error)
	// MaxCode bounds instructions in bytes of the page. 0 means 256 KiB.
	MaxCode int
	// Parts are the files of the recording below /bundle/, for a page that is
	// served with them; nil for one that stands alone.
	Parts []string
	// Version names these data to a page that is served with them, so that it can
	// tell when there are other ones; "" for one that stands alone.
	Version string
}

const (
	defaultMaxNodes  = 24_000
	defaultMaxSource = 512 << 10
	defaultMaxCode   = 256 << 10
)

// views is what the page shows beside the report. A nil view has no data.
type views struct {
	Flame     *flameView   `json:"flame"`
	Time      []timeRun    `json:"time"`
	WhatIf    []whatIfRun  `json:"whatif"`
	Source    []sourceFile `json:"source"`
	Code      *codeView    `json:"code,omitempty"` // nil: no sample has an address
	Latency   *latencyView `json:"latency,omitempty"`
	Plan      *planView    `json:"plan,omitempty"`
	Proof     *proofView   `json:"proof,omitempty"`
	Predicted []predicted  `json:"predicted,omitempty"`
	Parts     []string     `json:"parts,omitempty"`   // set only where the page is served
	Version   string       `json:"version,omitempty"` // likewise
}

// Data returns the page's data as one JSON value, escaped so that it can stand
// in an HTML element. It reads the profiles of the recording again: the bundle
// that d came from must still be open. Memory grows with the distinct calls of
// the profiles up to a fixed number of them, not with their samples.
func Data(d *diagnose.Diagnosis, o Options) ([]byte, error) {
	if o.MaxNodes == 0 {
		o.MaxNodes = defaultMaxNodes
	}
	if o.MaxSource == 0 {
		o.MaxSource = defaultMaxSource
	}
	if o.MaxCode == 0 {
		o.MaxCode = defaultMaxCode
	}
	flame, err := newFlameView(d, o)
	if err != nil {
		return nil, fmt.Errorf("build the flame graph: %w", err)
	}
	v := views{Flame: flame, Time: newTimeRuns(d), WhatIf: newWhatIf(d), Parts: o.Parts, Version: o.Version}
	v.Source = newSource(d, flame, o)
	if flame != nil {
		v.Code = flame.code.newCode(o)
	}
	if v.Proof, v.Predicted, err = newProof(o); err != nil {
		return nil, err
	}
	if v.Plan, err = newPlan(o.Plan, o.BasePlan); err != nil {
		return nil, err
	}
	if v.Latency, err = newLatency(o.Trace); err != nil {
		return nil, err
	}
	out, err := json.Marshal(struct {
		Schema string          `json:"schema"`
		Report json.RawMessage `json:"report"`
		Views  views           `json:"views"`
	}{Schema, o.Report, v})
	if err != nil {
		return nil, fmt.Errorf("encode the page's data: %w", err)
	}
	return out, nil
}
