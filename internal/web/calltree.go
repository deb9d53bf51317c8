package web

import (
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Calls that are told apart while profiles are read, for each that the page may show: with
// most of them, the lightest are dropped down to the rest.
const (
	mostPerNode = 8
	restPerNode = 2
	leastMost   = 1 << 16
)

// frameID names one line of one function at one instruction, or what heaptrim
// itself puts on a stack. Calls of one line from several instructions are several
// frames, so that what is filtered can be summed by instruction too: call trees
// have some 5 % more nodes by it.
type frameID struct {
	function, file string
	line           int
	place          int32 // number of the instruction's place; 0: not known
}

// frameRow is a frame by numbers, as the page gets it. There are many.
type frameRow struct {
	function int32 // index into functions
	file     int32 // index into files
	line     int32
	place    int32
}

// weightKey is one column of weights: a bucket of CPU, or one of the columns of
// the heap.
type weightKey struct {
	name   string // bucket or column
	cpu    bool
	base   bool // of the recording that is compared with
	labels int  // set of labels; 0: none
}

// callTree is the calls of a recording, with what each weighs itself. Node 0 is
// the root; a node's parent comes before it.
type callTree struct {
	parent   []int32
	step     []int32 // of each node, index into steps
	children childIndex
	alike    map[likeCall]int32 // nil: instructions are told apart

	steps  []step
	stepAt map[step]int32

	tables tables

	buckets []diagnose.BucketKind
	labels  labelTable

	weights map[weightKey]*sparse
	bound   bound
	exact   bool // no stack of the heap was sampled
	sampled bool

	reading reading
	code    *codeTally // nil: of a recording that is compared with
}

// reading is what is known while a profile is read.
type reading struct {
	cache  []located // by Location.Index of the profile
	passed []located // by the stack, outermost first
}

// tables number what the nodes of a call tree name.
type tables struct {
	frames map[frameRow]int32
	rows   []frameRow
	names  index
	files  index
	owners []string // by function
	pkgs   []string
}

// bound keeps a call tree from growing with the samples.
type bound struct {
	limit int                // of nodes that are shown
	most  int                // nodes at which the lightest are dropped
	roots map[string]int32   // by run, of the recording that is being read: they stay
	moved map[string]float64 // by column, what dropped calls weighed; nil: none was dropped

	// Of the last time that calls were dropped, to be used again.
	scores, totals []float64
	numbers        []int32
	keep           []bool
}

// step is what leads from a node to one of its calls.
type step struct {
	frame   int32
	inlined bool // into the caller
}

// located is what is known of a Location. Samples look at very many, in no order, so all that
// most of them have lies in one place.
type located struct {
	of      *evidence.Location
	place   *placeWeight
	outer   int32   // step to its outermost frame; 0: it has no frames
	inlined []int32 // steps to the other ones, innermost first
}

// index numbers texts in the order they come.
type index struct {
	list []string
	at   map[string]int
}

func (x *index) of(s string) int {
	i, ok := x.at[s]
	if !ok {
		if x.at == nil {
			x.at = map[string]int{}
		}
		i = len(x.list)
		x.at[s] = i
		x.list = append(x.list, s)
	}
	return i
}

// cut forgets all texts from number n on.
func (x *index) cut(n int) {
	for _, s := range x.list[n:] {
		delete(x.at, s)
	}
	x.list = x.list[:n]
}

func newCallTree(limit int) *callTree {
	return &callTree{
		bound:    bound{limit: limit, most: max(mostPerNode*limit, leastMost)},
		parent:   []int32{0},
		step:     []int32{0},
		children: newChildIndex(),
		steps:    []step{{}},
		stepAt:   map[step]int32{{}: 0},
		tables:   tables{frames: map[frameRow]int32{{}: 0}, rows: []frameRow{{}}, names: index{list: []string{""}, at: map[string]int{"": 0}}, files: index{list: []string{""}, at: map[string]int{"": 0}}, owners: []string{""}, pkgs: []string{""}},
		weights:  map[weightKey]*sparse{},
	}
}

// at returns the child of a node that a step leads to.
func (t *callTree) at(node, next int32) int32 {
	slot := t.child(node, next)
	if slot.node != 0 {
		return slot.node
	}
	var same likeCall
	if t.alike != nil {
		same = t.likeness(node, next)
		if c, ok := t.alike[same]; ok {
			return c
		}
	}
	c := int32(len(t.parent))
	t.parent, t.step = append(t.parent, node), append(t.step, next)
	slot.node = c
	if 2*len(t.parent) > len(t.children.slots) {
		t.index(2 * len(t.children.slots))
	}
	if t.alike != nil {
		t.alike[same] = c
	}
	return c
}

// likeness is the key under which calls that only differ in their instruction
// are one.
func (t *callTree) likeness(node, next int32) likeCall {
	s := t.steps[next]
	row := t.tables.rows[s.frame]
	row.place = 0
	return likeCall{node, row, s.inlined}
}

type likeCall struct {
	node    int32
	row     frameRow
	inlined bool
}

// addAlike makes calls from now on count to those that are there, whatever their
// instruction: addresses of another build say nothing.
func (t *callTree) addAlike() {
	t.alike = map[likeCall]int32{}
	t.reindex()
}

// stepTo numbers steps in the order they come.
func (t *callTree) stepTo(s step) int32 {
	n, ok := t.stepAt[s]
	if !ok {
		n = int32(len(t.steps))
		t.stepAt[s] = n
		t.steps = append(t.steps, s)
	}
	return n
}

// own returns the step to a frame that heaptrim itself puts on a stack.
func (t *callTree) own(name string) int32 {
	return t.stepTo(step{frame: t.intern(frameID{function: name}, "heaptrim", "")})
}

func (t *callTree) intern(id frameID, owner, pkg string) int32 {
	fn := t.tables.names.of(id.function)
	if fn == len(t.tables.owners) {
		t.tables.owners, t.tables.pkgs = append(t.tables.owners, owner), append(t.tables.pkgs, pkg)
	}
	row := frameRow{int32(fn), int32(t.tables.files.of(id.file)), int32(min(id.line, math.MaxInt32)), id.place}
	f, ok := t.tables.frames[row]
	if !ok {
		f = int32(len(t.tables.rows))
		t.tables.frames[row] = f
		t.tables.rows = append(t.tables.rows, row)
	}
	return f
}

// locate returns what is known of a Location, until the next call.
func (t *callTree) locate(d *diagnose.Session, l *evidence.Location) *located {
	if l.Index >= len(t.reading.cache) {
		t.reading.cache = append(t.reading.cache, make([]located, l.Index+1-len(t.reading.cache))...)
	}
	x := &t.reading.cache[l.Index]
	if x.of == l {
		return x
	}
	*x = located{of: l}
	number := int32(0)
	if t.code != nil {
		if x.place = t.code.place(d, l); x.place != nil {
			number = x.place.number
		}
	}
	for i, f := range l.Frames {
		s := d.Place(f)
		inlined := i < len(l.Frames)-1
		next := t.stepTo(step{t.intern(frameID{s.Function, s.File, s.Line, number}, d.Owner(f), s.Package), inlined})
		if inlined {
			x.inlined = append(x.inlined, next)
		} else {
			x.outer = next
		}
	}
	return x
}

// path returns the node of a stack below root, and books the sample at the
// addresses that it passes; w is what it weighs there.
func (t *callTree) path(d *diagnose.Session, root int32, s diagnose.WeightedStack, w *[len(codeWeights)]float64) int32 {
	node := root
	outer := len(s.Stack) - 1
	// Heap profiles show where a goroutine begins and CPU profiles do not: with
	// it, the two would stand beside each other.
	if outer > 0 && s.Stack[outer].Frames[0].Function == "runtime.goexit" {
		outer--
	}
	if t.code != nil {
		t.code.samples++
	}
	// Each of these loops waits for memory all the time, and for several calls at once, while it does
	// nothing else.
	t.reading.passed = t.reading.passed[:0]
	for i := outer; i >= 0; i-- {
		t.reading.passed = append(t.reading.passed, *t.locate(d, s.Stack[i]))
	}
	if t.code != nil {
		for i := range t.reading.passed {
			t.code.visit(t.reading.passed[i].place, w, i == outer)
		}
	}
	for i := range t.reading.passed {
		x, inner := &t.reading.passed[i], 0
		if i == outer {
			inner = s.Inline
		}
		if x.outer != 0 && inner <= len(x.inlined) {
			node = t.at(node, x.outer)
		}
		for j := len(x.inlined) - 1; j >= inner; j-- {
			node = t.at(node, x.inlined[j])
		}
	}
	return node
}

func (t *callTree) add(k weightKey, node int32, v float64) {
	if v == 0 {
		return
	}
	w := t.weights[k]
	if w == nil {
		w = newSparse()
		t.weights[k] = w
	}
	w.add(node, v)
}

// bucket notes a class of CPU time and returns its name.
func (t *callTree) bucket(b diagnose.BucketKind) string {
	if !slices.Contains(t.buckets, b) {
		t.buckets = append(t.buckets, b)
	}
	return b.Name
}
