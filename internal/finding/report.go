package finding

import "github.com/heaptrim/heaptrim/internal/latency"

// Report is all that a check says. Every output format shows the same one.
type Report struct {
	Diagnosis    *Diagnosis
	Prescription *Prescription
	Detections   []Detection
	Advice       []Advice       // of the prescription and the detections, on the program as a whole
	Rules        []RuleHit      // nil when source rules were not run
	Trace        *latency.Trace // nil without an execution trace
	Warnings     []string       // of all stages, in their order
}
