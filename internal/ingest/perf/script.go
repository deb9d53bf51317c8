package perf

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// sample is one event with its stack. Its byte slices are of the reader's
// buffers and valid until the next one is read.
type sample struct {
	comm   []byte
	pid    int // 0: not printed
	tid    int
	time   time.Duration
	period int64 // 0: not printed
	event  []byte
	stack  []frame // leaf first
}

// frame is one line of a stack.
type frame struct {
	symbol, object []byte
	kernel         bool
}

// Limits of what a real recording holds: perf's own default is 127 frames.
const (
	maxLine  = 64 << 10
	maxStack = 4096
	maxErrs  = 20
)

// SyntaxError is a line that is not what perf script prints at its place.
type SyntaxError struct {
	File string
	Line int // from 1
	Msg  string
}

// Error gives the message with its position.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// reader walks over the output of perf script.
type reader struct {
	name   string
	r      *bufio.Reader
	stats  *Stats
	line   int
	text   []byte // what the slices of cur point into
	spans  []frameSpan
	head   headSpan
	open   bool // a sample has begun
	broken bool // and one of its lines could not be read
	freq   float64
}

// frameSpan and headSpan are places in reader.text, which may move as it grows.
type frameSpan struct {
	symbol, object span
	kernel         bool
}

type headSpan struct {
	comm, event span
	pid, tid    int
	time        time.Duration
	period      int64
}

type span struct{ from, to int }

func newReader(name string, r io.Reader, stats *Stats) *reader {
	return &reader{name: name, r: bufio.NewReaderSize(r, maxLine), stats: stats}
}

// each yields every whole sample. It stops at the first error of yield or of
// the input.
func (r *reader) each(yield func(*sample) error) error {
	var s sample
	for {
		line, err := r.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s, line %d: %w", r.name, r.line, err)
		}
		if err != nil {
			// perf ends every line: what stands here was cut off, if anything.
			r.open = r.open || len(line) > 0 && line[0] != '#'
			break
		}
		if r.take(line) {
			r.fill(&s)
			if yieldErr := yield(&s); yieldErr != nil {
				return yieldErr
			}
		}
	}
	// perf ends every sample with an empty line: one without may lack callers.
	r.stats.Truncated = r.open
	return nil
}

// next returns a line without its end. A line that is too long is cut off.
func (r *reader) next() ([]byte, error) {
	line, err := r.r.ReadSlice('\n')
	if len(line) > 0 || err == nil {
		r.line++
		r.stats.Lines++
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		r.malformed("longer than %d bytes", maxLine)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.r.ReadSlice('\n')
		}
		return []byte("#"), err
	}
	return bytes.TrimRight(line, "\r\n"), err
}

func (r *reader) malformed(format string, args ...any) {
	r.stats.Malformed++
	r.broken = true
	if len(r.stats.Errors) < maxErrs {
		r.stats.Errors = append(r.stats.Errors, &SyntaxError{r.name, r.line, fmt.Sprintf(format, args...)})
	}
}

// take handles a line and reports whether it ended a sample that is whole.
func (r *reader) take(line []byte) bool {
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		done := r.open && !r.broken
		r.open, r.broken = false, false
		return done
	case line[0] == '#':
		if !r.open {
			r.comment(line)
		}
	case line[0] == '\t':
		r.frame(line)
	default:
		r.begin(line)
	}
	return false
}

// comment reads the frequency from a header that --header prints.
func (r *reader) comment(line []byte) {
	const key = "sample_freq } = "
	if !bytes.HasPrefix(line, []byte("# event : name = ")) {
		return
	}
	if i := bytes.Index(line, []byte(key)); i >= 0 {
		rest := line[i+len(key):]
		n := 0
		for n < len(rest) && isDigit(rest[n]) {
			n++
		}
		if v, err := strconv.Atoi(string(rest[:n])); err == nil && v > 0 && v <= 1e6 {
			r.freq = float64(v)
		}
	}
}

