package web

import (
	"encoding/json"
	"fmt"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/schema"
)

// pageSchema is the version of the page's data. Page and data travel in one file,
// so nobody but the page of the same release reads it.
const pageSchema = "heaptrim.page/1"

// Options tunes Data. Only Report is required.
type Options struct {
	Report *schema.Report      // of the same diagnosis
	Proof  *schema.Prove       // nil: no proof
	Trace  *schema.TraceReport // of the recording's trace; nil: none

	Plan     *schema.Tune // nil: none
	BasePlan *schema.Tune // one of Base, for what was measured under its setting; nil: none

	// Source reads a file as findings name it, to show its lines; nil leaves
	// source out.
	Source func(file string) ([]byte, error)
	// Rows are those of the report: their source comes first.
	Rows []finding.Row
	// Base is a recording to compare with, still open; nil: none.
	Base *diagnose.Session
	// BaseReport is that of Base, for what it predicted; nil without Base.
	BaseReport *schema.Report
	// MaxNodes bounds the flame graph: beyond it the lightest calls are counted
	// to their callers, and the page says how much that moved. 0 means 24 000.
	MaxNodes int
	// MaxSource bounds the source text in bytes. 0 means 512 KiB, and more where the
	// page is still short of 2.9 MB.
	MaxSource int
	// Code returns the machine code of functions of a binary, in any order, those
	// that cannot be had left out and others perhaps with them; the error says why.
	// Nil leaves instructions out.
	Code func(b Binary, functions []string) ([]evidence.Code, error)
	// MaxCode bounds instructions, with the table of functions, in bytes of the page. 0 means 256 KiB, and more
	// where the page is still short of 2.9 MB.
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

	// A file that is mailed should stay below 3 MB, and the page's own code is some
	// 300 kB of it.
	wantedData = 2_900_000 - 300_000
)

// views is what the page shows beside the report. A nil view has no data.
type views struct {
	Flame     *flameView    `json:"flame"`
	Time      []timeRun     `json:"time"`
	WhatIf    []whatIfRun   `json:"whatif"`
	Source    []sourceFile  `json:"source"`
	SourceCut int           `json:"source_cut"`     // functions with samples whose source is left out for its size
	Code      *codeView     `json:"code,omitempty"` // nil: no sample has an address
	Latency   *latencyView  `json:"latency,omitempty"`
	Plan      *planView     `json:"plan,omitempty"`
	Proof     *schema.Prove `json:"proof,omitempty"`
	Predicted []predicted   `json:"predicted,omitempty"`
	Parts     []string      `json:"parts,omitempty"`   // set only where the page is served
	Version   string        `json:"version,omitempty"` // likewise
}

// Data returns the page's data as one JSON value, escaped so that it can stand
// in an HTML element, and what can be asked of the functions that it leaves out;
// nil where the recording has no stacks. It reads the profiles of the recording
// again: the bundle that d came from must still be open. Memory grows with the
// distinct calls of the profiles up to a fixed number of them, not with their
// samples.
func Data(d *diagnose.Session, o Options) ([]byte, *Rest, error) {
	if o.MaxNodes == 0 {
		o.MaxNodes = defaultMaxNodes
	}
	flame, err := newFlameView(d, o)
	if err != nil {
		return nil, nil, fmt.Errorf("build the flame graph: %w", err)
	}
	v := views{Flame: flame, Time: newTimeRuns(d), WhatIf: newWhatIf(d), Parts: o.Parts, Version: o.Version}
	v.Proof, v.Plan, v.Latency = newProof(o.Proof), newPlan(o.Plan, o.BasePlan), newLatency(o.Trace)
	if o.Proof != nil {
		v.Predicted = curesGone(o.BaseReport, o.Report)
	}
	if err := v.addText(d, o); err != nil {
		return nil, nil, err
	}
	out, err := v.encode(o.Report)
	return out, newRest(flame, o), err
}

// addText adds source and instructions, which are as much as there is room for.
func (v *views) addText(d *diagnose.Session, o Options) error {
	room := 0
	if o.MaxSource == 0 || o.MaxCode == 0 {
		size, err := v.encode(o.Report)
		if err != nil {
			return err
		}
		room = wantedData - len(size)
	}
	if o.MaxSource == 0 {
		o.MaxSource = max(defaultMaxSource, room/2)
	}
	v.Source, v.SourceCut = newSource(d, v.Flame, o)
	if v.Flame == nil {
		return nil
	}
	if o.MaxCode == 0 {
		text, err := json.Marshal(v.Source)
		if err != nil {
			return fmt.Errorf("encode the page's source: %w", err)
		}
		o.MaxCode = max(defaultMaxCode, room-len(text))
	}
	var err error
	v.Code, err = v.Flame.code.newCode(o)
	return err
}

func (v *views) encode(report *schema.Report) ([]byte, error) {
	out, err := json.Marshal(struct {
		Schema string         `json:"schema"`
		Report *schema.Report `json:"report"`
		Views  *views         `json:"views"`
	}{pageSchema, report, v})
	if err != nil {
		return nil, fmt.Errorf("encode the page's data: %w", err)
	}
	return out, nil
}
