package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/gctrace"
	"github.com/heaptrim/heaptrim/internal/record/cyclecost"
	"github.com/heaptrim/heaptrim/internal/record/host"
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
	return b.optional(ctx, b.measurePaces, "what a cycle costs could not be measured")
}

func (b *benchRun) measurePaces(ctx context.Context) error {
	cycles, peak := b.paceOf(b.log)
	if b.count > 0 || !b.pkg.recorder || cycles == 0 || peak > memoryFor(host.Environment()) {
		return nil
	}
	pair := pairTime(b.measured / time.Duration(cycles))
	if b.measured < fewestPairs*pair {
		return nil
	}
	want := min(b.measured, enoughPairs*pair)
	ops := int64(float64(b.ops) * float64(want) / float64(b.measured))
	cost, took, err := b.runAtPaces(ctx, ops)
	if errors.Is(err, errFewPairs) && took > 0 && took < want/2 {
		// The machine was that much slower when the operations were counted.
		ops = int64(float64(ops) * float64(want) / float64(max(took, want/16)))
		cost, _, err = b.runAtPaces(ctx, ops)
	}
	if err != nil || cost.Pairs == 0 {
		return err
	}
	return b.rec.w.Update(func(m *evidence.Manifest) { m.Runs[b.id].CycleCost = &cost })
}

// runAtPaces runs so many operations with collections at two distances in turn
// and returns what a cycle cost, and how long they took; nothing where the
// recorder has said why it left the pace alone.
func (b *benchRun) runAtPaces(ctx context.Context, ops int64) (evidence.CycleCost, time.Duration, error) {
	dir, err := os.MkdirTemp(b.rec.tmp, "rec-")
	if err != nil {
		return evidence.CycleCost{}, 0, err
	}
	defer os.RemoveAll(dir)
	env := recorder.Env(dir, recorder.Options{Auto: true, HeapSnap: -1, Metrics: -1, Paces: paceTimes})
	res, err := b.runOne(ctx, testRun{args: b.args(ops, flushBenchmark), env: env})
	if err != nil {
		return evidence.CycleCost{}, 0, err
	}
	files, err := recorder.Files(dir)
	if err != nil {
		return evidence.CycleCost{}, 0, err
	}
	found, err := b.rec.results(b.planned.pkg, res.out)
	if err != nil || len(found) != 1 || files.Files.Paces == "" {
		return evidence.CycleCost{}, 0, err
	}
	took := time.Duration(found[0].nsPerOp * float64(ops))
	cost, err := costOf(files, took)
	return cost, took, err
}

var errFewPairs = errors.New("too few pairs of stretches")

// costOf reads what the recorder noted of the last part of its window, which
// took as long as the benchmark measured.
func costOf(files recorder.Result, measured time.Duration) (evidence.CycleCost, error) {
	f, err := os.Open(files.Files.Paces)
	if err != nil {
		return evidence.CycleCost{}, fmt.Errorf("read paces: %w", err)
	}
	defer f.Close()
	all, err := cyclecost.Read(files.Files.Paces, f)
	if err != nil {
		return evidence.CycleCost{}, err
	}
	end := files.Began + files.Wall
	c, ok := cyclecost.Estimate(all, end-measured, end)
	if !ok {
		err = fmt.Errorf("%w: %d readings in %v", errFewPairs, len(all), measured.Round(time.Millisecond))
	}
	return c, err
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
