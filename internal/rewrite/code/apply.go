package code

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strconv"

	"golang.org/x/tools/go/ast/astutil"
)

// ErrOverlap means that two edits change the same text.
var ErrOverlap = errors.New("two edits change the same text")

// Apply makes edits of one file in its text: changes, imports, format. The ends of lines stay
// as they are.
func Apply(text []byte, edits []Edit) ([]byte, error) {
	var changes []Change
	var imports []string
	for _, e := range edits {
		for _, c := range e.Changes {
			if !slices.Contains(changes, c) {
				changes = append(changes, c)
			}
		}
		imports = append(imports, e.Imports...)
	}
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	var out bytes.Buffer
	at := 0
	for _, c := range changes {
		if c.From < at || c.To < c.From || c.To > len(text) {
			return nil, ErrOverlap
		}
		out.Write(text[at:c.From])
		out.WriteString(c.Text)
		at = c.To
	}
	out.Write(text[at:])
	return Finish(text, out.Bytes(), imports)
}

// Finish mends the imports of a changed file and formats it.
func Finish(before, after []byte, imports []string) ([]byte, error) {
	crlf := bytes.Contains(before, []byte("\r\n"))
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", after, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("the edited file does not parse: %w", err)
	}
	for _, path := range imports {
		astutil.AddImport(fset, f, path)
	}
	unused, err := noLongerUsed(before, f)
	if err != nil {
		return nil, err
	}
	for _, i := range unused {
		name := ""
		if i.Name != nil {
			name = i.Name.Name
		}
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, err
		}
		astutil.DeleteNamedImport(fset, f, name, path)
	}
	var out bytes.Buffer
	if err := format.Node(&out, fset, f); err != nil {
		return nil, err
	}
	if crlf {
		return bytes.ReplaceAll(out.Bytes(), []byte("\n"), []byte("\r\n")), nil
	}
	return out.Bytes(), nil
}

// noLongerUsed lists the imports of a file that its text before the edits used and it does not.
func noLongerUsed(before []byte, f *ast.File) ([]*ast.ImportSpec, error) {
	old, err := parser.ParseFile(token.NewFileSet(), "", before, 0)
	if err != nil {
		return nil, err
	}
	var out []*ast.ImportSpec
	for _, i := range f.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, err
		}
		if !astutil.UsesImport(f, path) && astutil.UsesImport(old, path) {
			out = append(out, i)
		}
	}
	return out, nil
}

// formatted reports whether a file is as gofmt writes it, but for the ends of its lines.
func formatted(text []byte) bool {
	plain := bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	out, err := format.Source(plain)
	return err == nil && bytes.Equal(out, plain)
}
