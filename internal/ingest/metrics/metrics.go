// Package metrics reads samples of a running program's own statistics: the
// recorder's metrics.jsonl, and the runtime.MemStats that net/http/pprof
// prints behind a heap profile in text.
package metrics

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Stats says what a Scan met.
type Stats struct {
	Lines     int  // of any kind, the last one even without its newline
	Samples   int  // yielded
	Truncated bool // the last line is torn: the writer was killed
	Malformed int  // other lines that are no sample

	// Errors are the first of the Malformed lines, at most MaxErrors.
	Errors []*SyntaxError
}

// MaxErrors bounds Stats.Errors.
const MaxErrors = 20

// SyntaxError is a line that cannot be read.
type SyntaxError struct {
	File string
	Line int // from 1
	Msg  string
}

// Error gives the message with its position.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// maxLine bounds a sample; the recorder's take about 4 KB.
const maxLine = 1 << 20

// Scan reads samples, one JSON object a line:
//
//	{"t_ns":12345,"v":{"/gc/heap/allocs:bytes":1}}
//
// and yields each, in the order of the text. The Metrics belong to yield. Scan
// stops at the first error of yield, which it returns as it is, or of r. A line
// that is no sample is no error: Stats has it. name is for messages only. The
// memory used does not depend on the length of r.
func Scan(name string, r io.Reader, yield func(evidence.Metrics) error) (Stats, error) {
	var stats Stats
	lines := bufio.NewReaderSize(r, maxLine)
	for {
		line, long, err := nextLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return stats, fmt.Errorf("read metrics %s, line %d: %w", name, stats.Lines+1, err)
		}
		if len(line) > 0 || long {
			stats.Lines++
		}
		if len(bytes.TrimSpace(line)) > 0 || long {
			sample, syntax := parseSample(line, long)
			switch {
			case syntax == nil:
				stats.Samples++
				if yieldErr := yield(sample); yieldErr != nil {
					return stats, yieldErr
				}
			case err != nil:
				stats.Truncated = true
			default:
				stats.malformed(&SyntaxError{name, stats.Lines, syntax.Error()})
			}
		}
		if err != nil {
			return stats, nil
		}
	}
}

func (s *Stats) malformed(err *SyntaxError) {
	s.Malformed++
	if len(s.Errors) < MaxErrors {
		s.Errors = append(s.Errors, err)
	}
}

// nextLine returns a line, valid until the next call. Of one that is longer
// than the reader's buffer it returns only the end, if any, and says so.
func nextLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		line, err = r.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
		long = true
	}
}

func parseSample(line []byte, long bool) (evidence.Metrics, error) {
	if long {
		return evidence.Metrics{}, fmt.Errorf("the line is longer than %d bytes", maxLine)
	}
	var in struct {
		At     *int64              `json:"t_ns"`
		Values map[string]*float64 `json:"v"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return evidence.Metrics{}, err
	}
	if in.At == nil || in.Values == nil {
		return evidence.Metrics{}, errors.New("a sample needs t_ns and v")
	}
	if *in.At < 0 {
		return evidence.Metrics{}, fmt.Errorf("t_ns %d is negative", *in.At)
	}
	m := evidence.Metrics{At: time.Duration(*in.At), Values: make(map[string]float64, len(in.Values))}
	for name, v := range in.Values {
		if v == nil {
			return evidence.Metrics{}, fmt.Errorf("%q has no value", name)
		}
		m.Values[name] = *v
	}
	return m, nil
}
