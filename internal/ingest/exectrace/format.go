package exectrace

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// The wire format, from internal/trace/tracev2 of Go 1.22 to 1.27. A file is
// a header of 16 bytes and then batches, each of one thread:
//
//	1 generation thread time size data
//
// Numbers are unsigned varints. Data is a list of events: a byte for the kind,
// the time since the event before, and a fixed number of arguments. Batches of
// strings, stacks, samples and clocks begin with an event of their own.

const (
	headerSize = 16
	maxString  = 1 << 10
)

// version is the minor release of Go that introduced a format.
type version int

// The formats that differ in what a scan looks at.
const (
	version125 version = 25 // the clock is in a batch of its own kind
	version126 version = 26 // generations end with an event
)

// readHeader reads the 16 bytes at the start of a trace.
func readHeader(r io.Reader) (version, error) {
	var h [headerSize]byte
	n, err := io.ReadFull(r, h[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return 0, fmt.Errorf("read execution trace: %w", err)
	}
	if n == 0 {
		return 0, &Error{0, "the file is empty", io.ErrUnexpectedEOF}
	}
	const magic = "go 1."
	if !bytes.HasPrefix(h[:n], []byte(magic)) {
		return 0, &Error{Offset: 0, Reason: "not a Go execution trace: the file does not begin with \"go 1.\""}
	}
	if n < headerSize {
		return 0, &Error{int64(n), "the header is cut short", io.ErrUnexpectedEOF}
	}
	minor, rest, _ := bytes.Cut(h[len(magic):], []byte(" "))
	v, err := strconv.Atoi(string(minor))
	if err != nil || !bytes.HasPrefix([]byte("trace\x00\x00\x00\x00\x00\x00"), rest) || len(rest) < len("trace\x00\x00\x00") {
		return 0, &Error{Offset: 0, Reason: fmt.Sprintf("not a Go execution trace: header %q", h)}
	}
	switch v {
	case 22, 23, 25, 26:
		return version(v), nil
	case 5, 7, 8, 9, 10, 11, 19, 21:
		return 0, &Error{Offset: 0, Reason: fmt.Sprintf("the trace is in the format of Go 1.%d; traces of Go 1.22 and later can be read", v)}
	}
	return 0, &Error{Offset: 0, Reason: fmt.Sprintf("the trace is in format go 1.%d, which this version does not know", v)}
}
