package record

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/gctrace"
	"github.com/heaptrim/heaptrim/internal/record/cyclecost"
	"github.com/heaptrim/heaptrim/internal/record/recorder"
)

// How a benchmark is run to learn what a cycle costs. At three times the
// distance a pair of stretches, with the one before each, has eight cycles'
// worth of work; four times would tell no more in the same time, and take more
// memory.
const (
	paceTimes   = 3
	fewestPairs = 7 // one may be lost at either end
	enoughPairs = 24
)

// pairTime is how long two stretches of either distance take, of a program whose
// collections come at the given distance by themselves.
func pairTime(distance time.Duration) time.Duration {
	return 2 * (max(distance, recorder.LeastStretch) + max(paceTimes*distance, recorder.LeastStretch))
}

// paces runs the work again with collections at two distances in turn, if the
// collector pass had enough of them, and tells what one costs. Programs that
// hardly collect, or would need much of the memory, are left alone.
func (b *benchRun) paces(ctx context.Context) error {
	err := b.measurePaces(ctx)
	if err != nil && ctx.Err() == nil {
		// The benchmark itself has been recorded.
		b.warn(fmt.Sprintf("%s: what a cycle costs could not be measured: %s", b.name, firstFailure(err)))
		return nil
	}
	return err
}

func (b *benchRun) measurePaces(ctx context.Context) error {
	cycles, peak := b.paceOf(b.log)
	if b.count > 0 || !b.pkg.recorder || cycles == 0 || peak > memoryFor(HostEnvironment()) {
		return nil
	}
	pair := pairTime(b.measured / time.Duration(cycles))
	if b.measured < fewestPairs*pair {
		return nil
	}
	ops := int64(float64(b.ops) * min(1, float64(enoughPairs*pair)/float64(b.measured)))
	dir, err := os.MkdirTemp(b.tmp, "rec-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	env := recorder.Env(dir, recorder.Options{Auto: true, HeapSnap: -1, Metrics: -1, Paces: paceTimes})
	res, err := b.runOne(ctx, testRun{args: b.args(ops, flushBenchmark), env: env})
	if err != nil {
		return err
	}
	files, err := recorder.Files(dir)
	if err != nil {
		return err
	}
	found, err := b.results(b.planned.pkg, res.out)
	if err != nil || len(found) != 1 || files.Paces == "" {
		return err
	}
	cost, err := costOf(files, time.Duration(found[0].nsPerOp*float64(ops)))
	if err != nil || cost == nil {
		return err
	}
	return b.w.Update(func(m *evidence.Manifest) { m.Runs[b.id].CycleCost = cost })
}

// costOf reads what the recorder noted of the last part of its window, which
// took as long as the benchmark measured; nil where that is too little.
func costOf(files recorder.Result, measured time.Duration) (*evidence.CycleCost, error) {
	f, err := os.Open(files.Paces)
	if err != nil {
		return nil, fmt.Errorf("read paces: %w", err)
	}
	defer f.Close()
	all, err := cyclecost.Read(files.Paces, f)
	if err != nil {
		return nil, err
	}
	end := files.Began + files.Wall
	if c, ok := cyclecost.Estimate(all, end-measured, end); ok {
		return &c, nil
	}
	return nil, nil
}

// paceOf is how many collections the pacer started in a log, and how large
// their heap becomes at the longer distance.
func (b *benchRun) paceOf(log []byte) (cycles int, peak int64) {
	// What does not read is no cycle: the log's own part says so.
	_, _ = gctrace.Scan("", bytes.NewReader(log), func(c evidence.Cycle) error {
		if !c.Forced {
			cycles++
			peak = max(peak, int64(c.HeapEnd)+(paceTimes-1)*int64(c.Goal-c.HeapLive))
		}
		return nil
	})
	return cycles, peak
}

// memoryFor is how much a benchmark may take that would take less by itself: a
// quarter of what there is.
func memoryFor(e evidence.Environment) int64 {
	all := e.MemoryBytes
	if e.CgroupLimit > 0 {
		all = min(all, e.CgroupLimit)
	}
	return all / 4
}
