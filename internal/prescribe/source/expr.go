package source

import (
	"bytes"
	"go/ast"
	"go/printer"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// ExprKind says what kind of expression may allocate.
type ExprKind string

// The kinds of expression.
const (
	Call       ExprKind = "call"
	Literal    ExprKind = "composite literal"
	Make       ExprKind = "make"
	New        ExprKind = "new"
	Append     ExprKind = "append"
	MapInsert  ExprKind = "map insertion"
	Conversion ExprKind = "conversion"
	Concat     ExprKind = "concatenation"
	FuncLit    ExprKind = "function literal"
	MethodVal  ExprKind = "method value"
	Boxing     ExprKind = "boxing"
	Variable   ExprKind = "variable"
	Go         ExprKind = "go statement"
)

// Expr is one expression that may allocate.
type Expr struct {
	Kind     ExprKind
	Text     string // the source, on one line, cut to a readable length
	Call     Invocation
	Type     string // of the value, with package names
	Size     int64  // of what is allocated, in bytes; 0 when it depends on the run
	Packed   int64  // of a struct: its size with the fields in the best order; 0 for others
	Elem     int64  // size of one element of a slice; 0 for others
	Pointers bool   // what is allocated holds pointers
	Identity bool   // it is of a type with methods on pointers, which a copy would not serve

	Loops  []Loop // around it inside the function, innermost first
	Branch bool   // in a branch within the innermost loop, or within the function when there is none
	Use    Use
	Into   *Dest // of append and map insertion: where the elements go

	node ast.Expr
	path []ast.Node // from the function's body to the node's parent
}

// Invocation is the call that an expression is; zero where it is none.
type Invocation struct {
	Callee  string // of a call, as pprof spells functions; the builtin's name for those
	Unboxed bool   // a call that boxes none of its variadic arguments
	Boxes   bool   // a call that makes interface values of its arguments
	Anys    bool   // some of them without methods
	Spread  bool   // a call that puts arguments into a slice
	Consts  bool   // a literal whose elements are all constants, a call whose arguments are all constants, a conversion of one, or a make of constant size
	Args    []string
}

// UseKind says what becomes of a value.
type UseKind string

// The uses of a value.
const (
	UseOther      UseKind = ""
	UseDropped    UseKind = "dropped"
	UseElement    UseKind = "one element taken"
	UseRanged     UseKind = "ranged over"
	UseLength     UseKind = "length taken"
	UseCompared   UseKind = "compared"
	UseReturned   UseKind = "returned"
	UseArgument   UseKind = "passed on"
	UseTypeSwitch UseKind = "type asked"
	UseAssigned   UseKind = "assigned"
	UseReceiver   UseKind = "method called"
	UseSwitch     UseKind = "switched on"
)

// Use is the first thing that the code does with a value.
type Use struct {
	Kind   UseKind
	Callee string // the function it is passed to, or the method called on it
	Name   string // the variable or field it is assigned to
	Field  bool   // Name is a field or an element, not a local variable
	Adds   bool   // assigned by +=
	Counts bool   // the method called on it takes nothing and returns a number or an answer
}

// collect finds the expressions of the line.
func (l *Line) collect() {
	var path []ast.Node
	ast.Inspect(l.path[len(l.path)-1], func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		if !l.spans(n) {
			return false
		}
		if e := l.expr(n, path); e != nil {
			e.path = append([]ast.Node(nil), path...)
			l.describe(e)
			l.Exprs = append(l.Exprs, e)
		}
		path = append(path, n)
		if a, ok := n.(*ast.AssignStmt); ok && l.addsText(a) {
			e := &Expr{Kind: Concat, node: a.Rhs[0], path: append([]ast.Node(nil), path...)}
			l.describe(e)
			l.Exprs = append(l.Exprs, e)
		}
		return true
	})
}

// expr makes the expression for a node that stands on the line; nil for all
// others.
func (l *Line) expr(n ast.Node, path []ast.Node) *Expr {
	on := func(p token.Pos) bool { return l.LineOf(p) == l.Number }
	switch n := n.(type) {
	case *ast.CallExpr:
		if on(n.Pos()) || on(n.Lparen) {
			return l.call(n)
		}
	case *ast.CompositeLit:
		if on(n.Pos()) {
			return &Expr{Kind: Literal, node: addressed(n, path), Call: Invocation{Consts: l.allLiteral(n)}}
		}
	case *ast.BinaryExpr:
		if n.Op == token.ADD && (on(n.Pos()) || on(n.OpPos)) && l.isString(n) && !l.Constant(n) && !insideConcat(path) {
			return &Expr{Kind: Concat, node: n}
		}
	case *ast.FuncLit:
		if on(n.Pos()) {
			return &Expr{Kind: FuncLit, node: n}
		}
	case *ast.IndexExpr:
		if on(n.Pos()) && l.isMapInsert(n, path) {
			return &Expr{Kind: MapInsert, node: n}
		}
	case *ast.SelectorExpr:
		if s := l.Info().Selections[n]; s != nil && s.Kind() == types.MethodVal && on(n.Pos()) && !called(n, path) {
			return &Expr{Kind: MethodVal, node: n}
		}
	case *ast.Ident:
		if v, ok := l.Info().Defs[n].(*types.Var); ok && on(n.Pos()) && !v.IsField() {
			return &Expr{Kind: Variable, node: n}
		}
	}
	return nil
}

