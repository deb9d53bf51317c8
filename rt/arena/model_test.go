package arena_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/rt/arena"
)

// model runs operations on an arena and on the ordinary heap side by side. What
// lives in the arena must at all times be what the model has.
type model struct {
	t       *testing.T
	a       *arena.Arena // the one in use: root or a fork of it
	root    *arena.Arena
	objects []pair[*node]
	slices  []pair[[]int]
	lists   []pair[[]*node]
	strings []pair[string]
}

type pair[T any] struct{ got, want T }

const kinds = 14

// step does one of so many kinds of operation, which takes one argument.
func (m *model) step(kind byte, n int) {
	switch kind {
	case 0, 1:
		m.newObject(n)
	case 2:
		m.slices = append(m.slices, m.makeSlice(n))
	case 3, 4:
		m.eachSlice(n, func(p *pair[[]int]) {
			p.got, p.want = arena.Append(m.a, p.got, n), append(p.want, n)
		})
	case 5:
		m.eachSlice(n, func(p *pair[[]int]) {
			more := m.slices[n/3%len(m.slices)].want
			more = slices.Clone(more[:min(len(more), 1000)])
			p.got, p.want = arena.AppendSlice(m.a, p.got, more), append(p.want, more...)
		})
	case 6:
		m.eachSlice(n, func(p *pair[[]int]) {
			m.slices = append(m.slices, pair[[]int]{arena.Clone(m.a, p.got), slices.Clone(p.want)})
		})
	case 7:
		m.eachSlice(n, func(p *pair[[]int]) {
			if len(p.got) > 0 {
				p.got[n%len(p.got)], p.want[n%len(p.want)] = -n, -n
			}
		})
	case 8:
		b := make([]byte, n%300)
		for i := range b {
			b[i] = byte(n + i)
		}
		m.strings = append(m.strings, pair[string]{arena.String(m.a, b), string(b)})
		clear(b)
	case 9:
		m.appendList(n)
	case 10:
		s := arena.SlabOf[node](m.a)
		p := s.New()
		p.n = n
		m.objects = append(m.objects, pair[*node]{p, &node{n: n}})
	case 11:
		m.a = m.root.Fork()
	case 12:
		if n%16 == 0 {
			m.reset()
		}
	case 13:
		if n%64 == 0 {
			runtime.GC()
		}
	}
}

func (m *model) newObject(n int) {
	got, want := arena.New[node](m.a), &node{n: n, heap: new(int), name: "x"}
	if *got != (node{}) {
		m.t.Fatalf("New gave %+v, want zero", *got)
	}
	*want.heap = n
	*got = *want
	if k := len(m.objects); k > 0 {
		got.next = m.objects[n%k].got
		want.next = m.objects[n%k].want
	}
	m.objects = append(m.objects, pair[*node]{got, want})
}

func (m *model) makeSlice(n int) pair[[]int] {
	c := n % 50
	if n%11 == 0 {
		c = n % 9000
	}
	v := arena.MakeSlice[int](m.a, c/2, c)
	for i, x := range v[:c] {
		if x != 0 {
			m.t.Fatalf("element %d of a slice is %d, want 0", i, x)
		}
	}
	return pair[[]int]{v, make([]int, c/2)}
}

func (m *model) eachSlice(n int, do func(*pair[[]int])) {
	if len(m.slices) > 0 {
		do(&m.slices[n%len(m.slices)])
	}
}

func (m *model) appendList(n int) {
	if len(m.objects) == 0 {
		return
	}
	if len(m.lists) == 0 || n%5 == 0 {
		m.lists = append(m.lists, pair[[]*node]{})
	}
	l, o := &m.lists[n%len(m.lists)], m.objects[n%len(m.objects)]
	l.got, l.want = arena.Append(m.a, l.got, o.got), append(l.want, o.want)
}

func (m *model) reset() {
	m.check()
	m.root.Reset()
	*m = model{t: m.t, a: m.root, root: m.root}
}

func (m *model) check() {
	m.t.Helper()
	for i, o := range m.objects {
		m.same(i, o.got, o.want)
	}
	for i, p := range m.slices {
		if !slices.Equal(p.got, p.want) {
			m.t.Fatalf("slice %d is %v, want %v", i, p.got, p.want)
		}
	}
	for i, p := range m.strings {
		if p.got != p.want {
			m.t.Fatalf("string %d is %q, want %q", i, p.got, p.want)
		}
	}
	for i, l := range m.lists {
		for k := range l.want {
			m.same(i, l.got[k], l.want[k])
		}
	}
}

func (m *model) same(i int, got, want *node) {
	m.t.Helper()
	if got.n != want.n || got.name != want.name || (got.heap == nil) != (want.heap == nil) ||
		got.heap != nil && *got.heap != *want.heap || (got.next == nil) != (want.next == nil) ||
		got.next != nil && got.next.n != want.next.n {
		m.t.Fatalf("object %d is %+v, want %+v", i, *got, *want)
	}
}

// run runs the operations that ops spells, one by a byte: which, and how often
// in a row. Their arguments come from seed.
func run(t *testing.T, reuse bool, seed uint64, ops []byte) {
	t.Helper()
	a := arena.Make(arena.Options{Reuse: reuse})
	defer a.Free()
	m := model{t: t, a: a, root: a}
	r := rand.New(rand.NewPCG(seed, 1))
	for _, op := range ops {
		for range 1 + op/kinds {
			m.step(op%kinds, int(r.Uint32()>>16))
		}
	}
	m.check()
}

// FuzzModel has short inputs that spell long runs: the fuzzer runs each that it
// finds interesting as often as its length squared, to make it shorter, before
// it goes on.
func FuzzModel(f *testing.F) {
	r := rand.NewChaCha8([32]byte{1})
	for seed := range uint64(8) {
		ops := make([]byte, 16)
		r.Read(ops)
		f.Add(seed, ops)
	}
	f.Fuzz(func(t *testing.T, seed uint64, ops []byte) {
		ops = ops[:min(len(ops), 64)]
		run(t, false, seed, ops)
		run(t, true, seed, ops)
	})
}

func TestModel(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 10
	}
	r := rand.NewChaCha8([32]byte{3})
	ops := make([]byte, 400)
	for seed := range rounds {
		r.Read(ops)
		run(t, seed%2 == 0, uint64(seed), ops)
	}
}
