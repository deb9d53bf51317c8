package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/layout"
)

// describe fills in what the syntax and the types say of an expression.
func (l *Line) describe(e *Expr) {
	e.Text = l.text(e.node)
	l.describeType(e)
	if c, ok := e.node.(*ast.CallExpr); ok {
		for _, a := range c.Args {
			e.Call.Args = append(e.Call.Args, l.text(a))
		}
	}
	for i := len(e.path) - 1; i >= 0; i-- {
		switch n := e.path[i].(type) {
		case *ast.ForStmt:
			// The loop's own header runs once, or once more than its body.
			if n.Body.Pos() <= e.node.Pos() {
				e.Loops = append(e.Loops, l.loopOf(n))
			}
		case *ast.RangeStmt:
			if n.Body.Pos() <= e.node.Pos() {
				e.Loops = append(e.Loops, l.loopOf(n))
			}
		case *ast.IfStmt, *ast.CaseClause, *ast.CommClause:
			if len(e.Loops) == 0 {
				e.Branch = e.Branch || !isHeader(n, e.node)
			}
		case *ast.FuncLit:
			i = -1 // what is around a literal does not run with it
		}
	}
	e.Use = l.useOf(e.node, e.path)
	switch e.Kind {
	case Append:
		c := e.node.(*ast.CallExpr)
		e.Into = l.destOf(c.Args[0])
		if e.Into != nil && c.Ellipsis.IsValid() {
			e.Into.uncounted()
		}
	case Call:
		if c := e.node.(*ast.CallExpr); flow.Appends(e.Call.Callee) && len(c.Args) > 0 {
			if e.Into = l.destOf(c.Args[0]); e.Into != nil {
				e.Into.uncounted()
			}
		}
	case MapInsert:
		e.Into = l.destOf(e.node.(*ast.IndexExpr).X)
	}
}

// isHeader reports whether a node is in the part of a branch statement that
// runs whatever the branch.
func isHeader(branch ast.Node, n ast.Node) bool {
	s, ok := branch.(*ast.IfStmt)
	return ok && n.End() <= s.Body.Pos()
}

func (l *Line) describeType(e *Expr) {
	t := l.Info().TypeOf(e.node)
	if id, ok := e.node.(*ast.Ident); ok && t == nil {
		if v := l.Info().Defs[id]; v != nil {
			t = v.Type()
		}
	}
	if t == nil {
		return
	}
	e.Type = types.TypeString(t, types.RelativeTo(l.file.pkg.Types))
	sizes := l.file.pkg.TypesSizes
	elem := t
	if p, ok := t.Underlying().(*types.Pointer); ok {
		elem = p.Elem()
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		e.Elem, e.Pointers = layout.SizeOf(sizes, u.Elem()), layout.HasPointers(u.Elem())
		if c, ok := e.node.(*ast.CompositeLit); ok {
			e.Size = e.Elem * int64(len(c.Elts))
		}
		return
	case *types.Map, *types.Chan, *types.Signature:
		e.Pointers = true
		return
	}
	if flow.IsText(t) {
		return
	}
	e.Size, e.Pointers, e.Identity = layout.SizeOf(sizes, elem), layout.HasPointers(elem), layout.PointerMethods(elem)
	if st, ok := elem.Underlying().(*types.Struct); ok && e.Size > 0 && !layout.Generated(st) && !layout.Public(elem) {
		e.Packed = layout.Packed(sizes, st)
	}
}

// useOf says what the code does first with the value of n.
func (l *Line) useOf(n ast.Node, path []ast.Node) Use {
	for i := len(path) - 1; i >= 0; i-- {
		switch p := path[i].(type) {
		case *ast.ParenExpr, *ast.UnaryExpr, *ast.KeyValueExpr:
			n = p
		case *ast.ExprStmt:
			if l.Info().Types[p.X].IsVoid() {
				return Use{}
			}
			return Use{Kind: UseDropped}
		case *ast.IndexExpr:
			if p.X == n {
				return Use{Kind: UseElement}
			}
			return Use{}
		case *ast.SliceExpr:
			return Use{Kind: UseElement}
		case *ast.RangeStmt:
			return Use{Kind: UseRanged}
		case *ast.ReturnStmt:
			return Use{Kind: UseReturned}
		case *ast.BinaryExpr:
			return l.useInBinary(p)
		case *ast.TypeAssertExpr:
			return Use{Kind: UseTypeSwitch}
		case *ast.SwitchStmt:
			return Use{Kind: UseSwitch}
		case *ast.SelectorExpr:
			return Use{Kind: UseReceiver, Name: p.Sel.Name, Callee: l.callee(&ast.CallExpr{Fun: p}), Counts: counts(l.Info().TypeOf(p))}
		case *ast.CallExpr:
			if l.Info().Types[p.Fun].IsType() {
				n = p // a conversion hands the value on
				continue
			}
			return l.useInCall(p)
		case *ast.AssignStmt:
			return l.useInAssign(p, n)
		case *ast.ValueSpec:
			if len(p.Names) > 0 {
				return Use{Kind: UseAssigned, Name: p.Names[0].Name}
			}
			return Use{}
		default:
			return Use{}
		}
	}
	return Use{}
}

// counts reports whether a type is that of a method that takes nothing and returns a number or an answer.
func counts(t types.Type) bool {
	sig, ok := t.(*types.Signature)
	if !ok || sig.Params().Len() > 0 || sig.Results().Len() != 1 {
		return false
	}
	b, ok := sig.Results().At(0).Type().Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString == 0
}

func (l *Line) useInBinary(p *ast.BinaryExpr) Use {
	switch p.Op {
	case token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ:
		return Use{Kind: UseCompared}
	}
	return Use{}
}

func (l *Line) useInCall(p *ast.CallExpr) Use {
	switch b := l.builtin(p); b {
	case "":
		return Use{Kind: UseArgument, Callee: l.callee(p)}
	case "len", "cap":
		return Use{Kind: UseLength}
	default:
		return Use{Kind: UseArgument, Callee: b}
	}
}

// droppedAll reports whether a statement assigns none of a call's results but an error.
func (l *Line) droppedAll(p *ast.AssignStmt) bool {
	return !slices.ContainsFunc(p.Lhs, func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		if ok && id.Name == "_" {
			return false
		}
		t := l.Info().TypeOf(e)
		return t == nil || types.TypeString(t, nil) != "error"
	})
}

func (l *Line) useInAssign(p *ast.AssignStmt, n ast.Node) Use {
	at := 0
	for i, rhs := range p.Rhs {
		if ast.Node(rhs) == n {
			at = i
		}
	}
	if at >= len(p.Lhs) {
		return Use{}
	}
	if len(p.Rhs) == 1 && len(p.Lhs) > 1 && l.droppedAll(p) {
		return Use{Kind: UseDropped}
	}
	switch lhs := ast.Unparen(p.Lhs[at]).(type) {
	case *ast.Ident:
		if lhs.Name == "_" {
			if len(p.Lhs) > len(p.Rhs) {
				return Use{} // which of the results is meant is not known
			}
			return Use{Kind: UseDropped}
		}
		return Use{Kind: UseAssigned, Name: lhs.Name, Adds: p.Tok == token.ADD_ASSIGN}
	case *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
		return Use{Kind: UseAssigned, Name: l.text(lhs), Field: true, Adds: p.Tok == token.ADD_ASSIGN}
	}
	return Use{}
}
