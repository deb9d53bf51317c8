package web

import (
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// maxBuilt bounds the calls that are told apart while profiles are read. What
// lies deeper counts to the last call that was told apart.
const maxBuilt = 2 << 20

// frameID names one line of one function, or what heaptrim itself puts on a
// stack.
type frameID struct {
	function, file string
	line           int
}

// frameRow is a frame as the page gets it.
type frameRow struct {
	function int // index into functions
	file     int // index into files
	line     int
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
	parent  []int32
	frame   []int32
	inlined []bool // into their parent
	child   map[uint64]int32

	frames  map[frameID]int32
	rows    []frameRow
	names   index
	files   index
	owners  []string // by function
	pkgs    []string
	buckets []diagnose.BucketKind
	labels  labelTable

	weights map[weightKey]map[int32]float64
	folded  bool // maxBuilt was reached
	exact   bool // no stack of the heap was sampled
	sampled bool

	cache map[*evidence.Location]*located
	code  *codeTally // nil: of a recording that is compared with
}

// located is what is known of a Location.
type located struct {
	frames []int32 // innermost first
	place  *placeWeight
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

func newCallTree() *callTree {
	return &callTree{
		parent: []int32{0}, frame: []int32{0}, inlined: []bool{false}, child: map[uint64]int32{}, frames: map[frameID]int32{{}: 0}, rows: []frameRow{{}},
		names: index{list: []string{""}, at: map[string]int{"": 0}}, files: index{list: []string{""}, at: map[string]int{"": 0}},
		owners: []string{""}, pkgs: []string{""}, weights: map[weightKey]map[int32]float64{},
	}
}

// at returns the child of a node that is a call of frame, or its inlined code.
func (t *callTree) at(node, frame int32, inlined bool) int32 {
	key := uint64(uint32(node))<<32 | uint64(uint32(frame))<<1
	if inlined {
		key |= 1
	}
	c, ok := t.child[key]
	if ok {
		return c
	}
	if len(t.parent) >= maxBuilt {
		t.folded = true
		return node
	}
	c = int32(len(t.parent))
	t.parent, t.frame, t.inlined = append(t.parent, node), append(t.frame, frame), append(t.inlined, inlined)
	t.child[key] = c
	return c
}

// own returns a frame that heaptrim itself puts on a stack.
func (t *callTree) own(name string) int32 {
	return t.intern(frameID{function: name}, "heaptrim", "")
}

func (t *callTree) intern(id frameID, owner, pkg string) int32 {
	f, ok := t.frames[id]
	if !ok {
		f = int32(len(t.rows))
		t.frames[id] = f
		fn := t.names.of(id.function)
		if fn == len(t.owners) {
			t.owners, t.pkgs = append(t.owners, owner), append(t.pkgs, pkg)
		}
		t.rows = append(t.rows, frameRow{fn, t.files.of(id.file), id.line})
	}
	return f
}

// locate returns what is known of a Location.
func (t *callTree) locate(d *diagnose.Diagnosis, l *evidence.Location) *located {
	if x, ok := t.cache[l]; ok {
		return x
	}
	x := &located{frames: make([]int32, len(l.Frames))}
	for i, f := range l.Frames {
		s := d.Place(f)
		x.frames[i] = t.intern(frameID{s.Function, s.File, s.Line}, d.Owner(f), s.Package)
	}
	if t.code != nil {
		x.place = t.code.place(d, l)
	}
	t.cache[l] = x
	return x
}

// path returns the node of a stack below root, and books the sample at the
// addresses that it passes; w is what it weighs there.
func (t *callTree) path(d *diagnose.Diagnosis, root int32, s diagnose.WeightedStack, w *[len(codeWeights)]float64) int32 {
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
	for i := outer; i >= 0; i-- {
		x := t.locate(d, s.Stack[i])
		if t.code != nil {
			t.code.visit(x.place, w, i == 0)
		}
		inner := 0
		if i == 0 {
			inner = s.Inline
		}
		for j := len(x.frames) - 1; j >= inner; j-- {
			node = t.at(node, x.frames[j], j < len(x.frames)-1)
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
		w = map[int32]float64{}
		t.weights[k] = w
	}
	w[node] += v
}

// bucket notes a class of CPU time and returns its name.
func (t *callTree) bucket(b diagnose.BucketKind) string {
	if !slices.Contains(t.buckets, b) {
		t.buckets = append(t.buckets, b)
	}
	return b.Name
}
