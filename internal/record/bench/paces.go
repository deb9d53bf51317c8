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

// Settings of the cycle-cost measurement. With three times GOGC, a pair of stretches
// and the stretch before each take the work of eight cycles. Four times GOGC would not
// be more precise in the same time and would use more memory.
const (
	paceTimes   = 3
	fewestPairs = 7 // one may be lost at either end
	enoughPairs = 24
)

// pairTime is the length of a pair of stretches with the stretch before each, for a
// program whose collections are distance apart at its own GOGC.
func pairTime(distance time.Duration) time.Duration {
	return 2 * (max(distance, recorder.LeastStretch) + max(paceTimes*distance, recorder.LeastStretch))
}

// paces repeats the work with two GOGC values in turn and records what a cycle costs,
// if the collector pass had enough collections. It skips programs that rarely collect
// or would need too much memory.
func (b *benchRun) paces(ctx context.Context) error {
	return b.optional(ctx, b.measurePaces, "what a cycle costs could not be measured")
}

func (b *benchRun) measurePaces(ctx context.Context) error {
	cycles, peak := b.paceOf(b.gc.log)
	if b.count > 0 || !b.rec.o.BenchTime.Given() && b.quick() || !b.tested().recorder || cycles == 0 || peak > memoryFor(host.Environment()) {
		return nil
	}
	pair := pairTime(b.gc.took / time.Duration(cycles))
	if b.gc.took < fewestPairs*pair {
		return nil
	}
	want := min(b.gc.took, enoughPairs*pair)
	if b.room() < want/2 {
		return nil
	}
	ops := int64(float64(b.gc.ops) * float64(want) / float64(b.gc.took))
	cost, took, err := b.runAtPaces(ctx, ops)
	if errors.Is(err, errFewPairs) && took > 0 && took < want/2 && b.room() > 0 {
		// The machine was slower by that factor when the collector pass counted the
		// operations.
		ops = int64(float64(ops) * float64(want) / float64(max(took, want/16)))
		cost, _, err = b.runAtPaces(ctx, ops)
	}
	if err != nil || cost.Pairs == 0 {
		return err
	}
	return b.rec.w.Update(func(m *evidence.Manifest) { m.Runs[b.id].CycleCost = &cost })
}

// runAtPaces runs ops operations with two GOGC values in turn. It returns the cost of
// a cycle and the time that the operations took; zero if the recorder left GOGC
// unchanged, which it notes itself.
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

// costOf estimates the cost from the end of the recorder's window, as long as the
// benchmark's measured time; before that the benchmark sets up.
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

// paceOf returns the number of unforced collections in a log and the largest heap to
// expect with the larger GOGC.
func (b *benchRun) paceOf(log []byte) (cycles int, peak int64) {
	// Unreadable lines are skipped here; reading the log's own part reports them.
	_, _ = gctrace.Scan("", bytes.NewReader(log), func(c evidence.Cycle) error {
		if !c.Forced {
			cycles++
			peak = max(peak, int64(c.HeapEnd)+(paceTimes-1)*int64(c.Goal-c.HeapLive))
		}
		return nil
	})
	return cycles, peak
}

// memoryFor returns how much memory a benchmark may use with the larger GOGC: a
// quarter of what is available.
func memoryFor(e evidence.Environment) int64 {
	all := e.MemoryBytes
	if e.CgroupLimit > 0 {
		all = min(all, e.CgroupLimit)
	}
	return all / 4
}
