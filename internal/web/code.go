package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// codeView is the functions that stacks pass with an address, the hottest first,
// and the machine code of as many of them as there is room for.
type codeView struct {
	codeTexts
	Binaries  []string       `json:"binaries"` // base names
	Functions []codeFunction `json:"functions"`
	Left      int            `json:"left"`    // functions whose machine code is left out for its size
	Missing   []string       `json:"missing"` // why there is no machine code of a binary, one sentence each
}

// codeTexts are what instructions refer to.
type codeTexts struct {
	Files []string `json:"files"` // base names
	Texts []string `json:"texts"` // distinct instructions
}

// codeFunction is one function. The numbers of its places, to which nodes of the
// flame graph refer, follow on those of the function before.
type codeFunction struct {
	Name   string      `json:"name"`
	Binary int         `json:"binary"`
	First  string      `json:"first"` // address of its first place in hexadecimal digits
	Step   []uint64    `json:"step"`  // of each place from the one before
	Code   []codeShape `json:"code,omitempty"`
}

// codeShape is the machine code of a function; a generic one has several. Columns
// stand side by side, one element for each instruction; Step and Line are the
// distance from the one before it.
type codeShape struct {
	First string   `json:"first"`
	Step  []uint64 `json:"step"`
	File  []int    `json:"file"`
	Line  []int    `json:"line"`
	Text  []int    `json:"text"`
	At    []int    `json:"at"` // the instruction of each of the function's places, -1 for one that is not here
}

// maxCodeFunctions bounds what is asked of a disassembler at once.
const maxCodeFunctions = 1000

// functionBytes is what a usual function takes of the page, roughly, by which it
// is guessed how many to ask for.
const functionBytes = 2000

// newCode shows the functions with the machine code of the hottest as far as
// the limit allows; nil where no sample has an address.
func (t *codeTally) newCode(o Options) (*codeView, error) {
	if len(t.shown) == 0 || o.Code == nil {
		return nil, nil
	}
	v := &codeView{Binaries: []string{}, Missing: []string{}}
	var texts textTable
	var binaries index
	for _, f := range t.shown {
		out := codeFunction{Name: f.shown, Binary: binaries.of(path.Base(f.binary.File))}
		out.First, out.Step = steps(f.list, func(p *placeWeight) uint64 { return p.address })
		v.Functions = append(v.Functions, out)
	}
	table, err := json.Marshal(v.Functions)
	if err != nil {
		return nil, fmt.Errorf("encode the functions with machine code: %w", err)
	}
	code := t.read(o, v)
	left := o.MaxCode - len(table)
	for i, f := range t.shown {
		out := &v.Functions[i]
		if i < asked(o) {
			known := len(texts.texts.list)
			out.Code = f.shapes(code[f.binary][plainName(f.name)], &texts)
			text, err := json.Marshal([]any{out.Code, texts.texts.list[known:]})
			if err != nil {
				return nil, fmt.Errorf("encode the machine code of %s: %w", f.name, err)
			}
			if left -= len(text); left < 0 {
				left += len(text)
				out.Code = nil
				texts.texts.cut(known)
				v.Left++
			}
		} else {
			v.Left++
		}
	}
	v.codeTexts, v.Binaries = texts.lists(), append(v.Binaries, binaries.list...)
	return v, nil
}

// asked is how many functions a disassembler is asked for.
func asked(o Options) int { return min(maxCodeFunctions, o.MaxCode/functionBytes) }

// read gets the machine code of the hottest functions, by plain name: a generic
// function has code for each shape of its types.
func (t *codeTally) read(o Options, v *codeView) map[*codeBinary]map[string][]evidence.Code {
	wanted := map[*codeBinary][]string{}
	for _, f := range t.shown[:min(len(t.shown), asked(o))] {
		wanted[f.binary] = append(wanted[f.binary], f.name)
	}
	code := map[*codeBinary]map[string][]evidence.Code{}
	for _, b := range t.binaries {
		if len(wanted[b]) == 0 {
			continue
		}
		list, err := o.Code(b.Binary, wanted[b])
		if err != nil {
			v.Missing = append(v.Missing, fmt.Sprintf("%s: %v", path.Base(b.File), err))
		}
		code[b] = byPlainName(list)
	}
	return code
}

func byPlainName(list []evidence.Code) map[string][]evidence.Code {
	out := map[string][]evidence.Code{}
	for _, c := range list {
		name := plainName(c.Function)
		out[name] = append(out[name], c)
	}
	return out
}

// plainName is a function's name without types in brackets.
func plainName(name string) string {
	if i, j := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']'); i >= 0 && i < j {
		return name[:i] + "[...]" + name[j+1:]
	}
	return name
}

// shapes writes the machine code of a function, those shapes of it that any of
// its places lies in.
func (f *codePlaces) shapes(code []evidence.Code, texts *textTable) []codeShape {
	var out []codeShape
	for _, c := range code {
		if len(c.Instructions) == 0 {
			continue
		}
		s := codeShape{}
		there := false
		for _, p := range f.list {
			at, ok := instructionAt(c.Instructions, p.address, p.mapping)
			if !ok {
				at = -1
			}
			there = there || ok
			s.At = append(s.At, at)
		}
		if !there {
			continue
		}
		s.First, s.Step = steps(c.Instructions, func(i evidence.Instruction) uint64 { return i.Address })
		line := 0
		for _, i := range c.Instructions {
			s.File, s.Line, s.Text = append(s.File, texts.files.of(i.File)), append(s.Line, i.Line-line), append(s.Text, texts.texts.of(i.Text))
			line = i.Line
		}
		out = append(out, s)
	}
	return out
}

type textTable struct{ files, texts index }

func (t *textTable) lists() codeTexts {
	return codeTexts{append([]string{}, t.files.list...), append([]string{}, t.texts.list...)}
}

// steps writes growing addresses as the first one and the distances between them.
func steps[T any](list []T, address func(T) uint64) (first string, step []uint64) {
	before := address(list[0])
	first = fmt.Sprintf("%x", before)
	for _, x := range list {
		step = append(step, address(x)-before)
		before = address(x)
	}
	return first, step
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