// addsText reports whether a statement adds to a text by +=, something that is no sum itself: then
// there is no expression for the concatenation.
func (l *Line) addsText(a *ast.AssignStmt) bool {
	if a.Tok != token.ADD_ASSIGN || l.LineOf(a.Pos()) != l.Number || len(a.Rhs) != 1 {
		return false
	}
	rhs := ast.Unparen(a.Rhs[0])
	b, sum := rhs.(*ast.BinaryExpr)
	return l.isString(rhs) && !(sum && b.Op == token.ADD && !l.Constant(b))
}

// call sorts a call expression: a conversion, a builtin or a function.
func (l *Line) call(n *ast.CallExpr) *Expr {
	if tv := l.Info().Types[n.Fun]; tv.IsType() {
		if l.copies(n) {
			return &Expr{Kind: Conversion, node: n, Call: Invocation{Consts: l.Constant(n.Args[0])}}
		}
		return nil
	}
	switch b := l.builtin(n); b {
	case "":
		e := &Expr{Kind: Call, node: n, Call: Invocation{Callee: l.callee(n), Unboxed: l.unboxed(n), Consts: l.allConstant(n.Args)}}
		l.boxes(n, &e.Call)
		return e
	case "make":
		return &Expr{Kind: Make, node: n, Call: Invocation{Callee: b, Consts: l.allConstant(n.Args[1:])}}
	case "new":
		return &Expr{Kind: New, node: n, Call: Invocation{Callee: b}}
	case "append":
		return &Expr{Kind: Append, node: n, Call: Invocation{Callee: b}}
	}
	return nil
}

// unboxed reports whether a call boxes none of the last arguments that it puts into a slice: the slice is of a type that is
// no interface, or they are interface values already.
func (l *Line) unboxed(n *ast.CallExpr) bool {
	t := l.Info().TypeOf(n.Fun)
	if t == nil {
		return false
	}
	sig, ok := t.Underlying().(*types.Signature)
	if !ok || !sig.Variadic() || n.Ellipsis.IsValid() || len(n.Args) < sig.Params().Len() {
		return false
	}
	last, ok := sig.Params().At(sig.Params().Len() - 1).Type().(*types.Slice)
	return ok && (!types.IsInterface(last.Elem()) || !slices.ContainsFunc(n.Args[sig.Params().Len()-1:], func(a ast.Expr) bool {
		t := l.Info().TypeOf(a)
		return t == nil || !types.IsInterface(t)
	}))
}

// boxes notes whether a call makes interface values of arguments, and whether it puts any into a slice.
func (l *Line) boxes(n *ast.CallExpr, call *Invocation) {
	sig, ok := l.Info().Types[n.Fun].Type.Underlying().(*types.Signature)
	if !ok {
		return
	}
	last := sig.Params().Len() - 1
	for i, a := range n.Args {
		to := sig.Params().At(min(i, last)).Type()
		if sig.Variadic() && i >= last && !n.Ellipsis.IsValid() {
			to, call.Spread = to.(*types.Slice).Elem(), true
		}
		from := l.Info().TypeOf(a)
		if types.IsInterface(to) && from != nil && !types.IsInterface(from) && !l.Info().Types[a].IsNil() {
			call.Boxes, call.Anys = true, call.Anys || to.Underlying().(*types.Interface).NumMethods() == 0
		}
	}
}

