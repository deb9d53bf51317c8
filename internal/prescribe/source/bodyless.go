package source

import (
	"go/ast"
	"go/types"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// Declared is a function's declaration.
type Declared struct {
	Name string // as pprof spells it
	File string
	Line int
}

// Bodyless is a function of the package that the line calls, and that has neither a body nor the directive go:noescape:
// the compiler then takes all pointers that it gets for kept. False where there is none.
func (l *Line) Bodyless() (Declared, bool) {
	for _, e := range l.Exprs {
		call, ok := e.node.(*ast.CallExpr)
		if !ok || e.Kind != Call {
			continue
		}
		fn := l.named(call.Fun)
		if fn == nil {
			continue
		}
		if d := l.declaration(fn); d != nil && d.Body == nil && !flow.PromisesNoEscape(d) {
			at := l.program.fset.Position(d.Pos())
			return Declared{flow.Spelling(fn), at.Filename, at.Line}, true
		}
	}
	return Declared{}, false
}

// declaration is that of a function of the line's package; nil for others.
func (l *Line) declaration(fn *types.Func) *ast.FuncDecl {
	for _, f := range l.file.pkg.Syntax {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && l.Info().Defs[d.Name] == types.Object(fn) {
				return d
			}
		}
	}
	return nil
}
