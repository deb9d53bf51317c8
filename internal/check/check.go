// Package check is the pipeline, once: from a recording to the report on it. Every command
// that reports on a recording uses it.
package check

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/detect"
	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/latency"
	"github.com/heaptrim/heaptrim/internal/prescribe"
	"github.com/heaptrim/heaptrim/internal/tune"
)

// Options tunes Run. The zero value is ready to use.
type Options struct {
	Own     []string // import-path patterns of the code the user can change; none: the main module, then its workspace
	Escapes bool     // ask the compiler why the hottest values escape, where the sources are there
	// Local is the module of the user's working directory. It counts as the target's when
	// the recording names none and holds frames of it.
	Local evidence.Target
	// Threshold is the share of CPU or of bytes that a line must cost, or its cure save, to be shown; 0 means
	// finding.DefaultThreshold, a negative one shows all.
	Threshold float64
	// Verify is how long edits for the findings may be tried, where the recording is of
	// benchmarks whose source is there and has not changed; 0: do not.
	Verify   time.Duration
	Rules    bool // run the source rules on the hot packages, too
	Progress func(format string, args ...any)
}

// Report is the result of a check, with the session for callers that need more of the
// recording than the report has.
type Report struct {
	finding.Report
	Session *diagnose.Session
	Plan    *tune.Plan // forecast of settings of the collector; nil: none can be made
}

// Run reports on a recording: it diagnoses it, names cures, asks the detectors, and reads
// the execution trace, if there is one. Parts that cannot be read become warnings; an error
// means that no part could be read. The session of the report reads from b, which must stay
// open as long as that is used.
func Run(ctx context.Context, b *bundle.Bundle, o Options) (*Report, error) {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	o.Progress("reading the recording")
	s, err := diagnose.Open(ctx, b, diagnose.Options{Own: o.Own, Escapes: o.Escapes, Local: o.Local,
		Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	d := s.Diagnosis()
	r := &Report{Report: finding.Report{Diagnosis: d}, Session: s}
	r.Prescription = prescribe.Run(ctx, s, prescribe.Options{Threshold: o.Threshold, Progress: o.Progress})
	trials, untried := verify(ctx, b, &r.Report, o)
	if len(trials) > 0 {
		r.Prescription = prescribe.Run(ctx, s, prescribe.Options{Threshold: o.Threshold, Trials: trials, Progress: o.Progress})
	}
	signals := s.Signals()
	r.Detections = detect.Run(signals)
	advice := r.Prescription.Advice
	r.Plan = forecast(b, d)
	if a, ok := setting(r.Plan, d, len(b.Manifest.Runs)); ok {
		advice = slices.Concat([]finding.Advice{a}, advice)
	}
	r.Advice = detect.Advice(advice, r.Detections, len(signals))
	r.Warnings = slices.Concat(d.Warnings, r.Prescription.Warnings)
	if untried != nil {
		r.Warnings = append(r.Warnings, "the cures were not tried: "+untried.Error())
	}
	if o.Rules {
		o.Progress("running the source rules")
		var problems []string
		r.Rules, problems = hotRules(ctx, d, r.Prescription.Threshold)
		r.Warnings = append(r.Warnings, problems...)
	}
	r.Trace = delays(ctx, b, o)
	return r, nil
}

// delays reads the execution trace of a recording; nil without one. If the trace cannot be
// read, the rest of the report is still made.
func delays(ctx context.Context, b *bundle.Bundle, o Options) *latency.Trace {
	part, ok := traceOf(b)
	if !ok {
		return nil
	}
	f, err := os.Open(b.Path(part))
	if err == nil {
		defer f.Close()
		var t *latency.Trace
		t, err = latency.Read(ctx, part.Path, f, latency.ReadOptions{Own: OwnPaths(b.Manifest.Target), Progress: o.Progress})
		if t != nil {
			return t
		}
	}
	o.Progress("the execution trace: %v", err)
	return nil
}

// traceOf finds the last execution trace of a recording.
func traceOf(b *bundle.Bundle) (evidence.Part, bool) {
	for _, r := range slices.Backward(b.Manifest.Runs) {
		for _, p := range slices.Backward(r.Parts) {
			if p.Kind == evidence.KindTrace {
				return p, true
			}
		}
	}
	return evidence.Part{}, false
}

// OwnPaths are the import paths of a target's own code.
func OwnPaths(t evidence.Target) []string {
	own := append(slices.Clone(t.Workspace), t.Packages...)
	if t.Module != "" {
		own = append(own, t.Module)
	}
	return own
}
