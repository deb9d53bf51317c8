package flow

import (
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// PromisesNoEscape reports whether a declaration has the directive go:noescape: the function keeps nothing that it is given.
func PromisesNoEscape(d *ast.FuncDecl) bool {
	return d.Doc != nil && slices.ContainsFunc(d.Doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:noescape") })
}

// NoEscape reports whether a function without a body promises to keep nothing that it is given.
func NoEscape(fn *ssa.Function) bool {
	d, ok := fn.Syntax().(*ast.FuncDecl)
	return ok && d.Body == nil && PromisesNoEscape(d)
}