// copies reports whether a conversion copies its operand: between strings and
// slices.
func (l *Line) copies(n *ast.CallExpr) bool {
	if len(n.Args) != 1 {
		return false
	}
	to, from := l.Info().TypeOf(n), l.Info().TypeOf(n.Args[0])
	if to == nil || from == nil {
		return false
	}
	_, toSlice := to.Underlying().(*types.Slice)
	_, fromSlice := from.Underlying().(*types.Slice)
	return flow.IsText(to) && (fromSlice || isInteger(from)) || toSlice && flow.IsText(from)
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

func (l *Line) isString(e ast.Expr) bool {
	t := l.Info().TypeOf(e)
	return t != nil && flow.IsText(t)
}

// Constant reports whether an expression is a constant.
func (l *Line) Constant(e ast.Expr) bool { return l.Info().Types[e].Value != nil }

func (l *Line) allConstant(args []ast.Expr) bool {
	for _, a := range args {
		if !l.Constant(a) {
			return false
		}
	}
	return len(args) > 0
}

// allLiteral reports whether a composite literal has elements, and all of them are constants or such literals.
func (l *Line) allLiteral(n *ast.CompositeLit) bool {
	for _, e := range n.Elts {
		parts := []ast.Expr{e}
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			parts = []ast.Expr{kv.Value}
			if t := l.Info().TypeOf(n); t != nil {
				if _, isStruct := t.Underlying().(*types.Struct); !isStruct {
					parts = append(parts, kv.Key)
				}
			}
		}
		for _, p := range parts {
			lit, ok := ast.Unparen(p).(*ast.CompositeLit)
			if !l.Constant(p) && !l.isFunction(p) && !(ok && (len(lit.Elts) == 0 || l.allLiteral(lit))) {
				return false
			}
		}
	}
	return len(n.Elts) > 0
}

// isFunction reports whether an expression is the name of a function.
func (l *Line) isFunction(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if sel, qualified := ast.Unparen(e).(*ast.SelectorExpr); qualified && l.Info().Selections[sel] == nil {
		id, ok = sel.Sel, true
	}
	if !ok {
		return false
	}
	_, ok = l.Info().Uses[id].(*types.Func)
	return ok
}

// builtin is the name of the builtin that a call calls; "" for none. A shadowed
// name is no builtin.
func (l *Line) builtin(n *ast.CallExpr) string {
	id, ok := ast.Unparen(n.Fun).(*ast.Ident)
	if !ok {
		return ""
	}
	if b, ok := l.Info().Uses[id].(*types.Builtin); ok {
		return b.Name()
	}
	return ""
}

// callee is the function that a call calls, as pprof spells it; "" when it is
// not known before the program runs.
func (l *Line) callee(n *ast.CallExpr) string {
	if fn := l.named(n.Fun); fn != nil {
		return flow.Spelling(fn)
	}
	return ""
}

// named is the function or method that an expression names, with or without type arguments; nil for others.
func (l *Line) named(e ast.Expr) *types.Func {
	var id *ast.Ident
	switch f := ast.Unparen(e).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	case *ast.IndexExpr:
		return l.named(f.X)
	case *ast.IndexListExpr:
		return l.named(f.X)
	default:
		return nil
	}
	fn, _ := l.Info().Uses[id].(*types.Func)
	return fn
}

// addressed is the & around a literal, if there is one.
func addressed(n ast.Expr, path []ast.Node) ast.Expr {
	if len(path) > 0 {
		if u, ok := path[len(path)-1].(*ast.UnaryExpr); ok && u.Op == token.AND {
			return u
		}
	}
	return n
}

func insideConcat(path []ast.Node) bool {
	for i := len(path) - 1; i >= 0; i-- {
		switch p := path[i].(type) {
		case *ast.ParenExpr:
			continue
		case *ast.BinaryExpr:
			return p.Op == token.ADD
		}
		return false
	}
	return false
}

func (l *Line) isMapInsert(n *ast.IndexExpr, path []ast.Node) bool {
	t := l.Info().TypeOf(n.X)
	if t == nil || len(path) == 0 {
		return false
	}
	if _, ok := t.Underlying().(*types.Map); !ok {
		return false
	}
	switch p := path[len(path)-1].(type) {
	case *ast.AssignStmt:
		for _, lhs := range p.Lhs {
			if lhs == n {
				return true
			}
		}
	case *ast.IncDecStmt:
		return p.X == n
	}
	return false
}

// called reports whether a selector is the function of a call.
func called(n ast.Expr, path []ast.Node) bool {
	if len(path) == 0 {
		return false
	}
	c, ok := path[len(path)-1].(*ast.CallExpr)
	return ok && c.Fun == n
}

const maxText = 60

// text is the source of an expression on one line; of a function literal, what
// stands before its body.
func (l *Line) text(n ast.Node) string {
	if f, ok := n.(*ast.FuncLit); ok {
		return l.text(f.Type) + " {…}"
	}
	var b bytes.Buffer
	if err := printer.Fprint(&b, l.program.fset, n); err != nil {
		return ""
	}
	s := strings.Join(strings.Fields(b.String()), " ")
	if r := []rune(s); len(r) > maxText {
		s = string(r[:maxText-1]) + "…"
	}
	return s
}
