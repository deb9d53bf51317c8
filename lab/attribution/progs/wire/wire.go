// Package wire decodes messages of tagged fields into a tree and sums it up. The
// messages keep some 4 MiB alive; the marked site makes the nodes of the tree,
// dead when the message has been summed up.
package wire

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

type node struct {
	tag         uint64
	value       []byte
	child, next *node
}

// World holds encoded messages.
type World struct{ messages [][]byte }

// New makes the messages; they are the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(61, 62))
	w := &World{}
	for range 4000 {
		w.messages = append(w.messages, encode(r, 3))
	}
	return w
}

// encode makes a message: a field's tag is odd where its value is a message.
func encode(r *rand.Rand, depth int) []byte {
	var out []byte
	for range 3 + r.IntN(3) {
		tag, value := uint64(r.IntN(60))*2, make([]byte, r.IntN(24))
		if depth > 0 && r.IntN(3) == 0 {
			tag, value = tag+1, encode(r, depth-1)
		}
		out = binary.AppendUvarint(out, tag)
		out = binary.AppendUvarint(out, uint64(len(value)))
		out = append(out, value...)
	}
	return out
}

// Worker returns the operation: decode one message.
func (w *World) Worker(int) drive.Op {
	d := &decoder{}
	return func(i int) uint64 {
		d.used = 0
		return sum(d.decode(w.messages[i%len(w.messages)]))
	}
}

type decoder struct {
	slab []node
	used int
}

// decode returns the fields of a message. In the version without the site they
// are valid until the next message.
func (d *decoder) decode(b []byte) *node {
	var first, last *node
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		size, m := binary.Uvarint(b[n:])
		n += m
		x := d.node()
		x.tag, x.value = tag, b[n:n+int(size)]
		if tag&1 == 1 {
			x.child = d.decode(x.value)
		}
		if last == nil {
			first = x
		} else {
			last.next = x
		}
		last, b = x, b[n+int(size):]
	}
	return first
}

func (d *decoder) node() *node {
	if variant.Without {
		if d.slab == nil {
			d.slab = make([]node, 4096)
		}
		x := &d.slab[d.used]
		*x = node{}
		d.used++
		return x
	}
	return new(node) // site
}

func sum(x *node) uint64 {
	var h uint64
	for ; x != nil; x = x.next {
		h = drive.Mix(h, x.tag+uint64(len(x.value))+sum(x.child))
	}
	return h
}
