// Package probe makes the compiler print each form of escape message.
package probe

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
)

type point struct{ x, y int }

type node struct {
	next *node
	val  any
	buf  []byte
}

type sink interface{ put(p *point) }

var (
	global   *point
	anys     []any
	channel  = make(chan *point, 1)
	registry = map[string]*point{}
)

func returnsPointer() *point {
	p := point{1, 2}
	return &p
}

func returnsLiteral(x int) *point { return &point{x: x} }

func returnsNew() *int { return new(int) }

func storesGlobal(x int) {
	p := &point{x: x}
	global = p
}

func storesField(n *node, size int) {
	n.buf = make([]byte, size)
}

func makesConst() []byte { return make([]byte, 1024) }

func makesLarge() int {
	b := make([]int, 1<<20)
	return len(b)
}

func makesVariable(n int) int {
	b := make([]byte, n)
	return len(b)
}

func largeVariable() int {
	var a [20 << 20]byte
	return len(a[:]) + int(a[3])
}

func appends(in []int) []int {
	var out []int
	for _, v := range in {
		out = append(out, v*2)
	}
	return out
}

func appendsLocally(in []int) (n int) {
	var out []int
	for _, v := range in {
		out = append(out, v)
	}
	for _, v := range out {
		n += v
	}
	return n
}

func converts(b []byte) string { return string(b) }

func convertsBack(s string) []byte { return []byte(s) }

func runes(s string) []rune { return []rune(s) }

func fromRunes(r []rune) string { return string(r) }

func concats(a, b string) string { return a + "-" + b }

func boxes(n int) { anys = append(anys, n) }

func boxesStruct(p point) any { return p }

func formats(n int, s string) string {
	return fmt.Sprintf("%s=%d at %v", s, n, point{n, n})
}

func fails(n int) error {
	if n > 3 {
		return fmt.Errorf("bad %d", n)
	}
	return errors.New("constant")
}

func closure(n int) func() int {
	return func() int { n++; return n }
}

func goroutine(n int) {
	done := make(chan struct{})
	go func() {
		fmt.Println(n)
		close(done)
	}()
	<-done
}

func sends(x int) {
	channel <- &point{x: x}
}

func interfaceCall(s sink, x int) {
	s.put(&point{x: x})
}

func functionValue(f func(*point), x int) {
	f(&point{x: x})
}

func readsInto(r io.Reader) (byte, error) {
	var b [16]byte
	_, err := r.Read(b[:])
	return b[0], err
}

func mapValue(k string, x int) { registry[k] = &point{x: x} }

func mapLiteral(x int) map[string]int { return map[string]int{"x": x, "y": x} }

func makesMap(n int) map[int]int { return make(map[int]int, n) }

func sliceLiteral(x int) []*point { return []*point{{x: x}, {y: x}} }

func leaksContent(n *node) any { return n.val }

func linked(n int) *node {
	var head *node
	for i := range n {
		head = &node{next: head, val: i}
	}
	return head
}

func small(x int) *point { return &point{x, x} }

func inlines(x int) *point { return small(x + 1) }

func stays(x int) int {
	p := small(x)
	return p.x
}

func sorts(s []string) {
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })
}

func ranges(s []string) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for i, v := range s {
			if !yield(i, v) {
				return
			}
		}
	}
}

func overFunc(s []string) (out []*string) {
	for _, v := range ranges(s) {
		out = append(out, &v)
		defer func() { v = "" }()
	}
	return out
}

func panics(n int) {
	if n < 0 {
		panic("negative " + strconv.Itoa(n))
	}
}

type box[T any] struct{ v T }

func newBox[T any](v T) *box[T] { return &box[T]{v} }

func usesGeneric() (*box[int], *box[string]) { return newBox(1), newBox("a") }

func (p *point) method() func() int { return p.sum }

func (p *point) sum() int { return p.x + p.y }

func selfAssign(n *node) { n.buf = n.buf[1:] }

func labelled(parts ...string) []any {
	out := make([]any, 0, len(parts))
	for _, p := range parts {
		out = append(out, p)
	}
	return out
}

func variadic(x, y string) []any { return labelled(x, y) }
