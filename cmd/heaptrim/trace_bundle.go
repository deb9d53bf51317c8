package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/report"
)

// traceFile is the file of a trace: name itself, or the trace that the bundle
// of that name holds, with what was recorded there. The function it returns
// removes what was unpacked.
func traceFile(name string) (path string, t evidence.Target, done func(), err error) {
	if name == "-" || !isBundle(name) {
		return name, t, func() {}, nil
	}
	b, err := bundle.Open(name)
	if err != nil {
		return "", t, nil, err
	}
	path, ok := traceOf(b)
	if !ok {
		b.Close()
		return "", t, nil, fmt.Errorf("%s holds no execution trace; record one with -trace", name)
	}
	return path, b.Manifest.Target, func() { b.Close() }, nil
}

// ownPaths are the import paths of a target's own code.
func ownPaths(t evidence.Target) []string {
	own := append(slices.Clone(t.Workspace), t.Packages...)
	if t.Module != "" {
		own = append(own, t.Module)
	}
	return own
}

// traceOf finds the last execution trace of a bundle.
func traceOf(b *bundle.Bundle) (path string, ok bool) {
	for _, r := range slices.Backward(b.Manifest.Runs) {
		for _, p := range slices.Backward(r.Parts) {
			if p.Kind == evidence.KindTrace {
				return b.Path(p), true
			}
		}
	}
	return "", false
}

// payers adds to a report who paid, if the recording has a trace. A trace that
// cannot be read is no reason to withhold the rest.
func payers(ctx context.Context, r *recorded, p *progress) *report.Trace {
	path, ok := traceOf(r.Bundle)
	if !ok {
		return nil
	}
	f := traceFlags{own: ownPaths(r.Bundle.Manifest.Target)}
	t, err := f.read(ctx, path, p)
	if t == nil {
		p.Printf("the execution trace: %v", err)
	}
	return t
}

// writePayers writes the part of a report that payers has read.
func writePayers(w io.Writer, t *report.Trace) error {
	if t == nil {
		return nil
	}
	return report.TraceBrief(w, t, terminalOf(w).width)
}
