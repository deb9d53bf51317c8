// Package code is what edits are made of: the source with its types, the place that allocates,
// questions that every kind of edit asks of both, and the change of the text.
package code

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/packages"
)

// Edit is one change of the source: of one file, or of several of a package that belong together.
type Edit struct {
	Code    string // of the cure that it applies
	Kind    string // of edit: what is put in place of what
	File    string // absolute
	Package string // import path
	Line    int    // of the expression that allocates
	Text    string // what it does
	Open    string // what it rests on and the source does not prove; empty for a safe edit
	Gone    bool   // what the line allocated is not allocated any more, nor anything in its place
	Changes []Change
	Imports []string // import paths that the new text names
	Also    []Part   // what it changes in other files
}

// Part is what an edit changes in one file.
type Part struct {
	File    string // absolute
	Changes []Change
	Imports []string
}

// Parts are what the edit changes, its own file first.
func (e Edit) Parts() []Part {
	return append([]Part{{e.File, e.Changes, e.Imports}}, e.Also...)
}

// Same reports whether two edits change the same text in the same way.
func (e Edit) Same(o Edit) bool {
	return slices.EqualFunc(e.Parts(), o.Parts(), func(a, b Part) bool {
		return a.File == b.File && slices.Equal(a.Changes, b.Changes)
	})
}

// Change puts text in place of the bytes of a file between two offsets.
type Change struct {
	From, To int
	Text     string
}

// Safe reports whether nothing is left to prove.
func (e Edit) Safe() bool { return e.Open == "" }

// Place is a line that allocates.
type Place struct {
	File  string  // absolute, or the end of a path
	Line  int     // counts from 1
	Sizes []int64 // of the blocks that were seen there, in bytes, smallest first; may be empty
	Grown bool    // the blocks are those of slices that append grew there
	Table bool    // the blocks are those of maps that grew there
	// Dies is true where nothing that the function of the line calls, returns or stores keeps the
	// memory, and Held lists the lines of the function that put a reference to it elsewhere.
	Dies bool
	Held []int
	// Outlives is true where the memory is known to outlive the caller of the line's function: that hands it out, or it is
	// stored or handed to another goroutine.
	Outlives bool
}

// File is a source file that edits may change.
type File struct {
	Name   string // absolute
	Text   []byte
	Syntax *ast.File
	Root   inspector.Cursor
	Pkg    *packages.Package
	Fset   *token.FileSet
	// Package has all files of the package that edits may change, this one among them.
	Package []*File
	names   *Names
}

// OpenPackage reads the files of a package that may be edited. Those of a program share names.
func OpenPackage(pkg *packages.Package, given *Names) []*File {
	in := inspector.New(pkg.Syntax)
	var out []*File
	for _, syntax := range pkg.Syntax {
		if f := openFile(in, pkg, syntax, given); f != nil {
			out = append(out, f)
		}
	}
	for _, f := range out {
		f.Package = out
	}
	return out
}

// openFile reads the text of a file; nil if it is not to be edited.
func openFile(in *inspector.Inspector, pkg *packages.Package, syntax *ast.File, given *Names) *File {
	f := &File{Name: pkg.Fset.PositionFor(syntax.FileStart, false).Filename, Syntax: syntax, Pkg: pkg, Fset: pkg.Fset, names: given}
	if ast.IsGenerated(syntax) || slices.ContainsFunc(syntax.Imports, isCgo) {
		return nil
	}
	text, err := os.ReadFile(f.Name)
	if err != nil {
		return nil
	}
	c, ok := in.Root().FindNode(syntax)
	f.Text, f.Root = text, c
	if !ok {
		return nil
	}
	return f
}

func isCgo(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` }

// Site is an expression or statement at a place.
type Site struct {
	*File
	Cur   inspector.Cursor
	Place Place
}

// CallOpensOn reports whether n is a call whose arguments begin on a line: that is the line
// profiles name where a selector stands on lines of its own.
func CallOpensOn(f *File, n ast.Node, line int) bool {
	call, ok := n.(*ast.CallExpr)
	return ok && f.Line(call.Lparen) == line
}

// Suppressed reports whether a comment at the end of a line, or on the one before it, asks
// heaptrim to leave it alone.
func (f *File) Suppressed(line int) bool {
	for _, group := range f.Syntax.Comments {
		for _, c := range group.List {
			at := f.Line(c.Pos())
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

// Line is the line of a position, from 1.
func (f *File) Line(p token.Pos) int { return f.Fset.PositionFor(p, false).Line }

// Offset is the byte of a position in the file.
func (f *File) Offset(p token.Pos) int { return f.Fset.PositionFor(p, false).Offset }

// Info has the types of the package.
func (f *File) Info() *types.Info { return f.Pkg.TypesInfo }

// Source is the text of a node.
func (f *File) Source(n ast.Node) string { return string(f.Text[f.Offset(n.Pos()):f.Offset(n.End())]) }

// Replace puts text in place of a node.
func (f *File) Replace(n ast.Node, text string) Change {
	return Change{f.Offset(n.Pos()), f.Offset(n.End()), text}
}

// Insert puts text in at a byte of the file.
func (f *File) Insert(at int, text string) Change { return Change{at, at, text} }

// Before inserts lines before a statement, after indenting them as it is.
func (f *File) Before(stmt ast.Node, lines ...string) Change {
	at := f.Offset(stmt.Pos())
	return Change{at, at, strings.Join(lines, "\n") + "\n"}
}

// After inserts lines after a statement.
func (f *File) After(stmt ast.Node, lines ...string) Change {
	at := f.Offset(stmt.End())
	return Change{at, at, "\n" + strings.Join(lines, "\n")}
}

// Brief cuts source for a message.
func Brief(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
