package written

import (
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const above = `package m

import "errors"

type owner struct {
	buf  []byte
	sum  int
	cur  *cursor
	next iterator
}

func sum(b []byte, s string) (int, []byte) {
	b = append(b[:0], s...)
	return len(b), b
}

func fill(b []byte, n int) ([]byte, error) {
	if n < 0 {
		return nil, errors.New("negative")
	}
	if cap(b) < n {
		b = make([]byte, n)
	}
	return b[:n], nil
}

func each(b []byte, list []string) (int, []byte) {
	b = b[:0]
	for _, s := range list {
		b = append(b, s...)
		b = append(b, s...)
	}
	return len(b), b
}

func more(b []byte, s string) (int, []byte) {
	b = append(b, s...)
	return len(b), b
}

func other(b []byte, s string) (int, []byte) { return len(b), []byte(s) }

func (o *owner) drops(s string, list []string, given []byte) int {
	n, _ := sum(o.buf, s) // set ´o.buf´ to what m.sum gives back: it is grown in each call, and dropped
	m, _ := sum(given, s) // -
	_, _ = more(o.buf, s) // -
	_, _ = more(o.buf[:0], s) // set ´o.buf´ to what m.more gives back: it is grown in each call, and dropped
	k, _ := other(o.buf, s) // -
	_, _ = each(o.buf, list) // set ´o.buf´ to what m.each gives back: it is grown in each call, and dropped
	var own []byte
	l, _ := sum(own, s) // -
	for range list {
		l, _ = sum(own[:0], s) // set ´own´ to what m.sum gives back: it is grown in each call, and dropped
		l, own = sum(own[:0], s) // -
	}
	return n + m + k + l
}

func shadows(list []int) (all int) {
	var buf, more []byte
	for _, n := range list {
		buf, err := fill(buf, n) // set the ´buf´ of before, with = in place of :=, to what m.fill gives back: a new one gets it, so the memory is lost with each turn
		if err != nil {
			continue
		}
		renamed, err := fill(more, n) // -
		more, err = fill(more, n) // -
		all += len(buf) + len(renamed)
	}
	return all
}

type iterator interface{ Next() bool }

type cursor struct{ at int }

func (c *cursor) Next() bool { c.at++; return c.at < 3 }

type list struct{}

func (list) from(c *cursor) *cursor {
	if c == nil {
		c = &cursor{}
	}
	c.at = 0
	return c
}

func (list) iter(it iterator) iterator {
	if c, ok := it.(*cursor); ok {
		c.at = 0
		return c
	}
	return &cursor{}
}

func (list) always(c *cursor) *cursor { return &cursor{} }

func (o *owner) opens(l list, n int) (all int) {
	o.cur = l.from(nil) // hand ´o.cur´ to m.list.from in place of nil, if nothing else has the one before: it sets anew what it is handed
	o.next = l.iter(nil) // hand ´o.next´ to m.list.iter in place of nil, if nothing else has the one before: it sets anew what it is handed
	o.cur = l.from(o.cur) // -
	o.cur = l.always(nil) // -
	once := l.from(nil) // -
	for range n {
		each := l.from(nil) // declare ´each´ before the loop of line 105 and hand it to m.list.from in place of nil: it sets anew what it is handed
		all += each.at
		kept := l.from(nil) // -
		o.cur = kept
	}
	return all + once.at
}

type digest [8]byte

func (s digest) bytes() []byte { return s[:] }
func (s digest) first() []byte { return s[:4] }

func (o *owner) sums(s digest, all []digest, next func() digest) (n int) {
	n += len(s.bytes()) // slice the array itself, as ´s[:]´, if what gets it neither changes nor keeps it: bytes returns a slice of its copy of it, which is on the heap
	n += len(all[n].bytes()) // slice the array itself, as ´all[n][:]´, if what gets it neither changes nor keeps it: bytes returns a slice of its copy of it, which is on the heap
	n += len(next().bytes()) // -
	return n + len(s.first()) // -
}

type builder struct{ parts []string }

func newBuilder() *builder { return &builder{} }
func newFrom(parts []string) *builder {
	b := &builder{}
	b.parts = parts
	return b
}
func (b *builder) Reset()         {}
func (b *builder) Add(s string)   { b.parts = append(b.parts, s) }

type node struct{ next *node }

func newNode() *node { return &node{} }
func hand(*node) {}
func newShared() *node { return shared }

var shared = &node{}

func turns(list []string) (all int, last *node, kept []*builder) {
	once := newBuilder() // -
	for _, s := range list {
		b := newBuilder() // make ´b´ once, before the loop of line 147, and call its Reset in each turn: nothing has it after the turn
		b.Add(s)
		with := newFrom(list) // -
		keep := newBuilder() // make what m.newBuilder makes in slabs: one slice of them for many turns of the loop of line 147, and the address of an element for each
		kept = append(kept, keep)
		closed := newBuilder() // -
		defer func() { closed.Add(s) }()
		all += len(b.parts) + len(with.parts)
	}
	return all + len(once.parts), last, kept
}

func nodes(n int) (last *node) {
	last = newNode() // -
	for range n {
		one := newNode() // make what m.newNode makes in slabs: one slice of them for many turns of the loop of line 162, and the address of an element for each
		one.next, last = last, one
		last = newShared() // -
		hand(newNode()) // -
		switch n {
		case 7:
			one.next = newNode() // -
		}
	}
	return last
}
`

// TestAbove: ways of writing a call whose callee allocates.
func TestAbove(t *testing.T) {
	p, file := sourcetest.Load(t, above)
	functions := map[string]*ssa.Function{}
	for fn := range p.Functions() {
		functions[flow.NameOf(fn)] = fn
	}
	for i, text := range strings.Split(above, "\n") {
		_, want, found := strings.Cut(text, "// ")
		if !found {
			continue
		}
		l, got := p.At(file, i+1), "-"
		for _, e := range l.Exprs {
			callee := functions[e.Call.Callee]
			if e.Kind != source.Call || callee == nil {
				continue
			}
			for _, r := range CallRules {
				if answer := r.Tell(place(l, e), callee); answer != "" && (got == "-" || r.Cure != "batch-arena") {
					got = strings.ReplaceAll(answer, "`", "´")
				}
			}
		}
		if got != want {
			t.Errorf("line %d: %s: %q", i+1, text, got)
		}
	}
}
