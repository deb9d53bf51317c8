package written

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

const copies = `package m

import (
	"bytes"
	"slices"
)

func tabs(buf []byte, n int) []byte {
	for range n {
		buf = append(buf, ' ')
	}
	return buf
}

func added(buf []byte, list []string) []byte {
	for _, s := range list {
		buf = append(append([]byte(nil), buf...), s...) // buf
		buf = append(buf, ',')
	}
	buf = tabs([]byte(string(buf)), 2)    // buf
	buf = tabs(bytes.Clone(buf), 2)       // buf
	buf = tabs(slices.Clone(buf[1:]), 2)  // -
	buf = bytes.Clone(buf)                // -
	out := tabs([]byte(string(buf)), 2)   // -
	out = append(append([]byte{}, buf...), out...) // -
	return append(buf, out...)
}

func shared(buf []byte) []byte {
	/* it never writes to its argument's array itself: the copy is what protects it */
	buf = append(append([]byte(nil), buf...), ':') // -
	return buf
}

func varint(b []byte, n int) []byte {
	if n < 64 {
		return append(b, byte(n))
	}
	if n < 128 {
		return append(append([]byte(nil), b...), byte(n>>8), byte(n)) // b
	}
	return bytes.Clone(b) // -
}

func kept(buf []byte, all [][]byte) [][]byte {
	buf = append(buf, ':')
	all = append(all, bytes.Clone(buf)) // -
	return all
}
`

// TestCopyOfOld: copies of a variable that the same statement sets.
func TestCopyOfOld(t *testing.T) { holds(t, copies, copyOfOld) }

const sortings = `package m

import "sort"

type byLength []string

func (b byLength) Len() int           { return len(b) }
func (b byLength) Less(i, j int) bool { return len(b[i]) < len(b[j]) }
func (b byLength) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

func all(list []string, numbers sort.IntSlice, by byLength) {
	sort.Sort(sort.StringSlice(list)) // sort.Strings
	sort.Sort(numbers) // sort.Ints
	sort.Sort(by) // -
	sort.Sort(sort.Reverse(sort.StringSlice(list))) // -
	sort.Stable(sort.StringSlice(list)) // -
}
`

// TestSortedAs: slices that sort.Sort is handed by their methods.
func TestSortedAs(t *testing.T) { holds(t, sortings, sortedAs) }

const builders = `package m

import "strings"

func two(x, y string) string {
	var b strings.Builder
	b.WriteString(x)
	b.WriteString(y) // parts
	return b.String()
}

func three(x string, c byte) string {
	b := strings.Builder{}
	b.WriteString(x)
	b.WriteByte(c)
	b.WriteString(x) // parts
	return b.String()
}

func grown(x, y string) string {
	var b strings.Builder
	b.Grow(len(x) + len(y))
	b.WriteString(x)
	b.WriteString(y) // -
	return b.String()
}

func perhaps(x, y string) string {
	var b strings.Builder
	b.WriteString(x)
	if y != "" {
		b.WriteString(y) // -
	}
	return b.String()
}

func each(list []string) string {
	var b strings.Builder
	b.WriteString("a")
	for _, x := range list {
		b.WriteString(x) // -
	}
	return b.String()
}

func handed(x, y string, put func(*strings.Builder)) string {
	var b strings.Builder
	b.WriteString(x)
	b.WriteString(y) // -
	put(&b)
	return b.String()
}
`

// TestFewParts: builders that an expression could do without.
func TestFewParts(t *testing.T) {
	holds(t, builders, func(p idiom.Place) string {
		if FewParts(p) {
			return "parts"
		}
		return ""
	})
}
