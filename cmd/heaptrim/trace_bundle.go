package main

import (
	"fmt"
	"io"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/check"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/latency"
	"github.com/heaptrim/heaptrim/internal/report/trace"
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
	path, ok := check.TraceOf(b)
	if !ok {
		b.Close()
		return "", t, nil, fmt.Errorf("%s holds no execution trace; record one with -trace", name)
	}
	return path, b.Manifest.Target, func() { b.Close() }, nil
}

// writeDelays writes the part of a report that comes from its trace.
func writeDelays(w io.Writer, t *latency.Trace) error {
	if t == nil {
		return nil
	}
	return trace.Brief(w, t, terminalOf(w).Width)
}
