package bench

import (
	"bytes"
	"context"
	"errors"
	"os"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/gctrace"
	"github.com/heaptrim/heaptrim/internal/record/recorder"
)

// smallGoal is the heap goal below which a benchmark also runs unprofiled. With Go
// 1.26 the CPU profile's buffers take 1.2 MB of heap, of which 0.13 MB are scanned: at
// least a tenth of such a goal. With larger heaps, the cycle counts of the log agree
// within some percent.
const smallGoal = 12 << 20

// fewestAlone is how many collections two runs need to be compared by them.
const fewestAlone = 20

// alone repeats the same operations without profile and log, if the heap is small, so
// that the heap holds only the program's data. What the process used then can be
// compared with the profiled run.
func (b *benchRun) alone(ctx context.Context) error {
	return b.optional(ctx, b.recordAlone,
		"it could not be run without a profile, so the effect of the profile itself is unknown")
}

func (b *benchRun) recordAlone(ctx context.Context) error {
	if b.used.Profiled <= 0 || !b.hasSmallGoal() {
		return nil
	}
	dir, err := os.MkdirTemp(b.rec.tmp, "rec-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	env := recorder.Env(dir, recorder.Options{Auto: true, HeapSnap: -1, Metrics: -1})
	res, err := b.runOne(ctx, testRun{args: b.args(b.ops, flushBenchmark), env: env})
	if err != nil {
		return err
	}
	use, err := recorder.Files(dir)
	if err != nil {
		return err
	}
	if !use.Complete {
		return errors.New("the program ended before the recorder finished")
	}
	p := b.part(evidence.Part{Path: "alone.txt", Kind: evidence.KindBench, Pass: evidence.PassAlone, Ops: b.ops}, res)
	return b.keepText(withUse(p, use), b.benchText(res.out))
}

// withUse adds what the process used, as the recorder reports it.
func withUse(p evidence.Part, use recorder.Result) evidence.Part {
	p.Profiled, p.MinorFaults, p.Sleeps, p.Cycles, p.Collector = use.Profiled, use.Faults, use.Sleeps, use.Cycles,
		use.Collector
	return p
}

// hasSmallGoal reports whether the log has enough collections, most of them with a
// small heap goal.
func (b *benchRun) hasSmallGoal() bool {
	small, all := 0, 0
	// Unreadable lines are skipped here; reading the log's own part reports them.
	_, _ = gctrace.Scan("", bytes.NewReader(b.log), func(c evidence.Cycle) error {
		if !c.Forced {
			all++
			if c.Goal < smallGoal {
				small++
			}
		}
		return nil
	})
	return all >= fewestAlone && small > all/2
}
