package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Owner is the declaration of the variable or field whose memory an expression of the line makes
// or makes grow: the destination of an append or insertion, the receiver of a builder's method, or
// the variable that the value is assigned to. It is "" where there is none.
func (l *Line) Owner(e *Expr) string {
	switch e.Kind {
	case Append, MapInsert:
		return e.Into.Owner
	case Variable:
		return l.declared(e.node)
	case Call:
		if e.Into != nil {
			return e.Into.Owner
		}
		if sel, ok := ast.Unparen(e.node.(*ast.CallExpr).Fun).(*ast.SelectorExpr); ok && growsReceiver(e.Call.Callee) {
			return l.declared(sel.X)
		}
	}
	for i := len(e.path) - 1; i >= 0; i-- {
		switch p := e.path[i].(type) {
		case *ast.ParenExpr, *ast.UnaryExpr:
		case *ast.KeyValueExpr: // of a struct's literal
			if id, ok := p.Key.(*ast.Ident); ok && p.Value.Pos() <= e.node.Pos() {
				return l.placeOf(l.Info().ObjectOf(id))
			}
			return ""
		case *ast.AssignStmt:
			for j, rhs := range p.Rhs {
				if len(p.Lhs) == len(p.Rhs) && rhs.Pos() <= e.node.Pos() && e.node.End() <= rhs.End() {
					return l.declared(p.Lhs[j])
				}
			}
			return ""
		case *ast.ValueSpec:
			for j, v := range p.Values {
				if len(p.Names) == len(p.Values) && v.Pos() <= e.node.Pos() && e.node.End() <= v.End() {
					return l.declared(p.Names[j])
				}
			}
			return ""
		default:
			return ""
		}
	}
	return ""
}

// Handed describes the argument of a call on the line: of the function of a name, as pprof spells it,
// and of a number that counts the receiver. A function literal is called by the only function value that the line calls. It
// is nil where no such call is seen.
func (l *Line) Handed(function string, index int) *Dest {
	value := ""
	if literalName.MatchString(function) {
		value = l.functionValue()
	}
	for _, e := range l.Exprs {
		call, ok := e.node.(*ast.CallExpr)
		if !ok || (e.Call.Callee == "" || e.Call.Callee != function) && (value == "" || l.text(call.Fun) != value) {
			continue
		}
		args := call.Args
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && value == "" && l.Info().Selections[sel] != nil {
			args = append([]ast.Expr{sel.X}, args...)
		}
		if index < len(args) {
			return l.destOf(args[index])
		}
	}
	return nil
}

// functionValue is the only function value that the line calls; "" for none, or several.
func (l *Line) functionValue() (value string) {
	for _, e := range l.Exprs {
		call, ok := e.node.(*ast.CallExpr)
		if !ok || e.Kind != Call {
			continue
		}
		name, ok := ast.Unparen(call.Fun).(*ast.Ident)
		if sel, field := ast.Unparen(call.Fun).(*ast.SelectorExpr); field {
			name, ok = sel.Sel, true
		}
		if _, variable := l.Info().Uses[name].(*types.Var); !ok || !variable {
			continue
		}
		if value != "" {
			return ""
		}
		value = l.text(call.Fun)
	}
	return value
}

// Copied is the slice, map or text that an expression is a copy of; "" for others.
func (l *Line) Copied(e *Expr) string {
	call, ok := e.node.(*ast.CallExpr)
	switch {
	case !ok:
	case e.Kind == Append:
		if len(call.Args) == 2 && call.Ellipsis.IsValid() && l.emptySlice(call.Args[0]) {
			return l.text(call.Args[1])
		}
	case e.Kind == Conversion:
		return l.text(call.Args[0])
	case e.Kind == Call && len(call.Args) == 1:
		switch e.Call.Callee {
		case "slices.Clone", "bytes.Clone", "strings.Clone", "maps.Clone":
			return l.text(call.Args[0])
		}
	}
	return ""
}

// emptySlice reports whether an expression is a slice without elements and without room for any.
func (l *Line) emptySlice(x ast.Expr) bool {
	switch e := ast.Unparen(x).(type) {
	case *ast.Ident:
		return l.Info().Types[e].IsNil()
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		return len(e.Args) == 1 && l.Info().Types[e.Fun].IsType() && l.Info().Types[e.Args[0]].IsNil()
	case *ast.SliceExpr:
		return e.Slice3 && e.High != nil && e.Max != nil && l.isZero(e.High) && l.isZero(e.Max)
	}
	return false
}

// Asked is the call on the line of the function of a name, as pprof spells it, or of an interface's method of that name;
// nil where no such call is seen, or several whose results are used in different ways.
func (l *Line) Asked(function string) *Expr {
	method := function[strings.LastIndexByte(function, '.')+1:]
	var found *Expr
	for _, e := range l.Exprs {
		if e.Kind != Call || e.Call.Callee != function && !(l.dynamic(e) && strings.HasSuffix(e.Call.Callee, "."+method)) {
			continue
		}
		if found != nil && found.Use.Kind != e.Use.Kind {
			return nil
		}
		found = e
	}
	return found
}

// Calls reports whether the line calls a function by its name.
func (l *Line) Calls(function string) bool {
	return slices.ContainsFunc(l.Exprs, func(e *Expr) bool { return e.Kind == Call && e.Call.Callee == function && !l.dynamic(e) })
}

// dynamic reports whether a call is one of an interface's method.
func (l *Line) dynamic(e *Expr) bool {
	sel, ok := ast.Unparen(e.node.(*ast.CallExpr).Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	s := l.Info().Selections[sel]
	return s != nil && types.IsInterface(s.Recv())
}

// growsReceiver reports whether a method's memory is its receiver's own, which grows.
func growsReceiver(callee string) bool {
	for _, t := range []string{"strings.(*Builder).", "bytes.(*Buffer)."} {
		if name, ok := strings.CutPrefix(callee, t); ok {
			return name != "String"
		}
	}
	return false
}

// declared is the place where the variable or field that x names is declared; "" for others.
func (l *Line) declared(x ast.Expr) string {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.Ident:
			return l.placeOf(l.Info().ObjectOf(e))
		case *ast.SelectorExpr:
			return l.placeOf(l.Info().ObjectOf(e.Sel))
		case *ast.StarExpr:
			x = e.X
		case *ast.UnaryExpr:
			if e.Op != token.AND {
				return ""
			}
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		default:
			return ""
		}
	}
}

func (l *Line) placeOf(obj types.Object) string {
	v, ok := obj.(*types.Var)
	if !ok || !v.Pos().IsValid() || v.Name() == "_" {
		return ""
	}
	return l.program.fset.Position(v.Pos()).String()
}

// Place is where the expression stands in the source that was read, to tell it from others.
func (e *Expr) Place() token.Pos { return e.node.Pos() }
