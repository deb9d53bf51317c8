package unboxinterface

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"fmt"
	"io"
	"sort"
)

func assert(cond bool, format string, args ...any) {
	if !cond {
		panic(fmt.Sprintf(format, args...))
	}
}

func check(n, limit int, b *bytes.Buffer, err error) {
	assert(n <= limit, "%d of %d", n, limit) // want `n is boxed for the message even when the condition holds: test the condition here, call assert when it fails`
	assert(b != nil, "%p", b)
	assert(err == nil, "%v", err)
	assert(n > 0, "limit is %d", 7)
	assert(n > 0, "no arguments")
	assert(false, "%d", n)
	if n > limit {
		panic(fmt.Sprintf("%d of %d", n, limit))
	}
}

func passOn(n int, args ...any) { assert(n > 0, "%d", args...) }

type item struct{ prio, id int }

type queue []item

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].prio < q[j].prio }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(item)) }
func (q *queue) Pop() any          { x := (*q)[len(*q)-1]; *q = (*q)[:len(*q)-1]; return x }

func push(q *queue, i item) {
	heap.Push(q, i) // want `heap.Push boxes each element`
}

func pushPointer(q heap.Interface, i *item) { heap.Push(q, i) }

func sorts(q queue, names []string) {
	sort.Slice(names, func(i, j int) bool { return names[i] < names[j] })       // want `sort.Slice boxes the slice and swaps by reflection: slices.SortFunc does neither`
	sort.SliceStable(names, func(i, j int) bool { return names[i] < names[j] }) // want `slices.SortStableFunc`
	sort.Sort(q)                                                                // want `sort.Sort boxes the slice in an interface: slices.SortFunc does not`
	sort.Sort(&q)
	sort.Strings(names)
}

func numbers(w io.Writer, r io.Reader, n uint32) error {
	if err := binary.Write(w, binary.BigEndian, n); err != nil { // want `binary.Write boxes one number and allocates a buffer for it: append it with AppendUint32`
		return err
	}
	var header struct{ A, B uint16 }
	if err := binary.Read(r, binary.BigEndian, &header); err != nil {
		return err
	}
	return binary.Read(r, binary.BigEndian, &n) // want `call Uint32 of the byte order`
}

type sorter struct{}

func (sorter) Slice([]string, func(i, j int) bool) {}

func shadowed(names []string) {
	var sort sorter
	sort.Slice(names, func(i, j int) bool { return names[i] < names[j] })
}

func generic[T any](v T, ok bool) { assert(ok, "%v", v) }
