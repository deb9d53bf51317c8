package once_test

import (
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/once"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const program = `package m

import (
	"fmt"
	"net/http"
	"strings"
)

type owner struct {
	kind, name, whole string
	size              int
}

func newOwner(kind string) *owner { return &owner{kind: kind, size: 3, whole: kind} }

type other struct{ kind string }

func newOther(kind string) *other { return &other{kind: kind} }

func (o *other) reset() { *o = other{kind: "new"} }

func (o *owner) rename(name string) { o.name = name }

func (o *owner) texts(p *owner, x *other, s string) {
	_ = o.kind + "/requests"                             // kind
	_ = fmt.Sprintf("%s-%d", o.kind, o.size)             // kind
	_ = strings.ToUpper(o.whole)                         // whole
	_ = o.name + "/name"                                 // -
	_ = o.kind + s                                       // -
	_ = o.kind + p.kind                                  // -
	_ = x.kind + "/set at once"                          // -
	_ = o.text() + "/text"                               // -
	_ = "a" + "b"                                        // -
}

func (o *owner) text() string { return o.kind }

func headers(h http.Header, m map[string][]string, s string) {
	h["A"] = []string{"text/plain"} // header
	put(h, []string{"text/html"})   // header
	h["B"] = []string{s}            // -
	m["C"] = []string{"c"}          // -
	list := []string{"d"}           // -
	h["D"] = list
	list[0] = s
}

func put(h http.Header, value []string) {
	if len(h["A"]) == 0 {
		h["A"] = value
	}
}
`

// TestSame holds what would be the same each time against the comment on a line.
func TestSame(t *testing.T) {
	p, file := sourcetest.Load(t, program)
	for i, text := range strings.Split(program, "\n") {
		_, want, found := strings.Cut(text, "// ")
		l := p.At(file, i+1)
		if !found || l == nil {
			continue
		}
		var fn *ssa.Function
		for f := range p.Functions() {
			if f.Name() == "texts" || f.Name() == "headers" {
				if s := f.Syntax(); p.LineOf(s.Pos()) <= i+1 && i+1 <= p.LineOf(s.End()) {
					fn = f
				}
			}
		}
		got := "-"
		for _, e := range l.Exprs {
			if field, _ := once.Computed(p.Functions(), fn, e.Node()); field != "" {
				got = field
			}
			if once.HeaderOfConstants(fn, e.Node()) {
				got = "header"
			}
		}
		if got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

const sets = `package m

type set map[string]bool

func newSet(list []string) set {
	s := set{}
	for _, v := range list {
		s[v] = true
	}
	return s
}

func (s set) has(v string) bool { return s[v] }

func one(list []string, v string) bool { return newSet(list).has(v) } // once

func inLoop(list, all []string) (n int) {
	s := newSet(list) // -
	for _, v := range all {
		if s.has(v) {
			n++
		}
	}
	return n
}

func twice(list []string, v, w string) bool {
	s := newSet(list) // -
	return s.has(v) && s.has(w)
}

func here(list []string, v string) bool {
	m := map[string]struct{}{}
	for _, x := range list {
		m[x] = struct{}{}
	}
	_, ok := m[v]
	return ok
}

func counts(list []string, v string) int {
	m := map[string]int{}
	for _, x := range list {
		m[x]++
	}
	return m[v]
}
`

// TestAskedOnce: maps that are filled from a list for one look-up.
func TestAskedOnce(t *testing.T) {
	p, file := sourcetest.Load(t, sets)
	functions := map[string]*ssa.Function{}
	for f := range p.Functions() {
		functions[f.Name()] = f
	}
	for i, text := range strings.Split(sets, "\n") {
		_, want, found := strings.Cut(text, "// ")
		if !found || p.At(file, i+1) == nil {
			continue
		}
		on := func(in ssa.Instruction) bool { return p.LineOf(in.Pos()) == i+1 }
		asked := false
		for _, name := range []string{"one", "inLoop", "twice"} {
			asked = asked || once.AskedOnce(functions["newSet"], functions[name], on)
		}
		if asked != (want == "once") {
			t.Errorf("%s: %v", text, asked)
		}
	}
	for name, want := range map[string]bool{"here": true, "counts": false} {
		if got := once.AskedOnce(functions[name], nil, nil); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
