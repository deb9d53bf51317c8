package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// Facts about conversions and calls. A line that was not read has none of them.

// Back reports whether a conversion, and another one inside or around it, lead back to the type that was
// there: []byte(string(b)).
func (l *Line) Back(e *Expr) bool {
	if l == nil {
		return false
	}
	outer := l.conversion(e.node)
	if outer == nil {
		return false
	}
	if inner := l.conversion(outer.Args[0]); inner != nil && l.sameType(outer, inner.Args[0]) {
		return true
	}
	if len(e.path) == 0 {
		return false
	}
	around := l.conversion(e.path[len(e.path)-1])
	return around != nil && l.sameType(around, outer.Args[0])
}

// Appended reports whether bytes are converted to a string, added to, and converted back, []byte(string(b) +
// s), in a conversion or the concatenation inside it: what append does without a new array each time.
func (l *Line) Appended(e *Expr) bool {
	if l == nil {
		return false
	}
	outer := l.conversion(e.node)
	if e.Kind == Concat && len(e.path) > 0 {
		outer = l.conversion(e.path[len(e.path)-1])
	}
	if outer == nil {
		return false
	}
	x, ok := ast.Unparen(outer.Args[0]).(*ast.BinaryExpr)
	for ok && x.Op == token.ADD {
		if inner := l.conversion(x.X); inner != nil {
			return l.sameType(outer, inner.Args[0])
		}
		x, ok = ast.Unparen(x.X).(*ast.BinaryExpr)
	}
	return false
}

// Converted reports whether the whole of an expression is converted where it is made.
func (l *Line) Converted(e *Expr) bool {
	return l != nil && len(e.path) > 0 && l.conversion(e.path[len(e.path)-1]) != nil
}

// conversion is a node as the conversion that it is; nil for others.
func (l *Line) conversion(n ast.Node) *ast.CallExpr {
	x, ok := n.(ast.Expr)
	if !ok {
		return nil
	}
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !l.Info().Types[call.Fun].IsType() {
		return nil
	}
	return call
}

func (l *Line) sameType(a, b ast.Expr) bool {
	t, u := l.Info().TypeOf(a), l.Info().TypeOf(b)
	return t != nil && u != nil && types.Identical(t.Underlying(), u.Underlying())
}

// Given reports whether the operand of a conversion has no other form: a character, bytes or runes that append puts together there,
// or a parameter of an exported function or a part of one, whose type is part of the function's contract.
func (l *Line) Given(e *Expr) bool {
	if l == nil {
		return false
	}
	call := l.conversion(e.node)
	if call == nil || l.Func.decl == nil {
		return false
	}
	x := ast.Unparen(call.Args[0])
	b, basic := l.Info().TypeOf(x).Underlying().(*types.Basic)
	_, element := x.(*ast.IndexExpr) // of a text or table: a piece of that may do
	if c, made := x.(*ast.CallExpr); made && l.Info().Types[c.Fun].IsBuiltin() || basic && b.Info()&types.IsInteger != 0 && !element {
		return true
	}
	for s, ok := x.(*ast.SliceExpr); ok; s, ok = x.(*ast.SliceExpr) {
		x = ast.Unparen(s.X)
	}
	id, ok := x.(*ast.Ident)
	v, isVar := l.Info().ObjectOf(id).(*types.Var)
	return ok && isVar && l.Func.decl.Name.IsExported() && l.inFields(v, func(t *ast.FuncType) *ast.FieldList { return t.Params })
}