// begin reads the first line of a sample:
//
//	comm pid/tid [cpu] time: period event: …
//
// of which cpu and period may be missing, and pid too. The comm may hold
// anything.
func (r *reader) begin(line []byte) {
	if r.open {
		// The one before had no empty line behind it: it is of no use.
		r.malformed("a sample begins before the one above has ended")
	}
	r.open, r.broken = true, false
	r.text, r.spans = r.text[:0], r.spans[:0]
	at, clock, ok := findClock(line)
	if !ok {
		r.malformed("want the first line of a sample, with its time")
		return
	}
	left := bytes.TrimRight(line[:at], " \t")
	if i := bytes.LastIndexByte(left, ' '); i >= 0 && len(left) > i+1 && left[i+1] == '[' {
		left = bytes.TrimRight(left[:i], " \t")
	}
	i := bytes.LastIndexByte(left, ' ')
	if !r.ids(left[i+1:]) {
		r.malformed("want the number of a thread before the time")
		return
	}
	r.head.comm = r.keep(bytes.TrimSpace(left[:max(i, 0)]))
	rest := bytes.TrimLeft(line[at+clock:], " ")
	r.head.time = parseClock(line[at : at+clock-1])
	r.period(&rest)
	end := bytes.IndexByte(rest, ' ')
	if end < 0 {
		end = len(rest)
	}
	if end == 0 || rest[end-1] != ':' {
		r.malformed("want an event behind the time")
		return
	}
	r.head.event = r.keep(rest[:end-1])
	if tail := bytes.TrimSpace(rest[end:]); len(tail) > 0 {
		r.single(tail)
	}
}

// ids reads pid/tid, or tid.
func (r *reader) ids(b []byte) bool {
	pid, tid, both := bytes.Cut(b, []byte("/"))
	if !both {
		pid, tid = nil, pid
	}
	r.head.pid = 0
	if both {
		n, err := strconv.Atoi(string(pid))
		if err != nil {
			return false
		}
		r.head.pid = n
	}
	n, err := strconv.Atoi(string(tid))
	r.head.tid = n
	return err == nil
}

// period reads the number before the event, if it is there.
func (r *reader) period(rest *[]byte) {
	r.head.period = 0
	n := 0
	for n < len(*rest) && isDigit((*rest)[n]) {
		n++
	}
	if n == 0 || n == len(*rest) || (*rest)[n] != ' ' {
		return
	}
	if v, err := strconv.ParseInt(string((*rest)[:n]), 10, 64); err == nil {
		r.head.period = v
	}
	*rest = bytes.TrimLeft((*rest)[n:], " ")
}

// single reads the frame that stands on the first line of a sample which was
// recorded without stacks. What tracepoints print there is passed over.
func (r *reader) single(tail []byte) {
	if _, ok := address(tail); ok && tail[len(tail)-1] == ')' {
		r.frame(tail)
	}
}

// frame reads a line of a stack: address symbol+offset (object).
func (r *reader) frame(line []byte) {
	if !r.open {
		r.malformed("a frame without a sample")
		return
	}
	line = bytes.TrimSpace(line)
	n, ok := address(line)
	if !ok {
		r.malformed("want a frame: an address and a symbol")
		return
	}
	if len(r.spans) == maxStack {
		r.malformed("a stack of more than %d frames", maxStack)
		return
	}
	rest := bytes.TrimLeft(line[n:], " ")
	symbol, object := split(rest)
	f := frameSpan{kernel: inKernel(line[:n], object)}
	f.symbol, f.object = r.keep(function(symbol, f.kernel)), r.keep(object)
	r.spans = append(r.spans, f)
}

// keep copies a piece of a line, which is overwritten by the next one.
func (r *reader) keep(b []byte) span {
	from := len(r.text)
	r.text = append(r.text, b...)
	return span{from, len(r.text)}
}

func (r *reader) fill(s *sample) {
	cut := func(p span) []byte { return r.text[p.from:p.to] }
	s.comm, s.event = cut(r.head.comm), cut(r.head.event)
	s.pid, s.tid, s.time, s.period = r.head.pid, r.head.tid, r.head.time, r.head.period
	s.stack = s.stack[:0]
	for _, f := range r.spans {
		s.stack = append(s.stack, frame{cut(f.symbol), cut(f.object), f.kernel})
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
