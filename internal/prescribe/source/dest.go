package source

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// MadeBy says how the value that grows begins.
type MadeBy string

// How a slice, map or builder begins.
const (
	MadeUnknown MadeBy = ""
	MadeNil     MadeBy = "declared empty"
	MadeEmpty   MadeBy = "made without a size"
	MadeSized   MadeBy = "made with a size"
	MadeLazy    MadeBy = "made without a size where there is none"
	MadeFew     MadeBy = "made with its first elements"
	MadeElse    MadeBy = "comes from elsewhere"
)

// Dest is the slice or map that grows.
type Dest struct {
	Name     string
	Owner    string // the declaration of the variable or field
	Index    int    // of a parameter, the receiver first; -1 for others
	Local    bool   // a variable of the function, neither parameter nor result
	Result   bool   // a named result
	Param    bool
	Field    bool // a field or an element of something
	Receiver bool // of the method's receiver: scratch that may live from call to call
	Made     MadeBy
	MadeLine int    // where; 0 when not known
	Reset    bool   // the function cuts it to length 0: its memory is used again
	Elem     string // element type
	Count    string // Go expression for how many elements the loops add at most; empty when the code does not say
	CountAt  int    // line of the loop that Count is of
	Exact    bool   // every iteration adds exactly one element
}

// destOf describes the variable that an append or an insertion makes grow.
func (l *Line) destOf(x ast.Expr) *Dest {
	if at, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && at.Op == token.AND {
		x = at.X // its address is handed on
	}
	d := &Dest{Name: l.text(x), Owner: l.declared(x), Index: -1}
	if s, ok := ast.Unparen(x).(*ast.SliceExpr); ok { // the part of it that is filled
		d.Reset = s.High != nil && l.isZero(s.High)
		x = s.X
	}
	if t := l.Info().TypeOf(x); t != nil {
		switch u := t.Underlying().(type) {
		case *types.Slice:
			d.Elem = types.TypeString(u.Elem(), types.RelativeTo(l.file.pkg.Types))
		case *types.Map:
			d.Elem = types.TypeString(u.Elem(), types.RelativeTo(l.file.pkg.Types))
		}
	}
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok {
		if through := l.through(call); through != nil {
			return l.destOf(through)
		}
	}
	id, ok := ast.Unparen(x).(*ast.Ident)
	if star, pointer := ast.Unparen(x).(*ast.StarExpr); pointer {
		if id, ok = ast.Unparen(star.X).(*ast.Ident); ok {
			v, _ := l.Info().ObjectOf(id).(*types.Var)
			ok = v != nil && l.indexOf(v) >= 0
		}
	}
	if !ok {
		d.Field = true
		d.Receiver = l.ofReceiver(x)
		l.fieldOrigin(d, x)
		return d
	}
	v, ok := l.Info().ObjectOf(id).(*types.Var)
	if !ok {
		return d
	}
	l.kindOfVar(d, v)
	l.origin(d, v)
	l.count(d, v.Pos(), func(e ast.Expr) bool { return l.isVar(e, v) })
	return d
}

// IntoMap reports whether an expression is an append to an element of a map.
func (l *Line) IntoMap(e *Expr) bool {
	if l == nil || e.Kind != Append {
		return false
	}
	ix, ok := ast.Unparen(e.node.(*ast.CallExpr).Args[0]).(*ast.IndexExpr)
	if !ok {
		return false
	}
	_, ok = l.Info().TypeOf(ix.X).Underlying().(*types.Map)
	return ok
}

