package diagnose

import (
	"errors"
	"io"
	"math"
	"strings"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
)

// Names of the virtual leaf frames in the profile of WritePprof.
const (
	FrameChurn     = "GC churn (attributed)"
	FrameRetention = "GC retention (attributed)"
	FrameRemainder = "GC remainder (of no allocation site)"
	FrameUnsampled = "in no CPU sample"
)

// WritePprof writes a CPU profile in which the collector's samples are replaced by virtual
// leaf frames under the stacks that cause them, so that a flame graph shows the collector's
// cost under the code. The samples of all runs add up to the recorded CPU time without
// benchmark set-up; the unattributed part is FrameRemainder, which can be negative, and
// unsampled time of the scheduler and the program is FrameUnsampled. The bundle that d came
// from must still be open.
func (s *Session) WritePprof(w io.Writer) error {
	if s.reader == nil {
		return errors.New("this diagnosis was not made from a recording")
	}
	out, err := pprof.NewWriter(w, pprof.Header{
		Types: []evidence.ValueType{
			{Type: "cpu", Unit: "nanoseconds"}, {Type: "alloc_objects", Unit: "count"},
			{Type: "alloc_space", Unit: "bytes"},
		},
		DefaultType: "cpu", PeriodOf: evidence.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7,
		Program:  strings.Join(s.diagnosis.Target.Packages, " "),
		Comments: []string{"written by heaptrim: the collector's CPU time is under the allocations that cause it"},
	})
	if err != nil {
		return err
	}
	for _, r := range s.runs {
		p := derived{s.reader, r, out, map[stack.Key]*siteCost{}}
		for i := range r.sites {
			p.sites[r.sites[i].site.Key] = &r.sites[i]
		}
		if err := p.write(); err != nil {
			return err
		}
	}
	return out.Close()
}

// derived writes the samples of one run.
type derived struct {
	*run.Reader
	run   *runCosts
	out   *pprof.Writer
	sites map[stack.Key]*siteCost
}

func (p derived) write() error {
	if err := p.run.Profiles(p.cpu, p.heap); err != nil {
		return err
	}
	unsampled := (p.run.counts.NoSample() - p.run.cpu.buckets[stack.BucketCollectorUnsampled]) / max(p.run.cpu.charged,
		1)
	for _, v := range []struct {
		frame string
		share float64
	}{{FrameRemainder, p.run.cpu.remainder.Value}, {FrameUnsampled, unsampled}} {
		n := p.nanos(v.share)
		if n == 0 {
			continue
		}
		if err := p.out.Add([][]evidence.Frame{{{Function: v.frame}}}, []int64{n, 0, 0}); err != nil {
			return err
		}
	}
	return nil
}

// nanos turns a share of the run's CPU into nanoseconds.
func (p derived) nanos(share float64) int64 {
	return int64(math.Round(share * p.run.cpu.charged * p.run.CPU.Period * 1e9))
}

// cpu copies every sample that is not the collector's.
func (p derived) cpu(part evidence.Part) error {
	prof, err := p.OpenCPU(part)
	if err != nil {
		return err
	}
	col := prof.Column("cpu")
	if col < 0 {
		return nil // the diagnosis has warned of it
	}
	c := stack.NewClassifier(prof, p.Table, p.Own, p.run.Run.Loops)
	return prof.Samples.Scan(func(s evidence.Sample) error {
		b := c.Bucket(s.Stack)
		if c.SetUp(s.Stack) || stack.BucketInfo[b].Collector {
			return nil
		}
		return p.out.Add(physical(s.Stack), []int64{int64(float64(s.Values[col]) * p.run.counts.Weight(b)), 0, 0})
	})
}

func physical(locs []*evidence.Location) [][]evidence.Frame {
	out := make([][]evidence.Frame, len(locs))
	for i, l := range locs {
		out[i] = l.Frames
	}
	return out
}

// heap puts the collector's cost under the allocating stacks of one profile: churn by bytes
// allocated, retention by bytes in use.
func (p derived) heap(h run.HeapUse) error {
	prof, cols, err := p.OpenHeap(h.Part)
	if err != nil {
		return err
	}
	c := stack.NewClassifier(prof, p.Table, p.Own, p.run.Run.Loops)
	all := p.run.AllBytes()
	return prof.Samples.Scan(func(s evidence.Sample) error {
		site := p.sites[stack.FindPath(c, s.Stack).Key]
		if site == nil {
			return nil
		}
		locs := program(c, s.Stack)
		if h.Alloc != 0 && cols.AllocBytes >= 0 && all > 0 && !c.SetUp(s.Stack) {
			objects, bytes := float64(s.Values[max(cols.AllocObjects,
				0)])*h.Alloc, float64(s.Values[cols.AllocBytes])*h.Alloc
			values := []int64{
				p.nanos(p.run.cpu.collected.Value * p.run.model.churn() * bytes / all), int64(objects), int64(bytes),
			}
			if err := p.add(locs, FrameChurn, values); err != nil {
				return err
			}
		}
		if live := site.site.InUse; h.InUse && cols.InUseBytes >= 0 && live.Sum > 0 {
			part := float64(s.Values[cols.InUseBytes]) / live.Sum
			return p.add(locs, FrameRetention, []int64{p.nanos(site.cost.Retention.Value * part), 0, 0})
		}
		return nil
	})
}

func (p derived) add(locs [][]evidence.Frame, leaf string, values []int64) error {
	if values[0] == 0 && values[2] == 0 {
		return nil
	}
	return p.out.Add(append([][]evidence.Frame{{{Function: leaf}}}, locs...), values)
}

// program drops the runtime's frames above the allocation.
func program(c *stack.Classifier, locs []*evidence.Location) [][]evidence.Frame {
	for i, l := range locs {
		for j, f := range c.Loc(l).Frames {
			if f.Owner != stack.OwnerRuntime {
				out := append([][]evidence.Frame{l.Frames[j:]}, physical(locs[i+1:])...)
				return out
			}
		}
	}
	return physical(locs)
}
