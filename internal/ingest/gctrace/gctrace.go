// Package gctrace reads what GODEBUG=gctrace=1, with or without
// gcpacertrace=1, makes a Go program print on its standard error, mixed as it
// is with the program's own output.
//
// The lines of Go 1.18 to 1.27 are read exactly; those of Go 1.5 to 1.17 too,
// with stacks, globals and the pacer's byte counts left at zero, because they
// were not printed then, or in another form. What Go 1.4 and older printed has
// other figures in it: such lines are named and left out.
package gctrace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Stats says what a Scan met besides the cycles that it yielded.
type Stats struct {
	Lines        int  // of any kind, the last one even without its newline
	Cycles       int  // yielded
	Periodic     int  // announced by "GC forced": started because two minutes had passed
	Other        int  // lines of the scavenger and the pacer that say nothing about a finished cycle, or in a form of before Go 1.18
	OrphanPacers int  // pacer lines whose cycle was not found
	Malformed    int  // lines that begin like gctrace but do not go on so
	Cut          int  // over-long lines, of which only the end was looked at
	Unterminated bool // the last gctrace line has no newline: the writer was cut off, or the text was copied by hand

	// Errors are the first of the Malformed lines, at most MaxErrors.
	Errors []*SyntaxError
}

// MaxErrors bounds Stats.Errors.
const MaxErrors = 20

// SyntaxError is a line that begins like gctrace and then is something else:
// torn by a concurrent write of the program, cut off, or made up.
type SyntaxError struct {
	File string
	Line int // from 1
	Msg  string
}

// Error gives the message with its position.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// A line longer than maxLine is the program's own; if the runtime printed a
// line behind such a text, it is in the last keptTail bytes.
const (
	maxLine  = 64 << 10
	keptTail = 4 << 10
)

// Scan reads r to its end and yields each cycle in order, with the pacer's
// figures where they were printed for it. Text before and after a gctrace line
// on the same line is passed over, and so is every other line. It stops at the
// first error of yield, which it returns as it is, or of r. Lines that are
// malformed are no error: Stats has them. name is for messages only. The memory
// used does not depend on the length of r or of its lines.
func Scan(name string, r io.Reader, yield func(evidence.Cycle) error) (Stats, error) {
	s := scanner{name: name, yield: yield}
	lines := lineReader{r: bufio.NewReaderSize(r, maxLine)}
	for {
		line, err := lines.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return s.stats, fmt.Errorf("read gctrace %s, line %d: %w", name, s.stats.Lines+1, err)
		}
		if len(line) > 0 {
			s.stats.Lines++
			if yieldErr := s.line(line); yieldErr != nil {
				return s.stats, yieldErr
			}
		}
		if err != nil {
			break
		}
	}
	s.dropPacer()
	s.stats.Cut = lines.cut
	return s.stats, nil
}

type scanner struct {
	name  string
	yield func(evidence.Cycle) error
	stats Stats
	pacer *evidence.Pacer // of the cycle whose line comes next
	timed bool            // the next cycle was started because two minutes had passed
}

// line handles every gctrace text on one line. Almost always there is none or
// one; two stand on a line when a newline went astray between threads.
func (s *scanner) line(line []byte) error {
	whole := bytes.HasSuffix(line, []byte("\n"))
	line = bytes.TrimRight(line, "\r\n")
	switch {
	case bytes.Equal(line, []byte(periodicNote)), bytes.HasSuffix(line, []byte(": "+periodicNote)):
		s.stats.Periodic++
		s.timed = true
		return nil
	case bytes.Equal(line, []byte(forcedNote)):
		s.malformed("(forced) stands apart from its cycle")
		return nil
	}
	if kind, _ := markerAt(line, true); kind == otherMarker && line[0] == 's' {
		s.stats.Other++
		return nil
	}
	for at := 0; ; {
		kind, i := findMarker(line[at:])
		if kind == noMarker {
			return nil
		}
		at += i
		if !whole {
			s.stats.Unterminated = true
		}
		n, err := s.record(kind, line[at:], whole)
		if err != nil {
			return err
		}
		at += n
	}
}

// record parses the text that begins at a marker and returns how much of it
// is done with, which is above 0.
func (s *scanner) record(kind markerKind, text []byte, whole bool) (int, error) {
	switch kind {
	case cycleMarker:
		return s.cycle(text, whole)
	case pacerMarker:
		s.dropPacer()
		p, n, err := parsePacer(text)
		if err != nil {
			s.malformed(err.Error())
			return 1, nil
		}
		s.pacer = p
		return n, nil
	case ancientMarker:
		s.malformed("a collection as Go 1.4 and older printed it, which is not read")
		return 1, nil
	}
	s.stats.Other++
	return 1, nil
}

func (s *scanner) cycle(text []byte, whole bool) (int, error) {
	c, n, err := parseCycle(text, whole)
	if err != nil {
		// The pacer's line, if any, was this one's.
		s.dropPacer()
		s.malformed(err.Error())
		return 1, nil
	}
	// Both lines print heapLive of one stopped world; if they differ, a line
	// between them is lost and the pacer's belongs to another cycle.
	if s.pacer != nil && s.pacer.End/mib == c.HeapEnd/mib {
		c.Pacer, s.pacer = s.pacer, nil
	}
	s.dropPacer()
	c.Periodic, s.timed = s.timed && !c.Forced, false
	s.stats.Cycles++
	return n, s.yield(c)
}

func (s *scanner) dropPacer() {
	if s.pacer != nil {
		s.stats.OrphanPacers++
		s.pacer = nil
	}
}

func (s *scanner) malformed(msg string) {
	s.stats.Malformed++
	if len(s.stats.Errors) < MaxErrors {
		s.stats.Errors = append(s.stats.Errors, &SyntaxError{File: s.name, Line: s.stats.Lines, Msg: msg})
	}
}

// lineReader cuts a stream into lines of bounded length.
type lineReader struct {
	r    *bufio.Reader
	tail []byte
	cut  int
}

// next returns a line with its newline, if it has one, valid until the next
// call. A line above maxLine loses its beginning.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	l.cut++
	l.tail = l.tail[:0]
	for {
		l.tail = append(l.tail, line...)
		if over := len(l.tail) - keptTail; over > 0 {
			l.tail = append(l.tail[:0], l.tail[over:]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.tail, err
		}
		line, err = l.r.ReadSlice('\n')
	}
}
