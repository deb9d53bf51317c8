package idiom

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// uses calls visit for each use of a variable in a body, with the nodes around it, the innermost last.
func (p Place) uses(fn *ast.BlockStmt, v types.Object, visit func(id *ast.Ident, path []ast.Node)) {
	var path []ast.Node
	ast.Inspect(fn, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		if id, ok := n.(*ast.Ident); ok && p.Info.Uses[id] == v {
			visit(id, path)
		}
		path = append(path, n)
		return true
	})
}

// Defined is the variable that a statement defines as an expression's value, or as its address; nil for none.
func (p Place) Defined() types.Object {
	path, e := p.Path, p.Expr
	if len(path) == 0 {
		return nil
	}
	if at, ok := path[len(path)-1].(*ast.UnaryExpr); ok && at.Op == token.AND && len(path) > 1 {
		path, e = path[:len(path)-1], at
	}
	a, ok := path[len(path)-1].(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 || a.Rhs[0] != e {
		return nil
	}
	return p.Variable(a.Lhs[0])
}

// FewRunes reports whether a text is converted to runes of which only the number is asked, single ones whose places are
// constants, or parts that become text again.
func (p Place) FewRunes() bool {
	if !p.isRunes() || len(p.Path) == 0 {
		return false
	}
	constant := func(x ast.Expr) bool { return x == nil || p.constant(x) }
	switch around := p.Path[len(p.Path)-1].(type) {
	case *ast.IndexExpr:
		return around.X == p.Expr && p.constant(around.Index)
	case *ast.SliceExpr:
		return around.X == p.Expr && constant(around.Low) && constant(around.High)
	}
	v, fn := p.Defined(), p.Body()
	if v == nil || fn == nil {
		return false
	}
	few, some := true, false
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		switch around := path[len(path)-1].(type) {
		case *ast.IndexExpr:
			some = some || around.X == ast.Expr(id)
			few = few && around.X == ast.Expr(id) && p.constant(around.Index)
		case *ast.SliceExpr:
			conv, ok := path[len(path)-2].(*ast.CallExpr)
			some = some || around.X == ast.Expr(id)
			few = few && (constant(around.Low) && constant(around.High) || ok && p.isText(conv))
		case *ast.CallExpr:
			f, ok := around.Fun.(*ast.Ident)
			few = few && ok && (f.Name == "len" || f.Name == "string" && around.Fun != ast.Expr(id))
		default:
			few = false
		}
	})
	return few && some
}

// Swapped is the variable that takes a slice over for the next turn of the loop that makes it, where nothing else has the
// slice: two slices that change their places would do. It is "" for none.
func (p Place) Swapped() string {
	made, fn := p.Defined(), p.Body()
	if made == nil || fn == nil || !p.inLoop() {
		return ""
	}
	stmts, at := p.list()
	if at < 0 {
		return ""
	}
	var last types.Object
	name := ""
	for _, s := range stmts[at+1:] {
		to, value := p.Set(s)
		if to != nil && to != made && p.Variable(value) == made {
			if last != nil {
				return ""
			}
			last, name = to, to.Name()
		}
	}
	if last == nil || last.Pos() >= stmts[0].Pos() && last.Pos() < stmts[len(stmts)-1].End() || !p.elementsOnly(fn, made, last) || !p.elementsOnly(fn, last, made) {
		return ""
	}
	return name
}

// elementsOnly reports whether the code reads and sets elements of a slice only, asks its length, copies from or to it,
// hands it to the other variable, or lets that take it over.
func (p Place) elementsOnly(fn *ast.BlockStmt, v, other types.Object) bool {
	only := true
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		switch around := path[len(path)-1].(type) {
		case *ast.IndexExpr:
			_, address := path[len(path)-2].(*ast.UnaryExpr)
			only = only && around.X == ast.Expr(id) && !address
		case *ast.RangeStmt:
			only = only && around.X == ast.Expr(id)
		case *ast.CallExpr:
			f, ok := around.Fun.(*ast.Ident)
			only = only && ok && slices.Contains([]string{"len", "cap", "copy", "clear"}, f.Name)
		case *ast.AssignStmt:
			to, value := p.Set(around)
			only = only && (to == v && ast.Unparen(value) != ast.Expr(id) || to == other && p.Variable(value) == v)
		default:
			only = false
		}
	})
	return only
}

