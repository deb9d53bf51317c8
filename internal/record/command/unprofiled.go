package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/process"
	"github.com/heaptrim/heaptrim/internal/record/recorder"
)

// A CPU profile keeps more than 2 MB on the program's heap, and what symbolises stacks
// makes tables of the executable resident. So the figures of the heap and the resident
// set come from a pass of its own, in which only the collector's log and
// runtime/metrics are recorded: under a load another run, else a window that follows in
// the same process.

// unprofiled is the gap of a recording without that pass.
func unprofiled() evidence.Gap {
	return evidence.Gap{Code: evidence.GapAlone, What: "the unprofiled pass",
		Adds: "collections, heap and resident set as they are without a CPU profile"}
}

// unprofiledOptions are the options of the window. Samples every 20 ms, as of Collector,
// made the live heap of a service with 2 MiB smaller by 3 %: threads that are awake begin
// to mark sooner.
func unprofiledOptions() recorder.Options { return recorder.Options{HeapSnap: -1} }

const (
	leastUnprofiled = 5 * time.Second // under a load, unless that ends by itself
	mostUnprofiled  = 5 * time.Second // in the same process
)

// unprofiledRun repeats the run for half as long. A failure of the run is recorded as a
// gap, not returned.
func (r *execRecorder) unprofiledRun(ctx context.Context, timing recordedPass) error {
	_, err := r.record(ctx, execPass{name: evidence.PassCollector, log: true,
		limit: max(timing.files.Wall/2, leastUnprofiled), options: unprofiledOptions()})
	if ctx.Err() != nil {
		err = errUnfinished
	}
	return r.lack(unprofiled(), err)
}

// unprofiledWindow records the collector alone after the window with profiles, if
// something other than a load drives the program.
func (s *execSession) unprofiledWindow(ctx context.Context) error {
	switch {
	case s.o.Load != "" || s.o.For <= 0 || !s.pass.options.CPU || ctx.Err() != nil:
		return nil
	case !s.proc.Running():
		return process.ErrEnded
	}
	f, err := os.Create(s.logFile + ".alone")
	if err != nil {
		return err
	}
	s.aloneFile = f.Name()
	if err := s.log.next(f); err != nil {
		return err
	}
	length := min(s.o.For/2, mostUnprofiled)
	s.o.Progress("unprofiled pass: observing process %d for %v", s.proc.Cmd.Process.Pid, length)
	starting, cancel := s.whileRunning(ctx)
	defer cancel()
	if err := recorder.Start(starting, s.dir, unprofiledOptions()); err != nil {
		return fmt.Errorf("%w%s", err, s.lastWords())
	}
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.proc.Done:
	case <-ctx.Done():
	}
	s.log.gate(false)
	return s.stop()
}

// unprofiled keeps the window that f lists.
func (k keeper) unprofiled(f recorder.Result) error {
	if f.Files.Metrics == "" || k.s.aloneFile == "" {
		return nil
	}
	// The process may have been larger before, with the profiles.
	use := usage(f)
	k.p, k.pass, k.peak, k.logFile = recordedPass{files: f}, evidence.PassCollector, use.resident, k.s.aloneFile
	if k.p.files.CPU == 0 {
		k.p.files.CPU = use.cpu
	}
	if k.p.files.Wall == 0 {
		k.p.files.Wall = use.span
	}
	if err := errors.Join(k.metrics(), k.log()); err != nil {
		return err
	}
	return k.lack(unprofiled(), nil)
}
