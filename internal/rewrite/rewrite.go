// Package rewrite makes the edits that cures ask for. It judges from source and types
// whether an edit keeps what the program does, and says what it could not prove; whether an
// edit pays is for a trial to find out.
package rewrite

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/packages"
)

// Edit is one change of one source file.
type Edit struct {
	Code    string // of the cure that it applies
	Kind    string // of edit: what is put in place of what
	File    string // absolute
	Line    int    // of the expression that allocates
	Text    string // what it does
	Open    string // what it rests on and the source does not prove; empty for a safe edit
	Changes []Change
	Imports []string // import paths that the new text names
}

// Change puts text in place of the bytes of a file between two offsets.
type Change struct {
	From, To int
	Text     string
}

// Safe reports whether nothing is left to prove.
func (e Edit) Safe() bool { return e.Open == "" }

// Request says which code to read.
type Request struct {
	Dir        string   // where the go command runs
	Packages   []string // import paths
	BuildFlags []string
}

// Place is a line that allocates.
type Place struct {
	File  string  // absolute, or the end of a path
	Line  int     // counts from 1
	Sizes []int64 // of the blocks that were seen there, in bytes, smallest first; may be empty
}

// Program is source that was read. It is safe for concurrent use.
type Program struct {
	fset  *token.FileSet
	files map[string][]*file // by base name
	names *names
}

// file is a source file that edits may change.
type file struct {
	name   string // absolute
	text   []byte
	syntax *ast.File
	root   inspector.Cursor
	pkg    *packages.Package
	fset   *token.FileSet
	names  *names
}

// Load reads the packages, without their tests. Packages that do not compile, files that are
// generated, not formatted by gofmt, or use cgo are left out; an error means that the go command
// could not be asked.
func Load(ctx context.Context, r Request) (*Program, error) {
	p := &Program{fset: token.NewFileSet(), files: map[string][]*file{}, names: &names{given: map[string]token.Pos{}}}
	if len(r.Packages) == 0 {
		return p, nil
	}
	loaded, err := packages.Load(&packages.Config{Context: ctx, Dir: r.Dir, Fset: p.fset, BuildFlags: r.BuildFlags,
		Mode: packages.LoadSyntax | packages.NeedModule}, r.Packages...)
	if err != nil {
		return nil, fmt.Errorf("load the packages to edit: %w", err)
	}
	for _, pkg := range loaded {
		if len(pkg.Errors) > 0 || pkg.IllTyped || pkg.Types == nil {
			continue
		}
		in := inspector.New(pkg.Syntax)
		for _, syntax := range pkg.Syntax {
			if f := p.open(pkg, in, syntax); f != nil {
				base := filepath.Base(f.name)
				p.files[base] = append(p.files[base], f)
			}
		}
	}
	return p, nil
}

// open reads the text of a file; nil if it is not to be edited.
func (p *Program) open(pkg *packages.Package, in *inspector.Inspector, syntax *ast.File) *file {
	f := &file{name: p.fset.PositionFor(syntax.FileStart, false).Filename, syntax: syntax, pkg: pkg, fset: p.fset, names: p.names}
	if ast.IsGenerated(syntax) || slices.ContainsFunc(syntax.Imports, isCgo) {
		return nil
	}
	text, err := os.ReadFile(f.name)
	if err != nil || !formatted(text) {
		return nil
	}
	c, ok := in.Root().FindNode(syntax)
	f.text, f.root = text, c
	if !ok {
		return nil
	}
	return f
}