// OwnNumber is the variable of math/big that a method's result takes the place of, where the method works on a new number
// and has the old one among its arguments: x = new(big.Int).Mul(x, y). The old one must be the function's own, and
// nothing else may have it. It is "" for none.
func (p Place) OwnNumber() string {
	fn := p.Body()
	stmts, at := p.list()
	if fn == nil || at < 0 {
		return ""
	}
	v, value := p.Set(stmts[at])
	c, ok := value.(*ast.CallExpr)
	if v == nil || !ok || !isNumber(v.Type()) || !strings.HasPrefix(p.callee(c), "math/big.(*") {
		return ""
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || !p.isNewNumber(sel.X) || p.Expr != sel.X && p.Expr != ast.Expr(c) || !slices.ContainsFunc(c.Args, func(a ast.Expr) bool { return p.Variable(a) == v }) {
		return ""
	}
	if v.Pos() < fn.Pos() || v.Pos() >= fn.End() { // a parameter, a result, or another function's
		return ""
	}
	own := true
	ast.Inspect(fn, func(n ast.Node) bool { // what it is set to is new each time
		if a, ok := n.(*ast.AssignStmt); ok {
			for i, to := range a.Lhs {
				if p.Variable(to) == v {
					own = own && len(a.Lhs) == len(a.Rhs) && (p.isNewNumber(a.Rhs[i]) || p.isNewResult(a.Rhs[i]))
				}
			}
		}
		return own
	})
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		switch around := path[len(path)-1].(type) {
		case *ast.CallExpr:
			own = own && strings.HasPrefix(p.callee(around), "math/big.(*")
		case *ast.SelectorExpr, *ast.ReturnStmt:
		case *ast.AssignStmt:
			own = own && slices.Contains(around.Lhs, ast.Expr(id))
		default:
			own = false
		}
	})
	if !own {
		return ""
	}
	return v.Name()
}

// isNumber reports whether a type is one of math/big whose values have no precision of their own.
func isNumber(t types.Type) bool {
	p, ok := t.(*types.Pointer)
	if !ok {
		return false
	}
	n, ok := types.Unalias(p.Elem()).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "math/big" && n.Obj().Name() != "Float"
}

// isNewNumber reports whether an expression makes a new number of math/big.
func (p Place) isNewNumber(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		f, ok := x.Fun.(*ast.Ident)
		return ok && f.Name == "new" && isNumber(p.Info.TypeOf(e)) || strings.HasPrefix(p.callee(x), "math/big.New")
	case *ast.UnaryExpr:
		_, literal := x.X.(*ast.CompositeLit)
		return x.Op == token.AND && literal && isNumber(p.Info.TypeOf(e))
	}
	return false
}

// isNewResult reports whether an expression is the result of a method on a new number.
func (p Place) isNewResult(e ast.Expr) bool {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !strings.HasPrefix(p.callee(c), "math/big.(*") {
		return false
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	return ok && p.isNewNumber(sel.X)
}

// isText reports whether a call is a conversion to a text.
func (p Place) isText(c *ast.CallExpr) bool {
	t := p.Info.Types[c.Fun]
	return t.IsType() && flow.IsText(t.Type)
}

func (p Place) isRunes() bool {
	s, ok := p.Info.TypeOf(p.Expr).(*types.Slice)
	return ok && types.Identical(s.Elem(), types.Typ[types.Rune])
}

// inLoop reports whether a loop of the function is around the expression.
func (p Place) inLoop() bool {
	return slices.ContainsFunc(p.Path, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			return n.Body.Pos() <= p.Expr.Pos()
		case *ast.RangeStmt:
			return n.Body.Pos() <= p.Expr.Pos()
		}
		return false
	})
}

// asking are functions that packages strings and bytes both have, and that only look at their arguments.
var asking = []string{"Compare", "Contains", "ContainsAny", "ContainsRune", "Count", "EqualFold", "HasPrefix", "HasSuffix", "Index", "IndexAny", "IndexByte", "IndexRune", "LastIndex", "LastIndexAny", "LastIndexByte"}

// OtherPackage is the function of strings or bytes that asks the same of what is converted for a function of the other
// package; "" for other conversions. The other arguments are constants or converted, too.
func (p Place) OtherPackage() string {
	if len(p.Path) == 0 {
		return ""
	}
	around, ok := p.Path[len(p.Path)-1].(*ast.CallExpr)
	if !ok {
		return ""
	}
	pkg, name, _ := strings.Cut(p.callee(around), ".")
	other := map[string]string{"strings": "bytes", "bytes": "strings"}[pkg]
	if other == "" || !slices.Contains(asking, name) {
		return ""
	}
	converted := false
	for i, a := range around.Args {
		c, ok := ast.Unparen(a).(*ast.CallExpr)
		conversion := ok && len(c.Args) == 1 && p.Info.Types[c.Fun].IsType()
		_, basic := p.Info.TypeOf(a).Underlying().(*types.Basic)
		switch {
		case conversion && !p.constant(c.Args[0]):
			converted = converted || a == p.Expr
		case conversion, p.constant(a), i > 0 && basic && !flow.IsText(p.Info.TypeOf(a)):
		default:
			return ""
		}
	}
	if !converted {
		return ""
	}
	return other + "." + name
}

