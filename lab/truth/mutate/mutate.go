// Package mutate finds places in a package where one known waste of memory can be put, and
// the edits that put it there.
package mutate

import (
	"go/ast"
	"slices"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// Mutator finds places where one kind of waste can be planted.
type Mutator struct {
	Name   string
	Cure   string   // the kind that undoes it, of lab/corpus
	OK     []string // other kinds that undo it
	Apart  bool
	Most   int  // cases of a module; 0: as of others
	Remote bool // allocates on other lines than those that are edited
	find   func(s *source.File, n ast.Node) []corpus.Edit
	also   func(s *source.File, n ast.Node) []source.Place // other places where it can be undone
}

// Mutant is one waste that may be planted.
type Mutant struct {
	Mutator
	Functions []string // as pprof spells them
	Site      corpus.Site
	More      []corpus.Site
	Edits     []corpus.Edit
}

// All are all that the mutators find in the functions of a file that people wrote.
func All(s *source.File) []Mutant {
	var out []Mutant
	if ast.IsGenerated(s.Syntax) {
		return nil
	}
	for _, d := range s.Syntax.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if n == nil {
				return false
			}
			for _, m := range mutators {
				if edits := m.find(s, n); len(edits) > 0 {
					out = append(out, Mutant{Mutator: m, Edits: append(edits, s.Blank(edits)...)}.at(s, fn, n))
				}
			}
			return true
		})
	}
	return out
}

// at labels a mutant that was found at a node of a function.
func (out Mutant) at(s *source.File, fn *ast.FuncDecl, n ast.Node) Mutant {
	at := n.Pos()
	if n == fn {
		at = fn.Body.Lbrace
	}
	out.Functions = []string{s.Spell(fn)}
	out.Site = corpus.Site{File: s.Name, Line: s.Fset.Position(at).Line}
	if out.also == nil {
		return out
	}
	for _, p := range out.also(s, n) {
		site := corpus.Site{File: p.S.Name, Line: p.S.Fset.Position(p.N.Pos()).Line}
		if site != out.Site && !slices.Contains(out.More, site) {
			out.More = append(out.More, site)
		}
		if fn := p.S.Around(p.N); fn != nil && !slices.Contains(out.Functions, p.S.Spell(fn)) {
			out.Functions = append(out.Functions, p.S.Spell(fn))
		}
	}
	return out
}
