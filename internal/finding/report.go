package finding

import "github.com/heaptrim/heaptrim/internal/latency"

// Report is the complete result of a check. Every output format shows the same report.
type Report struct {
	Diagnosis    *Diagnosis
	Prescription *Prescription
	Detections   []Detection
	Advice       []Advice       // of the prescription and the detections, on the program as a whole
	Rules        []RuleHit      // nil if source rules did not run
	Trace        *latency.Trace // nil without an execution trace
	Warnings     []string       // of all stages, in order
}
