package written

import "testing"

const nilScratch = `package m

import (
	"io"
	"strconv"
)

func write(w io.Writer, list []int) {
	var b []byte
	for _, n := range list {
		b = strconv.AppendInt(b[:0], int64(n), 10) // b
		w.Write(b)
		b = append(b[:0], ' ')
		w.Write(b)
	}
}

func kept(w io.Writer, list []int, old []byte) {
	var b []byte
	for _, n := range list {
		b = strconv.AppendInt(b[:0], int64(n), 10) // -
		w.Write(b)
		b = old
	}
	first := make([]byte, 0, 64)
	first = strconv.AppendInt(first[:0], 1, 10) // -
	old = strconv.AppendInt(old[:0], 1, 10) // -
	var whole []byte
	whole = strconv.AppendInt(whole, 1, 10) // -
	var other []byte
	other = strconv.AppendInt(b[:0], 1, 10) // -
	w.Write(other)
}
`

// TestFromNil: slices that are emptied for each call that appends to them, and begin without memory.
func TestFromNil(t *testing.T) { holds(t, nilScratch, fromNil) }