func isCgo(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` }

// find is the file that a path names, or the end of one.
func (p *Program) find(name string) *file {
	name = filepath.ToSlash(name)
	for _, f := range p.files[name[strings.LastIndexByte(name, '/')+1:]] {
		have := filepath.ToSlash(f.name)
		if have == name || strings.HasSuffix(have, "/"+strings.TrimLeft(name, "./")) {
			return f
		}
	}
	return nil
}

// site is an expression or statement at a place.
type site struct {
	*file
	cur   inspector.Cursor
	place Place
}

// kind is a kind of edit.
type kind struct {
	name string
	code string // of the cure
	find func(s *site) []Edit
}

// kinds in the order in which they are tried.
func kinds() []kind {
	return []kind{
		{"compiled once", "cache-compiled", compiledOnce},
		{"table made once", "cache-compiled", tableOnce},
		{"fmt to strconv", "avoid-conversion", fmtToStrconv},
		{"string instead of bytes", "avoid-conversion", writeString},
		{"parts one by one", "avoid-conversion", splitSeq},
		{"cut instead of split", "avoid-conversion", splitCut},
		{"compare without a copy", "avoid-conversion", equalFold},
		{"concatenation to Builder", "presize-builder", concatToBuilder},
		{"Builder instead of Buffer", "avoid-conversion", bufferToBuilder},
		{"sort without reflection", "unbox-interface", sortFunc},
		{"asked before the call", "unbox-interface", askedBefore},
		{"slice with its size", "presize-slice", presizeSlice},
		{"map with its size", "presize-map", presizeMap},
		{"builder with its size", "presize-builder", presizeBuilder},
		{"array on the stack", "keep-on-stack", stackArray},
		{"buffer from a pool", "pool-buffer", poolBuffer},
		{"writer from a pool", "pool-object", poolWriter},
	}
}

// At lists the edits for what a line allocates; those of one kind are alternatives, the best
// first.
func (p *Program) At(place Place) []Edit {
	f := p.find(place.File)
	if f == nil {
		return nil
	}
	var out []Edit
	all := kinds()
	for c := range f.root.Preorder() {
		n := c.Node()
		if f.line(n.Pos()) > place.Line || f.line(n.End()) < place.Line {
			continue
		}
		if f.line(n.Pos()) != place.Line && !callOpensOn(f, n, place.Line) || f.suppressed(place.Line) {
			continue
		}
		s := &site{f, c, place}
		for _, k := range all {
			for _, e := range k.find(s) {
				e.Code, e.Kind, e.File, e.Line = k.code, k.name, f.name, place.Line
				if !slices.ContainsFunc(out, func(o Edit) bool { return slices.Equal(o.Changes, e.Changes) }) {
					out = append(out, e)
				}
			}
		}
	}
	return out
}

// callOpensOn reports whether n is a call whose arguments begin on a line: that is the line
// profiles name where a selector stands on lines of its own.
func callOpensOn(f *file, n ast.Node, line int) bool {
	call, ok := n.(*ast.CallExpr)
	return ok && f.line(call.Lparen) == line
}

// suppressed reports whether a comment at the end of a line, or on the one before it, asks
// heaptrim to leave it alone.
func (f *file) suppressed(line int) bool {
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			at := f.line(c.Pos())
			if at != line && at != line-1 {
				continue
			}
			list, ok := strings.CutPrefix(c.Text, "//nolint")
			if !ok {
				list, ok = strings.CutPrefix(c.Text, "//lint:ignore")
			}
			if ok && (list == "" || list[0] == ' ' && strings.Contains(c.Text, "heaptrim") ||
				list[0] == ':' && strings.Contains(list, "heaptrim") || strings.HasPrefix(list, ":all")) {
				return true
			}
		}
	}
	return false
}

func (f *file) line(p token.Pos) int   { return f.fset.PositionFor(p, false).Line }
func (f *file) offset(p token.Pos) int { return f.fset.PositionFor(p, false).Offset }
func (f *file) info() *types.Info      { return f.pkg.TypesInfo }

// source is the text of a node.
func (f *file) source(n ast.Node) string { return string(f.text[f.offset(n.Pos()):f.offset(n.End())]) }

// replace puts text in place of a node.
func (f *file) replace(n ast.Node, text string) Change {
	return Change{f.offset(n.Pos()), f.offset(n.End()), text}
}

// before inserts lines before a statement, after indenting them as it is.
func (f *file) before(stmt ast.Node, lines ...string) Change {
	at := f.offset(stmt.Pos())
	return Change{at, at, strings.Join(lines, "\n") + "\n"}
}

// after inserts lines after a statement.
func (f *file) after(stmt ast.Node, lines ...string) Change {
	at := f.offset(stmt.End())
	return Change{at, at, "\n" + strings.Join(lines, "\n")}
}