// Writer is the writer that an expression is written to by a call of Write, where strings can be written
// to it, too: an io.Writer, or what has a method WriteString; "" for others.
func (l *Line) Writer(e *Expr) string {
	if l == nil || len(e.path) == 0 {
		return ""
	}
	call, ok := e.path[len(e.path)-1].(*ast.CallExpr)
	if !ok || !strings.HasSuffix(l.callee(call), ".Write") {
		return ""
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || l.Info().Selections[sel] == nil {
		return ""
	}
	t := l.Info().TypeOf(sel.X)
	if i, ok := t.Underlying().(*types.Interface); ok && i.NumMethods() == 1 {
		return l.text(sel.X)
	}
	if obj, _, _ := types.LookupFieldOrMethod(t, true, nil, "WriteString"); obj != nil {
		return l.text(sel.X)
	}
	return ""
}

// Prepends reports whether an append puts elements in front of the variable that it is assigned to.
func (l *Line) Prepends(e *Expr) bool {
	if l == nil || e.Kind != Append || len(e.path) == 0 {
		return false
	}
	call := e.node.(*ast.CallExpr)
	assign, ok := e.path[len(e.path)-1].(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 1 || len(call.Args) != 2 || !call.Ellipsis.IsValid() {
		return false
	}
	_, literal := ast.Unparen(call.Args[0]).(*ast.CompositeLit)
	return literal && l.text(assign.Lhs[0]) == l.text(call.Args[1])
}

// Spliced is the slice that an append is put into the middle of, where it copies the slice's tail for that:
// the inner one of append(s[:i], append(v, s[i:]...)...); "" for others.
func (l *Line) Spliced(e *Expr) string {
	if l == nil || e.Kind != Append || len(e.path) == 0 {
		return ""
	}
	inner := e.node.(*ast.CallExpr)
	outer, ok := e.path[len(e.path)-1].(*ast.CallExpr)
	if !ok || l.builtin(outer) != "append" || len(outer.Args) != 2 || outer.Args[1] != e.node || !inner.Ellipsis.IsValid() {
		return ""
	}
	head, isHead := ast.Unparen(outer.Args[0]).(*ast.SliceExpr)
	tail, isTail := ast.Unparen(inner.Args[len(inner.Args)-1]).(*ast.SliceExpr)
	if !isHead || !isTail || head.Low != nil || head.Slice3 || tail.High != nil || l.text(head.X) != l.text(tail.X) || pureOperand(head.X) == nil {
		return ""
	}
	return l.text(head.X)
}

// AppendsToNil reports whether the line calls a function that appends to its first argument, and that is
// nil: one that is named so, a hash's Sum, a cipher's Seal or Open. made is the function that allocates: the
// one that is called, or the method that an interface's leads to.
func (l *Line) AppendsToNil(made string) bool {
	if l == nil {
		return false
	}
	method := made[strings.LastIndexByte(made, '.')+1:]
	for _, e := range l.Exprs {
		call, ok := e.node.(*ast.CallExpr)
		if !ok || e.Kind != Call || len(call.Args) == 0 || !l.Info().Types[call.Args[0]].IsNil() {
			continue
		}
		callee := l.callee(call)
		pkg, _, _ := strings.Cut(callee, ".")
		switch name := callee[strings.LastIndexByte(callee, '.')+1:]; {
		case name != method:
		case flow.Appends(callee):
			return true
		case name == "Sum", name == "Seal", name == "Open":
			return pkg == "hash" || strings.HasPrefix(pkg, "hash/") || strings.HasPrefix(pkg, "crypto/")
		}
	}
	return false
}

// Dynamic reports whether an expression is a call of an interface's method.
func (l *Line) Dynamic(e *Expr) bool { return l != nil && e.Kind == Call && l.dynamic(e) }

// OfLocal reports whether a call is one of a method of a local variable, neither a parameter nor a field.
func (l *Line) OfLocal(e *Expr) bool {
	call, ok := e.node.(*ast.CallExpr)
	if l == nil || !ok {
		return false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x := ast.Unparen(sel.X)
	if id, ok := x.(*ast.Ident); ok {
		v, isVar := l.Info().ObjectOf(id).(*types.Var)
		return isVar && v.Parent() != l.file.pkg.Types.Scope() && !l.inFields(v, func(t *ast.FuncType) *ast.FieldList { return t.Params })
	}
	return false
}

// GoDirective is the Go version that the module of the line asks for, such as 1.21; "" where that is not known.
func (l *Line) GoDirective() string {
	if l == nil || l.file.pkg.Module == nil {
		return ""
	}
	return l.file.pkg.Module.GoVersion
}

// Receiver is the type of the receiver of the function around the line, without the star; nil for none.
func (l *Line) Receiver() *types.Named {
	if l == nil || l.Func.decl == nil || l.Func.decl.Recv == nil || len(l.Func.decl.Recv.List) != 1 {
		return nil
	}
	t := l.Info().TypeOf(l.Func.decl.Recv.List[0].Type)
	if t == nil {
		return nil
	}
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, _ := types.Unalias(t).(*types.Named)
	return n
}

// Structs are the struct types of the packages that were read.
func (p *Program) Structs() (out []*types.Named) {
	for _, n := range p.named {
		if _, ok := n.Underlying().(*types.Struct); ok {
			out = append(out, n)
		}
	}
	return out
}

// Makes reports whether the line makes a value of a type: by a literal, new, or a variable whose address
// is taken.
func (l *Line) Makes(n *types.Named) bool {
	for _, e := range l.Exprs {
		t := l.Info().TypeOf(e.node)
		if id, ok := e.node.(*ast.Ident); ok && t == nil {
			if v := l.Info().Defs[id]; v != nil {
				t = v.Type()
			}
		}
		if t == nil {
			continue
		}
		if ptr, ok := t.Underlying().(*types.Pointer); ok {
			t = ptr.Elem()
		}
		if named, ok := types.Unalias(t).(*types.Named); ok && named.Origin() == n.Origin() && e.Kind != Call {
			return true
		}
	}
	return false
}
