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

// smallGoal is the heap goal below which a benchmark runs once more alone. The
// CPU profile's buffers are 1.2 MB on the heap, and 0.13 MB of them are scanned, with
// Go 1.26: a tenth of such a goal or more. With larger heaps the collections that the log
// counts tell the same within some percent.
const smallGoal = 12 << 20

// fewestAlone is how many collections it takes that two runs can be compared by them.
const fewestAlone = 20

// alone runs the same operations with nothing on the heap that is not the
// program's, if that is small: no profile and no log. What the process used then stands
// beside what it used while it was profiled.
func (b *benchRun) alone(ctx context.Context) error {
	return b.optional(ctx, b.recordAlone,
		"it could not be run without a profile, so what the profile itself changes is not known")
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
		return errors.New("the program ended before the recorder did")
	}
	p := b.part(evidence.Part{Path: "alone.txt", Kind: evidence.KindBench, Pass: evidence.PassAlone, Ops: b.ops}, res)
	return b.keepText(withUse(p, use), b.benchText(res.out))
}

// withUse adds what the recorder says that the process has used.
func withUse(p evidence.Part, use recorder.Result) evidence.Part {
	p.Profiled, p.MinorFaults, p.Sleeps, p.Cycles, p.Collector = use.Profiled, use.Faults, use.Sleeps, use.Cycles,
		use.Collector
	return p
}

// hasSmallGoal reports whether there are enough collections in the log, and most of
// them for a small heap.
func (b *benchRun) hasSmallGoal() bool {
	small, all := 0, 0
	// What does not read is no cycle: the log's own part says so.
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
