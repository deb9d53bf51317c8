package escapes

import "bytes"

// printed is a position as the compiler prints it. Line and col are 0 where
// it prints none.
type printed struct {
	path      []byte
	line, col int
}

const unknownPosition = "<unknown line number>"

// splitPosition parts "file:line:col: message". A line without a position is
// all message.
func splitPosition(text []byte) (p printed, msg []byte) {
	end := bytes.Index(text, []byte(": "))
	if end < 0 {
		return printed{}, text
	}
	p, ok := parsePosition(text[:end])
	if !ok {
		return printed{}, text
	}
	return p, text[end+2:]
}

// parsePosition reads "file:line:col", "file:line" or the compiler's text for
// a position it lost.
func parsePosition(b []byte) (p printed, ok bool) {
	if string(b) == unknownPosition {
		return printed{}, true
	}
	path, n, ok := cutNumber(b)
	if !ok {
		return printed{}, false
	}
	if shorter, line, ok := cutNumber(path); ok {
		return printed{shorter, line, n}, true
	}
	return printed{path, n, 0}, true
}

// cutNumber splits ":digits" off the end.
func cutNumber(b []byte) (rest []byte, n int, ok bool) {
	i, unit := len(b), 1
	for i > 0 && '0' <= b[i-1] && b[i-1] <= '9' {
		i--
		n += int(b[i]-'0') * unit
		unit *= 10
	}
	// More than nine digits is no line number, and would overflow.
	if i == len(b) || len(b)-i > 9 || i < 2 || b[i-1] != ':' {
		return nil, 0, false
	}
	return b[:i-1], n, true
}
