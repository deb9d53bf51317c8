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

// Collector is [Exec] with one pass that looks at the collector only: its
// log and the runtime's metrics. A CPU profile and snapshots of the heap keep
// memory alive themselves, which in a small program changes when it collects.
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

// collectorSamples is how often the metrics are read: most cycles of a program
// that collects ten times a second have a sample of their own then.
const collectorSamples = 20 * time.Millisecond
