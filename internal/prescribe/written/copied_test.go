package written

import "testing"

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
