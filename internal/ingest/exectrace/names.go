package exectrace

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/index"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// names are the strings and stacks of a generation.
type names struct {
	textOf, stackOf index.Index
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

const maxFrames = 128 // of a stack

// readNames takes the strings and stacks of g over; t has g's strings.
func readNames(g *generation, v version, t *tables) (*names, error) {
	n := &names{texts: make([]string, 1, len(t.strings)+1), stacks: make([]uint32, 1)}
	n.textOf, n.stackOf = index.New(len(t.strings)), index.New(0)
	for id, s := range t.strings {
		n.textOf.Add(id, uint32(len(n.texts)))
		n.texts = append(n.texts, t.text(s))
	}
	n.textOf.Compact()
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
	n.stackOf.Compact()
	return n, nil
}

// readStack reads the stack at r; known are the frames so far.
func (n *names) readStack(r *tableReader, known map[uint64]uint32) error {
	if kind := r.byte(); kind != wire.Stack {
		return fmt.Errorf("event %d among stacks", kind)
	}
	id, depth := r.number(), r.number()
	_, again := n.stackOf.Find(id)
	switch {
	case r.bad:
		return fmt.Errorf("stack %d is cut short", id)
	case again: // 0, too, which is none
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
			fnText, hasFn := n.textOf.Find(fn)
			fileText, hasFile := n.textOf.Find(file)
			if !hasFn || !hasFile {
				return fmt.Errorf("stack %d has a call in string %d, file %d, and one of them is missing", id, fn, file)
			}
			i = uint32(len(n.frames))
			known[pc] = i
			n.frames = append(n.frames, frame{pc, line, Text(fnText), Text(fileText)})
		}
		n.calls = append(n.calls, i)
	}
	n.stackOf.Add(id, uint32(len(n.stacks)))
	n.stacks = append(n.stacks, uint32(len(n.calls)))
	return nil
}
