package diagnose

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"

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

// Columns of the profile of WritePprof.
const (
	derivedCPU = iota
	derivedObjects
	derivedBytes
	derivedRelief
	derivedColumns
)

// WritePprof writes a CPU profile in which the collector's samples are replaced by virtual
// leaf frames under the stacks that cause them, so that a flame graph shows the collector's
// cost under the code. The unattributed part is FrameRemainder, and unsampled time of the
// scheduler and the program is FrameUnsampled. No value is negative, as viewers take only
// what adds up: memory in use can make collections rarer, and the time that it saves is in a
// column of its own, gc_relief. CPU time less relief is the recorded CPU time of all runs
// without benchmark set-up. The bundle that d came from must still be open.
func (s *Session) WritePprof(w io.Writer) error {
	if s.reader == nil {
		return errors.New("this diagnosis was not made from a recording")
	}
	out, err := pprof.NewWriter(w, pprof.Header{
		Types: []evidence.ValueType{
			{Type: "cpu", Unit: "nanoseconds"}, {Type: "alloc_objects", Unit: "count"},
			{Type: "alloc_space", Unit: "bytes"}, {Type: "gc_relief", Unit: "nanoseconds"},
		},
		DefaultType: "cpu", PeriodOf: evidence.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7,
		Program: strings.Join(s.diagnosis.Target.Packages, " "),
		Comments: []string{
			"written by heaptrim: the collector's CPU time is under the allocations that cause it",
			"gc_relief is the collector's CPU time that memory in use saves; cpu without it is the recorded time",
		},
	})
	if err != nil {
		return err
	}
	p := derived{rows: map[string]*derivedRow{}}
	if err := s.WalkStacks(p.add); err != nil {
		return err
	}
	for _, r := range s.RunTimes() {
		p.row(FrameRemainder, nil).values[derivedCPU] += r.Remainder
		for _, u := range r.Unsampled {
			if !u.Bucket.Collector {
				p.row(FrameUnsampled, nil).values[derivedCPU] += u.CPU
			}
		}
	}
	if err := p.write(out); err != nil {
		return err
	}
	return out.Close()
}

// derived gathers the profile. It adds up before it writes: allocations are the difference
// of two snapshots, and only their sums are positive.
type derived struct {
	rows  map[string]*derivedRow // by the bytes of their frames
	order []*derivedRow
	key   []byte
}

type derivedRow struct {
	stack  [][]evidence.Frame
	values [derivedColumns]float64
}

func (p *derived) add(s WeightedStack) error {
	locs := callers(s)
	if !s.Heap {
		if !s.Bucket.Collector && s.CPU != 0 {
			p.row("", locs).values[derivedCPU] += s.CPU
		}
		return nil
	}
	if s.Churn != 0 || s.Bytes != 0 {
		r := p.row(FrameChurn, locs)
		r.values[derivedCPU] += s.Churn
		r.values[derivedObjects] += s.Objects
		r.values[derivedBytes] += s.Bytes
	}
	if s.Retention != 0 {
		p.row(FrameRetention, locs).values[derivedCPU] += s.Retention
	}
	return nil
}

// callers are the frames of a stack from the code that runs or allocates outwards. Some
// profiles show where a goroutine begins and others do not: with that frame, stacks of the
// same code would be two trees.
func callers(s WeightedStack) [][]evidence.Frame {
	n := len(s.Stack)
	if n > 1 && s.Stack[n-1].Frames[0].Function == "runtime.goexit" {
		n--
	}
	out := make([][]evidence.Frame, n)
	for i, l := range s.Stack[:n] {
		out[i] = l.Frames
	}
	if s.Inline > 0 && n > 0 {
		out[0] = out[0][s.Inline:]
	}
	return out
}

// row returns the sample of a stack, below a virtual leaf frame if leaf is not empty.
func (p *derived) row(leaf string, locs [][]evidence.Frame) *derivedRow {
	p.key = append(append(p.key[:0], leaf...), 0)
	for _, frames := range locs {
		p.key = binary.AppendUvarint(p.key, uint64(len(frames)))
		for _, f := range frames {
			p.key = append(append(append(append(p.key, f.Function...), 0), f.File...), 0)
			p.key = binary.AppendVarint(p.key, int64(f.Line))
		}
	}
	if r := p.rows[string(p.key)]; r != nil {
		return r
	}
	r := &derivedRow{stack: locs}
	if leaf != "" {
		r.stack = append([][]evidence.Frame{{{Function: leaf}}}, locs...)
	}
	p.rows[string(p.key)] = r
	p.order = append(p.order, r)
	return r
}

// write writes the samples. CPU time that sums to less than nothing becomes relief.
func (p *derived) write(out *pprof.Writer) error {
	for _, r := range p.order {
		v := r.values
		if v[derivedCPU] < 0 {
			v[derivedCPU], v[derivedRelief] = 0, -v[derivedCPU]
		}
		values, some := make([]int64, derivedColumns), false
		for i := range values {
			values[i] = int64(math.Round(max(v[i], 0)))
			some = some || values[i] != 0
		}
		if !some {
			continue
		}
		if err := out.Add(r.stack, values); err != nil {
			return err
		}
	}
	return nil
}
