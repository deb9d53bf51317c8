package exectrace

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// names are the strings and stacks of a generation.
type names struct {
	textOf, stackOf index
	texts           []string // the first is ""
	stacks          []uint32 // where each ends in calls; the first is 0
	calls           []uint32 // frames
	frames          []frame
}

// frame is a call. What a program counter stands for is what it did first.
type frame struct {
	pc, line uint64
	fn, file Text
}

// index numbers what the trace has numbers of its own for, which are mostly
// consecutive.
type index struct {
	dense  []uint32
	sparse map[uint64]uint32
}

// find returns the number of id, which is 0 for 0 only.
func (x *index) find(id uint64) (uint32, bool) {
	if id < uint64(len(x.dense)) {
		n := x.dense[id]
		return n, n != 0 || id == 0
	}
	n, ok := x.sparse[id]
	return n, ok || id == 0
}

// compact turns the sparse form into the dense one where that is not larger.
func (x *index) compact() {
	largest := uint64(0)
	for id := range x.sparse {
		largest = max(largest, id)
	}
	if largest > 2*uint64(len(x.sparse))+64 {
		return
	}
	x.dense = make([]uint32, largest+1)
	for id, n := range x.sparse {
		x.dense[id] = n
	}
	x.sparse = nil
}

const maxFrames = 128 // of a stack

// readNames takes the strings and stacks of g over; t has g's strings.
func readNames(g *generation, v version, t *tables) (*names, error) {
	n := &names{texts: make([]string, 1, len(t.strings)+1), stacks: make([]uint32, 1)}
	n.textOf.sparse, n.stackOf.sparse = make(map[uint64]uint32, len(t.strings)), map[uint64]uint32{}
	for id, s := range t.strings {
		n.textOf.sparse[id] = uint32(len(n.texts))
		n.texts = append(n.texts, t.text(s))
	}
	n.textOf.compact()
	known := map[uint64]uint32{}
	var data []byte
	for i := range g.batches {
		b := &g.batches[i]
		if b.holds(v) != wire.Stacks {
			continue
		}
		r, err := g.table(b, data[:0])
		if err != nil {
			return nil, err
		}
		data = r.data
		r.pos++ // wire.Stacks
		for r.pos < len(r.data) {
			if err := n.readStack(r, known); err != nil {
				return nil, r.fail(err)
			}
		}
	}
	n.stackOf.compact()
	return n, nil
}

// readStack reads the stack at r; known are the frames so far.
func (n *names) readStack(r *tableReader, known map[uint64]uint32) error {
	if kind := r.byte(); kind != wire.Stack {
		return fmt.Errorf("event %d among stacks", kind)
	}
	id, depth := r.number(), r.number()
	_, again := n.stackOf.sparse[id]
	switch {
	case r.bad:
		return fmt.Errorf("stack %d is cut short", id)
	case again, id == 0: // 0 is none
		return fmt.Errorf("there are two stacks %d", id)
	case depth > maxFrames:
		return fmt.Errorf("stack %d is %d calls deep; the format allows %d", id, depth, maxFrames)
	}
	for range depth {
		pc, fn, file, line := r.number(), r.number(), r.number(), r.number()
		if r.bad {
			return fmt.Errorf("stack %d is cut short", id)
		}
		i, ok := known[pc]
		if !ok {
			fnText, hasFn := n.textOf.find(fn)
			fileText, hasFile := n.textOf.find(file)
			if !hasFn || !hasFile {
				return fmt.Errorf("stack %d has a call in string %d, file %d, and one of them is missing", id, fn, file)
			}
			i = uint32(len(n.frames))
			known[pc] = i
			n.frames = append(n.frames, frame{pc, line, Text(fnText), Text(fileText)})
		}
		n.calls = append(n.calls, i)
	}
	n.stackOf.sparse[id] = uint32(len(n.stacks))
	n.stacks = append(n.stacks, uint32(len(n.calls)))
	return nil
}
