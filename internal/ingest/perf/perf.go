// Package perf reads what perf script prints: samples of the processor and of
// page faults whose stacks go on into the kernel. It gives them as a profile
// in which the kernel's frames stand above those of Go, so that page faults,
// NUMA balancing and huge pages show under the code that meets them.
//
// Stacks are of physical frames: perf knows neither calls that were inlined
// nor, as it is called here, lines.
package perf

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// KernelFile stands as the file of the kernel's frames.
const KernelFile = "[kernel]"

// Columns of the profile.
const (
	ColumnSamples = "samples"     // count
	ColumnCPU     = "cpu"         // nanoseconds
	ColumnFaults  = "page_faults" // count
)

// Stats says what the file held. Samples of other processes than the one that
// the profile is of, and of other events, are not in the profile.
type Stats struct {
	Lines     int
	CPU       int64 // samples of processor time in the profile
	Faults    int64 // page faults in the profile, where those were recorded
	Kernel    int64 // samples in the profile whose innermost frame is the kernel's
	Others    int64 // whole samples left out: of other processes and other events
	Process   string
	Malformed int            // lines that are not what perf script prints; the samples that they belong to are left out
	Errors    []*SyntaxError // the first of those
	Truncated bool           // the last sample had no end and is left out
	// Frequency says where the time that a sample stands for comes from.
	Frequency string
}

// ErrNoGo says that no stack shows a Go program.
var ErrNoGo = errors.New("no stack has a function of the Go runtime: record with -g, of a Go program that is not stripped")

// ErrNoSamples says that a file has nothing of what is wanted.
var ErrNoSamples = errors.New("no whole sample of processor time or page faults")

// Open makes a first pass over a file and returns the profile of the Go
// process that has most of its samples. Its tables are in memory, its samples
// are read again by every Scan; the file must not change meanwhile. The memory
// used goes by the distinct functions and processes, not by the file.
func Open(path string) (*evidence.Profile, *Stats, error) {
	return open(&source{name: path, open: func() (io.ReadCloser, error) { return os.Open(path) }})
}

// Bytes is Open for a text that is in memory, which must not be changed; name
// stands for the file in messages.
func Bytes(name, text string) (*evidence.Profile, *Stats, error) {
	return open(&source{name: name, open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }})
}

// source is a text that can be read again and again. It implements
// evidence.SampleSource.
type source struct {
	name      string
	open      func() (io.ReadCloser, error)
	locations functions
	want      processKey
	nanos     float64 // a sample of processor time where its period is not in nanoseconds
}

// processKey is a process by its number, or by its name where perf printed
// only numbers of threads.
type processKey struct {
	pid  int
	comm string
}

func keyOf(s *sample) processKey {
	if s.pid > 0 {
		return processKey{pid: s.pid}
	}
	return processKey{comm: string(s.comm)}
}

// eventKind is what an event counts.
type eventKind int

const (
	otherEvent eventKind = iota
	clockEvent           // its period is nanoseconds
	cycleEvent           // its period is processor cycles
	faultEvent
)

func kindOf(event []byte) eventKind {
	name := string(event)
	switch {
	case strings.Contains(name, "fault"):
		return faultEvent
	case strings.HasPrefix(name, "cpu-clock"), strings.HasPrefix(name, "task-clock"):
		return clockEvent
	case strings.Contains(name, "cycles"):
		return cycleEvent
	}
	return otherEvent
}

func open(src *source) (*evidence.Profile, *Stats, error) {
	st := &Stats{}
	in, err := src.open()
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	first := newSurvey(src)
	r := newReader(src.name, in, st)
	if err := r.each(first.add); err != nil {
		return nil, st, err
	}
	if err := first.choose(st); err != nil {
		if st.Malformed > 0 {
			return nil, st, fmt.Errorf("%s: %w; %w", src.name, err, st.Errors[0])
		}
		return nil, st, fmt.Errorf("%s: %w", src.name, err)
	}
	return first.profile(st, r.freq), st, nil
}

// Scan implements evidence.SampleSource. The columns are samples, cpu and
// page_faults.
func (src *source) Scan(yield func(evidence.Sample) error) error {
	in, err := src.open()
	if err != nil {
		return err
	}
	defer in.Close()
	var stack []*evidence.Location
	values := make([]int64, 3)
	return newReader(src.name, in, &Stats{}).each(func(s *sample) error {
		kind := kindOf(s.event)
		if kind == otherEvent || keyOf(s) != src.want {
			return nil
		}
		stack = stack[:0]
		for _, f := range s.stack {
			l := src.locations.of(f)
			if l == nil {
				return fmt.Errorf("%s: changed while it was read", src.name)
			}
			stack = append(stack, l)
		}
		src.value(s, kind, values)
		return yield(evidence.Sample{Stack: stack, Values: values})
	})
}

// value fills in the columns of a sample.
func (src *source) value(s *sample, kind eventKind, values []int64) {
	clear(values)
	switch kind {
	case faultEvent:
		values[2] = max(s.period, 1)
		return
	case clockEvent:
		if s.period > 0 {
			values[1] = s.period
			break
		}
		fallthrough
	case cycleEvent:
		values[1] = int64(src.nanos)
	}
	values[0] = 1
}

// functions are the locations by name. Those of the kernel have a table of
// their own: user space may have the same names.
type functions struct {
	user, kernel map[string]*evidence.Location
}

func (t functions) len() int { return len(t.user) + len(t.kernel) }

func (t functions) of(f frame) *evidence.Location {
	table := t.user
	if f.kernel {
		table = t.kernel
	}
	if f.known() {
		return table[string(f.symbol)]
	}
	return table[f.place()]
}

// known says whether perf found a function.
func (f frame) known() bool { return len(f.symbol) > 0 && string(f.symbol) != "[unknown]" }

// place is the name of a frame without a function.
func (f frame) place() string { return "[unknown] " + string(f.object) }

// add makes the location of a new function.
func (t functions) add(f frame) {
	name, table, file := string(f.symbol), t.user, ""
	if !f.known() {
		name = f.place()
	}
	if f.kernel {
		table, file = t.kernel, KernelFile
	}
	table[name] = &evidence.Location{Index: t.len(), Frames: []evidence.Frame{{Function: name, File: file}}}
}