// fieldOrigin looks for where the function makes what it then fills in a field.
func (l *Line) fieldOrigin(d *Dest, x ast.Expr) {
	d.Made = MadeElse
	name := l.text(ast.Unparen(x))
	same := func(e ast.Expr) bool { return l.text(ast.Unparen(e)) == name }
	from := l.ofNew(d, x)
	var lazy token.Pos // the end of a branch that has none
	ast.Inspect(l.outermost(), func(n ast.Node) bool {
		if c, ok := n.(*ast.CaseClause); ok && !l.spans(c) {
			return false // another way through a switch
		}
		if b, ok := n.(*ast.IfStmt); ok && comparesNil(b.Cond, same) {
			lazy = b.Body.End()
		}
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) || l.LineOf(a.Pos()) > l.Number {
			return true
		}
		for i, lhs := range a.Lhs {
			made := l.madeBy(a.Rhs[i])
			if same(lhs) && made == MadeElse && from.IsValid() && !growsItself(a.Rhs[i], same) {
				d.Made, d.MadeLine, from = MadeElse, 0, token.NoPos
			}
			if same(lhs) && made != MadeElse && made != MadeNil {
				d.Made, d.MadeLine, from = made, l.LineOf(a.Pos()), a.Pos()
				if made == MadeEmpty && a.Pos() < lazy {
					d.Made = MadeLazy
				}
			}
		}
		return true
	})
	if from.IsValid() {
		l.count(d, from, same)
	}
}

// ofNew says how a field begins whose struct the function makes, in a variable that it sets once, and where that is.
func (l *Line) ofNew(d *Dest, x ast.Expr) (from token.Pos) {
	sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
	if !ok {
		return token.NoPos
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok || l.Info().Selections[sel] == nil {
		return token.NoPos
	}
	v, sets := l.Info().ObjectOf(id), 0
	ast.Inspect(l.outermost(), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return true
		}
		for i, lhs := range a.Lhs {
			to, ok := lhs.(*ast.Ident)
			if !ok || l.Info().ObjectOf(to) != v {
				continue
			}
			sets++
			if made, ok := l.fieldOfNew(a.Rhs[i], sel.Sel.Name); ok && a.Tok == token.DEFINE {
				d.Made, d.MadeLine, from = made, l.LineOf(a.Pos()), a.Pos()
			}
		}
		return true
	})
	if sets > 1 {
		d.Made, d.MadeLine, from = MadeElse, 0, token.NoPos
	}
	return from
}

// fieldOfNew says how a field of a struct begins that an expression makes.
func (l *Line) fieldOfNew(e ast.Expr, field string) (MadeBy, bool) {
	if at, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && at.Op == token.AND {
		e = at.X
	}
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok || !flow.OwnField(l.Info().TypeOf(lit), field) {
		return MadeElse, false
	}
	for _, el := range lit.Elts {
		kv, ok := el.(*ast.KeyValueExpr)
		if !ok {
			return MadeElse, false
		}
		if key, ok := kv.Key.(*ast.Ident); ok && key.Name == field {
			made := l.madeBy(kv.Value)
			return made, made != MadeElse
		}
	}
	return MadeNil, true
}

// comparesNil reports whether a condition is that an operand is nil.
func comparesNil(cond ast.Expr, operand func(ast.Expr) bool) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || b.Op != token.EQL || !operand(b.X) {
		return false
	}
	id, ok := ast.Unparen(b.Y).(*ast.Ident)
	return ok && id.Name == "nil"
}

// ofReceiver reports whether an operand is a field of the receiver of the method around the
// line.
func (l *Line) ofReceiver(x ast.Expr) bool {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.SelectorExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.Ident:
			recv := l.Func.decl
			return recv != nil && recv.Recv != nil && len(recv.Recv.List) == 1 && len(recv.Recv.List[0].Names) == 1 &&
				l.Info().Defs[recv.Recv.List[0].Names[0]] == l.Info().ObjectOf(e) && l.Info().ObjectOf(e) != nil
		default:
			return false
		}
	}
}

func (l *Line) kindOfVar(d *Dest, v *types.Var) {
	switch {
	case v.Parent() == l.file.pkg.Types.Scope():
		d.Field = true // a package variable lives on like a field
	case l.indexOf(v) >= 0 || l.inFields(v, func(t *ast.FuncType) *ast.FieldList { return t.Params }):
		d.Param, d.Index = true, l.indexOf(v)
	case l.inFields(v, func(t *ast.FuncType) *ast.FieldList { return t.Results }):
		d.Result = true
		d.Made = MadeNil
	default:
		d.Local = true
	}
}

