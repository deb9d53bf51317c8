package written

import "testing"

const elements = `package m

type hash [32]byte

type entry struct {
	n      int
	topics []hash
}

type owner struct {
	id    hash
	entry entry
}

func visit(es []entry, ps []*owner, m map[int]entry, f func(*entry), add func([]byte)) {
	for _, a := range es { // es
		f(&a)
		for i, t := range a.topics { // a.topics
			add(t[:i])
		}
	}
	for _, b := range es { // -
		b.n++
		f(&b)
	}
	for _, c := range es { // -
		func() { f(&c) }()
	}
	for _, h := range es { // -
		go f(&h)
	}
	for _, d := range m { // -
		f(&d)
	}
	for _, e := range es { // -
		add(e.topics[0][:])
	}
	for _, g := range ps { // -
		add(g.id[:])
		f(&g.entry)
	}
}
`

// TestElementCopied: variables of loops that are on the heap for their address.
func TestElementCopied(t *testing.T) { holds(t, elements, elementCopied) }
