// Package arenas compares arena allocators: heaptrim's, the heap, GOEXPERIMENT=arenas
// and others, on three workloads. Each is generated for each allocator by gen, and
// run by run, which makes a table of medians.
package arenas

import "math/rand/v2"

//go:generate go run ./gen

// The first workload: a tree of three types with pointers and strings.

type branch struct {
	left, right *branch
	leaf        *leaf
	name        string
}

type leaf struct {
	meta *meta
	key  string
	n    int64
}

type meta struct {
	owner *branch
	tag   string
	_     int64 // a field that nobody reads, as objects have them
}

// treeDepth makes 2^15-1 branches, so 98,301 objects and 32,767 copied strings.
const treeDepth = 15

var branchName = []byte("branch-name-0123456789")

func (b *branch) walk() int {
	if b == nil {
		return 0
	}
	return len(b.name) + len(b.leaf.key) + int(b.leaf.n) + len(b.leaf.meta.tag) + b.left.walk() + b.right.walk()
}

// The second: the parts of a pprof profile, linked with each other.

type profile struct {
	samples   []*sample
	locations []*location
	functions []*function
	mappings  []*mapping
	strings   []string
}

type sample struct {
	stack  []*location
	values []int64
	labels []*label
}

type label struct {
	key, text string
	number    int64
}

type location struct {
	id, addr uint64
	mapping  *mapping
	lines    []line
}

type line struct {
	function *function
	number   int64
}

type function struct {
	id                 uint64
	name, system, file string
	start              int64
}

type mapping struct {
	id, start, limit, offset uint64
	file, build              string
}

// Field numbers of a profile.
const (
	fieldSample   = 2
	fieldMapping  = 3
	fieldLocation = 4
	fieldFunction = 5
	fieldString   = 6
)

// varint returns the first number of in, and what follows it.
func varint(in []byte) (v uint64, rest []byte) {
	for shift := 0; ; shift += 7 {
		c := in[0]
		in = in[1:]
		v |= uint64(c&0x7f) << (shift & 63)
		if c < 0x80 {
			return v, in
		}
	}
}

// next returns the first field of in, which is known to be well-formed, and what follows
// it: a number or data. In a struct they would go through memory.
func next(in []byte) (num, value uint64, data, rest []byte) {
	key, in := varint(in)
	switch key & 7 {
	case 0:
		value, in = varint(in)
	case 2:
		var n uint64
		n, in = varint(in)
		data, in = in[:n], in[n:]
	case 1:
		in = in[8:]
	case 5:
		in = in[4:]
	}
	return key >> 3, value, data, in
}

// countFields counts the fields of a message by number.
func countFields(in []byte) (count [8]int) {
	for rest := in; len(rest) > 0; {
		var num uint64
		num, _, _, rest = next(rest)
		if num < 8 {
			count[num]++
		}
	}
	return count
}

func countVarints(in []byte) int {
	n := 0
	for _, c := range in {
		if c < 0x80 {
			n++
		}
	}
	return n
}

func (x *function) read(p *profile, in []byte) {
	for len(in) > 0 {
		var num, value uint64
		num, value, _, in = next(in)
		switch num {
		case 1:
			x.id = value
		case 2:
			x.name = p.strings[value]
		case 3:
			x.system = p.strings[value]
		case 4:
			x.file = p.strings[value]
		case 5:
			x.start = int64(value)
		}
	}
}

func (x *mapping) read(p *profile, in []byte) {
	for len(in) > 0 {
		var num, value uint64
		num, value, _, in = next(in)
		switch num {
		case 1:
			x.id = value
		case 2:
			x.start = value
		case 3:
			x.limit = value
		case 4:
			x.offset = value
		case 5:
			x.file = p.strings[value]
		case 6:
			x.build = p.strings[value]
		}
	}
}

func (x *label) read(p *profile, in []byte) {
	for len(in) > 0 {
		var num, value uint64
		num, value, _, in = next(in)
		switch num {
		case 1:
			x.key = p.strings[value]
		case 2:
			x.text = p.strings[value]
		case 3:
			x.number = int64(value)
		}
	}
}

func readLine(p *profile, in []byte) (x line) {
	for len(in) > 0 {
		var num, value uint64
		num, value, _, in = next(in)
		switch num {
		case 1:
			x.function = p.functions[value]
		case 2:
			x.number = int64(value)
		}
	}
	return x
}

// sum visits all that a profile refers to.
func (p *profile) sum() int {
	n := 0
	for _, s := range p.samples {
		for _, l := range s.stack {
			for i := range l.lines {
				n += len(l.lines[i].function.name)
			}
		}
		n += len(s.values) + len(s.labels)
	}
	return n
}

// The third: slices of pointers and of integers that grow by append, 200 of 4 to
// 2000 elements, short ones the more likely.
func appendLengths() []int {
	r := rand.New(rand.NewPCG(3, 4))
	lengths := make([]int, 200)
	for i := range lengths {
		n := 4.0
		for range r.IntN(10) {
			n *= 1.5 + r.Float64()*0.7
		}
		lengths[i] = min(int(n), 2000)
	}
	return lengths
}