// indexOf is the number of a parameter in the innermost function of the line, the receiver first; -1
// for one of another function.
func (l *Line) indexOf(v *types.Var) int {
	if l.Func.fn == nil {
		return -1
	}
	for i, p := range l.Func.fn.Params {
		if p.Object() == v {
			return i
		}
	}
	return -1
}

// inFields reports whether a variable is declared in a field list of one of
// the functions around the line.
func (l *Line) inFields(v *types.Var, list func(*ast.FuncType) *ast.FieldList) bool {
	for _, n := range l.path {
		var t *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncDecl:
			t = n.Type
		case *ast.FuncLit:
			t = n.Type
		default:
			continue
		}
		if f := list(t); f != nil && f.Pos() <= v.Pos() && v.Pos() < f.End() {
			return true
		}
	}
	return false
}

// outermost is the body of the outermost function around the line.
func (l *Line) outermost() ast.Node {
	for _, n := range l.path {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			return n
		}
	}
	return l.file.syntax
}

// origin looks for how a local variable begins and whether it is cut to zero
// length.
func (l *Line) origin(d *Dest, v *types.Var) {
	elsewhere := map[ast.Stmt]bool{} // other ways through the statements around the line
	again := false                   // another turn of a loop, or another call, may take another way than the line's
	ast.Inspect(l.outermost(), func(n ast.Node) bool {
		if stmt, ok := n.(ast.Stmt); ok && elsewhere[stmt] {
			return false
		}
		switch n := n.(type) {
		case *ast.SwitchStmt:
			for _, c := range n.Body.List {
				elsewhere[c] = l.spans(n) && !l.spans(c)
			}
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			again = again || n.Pos() > v.Pos() && l.spans(n)
		case *ast.IfStmt:
			elsewhere[n.Body] = n.Else != nil && l.spans(n.Else) && !l.spans(n.Body) && !again
			elsewhere[n.Else] = n.Else != nil && l.spans(n.Body) && !l.spans(n.Else) && !again
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if l.Info().Defs[name] != v {
					continue
				}
				d.MadeLine = l.LineOf(name.Pos())
				d.Made = MadeNil
				if i < len(n.Values) {
					d.Made = l.madeBy(n.Values[i])
				}
			}
		case *ast.AssignStmt:
			l.originAssign(d, v, n)
		}
		return true
	})
}

func (l *Line) originAssign(d *Dest, v *types.Var, n *ast.AssignStmt) {
	if len(n.Lhs) != len(n.Rhs) {
		for _, lhs := range n.Lhs {
			if l.isVar(lhs, v) && n.Tok == token.DEFINE {
				d.Made, d.MadeLine = MadeElse, l.LineOf(n.Pos())
			}
		}
		return
	}
	for i, lhs := range n.Lhs {
		if !l.isVar(lhs, v) {
			continue
		}
		if s, ok := n.Rhs[i].(*ast.SliceExpr); ok && s.High != nil && l.isZero(s.High) {
			d.Reset = d.Reset || l.isVar(s.X, v)
			if n.Tok == token.DEFINE {
				d.Made, d.MadeLine = MadeElse, l.LineOf(n.Pos())
			}
			continue
		}
		if s, ok := ast.Unparen(n.Rhs[i]).(*ast.SliceExpr); ok && l.isVar(s.X, v) || growsItself(n.Rhs[i], func(e ast.Expr) bool { return l.isVar(e, v) }) {
			continue
		}
		made := l.madeBy(n.Rhs[i])
		if d.Made == MadeUnknown || n.Tok == token.DEFINE || d.Made == MadeNil && made != MadeElse {
			d.Made, d.MadeLine = made, l.LineOf(n.Pos())
		} else if made == MadeElse {
			d.Made = MadeElse
		}
	}
}

func (l *Line) isVar(e ast.Expr, v *types.Var) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && l.Info().ObjectOf(id) == v
}

// growsItself reports whether e is append(v, …) or a call that takes v first, as the append functions of strconv do.
func growsItself(e ast.Expr, same func(ast.Expr) bool) bool {
	c, ok := e.(*ast.CallExpr)
	return ok && len(c.Args) > 0 && same(c.Args[0])
}

