package web

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Binary is a program that samples were taken in.
type Binary struct {
	File    string   // as the process named it
	BuildID string   // GNU build ID; empty when not recorded
	Runs    []string // names of the runs with its samples
}

// codeWeights are what an instruction can weigh, in the order of placeWeight.
var codeWeights = [...]string{"cpu", colBytes, colObjects, colInUse, colInUseObj}

// placeWeight is what the samples at one address weigh: those whose stack ends
// there, and all whose stack passes through.
type placeWeight struct {
	mapping     *evidence.Mapping
	self, total [len(codeWeights)]float64
	seen        int // the last sample that passed through
}

// codeTally gathers weights by binary, function and address.
type codeTally struct {
	binaries []*codeBinary
	at       map[string]*codeBinary
	samples  int
}

type codeBinary struct {
	Binary
	functions map[string]*codeTallied
}

type codeTallied struct {
	file   string // as the page names it
	places map[uint64]*placeWeight
}

// place returns the weights of a location's address; nil without one.
func (t *codeTally) place(d *diagnose.Diagnosis, l *evidence.Location) *placeWeight {
	if l.Address == 0 || l.Mapping == nil || l.Mapping.File == "" {
		return nil
	}
	b := t.at[l.Mapping.File]
	if b == nil {
		if t.at == nil {
			t.at = map[string]*codeBinary{}
		}
		b = &codeBinary{Binary{File: l.Mapping.File}, map[string]*codeTallied{}}
		t.at[l.Mapping.File] = b
		t.binaries = append(t.binaries, b)
	}
	if b.BuildID == "" {
		b.BuildID = l.Mapping.BuildID
	}
	outer := l.Frames[len(l.Frames)-1]
	f := b.functions[outer.Function]
	if f == nil {
		f = &codeTallied{d.Place(outer).File, map[uint64]*placeWeight{}}
		b.functions[outer.Function] = f
	}
	w := f.places[l.Address]
	if w == nil {
		w = &placeWeight{mapping: l.Mapping}
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

// codeView is the machine code of the hottest functions.
type codeView struct {
	Files     []string       `json:"files"` // base names
	Texts     []string       `json:"texts"` // distinct instructions
	Functions []codeFunction `json:"functions"`
	Left      int            `json:"left"`    // functions with samples that are not shown
	Missing   []string       `json:"missing"` // why there is no machine code of a binary, one sentence each
}

// codeFunction is one function. Columns stand side by side, one element for
// each instruction; Step is the distance from the one before it.
type codeFunction struct {
	Name    string                `json:"name"`
	Source  string                `json:"source"` // its file, as the flame graph names it
	Binary  string                `json:"binary"` // base name
	First   string                `json:"first"`  // address in hexadecimal digits
	Step    []int                 `json:"step"`
	File    []int                 `json:"file"`
	Line    []int                 `json:"line"`
	Text    []int                 `json:"text"`
	Weights map[string]codeColumn `json:"weights"`
}

// codeColumn is a sparse column: the instructions that any sample has been at.
type codeColumn struct {
	At    []int     `json:"at"`
	Self  []float64 `json:"self"`
	Total []float64 `json:"total"`
}

// maxCodeFunctions bounds what is asked of a disassembler at once.
const maxCodeFunctions = 400

// Bytes of the page, roughly: of one instruction, and of a function of usual
// length, by which it is guessed how many to ask for.
const (
	instructionBytes = 40
	functionBytes    = 3000
)

// newCode shows the machine code of the hottest functions as far as the limit
// allows; nil where no sample has an address.
func (t *codeTally) newCode(o Options) *codeView {
	if len(t.binaries) == 0 || o.Code == nil {
		return nil
	}
	v := &codeView{Files: []string{}, Texts: []string{}, Functions: []codeFunction{}, Missing: []string{}}
	var files, texts index
	left := o.MaxCode
	hot := t.hottest()
	wanted := map[*codeBinary][]string{}
	for _, h := range hot[:min(len(hot), maxCodeFunctions, o.MaxCode/functionBytes)] {
		wanted[h.binary] = append(wanted[h.binary], h.name)
	}
	// By plain name: a generic function has code for each shape of its types.
	code := map[*codeBinary]map[string][]evidence.Code{}
	for _, b := range t.binaries {
		if len(wanted[b]) == 0 {
			continue
		}
		list, err := o.Code(b.Binary, wanted[b])
		if err != nil {
			v.Missing = append(v.Missing, fmt.Sprintf("%s: %v", path.Base(b.File), err))
		}
		code[b] = map[string][]evidence.Code{}
		for _, c := range list {
			name := plainName(c.Function)
			code[b][name] = append(code[b][name], c)
		}
	}
	for _, h := range hot {
		if left <= 0 {
			break
		}
		f := h.binary.functions[h.name]
		for _, c := range code[h.binary][plainName(h.name)] {
			if len(c.Instructions) == 0 {
				continue
			}
			if out, ok := f.show(c, &files, &texts); ok {
				out.Name, out.Source, out.Binary = h.name, f.file, path.Base(h.binary.File)
				left -= instructionBytes * len(out.Step)
				v.Functions = append(v.Functions, out)
			}
		}
	}
	shown := map[string]bool{}
	for _, f := range v.Functions {
		shown[f.Name] = true
	}
	for _, h := range hot {
		if !shown[h.name] {
			v.Left++
		}
	}
	v.Files, v.Texts = append(v.Files, files.list...), append(v.Texts, texts.list...)
	return v
}

// plainName is a function's name without types in brackets.
func plainName(name string) string {
	if i, j := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']'); i >= 0 && i < j {
		return name[:i] + "[...]" + name[j+1:]
	}
	return name
}

type hotCode struct {
	binary *codeBinary
	name   string
	weight float64
}

// hottest lists the functions by what stands on them, in any weight.
func (t *codeTally) hottest() []hotCode {
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
	var out []hotCode
	for _, b := range t.binaries {
		for _, name := range slices.Sorted(maps.Keys(b.functions)) {
			var sum [len(codeWeights)]float64
			for _, p := range b.functions[name].places {
				for k := range sum {
					sum[k] += (1-callers)*p.self[k] + callers*p.total[k]
				}
			}
			h := hotCode{binary: b, name: name}
			for k, v := range sum {
				if all[k] > 0 {
					h.weight = max(h.weight, v/all[k])
				}
			}
			out = append(out, h)
		}
	}
	// Sums of floats in the order of a map differ in their last digits.
	slices.SortStableFunc(out, func(a, b hotCode) int { return cmp.Compare(math.Round(1e9*b.weight), math.Round(1e9*a.weight)) })
	return out
}

// show writes a function with the weights of its instructions. It reports false
// when no sample lies in this code.
func (f *codeTallied) show(c evidence.Code, files, texts *index) (codeFunction, bool) {
	out := codeFunction{First: fmt.Sprintf("%x", c.Instructions[0].Address), Weights: map[string]codeColumn{}}
	before := c.Instructions[0].Address
	for _, i := range c.Instructions {
		out.Step = append(out.Step, int(i.Address-before))
		before = i.Address
		out.File, out.Line, out.Text = append(out.File, files.of(i.File)), append(out.Line, i.Line), append(out.Text, texts.of(i.Text))
	}
	sums := map[int]*placeWeight{}
	for address, p := range f.places {
		at, ok := instructionAt(c.Instructions, address, p.mapping)
		if !ok {
			continue
		}
		if sums[at] == nil {
			sums[at] = &placeWeight{}
		}
		for k := range codeWeights {
			sums[at].self[k] += p.self[k]
			sums[at].total[k] += p.total[k]
		}
	}
	for k, name := range codeWeights {
		col := codeColumn{}
		for _, at := range slices.Sorted(maps.Keys(sums)) {
			self, total := sums[at].self[k], sums[at].total[k]
			if k == 0 {
				self, total = self/cpuUnit, total/cpuUnit
			}
			if math.Round(total) != 0 {
				col.At, col.Self, col.Total = append(col.At, at), append(col.Self, math.Round(self)), append(col.Total, math.Round(total))
			}
		}
		if len(col.At) > 0 {
			out.Weights[name] = col
		}
	}
	return out, len(sums) > 0
}

// instructionAt finds the instruction that holds an address: as linked, or
// where a binary that can lie anywhere was mapped.
func instructionAt(list []evidence.Instruction, address uint64, m *evidence.Mapping) (int, bool) {
	if at, ok := search(list, address); ok {
		return at, true
	}
	return search(list, address-m.Start+m.Offset)
}

// longest is a bound on the length of the last instruction.
const longest = 15

func search(list []evidence.Instruction, address uint64) (int, bool) {
	at, exact := slices.BinarySearchFunc(list, address, func(i evidence.Instruction, a uint64) int { return cmp.Compare(i.Address, a) })
	if exact {
		return at, true
	}
	if at == 0 || at == len(list) && address > list[at-1].Address+longest {
		return 0, false
	}
	return at - 1, true
}
