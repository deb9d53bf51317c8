package source

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// Little says which part of a value the code looks at, if not all of it; "" for all.
func (u Use) Little() string {
	switch u.Kind {
	case UseDropped:
		return "the result is dropped"
	case UseElement:
		return "only a part of the result is used"
	case UseLength:
		return "only the length of the result is used"
	case UseRanged:
		return "the result is only ranged over"
	case UseCompared:
		return "the result is only compared"
	}
	return ""
}

// AddsTo reports whether a concatenation adds to the variable it is assigned to.
func (e *Expr) AddsTo() bool {
	return e.Use.Adds || regexp.MustCompile(`^`+regexp.QuoteMeta(e.Use.Name)+`\s*\+`).MatchString(e.Text)
}

// Node is the expression itself. It is not to be changed.
func (e *Expr) Node() ast.Node { return e.node }

// Path are the nodes around an expression, from the file inwards. It is not to be changed.
func (e *Expr) Path() []ast.Node { return e.path }

// PutsInFront reports whether a concatenation puts text in front of the variable it is assigned to.
func (e *Expr) PutsInFront() bool {
	rest, ok := strings.CutSuffix(e.Text, e.Use.Name)
	return ok && e.Use.Name != "" && strings.HasSuffix(strings.TrimSpace(rest), "+")
}

// ConvertedConstant is a constant on the line that is converted to bytes; nil for none.
func (l *Line) ConvertedConstant() *Expr {
	i := slices.IndexFunc(l.Exprs, func(e *Expr) bool { return e.Kind == Conversion && e.Call.Consts && e.Elem > 0 })
	if i < 0 {
		return nil
	}
	return l.Exprs[i]
}

// compiles matches functions that compile a description, such as a pattern or a template.
var compiles = regexp.MustCompile(`\.(Must)?(Compile|Parse)[A-Z]?\w*$|\.New\w*(Template|Replacer|Matcher|Regexp|Codec|Parser|Schema)\w*$`)

// Compiles reports whether the expression calls a function that compiles a description.
func (e *Expr) Compiles() bool { return e.Kind == Call && compiles.MatchString(e.Call.Callee) }

// Unique reports whether values of an expression's type must not be copied: a lock, a builder, or a number of math/big
// is in it.
func (l *Line) Unique(e *Expr) bool {
	t := l.Info().TypeOf(e.node)
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	return t != nil && unique(t)
}

func unique(t types.Type) bool {
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil {
		switch name := n.Obj().Name(); n.Obj().Pkg().Path() {
		case "math/big":
			return name == "Int" || name == "Rat" || name == "Float"
		case "strings":
			return name == "Builder"
		case "sync", "sync/atomic":
			return true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return unique(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if unique(f.Type()) {
				return true
			}
		}
	}
	return false
}

// Gives reports whether a call returns anything but numbers, answers and errors.
func (l *Line) Gives(e *Expr) bool {
	switch t := l.Info().TypeOf(e.node).(type) {
	case *types.Tuple:
		for v := range t.Variables() {
			if gives(v.Type()) {
				return true
			}
		}
		return false
	case nil:
		return false
	default:
		return gives(t)
	}
}

func gives(t types.Type) bool {
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Info()&types.IsString != 0
	}
	return !types.Identical(t, types.Universe.Lookup("error").Type())
}