func (l *Line) madeBy(e ast.Expr) MadeBy {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		if len(e.Elts) == 0 {
			return MadeEmpty
		}
		if _, slice := l.Info().TypeOf(e).Underlying().(*types.Slice); slice {
			return MadeFew
		}
		return MadeElse
	case *ast.Ident:
		if e.Name == "nil" && l.Info().Types[e].IsNil() {
			return MadeNil
		}
	case *ast.CallExpr:
		if l.builtin(e) != "make" {
			if l.Info().Types[e.Fun].IsType() && len(e.Args) == 1 && l.Info().Types[e.Args[0]].IsNil() {
				return MadeNil
			}
			return MadeElse
		}
		if len(e.Args) == 1 || len(e.Args) == 2 && l.isZero(e.Args[1]) {
			return MadeEmpty
		}
		return MadeSized
	}
	return MadeElse
}

// uncounted says that a turn of the loop adds more than one element.
func (d *Dest) uncounted() { d.Count, d.CountAt, d.Exact = "", 0, false }

// count looks for the loop that fills the variable: the outermost one between
// its beginning and the line.
func (l *Line) count(d *Dest, from token.Pos, same func(ast.Expr) bool) {
	var grow ast.Node
	var path, found []ast.Node
	ast.Inspect(l.path[len(l.path)-1], func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		if grow == nil && l.LineOf(n.Pos()) <= l.Number && l.LineOf(n.End()) >= l.Number {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if len(n.Lhs) > 0 && grown(n.Lhs[0], same) {
					grow, found = n, append([]ast.Node(nil), path...)
				}
			case *ast.IncDecStmt: // of an entry of a map
				if _, entry := n.X.(*ast.IndexExpr); entry && grown(n.X, same) {
					grow, found = n, append([]ast.Node(nil), path...)
				}
			}
		}
		path = append(path, n)
		return true
	})
	loops := 0
	plain := grow == nil || !flow.KeysComeAgain(grow)
around:
	for i := len(found) - 1; i >= 0; i-- {
		switch n := found[i].(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if n.Pos() <= from && from < n.End() {
				break around // it starts empty in every iteration
			}
			if beginsAnew(n, same) {
				return
			}
			loop := l.loopOf(n)
			loops++
			plain = plain && !flow.Skips(n, grow.Pos(), same)
			d.CountAt, d.Count = loop.First, loop.Count
			if l.namesLater(n, d.MadeLine) {
				d.MadeLine = 0 // it can be made with that count only between there and the loop
			}
			if loops > 1 {
				d.Count = "" // a product of two counts is too large a bound to reserve
			}
		case *ast.IfStmt, *ast.CaseClause, *ast.CommClause:
			plain = false
		}
	}
	d.Exact = plain && loops == 1
}

// namesLater reports whether the head of a loop names a variable that is declared behind a line.
func (l *Line) namesLater(loop ast.Node, line int) (later bool) {
	var head ast.Node
	switch n := loop.(type) {
	case *ast.RangeStmt:
		head = n.X
	case *ast.ForStmt:
		if n.Cond != nil {
			head = n.Cond
		}
	}
	if head == nil || line == 0 {
		return false
	}
	ast.Inspect(head, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v, local := l.Info().Uses[id].(*types.Var)
			later = later || local && !v.IsField() && v.Pos() < loop.Pos() && l.LineOf(v.Pos()) > line && v.Parent() != l.file.pkg.Types.Scope()
		}
		return !later
	})
	return later
}

// beginsAnew reports whether a loop sets a variable to something else than what it grew to.
func beginsAnew(loop ast.Node, same func(ast.Expr) bool) (anew bool) {
	ast.Inspect(loop, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && same(a.Lhs[0]) {
			anew = anew || !growsItself(a.Rhs[0], same)
		}
		return !anew
	})
	return anew
}

// grown reports whether an assignment to lhs makes a variable or field grow.
func grown(lhs ast.Expr, same func(ast.Expr) bool) bool {
	if ix, ok := lhs.(*ast.IndexExpr); ok {
		lhs = ix.X
	}
	return same(lhs)
}
