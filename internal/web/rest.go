package web

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Rest answers for the functions that a page's data leave out: those of the same
// page that have samples, and no others. It reads by the functions of the
// options, whose files must still be there; answers do not change it, so it is
// safe for concurrent use as far as these are.
type Rest struct {
	options   Options
	files     []string
	lines     map[[2]int]bool // file and line
	functions []*codePlaces
}

// errNotThere says that the page has no such function or line.
var errNotThere = errors.New("the page has no such function")

// newRest remembers what the page shows.
func newRest(v *flameView, o Options) *Rest {
	if v == nil {
		return nil
	}
	r := &Rest{options: Options{Source: o.Source, Code: o.Code}, files: v.Files, lines: map[[2]int]bool{}, functions: v.code.shown}
	for i, line := range v.Frames.Line {
		r.lines[[2]int{v.Frames.File[i], line}] = true
	}
	return r
}

// answer is what the page gets: what it asked for, or why that cannot be had.
type answer struct {
	Part    *sourceLines `json:"part,omitempty"`
	Code    *codeText    `json:"code,omitempty"`
	Missing string       `json:"missing,omitempty"`
}

// codeText is the machine code of one function with what it refers to.
type codeText struct {
	codeTexts
	Code []codeShape `json:"code"`
}

// Source returns the lines of the function that stands at a line of a file, as
// JSON; file is its index in the flame graph's. The error is ErrNotThere for a
// line that no frame of the page stands at.
func (r *Rest) Source(file, line int) ([]byte, error) {
	if !r.lines[[2]int{file, line}] || r.options.Source == nil {
		return nil, errNotThere
	}
	s := sourceSet{read: r.options.Source, files: map[string]*parsedFile{}}
	name := r.files[file]
	if !s.has(name, line) {
		return json.Marshal(answer{Missing: "its file is not on this computer, is no Go source, or has no such line"})
	}
	part := s.files[name].around(line)
	return json.Marshal(answer{Part: &part})
}

// Code returns the machine code of a function as JSON; function is its index in
// the view of code. The error is ErrNotThere for one that the page has not.
func (r *Rest) Code(function int) ([]byte, error) {
	if function < 0 || function >= len(r.functions) || r.options.Code == nil {
		return nil, errNotThere
	}
	f := r.functions[function]
	list, err := r.options.Code(f.binary.Binary, []string{f.name})
	var texts textTable
	out := &codeText{Code: f.shapes(byPlainName(list)[plainName(f.name)], &texts)}
	switch {
	case err != nil:
		return json.Marshal(answer{Missing: err.Error()})
	case len(out.Code) == 0:
		return json.Marshal(answer{Missing: fmt.Sprintf("the machine code at hand has no function of this name at these addresses: %s", f.shown)})
	}
	out.codeTexts = texts.lists()
	return json.Marshal(answer{Code: out})
}
