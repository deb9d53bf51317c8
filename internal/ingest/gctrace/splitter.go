package gctrace

import (
	"bytes"
	"io"
)

// Splitter is a writer that takes a program's standard error apart while the
// program runs: what the runtime prints for gctrace and gcpacertrace goes to
// one writer, everything else to another. A line that the program had begun
// and the runtime went on with is parted at the place, so both get whole text;
// where the program wrote into the middle of a runtime line, the line's rest
// is taken for the program's, and Scan reports the line as malformed.
//
// The program's own text is passed on at once, without waiting for a newline,
// up to the few bytes that could be the beginning of a gctrace line. Memory use
// is constant.
//
// Write never fails, so that a full disk does not break the program's pipe:
// the first error of a destination is kept, that destination gets nothing
// more, and Close returns the error.
//
// A Splitter is not safe for concurrent use. As exec.Cmd's Stderr it is written
// by one goroutine; Close it after Cmd.Wait.
type Splitter struct {
	trace, other sink
	inTrace      bool
	midLine      bool // the program's current line has begun
	held         []byte
}

// NewSplitter returns a Splitter over two writers, which it does not close.
func NewSplitter(trace, other io.Writer) *Splitter {
	return &Splitter{trace: sink{w: trace}, other: sink{w: other}}
}

// Write takes the next piece of the stream, cut anywhere. It returns len(p), nil.
func (s *Splitter) Write(p []byte) (int, error) {
	n := len(p)
	if len(s.held) > 0 {
		p = append(s.held, p...)
		s.held = nil
	}
	for len(p) > 0 {
		if s.inTrace {
			p = s.runtimeText(p)
		} else {
			p = s.programText(p)
		}
	}
	return n, nil
}

// Close passes on what is held back and returns the first error that a
// destination gave. The Splitter is not to be used after.
func (s *Splitter) Close() error {
	s.other.write(s.held)
	s.held = nil
	if s.trace.err != nil {
		return s.trace.err
	}
	return s.other.err
}

// runtimeText passes on the rest of a gctrace line and returns what follows.
func (s *Splitter) runtimeText(p []byte) []byte {
	end := len(p)
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		end = i + 1
		s.inTrace = false
	}
	s.trace.write(p[:end])
	return p[end:]
}

// programText passes on text up to the next gctrace line and returns what
// follows. If p ends in what may become one, that is held.
func (s *Splitter) programText(p []byte) []byte {
	for i := range p {
		kind, ok := markerAt(p[i:], !s.midLine)
		if !ok {
			s.other.write(p[:i])
			s.held = append(s.held, p[i:]...)
			return nil
		}
		if kind != noMarker {
			s.other.write(p[:i])
			s.inTrace = true
			return p[i:]
		}
		s.midLine = p[i] != '\n'
	}
	s.other.write(p)
	return nil
}

// sink is a writer that is given up at its first error.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) write(p []byte) {
	if s.err == nil && len(p) > 0 {
		_, s.err = s.w.Write(p)
	}
}
