package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// mutant is one wrong edit.
type mutant struct {
	kind, name string
	function   string
	line       int
	edits      []corpus.Edit
}

// source is a file whose functions are walked.
type source struct {
	fset *token.FileSet
	file *ast.File
	text string
	rel  string
}

func (s *source) at(p token.Pos) int   { return s.fset.Position(p).Offset }
func (s *source) of(n ast.Node) string { return s.text[s.at(n.Pos()):s.at(n.End())] }
func (s *source) line(n ast.Node) int  { return s.fset.Position(n.Pos()).Line }
func (s *source) put(n ast.Node, t string) corpus.Edit {
	return corpus.Edit{File: s.rel, Start: s.at(n.Pos()), End: s.at(n.End()), Text: t}
}

// atEnd adds declarations behind the last of the file.
func (s *source) atEnd(t string) corpus.Edit {
	return corpus.Edit{File: s.rel, Start: len(s.text), End: len(s.text), Text: "\n" + t + "\n"}
}

// place is a node in a function.
type place struct {
	*source
	fn     *ast.FuncDecl
	n      ast.Node
	parent ast.Node
	loops  int
}

// mutators by kind.
func mutators() []struct {
	kind, name string
	find       func(p place) []corpus.Edit
} {
	return []struct {
		kind, name string
		find       func(p place) []corpus.Edit
	}{
		{"aliased result", "no-clone", noClone},
		{"aliased result", "shared-make", sharedMake},
		{"retained pooled buffer", "pooled-make", pooledMake},
		{"retained pooled buffer", "pooled-buffer", pooledBuffer},
		{"missing Reset", "no-reset", noReset},
		{"missing Reset", "no-truncate", noTruncate},
		{"nil for empty", "nil-for-empty", nilForEmpty},
		{"nil for empty", "empty-for-nil", emptyForNil},
		{"nil for empty", "empty-var", emptyVar},
		{"capacity visible through append", "no-limit", noLimit},
		{"capacity visible through append", "slab", slab},
		{"data race", "shared-array", sharedArray},
		{"data race", "no-lock", noLock},
		{"changed error", "not-wrapped", notWrapped},
		{"changed error", "another-error", anotherError},
		{"changed error", "another-text", anotherText},
		{"lost cleanup", "no-deferred-close", noDeferred},
		{"lost cleanup", "no-flush", noFlush},
	}
}

// mutate lists the wrong edits of the files of a folder, tests left out.
func mutate(folder, module string) ([]mutant, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	var out []mutant
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		s := &source{fset: token.NewFileSet(), text: string(text)}
		if s.file, err = parser.ParseFile(s.fset, name, text, parser.ParseComments); err != nil {
			continue
		}
		if s.rel, err = filepath.Rel(module, name); err != nil {
			return nil, err
		}
		if ast.IsGenerated(s.file) || strings.Contains(s.text, "//go:build") {
			continue
		}
		s.rel = filepath.ToSlash(s.rel)
		out = append(out, s.mutants()...)
	}
	return out, nil
}

func (s *source) mutants() []mutant {
	var out []mutant
	for _, d := range s.file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || fn.Name.Name == "init" || fn.Type.TypeParams != nil {
			continue
		}
		var stack []ast.Node
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if n == nil {
				stack = stack[:len(stack)-1]
				return true
			}
			p := place{source: s, fn: fn, n: n}
			for _, up := range stack {
				switch up.(type) {
				case *ast.ForStmt, *ast.RangeStmt:
					p.loops++
				}
			}
			if len(stack) > 0 {
				p.parent = stack[len(stack)-1]
			}
			stack = append(stack, n)
			for _, m := range mutators() {
				if edits := m.find(p); len(edits) > 0 {
					out = append(out, mutant{m.kind, m.name, fn.Name.Name, s.line(n), edits})
				}
			}
			return true
		})
	}
	return out
}

// call is the function of a call, as it is written.
func (p place) call() (*ast.CallExpr, string) {
	c, ok := p.n.(*ast.CallExpr)
	if !ok {
		return nil, ""
	}
	return c, p.of(c.Fun)
}

// makes is the element type and the length of make([]T, n); whether a capacity is given.
func (p place) makes() (elem, n, room string, ok bool) {
	c, name := p.call()
	if c == nil || name != "make" || len(c.Args) < 2 {
		return "", "", "", false
	}
	t, is := c.Args[0].(*ast.ArrayType)
	if !is || t.Len != nil {
		return "", "", "", false
	}
	n = p.of(c.Args[1])
	room = n
	if len(c.Args) == 3 {
		room = p.of(c.Args[2])
	}
	return p.of(t.Elt), n, room, true
}

// returned reports whether the value is given to a variable that the function returns, or returned
// itself.
func (p place) returned() bool {
	if _, ok := p.parent.(*ast.ReturnStmt); ok {
		return true
	}
	name := p.assigned()
	if name == "" {
		return false
	}
	if r := p.fn.Type.Results; r != nil {
		for _, f := range r.List {
			for _, n := range f.Names {
				if n.Name == name {
					return true
				}
			}
		}
	}
	found := false
	ast.Inspect(p.fn.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			for _, x := range r.Results {
				id, ok := x.(*ast.Ident)
				found = found || ok && id.Name == name
			}
		}
		return true
	})
	return found
}

// assigned is the variable that the value is given to; "" for none.
func (p place) assigned() string {
	a, ok := p.parent.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Rhs[0] != p.n {
		return ""
	}
	id, ok := a.Lhs[0].(*ast.Ident)
	if !ok || id.Name == "_" {
		return ""
	}
	return id.Name
}
