package web

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Binary is a program that samples were taken in.
type Binary struct {
	File    string   // as the process named it
	BuildID string   // GNU build ID; empty when not recorded
	Runs    []string // names of the runs with its samples
}

// codeWeights are what decides which functions are the hottest, in the order of
// placeWeight.
var codeWeights = [...]string{"cpu", colBytes, colObjects, colInUse, colInUseObj}

// placeWeight is an address that stacks pass, with what the samples weigh whose
// stack ends there, and all whose stack passes through.
type placeWeight struct {
	// Each sample writes these at all places that it passes: they lie beside each other.
	seen  int // the last sample that passed through
	total [len(codeWeights)]float64

	self    [len(codeWeights)]float64
	number  int32 // from 1, in the order they come
	address uint64
	mapping *evidence.Mapping
}

// codeTally gathers places by binary, function and address.
type codeTally struct {
	binaries []*codeBinary
	at       map[string]*codeBinary
	places   int32 // there are
	samples  int
	shown    []*codePlaces // once arranged: the functions on the page, hottest first
}

type codeBinary struct {
	Binary
	functions map[string]*codePlaces
}

// codePlaces is a function with the addresses in it that stacks pass.
type codePlaces struct {
	binary *codeBinary
	name   string // as recorded
	shown  string // as the page names it
	places map[uint64]*placeWeight
	list   []*placeWeight // once arranged: those on the page, by address
	weight float64        // largest share of any weight
}

// place returns what a location's address is known by; nil without one.
func (t *codeTally) place(d *diagnose.Session, l *evidence.Location) *placeWeight {
	if l.Address == 0 || l.Mapping == nil || l.Mapping.File == "" || len(l.Frames) == 0 {
		return nil
	}
	b := t.at[l.Mapping.File]
	if b == nil {
		if t.at == nil {
			t.at = map[string]*codeBinary{}
		}
		b = &codeBinary{Binary{File: l.Mapping.File}, map[string]*codePlaces{}}
		t.at[l.Mapping.File] = b
		t.binaries = append(t.binaries, b)
	}
	if b.BuildID == "" {
		b.BuildID = l.Mapping.BuildID
	}
	outer := l.Frames[len(l.Frames)-1]
	f := b.functions[outer.Function]
	if f == nil {
		f = &codePlaces{binary: b, name: outer.Function, shown: d.Place(outer).Function, places: map[uint64]*placeWeight{}}
		b.functions[outer.Function] = f
	}
	w := f.places[l.Address]
	if w == nil {
		t.places++
		w = &placeWeight{number: t.places, address: l.Address, mapping: l.Mapping}
		f.places[l.Address] = w
	}
	return w
}

// visit books a sample at one address of its stack, once however often it comes;
// leaf says that the stack ends there. samples counts the samples.
func (t *codeTally) visit(p *placeWeight, w *[len(codeWeights)]float64, leaf bool) {
	if p == nil {
		return
	}
	again := p.seen == t.samples
	p.seen = t.samples
	for k, v := range w {
		if v == 0 {
			continue
		}
		if leaf {
			p.self[k] += v
		}
		if !again {
			p.total[k] += v
		}
	}
}

// ran notes which run a sample's binary was in.
func (t *codeTally) ran(s diagnose.WeightedStack) {
	if len(s.Stack) == 0 {
		return
	}
	if m := s.Stack[0].Mapping; m != nil && t.at[m.File] != nil && !slices.Contains(t.at[m.File].Runs, s.Run) {
		t.at[m.File].Runs = append(t.at[m.File].Runs, s.Run)
	}
}

// arrange decides the order of what is on the page – functions by what stands on
// them, in any weight, and the places of each by address – and returns the
// numbers that follow from it for a column of old ones. It returns nil where the
// column holds none.
func (t *codeTally) arrange(column []int32) []int32 {
	used := make([]bool, t.places+1)
	for _, n := range column {
		used[n] = true
	}
	for _, f := range t.hottest() {
		for _, address := range slices.Sorted(maps.Keys(f.places)) {
			if p := f.places[address]; used[p.number] {
				f.list = append(f.list, p)
			}
		}
		if len(f.list) > 0 {
			t.shown = append(t.shown, f)
		}
	}
	if len(t.shown) == 0 {
		return nil
	}
	number, n := make([]int32, t.places+1), int32(0)
	for _, f := range t.shown {
		for _, p := range f.list {
			n++
			number[p.number] = n
		}
	}
	out := make([]int32, len(column))
	for i, old := range column {
		out[i] = number[old]
	}
	return out
}

// hottest lists the functions by their largest share of any weight.
func (t *codeTally) hottest() []*codePlaces {
	const callers = 0.2 // what a function only calls counts for less
	var all [len(codeWeights)]float64
	for _, b := range t.binaries {
		for _, f := range b.functions {
			for _, p := range f.places {
				for k, v := range p.self {
					all[k] += math.Abs(v)
				}
			}
		}
	}
	var out []*codePlaces
	for _, b := range t.binaries {
		for _, name := range slices.Sorted(maps.Keys(b.functions)) {
			f := b.functions[name]
			var sum [len(codeWeights)]float64
			for _, p := range f.places {
				for k := range sum {
					sum[k] += (1-callers)*p.self[k] + callers*p.total[k]
				}
			}
			for k, v := range sum {
				if all[k] > 0 {
					f.weight = max(f.weight, v/all[k])
				}
			}
			out = append(out, f)
		}
	}
	// Sums of floats in the order of a map differ in their last digits.
	slices.SortStableFunc(out, func(a, b *codePlaces) int { return cmp.Compare(math.Round(1e9*b.weight), math.Round(1e9*a.weight)) })
	return out
}
