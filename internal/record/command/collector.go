package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/process"
	"github.com/heaptrim/heaptrim/internal/record/recorder"
)

// Collector is [Record] with a single pass that observes only the collector: its log
// and runtime/metrics. A CPU profile and heap snapshots would keep memory alive
// themselves, and in a small program that changes when collections run.
func Collector(ctx context.Context, o Options, w *bundle.Writer) error {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	tmp, err := os.MkdirTemp("", "heaptrim-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	r := &execRecorder{o: o, w: w, tmp: tmp}
	if err := r.build(ctx); err != nil {
		return err
	}
	r.run = w.Run(evidence.Run{Name: "service", Package: r.target.pkg.ImportPath})
	_, err = r.record(ctx, execPass{name: evidence.PassCollector, log: true,
		options: recorder.Options{HeapSnap: -1, Metrics: collectorSamples}})
	switch {
	case errors.Is(err, process.ErrEnded):
		return fmt.Errorf("%s: %w %w", o.Package, ErrProgramFailed, err)
	case err == nil && o.Load == "" && r.failed != nil:
		return fmt.Errorf("%s: %w: %w", o.Package, ErrProgramFailed, r.failed)
	}
	return err
}

// collectorSamples is the interval between metrics samples. In a program that collects
// ten times a second, most cycles then have a sample of their own.
const collectorSamples = 20 * time.Millisecond
