package gctrace

import "strings"

// markerKind says which kind of gctrace text begins at a place.
type markerKind int

const (
	noMarker      markerKind = iota
	cycleMarker              // one cycle's line
	pacerMarker              // the pacer's line about a cycle that ended
	otherMarker              // another line that the runtime prints with gctrace or gcpacertrace
	ancientMarker            // one collection's line as Go 1.4 and older printed it
)

// pattern describes how a gctrace text begins: 'N' stands for one to twenty
// digits and '?' for one. The runtime writes a line in many pieces, and a
// program may have written a part of its own line before, so most patterns
// may begin anywhere.
type pattern struct {
	text      string
	kind      markerKind
	lineStart bool // only at the start of a line, because the words are ordinary ones
}

// patterns lists every line of the runtime that gctrace and gcpacertrace
// print, Go 1.5 to 1.27, and one that they printed before.
func patterns() [11]pattern {
	return [11]pattern{
		{text: "gc N @?", kind: cycleMarker},
		{text: "gc #N @?", kind: cycleMarker},    // while Go 1.5 was made
		{text: "gcN(N): ?", kind: ancientMarker}, // to 1.4
		{text: "pacer: ?", kind: pacerMarker},
		{text: "pacer: assist ratio=", kind: otherMarker},
		{text: "pacer: H_m_prev=", kind: otherMarker}, // to 1.17
		{text: "pacer: sweep done at heap size ", kind: otherMarker},
		{text: "scvg: ?", kind: otherMarker, lineStart: true},       // to 1.16
		{text: "scvgN: ", kind: otherMarker, lineStart: true},       // to 1.13
		{text: "scvg: inuse: ", kind: otherMarker, lineStart: true}, // 1.13
		{text: "GC forced\n", kind: otherMarker, lineStart: true},
	}
}

// firstBytes begin the patterns above; a test compares.
const firstBytes = "gpsG"

// findMarker returns the first marker in a whole line that holds figures to
// read, and where it begins.
func findMarker(line []byte) (markerKind, int) {
	for i, c := range line {
		if c != 'g' && c != 'p' {
			continue
		}
		if kind, ok := markerAt(line[i:], false); ok && kind != noMarker {
			return kind, i
		}
	}
	return noMarker, 0
}

// markerAt says which marker b begins with. With ok false, b ends before that
// can be said: more bytes may make it a marker.
func markerAt(b []byte, lineStart bool) (kind markerKind, ok bool) {
	if len(b) == 0 || strings.IndexByte(firstBytes, b[0]) < 0 {
		return noMarker, true
	}
	ok = true
	for _, p := range patterns() {
		if p.lineStart && !lineStart {
			continue
		}
		switch p.match(b) {
		case matches:
			return p.kind, true
		case mayMatch:
			ok = false
		}
	}
	return noMarker, ok
}

type verdict int

const (
	differs verdict = iota
	mayMatch
	matches
)

func (p pattern) match(b []byte) verdict {
	i := 0
	for k := 0; k < len(p.text); k++ {
		if i == len(b) {
			return mayMatch
		}
		switch want := p.text[k]; want {
		case 'N':
			n := digits(b[i:])
			if n == 0 || n > 20 {
				return differs
			}
			i += n
		case '?':
			if !isDigit(b[i]) {
				return differs
			}
			i++
		default:
			if b[i] != want {
				return differs
			}
			i++
		}
	}
	return matches
}

// digits counts the digits that b begins with, up to 21.
func digits(b []byte) int {
	n := 0
	for n < len(b) && n < 21 && isDigit(b[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
