package growth

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// lineMap relates the lines of two versions of a file.
type lineMap struct {
	to      []int        // by line of the version before: the line after, 0 if it is gone
	changed map[int]bool // lines after that are new or different, or stand where some were deleted
}

// mapLines compares two versions of a file. In a part that was replaced by as many lines, each
// stands for the one in its place.
func mapLines(before, after []byte) lineMap {
	m := lineMap{to: make([]int, bytes.Count(before, []byte("\n"))+2), changed: map[int]bool{}}
	var minus, plus []int
	old, now := 1, 1
	keepUntil := func(line int) { // what the comparison leaves out is the same
		for ; old < line && old < len(m.to); old, now = old+1, now+1 {
			m.to[old] = now
		}
	}
	replace := func() {
		for i, n := range minus {
			if len(minus) == len(plus) && n < len(m.to) {
				m.to[n] = plus[i]
			}
		}
		if len(plus) == 0 && len(minus) > 0 {
			m.changed[now] = true
		}
		for _, n := range plus {
			m.changed[n] = true
		}
		minus, plus = nil, nil
	}
	inside := false
	for line := range strings.Lines(string(diff.Diff("a", before, "b", after))) {
		var a, an, b, bn int
		if n, err := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &a, &an, &b, &bn); err == nil && n == 4 {
			replace()
			keepUntil(max(a, 1))
			now, inside = max(b, 1), true
			continue
		}
		switch {
		case !inside:
		case line[0] == '-':
			minus = append(minus, old)
			old++
		case line[0] == '+':
			plus = append(plus, now)
			now++
		case line[0] == ' ':
			replace()
			keepUntil(old + 1)
		}
	}
	replace()
	keepUntil(len(m.to))
	return m
}

// at is where a line of the version before is after; 0 if it is gone.
func (m lineMap) at(line int) int {
	if line <= 0 || line >= len(m.to) {
		return 0
	}
	return m.to[line]
}
