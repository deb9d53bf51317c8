// Package above reads and writes the runtime functions through which the calls of a program allocated. The heap profiles of
// net/http/pprof leave these functions out. They show whether a line grows a slice, boxes a value or allocates otherwise.
package above

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Calls are the functions of the runtime above a call, the innermost first, by the address of the call as profiles have it.
// An empty list is a call of the program that allocated through none.
type Calls map[uint64][]string

// SyntaxError is a line that is not of the format.
type SyntaxError struct {
	Name string // of the file
	Line int    // 1-based
	Text string // the fault
}

// Error implements error.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.Name, e.Line, e.Text) }

const (
	head = "heaptrim.above/1"
	tail = "end"

	maxLine  = 16 << 10
	maxCalls = 1 << 20
)

// Write writes calls in order of their addresses.
func (c Calls) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, head)
	for _, at := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(out, "%#x", at)
		for _, f := range c[at] {
			fmt.Fprint(out, " ", f)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out, tail)
	return out.Flush()
}

// Read reads the format of Write. A text that is cut off, or of another version, is an error, a *SyntaxError where a line is to
// blame; name is for messages.
func Read(name string, r io.Reader) (Calls, error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	calls, n, ended := Calls{}, 0, false
	functions := map[string]string{} // one copy of each name
	for in.Scan() {
		n++
		line := strings.TrimSuffix(in.Text(), "\r")
		bad := func(format string, args ...any) error { return &SyntaxError{name, n, fmt.Sprintf(format, args...)} }
		switch {
		case n == 1 && line != head:
			return nil, bad("it begins with %.40q instead of %q", line, head)
		case n == 1:
			continue
		case ended:
			return nil, bad("there is more behind %q", tail)
		case line == tail:
			ended = true
			continue
		case len(calls) == maxCalls:
			return nil, bad("more than %d calls", maxCalls)
		}
		fields := strings.Fields(line)
		if len(fields) == 0 {
			return nil, bad("an empty line")
		}
		at, err := strconv.ParseUint(fields[0], 0, 64)
		if err != nil || !strings.HasPrefix(fields[0], "0x") {
			return nil, bad("%.40q is not an address", fields[0])
		}
		if _, twice := calls[at]; twice {
			return nil, bad("the address %#x comes twice", at)
		}
		list := make([]string, len(fields)-1)
		for i, f := range fields[1:] {
			if functions[f] == "" {
				functions[f] = strings.Clone(f)
			}
			list[i] = functions[f]
		}
		calls[at] = list
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, &SyntaxError{name, n + 1, "the line is too long"}
	case err != nil:
		return nil, fmt.Errorf("read %s, line %d: %w", name, n+1, err)
	case !ended:
		return nil, &SyntaxError{name, n, fmt.Sprintf("cut off: the last line is not %q", tail)}
	}
	return calls, nil
}

// Over returns a heap profile with the runtime's functions put in front of the stacks whose leaf is one of the calls. The
// added frames have names and no lines. Samples of p are not changed.
func (c Calls) Over(p *evidence.Profile) *evidence.Profile {
	s := &source{of: p.Samples, calls: c, front: map[string]*evidence.Location{}, next: p.Locations}
	for _, at := range slices.Sorted(maps.Keys(c)) {
		for _, f := range c[at] {
			if s.front[f] == nil {
				s.front[f] = &evidence.Location{Index: s.next, Frames: []evidence.Frame{{Function: f}}}
				s.next++
			}
		}
	}
	with := *p
	with.Samples, with.Locations = s, s.next
	return &with
}

// source yields the samples of another one, with more in front.
type source struct {
	of    evidence.SampleSource
	calls Calls
	front map[string]*evidence.Location // by function
	next  int
	stack []*evidence.Location
}

// Scan implements evidence.SampleSource.
func (s *source) Scan(yield func(evidence.Sample) error) error {
	return s.of.Scan(func(sm evidence.Sample) error {
		if len(sm.Stack) > 0 && len(s.calls[sm.Stack[0].Address]) > 0 {
			s.stack = s.stack[:0]
			for _, f := range s.calls[sm.Stack[0].Address] {
				s.stack = append(s.stack, s.front[f])
			}
			s.stack = append(s.stack, sm.Stack...)
			sm.Stack = s.stack
		}
		return yield(sm)
	})
}
