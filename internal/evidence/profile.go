package evidence

import "time"

// Frame is one source-level frame of a stack.
type Frame struct {
	Function  string // as pprof spells it: example.com/m/pkg.(*T).Method
	File      string // as recorded by the compiler; may be empty
	Line      int    // 1-based; 0 when unknown
	StartLine int    // first line of Function; 0 when unknown
	Inlined   bool   // into the frame that follows it in its Location
}

// Location is one physical frame: a program counter with the calls that were
// inlined there. Frames is innermost first and has at least one element. A
// Location belongs to its profile and must not be changed.
type Location struct {
	Index   int // dense, 0-based, for side tables
	Frames  []Frame
	Address uint64   // of the instruction, a caller's inside its call; 0 when not recorded
	Mapping *Mapping // what Address lies in; nil when not recorded
}

// Mapping is a part of a file that was mapped into the process: a program or a
// shared library. It belongs to its profile and must not be changed.
type Mapping struct {
	Start, Limit uint64 // addresses of its first byte and of the one behind its last
	Offset       uint64 // of the byte at Start in the file
	File         string // as the process named it; may be empty
	BuildID      string // GNU build ID in hexadecimal digits; empty when not recorded
}

// Sample is one weighted stack. It is valid only during the callback that
// receives it: the reader reuses its slices.
type Sample struct {
	Stack  []*Location // leaf first
	Values []int64     // one per Profile.Types, in their order
	Labels []Label     // in file order; a key may come more than once
}

// Label is one label of a sample: those of pprof.Do, or "bytes", the size of
// the objects of a heap sample.
type Label struct {
	Key    string
	Text   string // empty for a number
	Number int64
	Unit   string // of Number; may be empty
}

// ValueType names what one column of a profile's samples counts.
type ValueType struct {
	Type string // such as "cpu", "alloc_space"
	Unit string // such as "nanoseconds", "bytes", "count"
}

// Profile is a pprof profile that is read as a stream: its tables are in
// memory, its samples are not. Scan may be called any number of times.
type Profile struct {
	Name     string // file name for messages
	Types    []ValueType
	Period   int64     // of PeriodType: nanoseconds a CPU sample, bytes a heap sample
	PeriodOf ValueType // what Period counts
	Start    time.Time
	Duration time.Duration
	Samples  SampleSource
	// Locations is the number of distinct Location.Index values.
	Locations int
}

// SampleSource yields every sample of a profile, in file order, and stops at
// the first error, which it returns. Implementations are not safe for
// concurrent use.
type SampleSource interface {
	Scan(yield func(Sample) error) error
}

// Column returns the index of the column of the given type name, or -1.
func (p *Profile) Column(typ string) int {
	for i, t := range p.Types {
		if t.Type == typ {
			return i
		}
	}
	return -1
}
