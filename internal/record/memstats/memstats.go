// Package memstats keeps the runtime.MemStats at the end of a heap profile in text
// form and drops the profile before it.
package memstats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Tail passes on the lines of a heap profile in text form from "# runtime.MemStats" to
// the end and drops the stacks before it. Its memory does not grow with the profile.
// Call Close at the end.
type Tail struct {
	To      io.Writer
	line    []byte // unfinished line, only as much of it as needed
	found   bool
	whole   bool // the last line that every Go version prints was seen
	written int
}

const (
	memStatsHead = "# runtime.MemStats"
	memStatsLast = "# DebugGC = "
	// maxTail is far above the 15 KB that two rings of 256 pauses take.
	maxTail = 1 << 20
)

// Write implements io.Writer.
func (t *Tail) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		piece, rest, ended := bytes.Cut(p, []byte("\n"))
		t.keep(piece)
		if ended {
			if err := t.endLine(); err != nil {
				return 0, err
			}
		}
		p = rest
	}
	return n, nil
}

// keep collects a line: completely in the tail, otherwise only its beginning.
func (t *Tail) keep(piece []byte) {
	room := maxTail
	if !t.found {
		room = len(memStatsHead) + 2
	}
	t.line = append(t.line, piece[:min(len(piece), max(room-len(t.line), 0))]...)
}

func (t *Tail) endLine() error {
	line := bytes.TrimRight(t.line, "\r")
	t.line = t.line[:0]
	t.found = t.found || string(line) == memStatsHead
	if !t.found {
		return nil
	}
	t.whole = t.whole || bytes.HasPrefix(line, []byte(memStatsLast))
	t.written += len(line) + 1
	if t.written > maxTail {
		return fmt.Errorf("the runtime.MemStats text is larger than %d KiB", maxTail>>10)
	}
	_, err := t.To.Write(append(line, '\n'))
	return err
}

// Close returns an error if the tail is missing or incomplete.
func (t *Tail) Close() error {
	if len(t.line) > 0 {
		if err := t.endLine(); err != nil {
			return err
		}
	}
	switch {
	case !t.found:
		return errors.New("the answer is not a heap profile in text: it has no line " + memStatsHead)
	case !t.whole:
		return errors.New("the heap profile in text is cut off in its " + memStatsHead[2:] + " part")
	}
	return nil
}
