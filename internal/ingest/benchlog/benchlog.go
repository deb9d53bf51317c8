// Package benchlog reads the text that "go test -bench" prints.
package benchlog

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"golang.org/x/perf/benchfmt"
)

// Log is what one benchmark text says. Its size grows with the number of
// results, not with what else the text contains.
type Log struct {
	GOOS, GOARCH, CPU string // as last printed; empty when not printed
	Results           []Result

	// Malformed counts lines that begin like a result and are none, because a
	// program printed in between, or made up the word. Errors are the first of
	// them, at most MaxErrors.
	Malformed int
	Errors    []*SyntaxError

	lastBad int // line of the last malformed one
}

// MaxErrors bounds Log.Errors.
const MaxErrors = 20

// Result is one line of measurements.
type Result struct {
	Name       string // such as "BenchmarkParse/large", without the -P suffix
	FullName   string // as printed
	Procs      int    // from the -P suffix; 1 without one
	Package    string // import path of the last "pkg:" line; empty without one
	Iterations int64  // b.N, at least 1
	NsPerOp    float64
	Mem        bool // B/op and allocs/op were printed
	// BytesPerOp and AllocsPerOp are 0 without Mem, too.
	BytesPerOp, AllocsPerOp float64
	Metrics                 map[string]float64 // every other measurement by its unit as printed: "MB/s", "p99-ns"
	Line                    int                // in the text, from 1
}

// SyntaxError is a line that begins like a result and is none.
type SyntaxError struct {
	File string
	Line int // from 1
	Msg  string
}

// Error gives the message with its position.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// Read reads a benchmark text to its end. Lines that are neither results nor
// one of the headings pkg, goos, goarch and cpu are passed over. The error is
// one of r; the Log then holds what came before it. name is for messages.
//
// A result that the benchmark's own printing has torn from its name is put
// together again, as long as that printing ended with a newline.
//
// Where the last number of a name is GOMAXPROCS and where it belongs to the
// name is not marked in the text: go test leaves GOMAXPROCS out when it is 1.
// splitRule decides it for all results of a package together. The one case it
// cannot know is a package whose only sub-benchmarks end in one and the same
// number, and that has no other; it is then taken for GOMAXPROCS.
func Read(name string, r io.Reader) (*Log, error) {
	log := &Log{}
	lines := newFilter(r)
	in := benchfmt.NewReader(lines, name)
	for in.Scan() {
		_, line := in.Result().Pos()
		log.add(name, in.Result(), lines.joined[line])
		delete(lines.joined, line)
	}
	for _, line := range lines.tooLong {
		log.malformed(&SyntaxError{name, line, "the line is too long"})
	}
	log.Malformed += lines.tooLongMore
	splitProcs(log.Results)
	err := lines.err
	if err == nil {
		err = in.Err()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return log, fmt.Errorf("read benchmark text %s, line %d: %w", name, lines.lines+1, err)
	}
	return log, nil
}

// add takes one record. If its name was torn off and stands on line torn, it
// counts only as a result, and only if that line was none.
func (l *Log) add(name string, record benchfmt.Record, torn int) {
	_, line := record.Pos()
	var result Result
	var err error
	switch r := record.(type) {
	case *benchfmt.SyntaxError:
		err = errors.New(r.Msg)
	case *benchfmt.Result:
		if result, err = resultOf(r, line); err == nil {
			l.GOOS, l.GOARCH, l.CPU = r.GetConfig("goos"), r.GetConfig("goarch"), r.GetConfig("cpu")
		}
	default:
		return
	}
	switch {
	case torn > 0 && (err != nil || torn != l.lastBad):
		// What looked like the rest of a result was the program's own text.
	case err != nil:
		l.lastBad = line
		l.malformed(&SyntaxError{name, line, err.Error()})
	default:
		if torn > 0 {
			l.forgive(torn)
		}
		l.Results = append(l.Results, result)
	}
}

func (l *Log) malformed(err *SyntaxError) {
	l.Malformed++
	if len(l.Errors) < MaxErrors {
		l.Errors = append(l.Errors, err)
	}
}

// forgive takes back the report of a line whose result came after all.
func (l *Log) forgive(line int) {
	l.Malformed--
	l.Errors = slices.DeleteFunc(l.Errors, func(e *SyntaxError) bool { return e.Line == line })
}

// resultOf copies what r says; r is reused by its reader.
func resultOf(r *benchfmt.Result, line int) (Result, error) {
	out := Result{
		FullName:   "Benchmark" + r.Name.String(),
		Package:    r.GetConfig("pkg"),
		Iterations: int64(r.Iters),
		Metrics:    map[string]float64{},
		Line:       line,
	}
	if out.Iterations < 1 {
		return out, fmt.Errorf("iteration count %d is below 1", out.Iterations)
	}
	seen := map[string]bool{}
	for _, v := range r.Values {
		// The reader converts to base units, except for a zero.
		value, unit := v.Value, v.Unit
		if v.OrigUnit != "" {
			value, unit = v.OrigValue, v.OrigUnit
		}
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return out, fmt.Errorf("measurement %v %s is not finite", value, unit)
		}
		if seen[unit] {
			return out, fmt.Errorf("two measurements in %s", unit)
		}
		seen[unit] = true
		switch unit {
		case "ns/op":
			out.NsPerOp = value
		case "B/op":
			out.BytesPerOp = value
		case "allocs/op":
			out.AllocsPerOp = value
		default:
			out.Metrics[unit] = value
		}
	}
	if out.NsPerOp < 0 || out.BytesPerOp < 0 || out.AllocsPerOp < 0 {
		return out, errors.New("a measurement per operation is negative")
	}
	out.Mem = seen["B/op"] && seen["allocs/op"]
	return out, nil
}
