package web

import (
	"encoding/json"
	"fmt"
)

// The parts of a heaptrim.prove/1 document that the page shows; the runs one
// by one stay in the document.
type (
	proofView struct {
		Schema  string `json:"schema"`
		Created string `json:"created"`
		Verdict struct {
			Outcome  string `json:"outcome"`
			Sentence string `json:"sentence"`
		} `json:"verdict"`
		A           proofSide    `json:"a"`
		B           proofSide    `json:"b"`
		Partial     bool         `json:"partial"`
		Comparisons []comparison `json:"comparisons"`
		LeftOut     []string     `json:"left_out"`
		Warnings    []string     `json:"warnings"`
	}

	proofSide struct {
		Spec      string   `json:"spec"`
		Commit    string   `json:"commit"`
		GoVersion string   `json:"go_version"`
		Env       []string `json:"env"`
	}

	comparison struct {
		Name     string   `json:"name"`
		Outcome  string   `json:"outcome"`
		Pairs    int      `json:"pairs"`
		Changes  []change `json:"changes"`
		Differs  []string `json:"work_differs"`
		FailedA  string   `json:"failed_a"`
		FailedB  string   `json:"failed_b"`
		Warnings []string `json:"warnings"`
	}

	change struct {
		Unit    string  `json:"unit"`
		Label   string  `json:"label"`
		Sense   int     `json:"sense"`
		Judged  bool    `json:"judged"`
		Outcome string  `json:"outcome"`
		A       *bounds `json:"a"`
		B       *bounds `json:"b"`
		Change  *bounds `json:"change"`
		Exact   bool    `json:"exact"`
	}

	bounds struct {
		Value float64  `json:"value"`
		Low   *float64 `json:"low"`
		High  *float64 `json:"high"`
	}

	// predicted is a cure of the recording that is compared with which this one
	// does not need any more.
	predicted struct {
		Code     string   `json:"code"`
		Function string   `json:"function"`
		File     string   `json:"file"`
		Line     int      `json:"line"`
		CPU      *bounds  `json:"cpu_share"`
		Bytes    *float64 `json:"bytes_per_op"`
		Objects  *float64 `json:"objects_per_op"`
	}
)

const proofSchema = "heaptrim.prove/1"

// newProof reads the proof and says which cures are gone since the base.
func newProof(o Options) (*proofView, []predicted, error) {
	if o.Proof == nil {
		return nil, nil, nil
	}
	var p proofView
	if err := json.Unmarshal(o.Proof, &p); err != nil {
		return nil, nil, fmt.Errorf("read the proof: %w", err)
	}
	if p.Schema != proofSchema {
		return nil, nil, fmt.Errorf("read the proof: its schema is %q, want %s", p.Schema, proofSchema)
	}
	if o.BaseReport == nil {
		return &p, nil, nil
	}
	then, err := curesOf(o.BaseReport)
	if err != nil {
		return nil, nil, fmt.Errorf("read the report to compare with: %w", err)
	}
	now, err := curesOf(o.Report)
	if err != nil {
		return nil, nil, fmt.Errorf("read the report: %w", err)
	}
	// Lines move with an edit; the function and the cure stay.
	type key struct{ function, code string }
	left := map[key]bool{}
	for _, c := range now {
		left[key{c.Function, c.Code}] = true
	}
	var gone []predicted
	for _, c := range then {
		if !left[key{c.Function, c.Code}] && c.CPU != nil {
			gone = append(gone, c)
		}
	}
	return &p, gone, nil
}

// curesOf are the findings of a report with what their cures would save.
func curesOf(report json.RawMessage) ([]predicted, error) {
	var doc struct {
		Findings []struct {
			Site struct {
				Function string `json:"function"`
				File     string `json:"file"`
				Line     int    `json:"line"`
			} `json:"site"`
			Remedy struct {
				Code string `json:"code"`
			} `json:"remedy"`
			Prediction struct {
				CPU     *bounds  `json:"cpu_share"`
				Bytes   *float64 `json:"bytes_per_op"`
				Objects *float64 `json:"objects_per_op"`
			} `json:"prediction"`
		} `json:"findings"`
	}
	if err := json.Unmarshal(report, &doc); err != nil {
		return nil, err
	}
	var out []predicted
	for _, f := range doc.Findings {
		out = append(out, predicted{f.Remedy.Code, f.Site.Function, f.Site.File, f.Site.Line, f.Prediction.CPU, f.Prediction.Bytes, f.Prediction.Objects})
	}
	return out, nil
}