// WrittenOn reports whether what io.ReadAll reads is only written to a writer.
func (p Place) WrittenOn() bool {
	c, fn := p.call(p.Expr, "io.ReadAll", "io/ioutil.ReadAll"), p.Body()
	if c == nil || fn == nil || len(p.Path) == 0 {
		return false
	}
	a, ok := p.Path[len(p.Path)-1].(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE {
		return false
	}
	v := p.Variable(a.Lhs[0])
	written, others := 0, 0
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		if w, ok := path[len(path)-1].(*ast.CallExpr); ok && strings.HasSuffix(p.callee(w), ".Write") && len(w.Args) == 1 {
			written++
			return
		}
		others++
	})
	return v != nil && written == 1 && others == 0
}

// LittleUse says what the function uses of the variable that has the expression's value, if that is only its length, its
// elements one after the other, or a number that one of its methods returns; "" for more.
func (p Place) LittleUse() string {
	fn, v := p.Body(), p.Defined()
	if fn == nil || v == nil {
		return ""
	}
	ranged, measured, sized, asked, other := 0, 0, 0, "", false
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		switch around := path[len(path)-1].(type) {
		case *ast.RangeStmt:
			ranged++
			other = other || around.X != ast.Expr(id) || p.changesOwner(around.Body)
		case *ast.CallExpr:
			measured++
			if size, ok := path[len(path)-2].(*ast.CallExpr); ok && p.isBuiltin(size, "make") {
				sized++
			}
			other = other || !p.isBuiltin(around, "len")
		case *ast.SelectorExpr:
			sig, method := p.Info.TypeOf(around).(*types.Signature)
			other = other || !method || sig.Params().Len() > 0 || sig.Results().Len() != 1 || !isCount(sig.Results().At(0).Type()) || asked != "" && asked != around.Sel.Name
			asked = around.Sel.Name
		default:
			other = true
		}
	})
	switch {
	case other:
		return ""
	case asked != "" && ranged+measured == 0:
		return "only " + asked + " of the result is used"
	case asked == "" && ranged == 1 && measured == sized:
		return "the result is only ranged over"
	case asked == "" && ranged == 0 && measured > 0:
		return "only the length of the result is used"
	}
	return ""
}

// isCount reports whether a type is one of numbers or answers.
func isCount(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString == 0
}

// ChangesOwner reports whether a loop over a method's result changes the method's receiver.
func (p Place) ChangesOwner() bool {
	if len(p.Path) == 0 {
		return false
	}
	loop, ok := p.Path[len(p.Path)-1].(*ast.RangeStmt)
	return ok && p.changesOwner(loop.Body)
}

// changesOwner reports whether a loop writes to the receiver of the method that the expression calls, or calls its
// methods, and then goes on: it needs a copy.
func (p Place) changesOwner(loop *ast.BlockStmt) (yes bool) {
	c, ok := p.Expr.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || p.Info.Selections[sel] == nil {
		return false
	}
	owner := p.root(sel.X)
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if last := len(n.Body.List) - 1; n.Else == nil && last >= 0 && endsLoop(n.Body.List[last]) {
				return false
			}
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				yes = yes || p.stem(to) == owner
			}
		case *ast.IncDecStmt:
			yes = yes || p.stem(n.X) == owner
		case *ast.CallExpr:
			if p.isBuiltin(n, "delete") || p.isBuiltin(n, "clear") {
				yes = yes || p.stem(n.Args[0]) == owner
			}
			if s, method := n.Fun.(*ast.SelectorExpr); method && p.Info.Selections[s] != nil && p.Info.Selections[s].Kind() == types.MethodVal {
				yes = yes || p.stem(s.X) == owner
			}
		}
		return !yes
	})
	return yes && owner != nil
}

// endsLoop reports whether a statement ends the loop around it.
func endsLoop(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.BREAK || s.Tok == token.GOTO
	}
	return false
}

// stem is the variable that an expression of fields and elements begins with; nil for another expression.
func (p Place) stem(e ast.Expr) types.Object {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return p.Variable(x)
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}
