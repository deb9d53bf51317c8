package written

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// filtered is the slice of a Filtered loop; "" for others.
func filtered(p idiom.Place) string {
	loop, _ := Filtered(p)
	if loop == nil {
		return ""
	}
	return types.ExprString(loop.X)
}

// Filtered is the loop over a slice that fills a new slice with some of its elements, and the statement that puts the new
// slice in its place; nil for others. The expression makes the new slice, or appends to it.
func Filtered(p idiom.Place) (loop *ast.RangeStmt, back *ast.AssignStmt) {
	fn, v := p.Body(), p.Defined()
	if c := p.Appends(p.Expr); c != nil {
		v = p.Variable(c.Args[0])
	}
	if fn == nil || v == nil || v.Pos() < fn.Pos() || v.Pos() > fn.End() {
		return nil, nil
	}
	f := filter{p: p, kept: v}
	stack := make([]ast.Node, 0, 16)
	ast.Inspect(fn, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return false
		}
		f.look(n, stack)
		stack = append(stack, n)
		return true
	})
	if f.other || f.loop == nil || f.appends != 1 || f.back == nil {
		return nil, nil
	}
	of := types.ExprString(f.loop.X)
	if !types.Identical(p.Info.TypeOf(f.loop.X), v.Type()) || types.ExprString(f.back.Lhs[0]) != of || f.back.Pos() < f.loop.End() || f.mentions(fn, of) || f.leaves(fn) {
		return nil, nil
	}
	return f.loop, f.back
}

// filter is what a function does with a slice that it fills.
type filter struct {
	p       idiom.Place
	kept    types.Object
	loop    *ast.RangeStmt  // that appends to it
	back    *ast.AssignStmt // that sets another to it
	appends int
	other   bool
}

// look looks at a node with those around it.
func (f *filter) look(n ast.Node, around []ast.Node) {
	id, ok := n.(*ast.Ident)
	if !ok || f.p.Info.Uses[id] != f.kept || len(around) == 0 {
		return
	}
	if slices.ContainsFunc(around, func(n ast.Node) bool { _, literal := n.(*ast.FuncLit); return literal }) {
		f.other = true
		return
	}
	switch parent := around[len(around)-1].(type) {
	case *ast.CallExpr:
		name := identOf(parent.Fun)
		switch {
		case name != nil && (name.Name == "len" || name.Name == "cap"):
		case f.p.Appends(parent) != nil && parent.Args[0] == ast.Expr(id) && len(parent.Args) == 2 && !parent.Ellipsis.IsValid():
			f.appends++
			f.loop = rangeAround(around)
		default:
			f.other = f.other || f.back == nil
		}
	case *ast.AssignStmt:
		if i := slices.Index(parent.Rhs, ast.Expr(id)); i >= 0 && len(parent.Lhs) == 1 && f.back == nil {
			f.back = parent
		} else if len(parent.Rhs) != 1 || f.p.Appends(parent.Rhs[0]) == nil {
			f.other = true
		}
	default:
		f.other = f.other || f.back == nil
	}
}

// rangeAround is the innermost loop of some nodes, if it is one with range.
func rangeAround(nodes []ast.Node) *ast.RangeStmt {
	for _, n := range slices.Backward(nodes) {
		switch n := n.(type) {
		case *ast.ForStmt:
			return nil
		case *ast.RangeStmt:
			return n
		}
	}
	return nil
}

// leaves reports whether the function may not come from the loop to the statement that sets the slice: they are in other lists of
// statements, or something returns or jumps between.
func (f *filter) leaves(fn *ast.BlockStmt) bool {
	same, away := false, false
	ast.Inspect(fn, func(n ast.Node) bool {
		list := statementsOf(n)
		same = same || slices.Contains(list, ast.Stmt(f.loop)) && slices.Contains(list, ast.Stmt(f.back))
		if n == nil || n.Pos() < f.loop.Pos() || n.Pos() > f.back.Pos() {
			return true
		}
		switch n := n.(type) {
		case *ast.ReturnStmt:
			away = true
		case *ast.BranchStmt:
			away = away || n.Label != nil
		}
		return true
	})
	return !same || away
}

// mentions reports whether the function names the slice that is gone through between the loop's begin and the statement that
// sets it, other than to read the loop's own element.
func (f *filter) mentions(fn *ast.BlockStmt, of string) (yes bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || yes {
			return !yes
		}
		if at, ok := e.(*ast.IndexExpr); ok && types.ExprString(at.X) == of && f.loop.Key != nil && f.p.Variable(at.Index) != nil && f.p.Variable(at.Index) == f.p.Variable(f.loop.Key) {
			return false
		}
		yes = types.ExprString(e) == of && e != f.loop.X && e.Pos() > f.loop.Pos() && e.Pos() < f.back.Pos()
		return !yes
	})
	return yes
}

// copiedBack is what a CopiedBack variable is a copy of; "" for others.
func copiedBack(p idiom.Place) string {
	set, _ := CopiedBack(p)
	if set == nil {
		return ""
	}
	return types.ExprString(set.Rhs[0])
}

// CopiedBack are the statements that declare a variable as a copy, and put it back after calls have got the variable's address:
// of a field, an element or what a pointer leads to. They are nil for others.
func CopiedBack(p idiom.Place) (set, back *ast.AssignStmt) {
	id, ok := p.Expr.(*ast.Ident)
	if !ok || p.Info.Defs[id] == nil || len(p.Path) < 2 {
		return nil, nil
	}
	v := p.Info.Defs[id]
	set, ok = p.Path[len(p.Path)-1].(*ast.AssignStmt)
	list := statementsOf(p.Path[len(p.Path)-2])
	if !ok || set.Tok != token.DEFINE || len(set.Lhs) != 1 || len(set.Rhs) != 1 || !isPlace(p, set.Rhs[0]) {
		return nil, nil
	}
	at := slices.Index(list, ast.Stmt(set))
	of := types.ExprString(set.Rhs[0])
	end := slices.IndexFunc(list, func(s ast.Stmt) bool {
		a, ok := s.(*ast.AssignStmt)
		return ok && a.Tok == token.ASSIGN && len(a.Lhs) == 1 && len(a.Rhs) == 1 && p.Variable(a.Rhs[0]) == v && types.ExprString(a.Lhs[0]) == of
	})
	if at < 0 || end <= at {
		return nil, nil
	}
	taken, changed := false, false
	for i, s := range list[at+1:] {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.UnaryExpr:
				taken = taken || n.Op == token.AND && p.Variable(n.X) == v
			case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt:
				changed = true
			case *ast.AssignStmt:
				changed = changed || at+1+i < end && slices.ContainsFunc(n.Lhs, func(to ast.Expr) bool { return isIn(p, to, set.Rhs[0]) })
			case *ast.IncDecStmt:
				changed = changed || isIn(p, n.X, set.Rhs[0])
			case *ast.Ident:
				changed = changed || p.Info.Uses[n] == v && at+1+i > end
			case *ast.BranchStmt, *ast.ReturnStmt:
				changed = changed || at+1+i < end
			}
			return !changed
		})
	}
	if !taken || changed {
		return nil, nil
	}
	return set, list[end].(*ast.AssignStmt)
}

// statementsOf is the list of statements of a block or a case; nil for others.
func statementsOf(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// isPlace reports whether an expression has an address, and calls nothing.
func isPlace(p idiom.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return p.Variable(e) != nil
	case *ast.StarExpr:
		return isPlace(p, e.X)
	case *ast.SelectorExpr:
		s := p.Info.Selections[e]
		return s != nil && s.Kind() == types.FieldVal && isPlace(p, e.X)
	case *ast.IndexExpr:
		switch t := p.Info.TypeOf(e.X).Underlying().(type) {
		case *types.Slice:
			return isPlace(p, e.X) && isOperand(p, e.Index)
		case *types.Array:
			return isPlace(p, e.X) && isOperand(p, e.Index)
		case *types.Pointer:
			_, array := t.Elem().Underlying().(*types.Array)
			return array && isPlace(p, e.X) && isOperand(p, e.Index)
		}
	}
	return false
}

// isOperand reports whether an expression is a variable, a field of one, or a constant.
func isOperand(p idiom.Place, e ast.Expr) bool {
	return p.Info.Types[e].Value != nil || rootOf(p, e) != nil
}

// isIn reports whether a variable that is set is one of those in an expression.
func isIn(p idiom.Place, to, e ast.Expr) (yes bool) {
	v := p.Variable(to)
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		yes = yes || ok && v != nil && p.Info.Uses[id] == v
		return !yes
	})
	return yes
}

// OnlyCompared reports whether a concatenation is only compared, or asked for as the begin or the end of a text.
func OnlyCompared(p idiom.Place) bool {
	sum, ok := p.Expr.(*ast.BinaryExpr)
	if !ok || sum.Op != token.ADD {
		return false
	}
	for i := len(p.Path) - 1; i >= 0; i-- {
		switch around := p.Path[i].(type) {
		case *ast.ParenExpr:
		case *ast.BinaryExpr:
			if around.Op == token.ADD {
				continue
			}
			return around.Op == token.EQL || around.Op == token.NEQ
		case *ast.CallExpr:
			name := calleeName(p, around)
			return name == "strings.HasPrefix" || name == "strings.HasSuffix"
		default:
			return false
		}
	}
	return false
}

// forms are functions that do the same for a text and for bytes.
var forms = [][2]string{
	{"unicode/utf8.RuneCountInString", "unicode/utf8.RuneCount"},
	{"unicode/utf8.DecodeRuneInString", "unicode/utf8.DecodeRune"},
	{"unicode/utf8.DecodeLastRuneInString", "unicode/utf8.DecodeLastRune"},
	{"unicode/utf8.FullRuneInString", "unicode/utf8.FullRune"},
	{"unicode/utf8.ValidString", "unicode/utf8.Valid"},
	{"(*regexp.Regexp).MatchString", "(*regexp.Regexp).Match"},
	{"(*regexp.Regexp).FindStringIndex", "(*regexp.Regexp).FindIndex"},
	{"(*regexp.Regexp).FindStringSubmatchIndex", "(*regexp.Regexp).FindSubmatchIndex"},
	{"(*regexp.Regexp).FindAllStringIndex", "(*regexp.Regexp).FindAllIndex"},
	{"(*regexp.Regexp).FindAllStringSubmatchIndex", "(*regexp.Regexp).FindAllSubmatchIndex"},
	{"hash/maphash.String", "hash/maphash.Bytes"},
}

// decoders of a text have one that decodes bytes into memory of the caller.
var decoders = [][2]string{
	{"encoding/hex.DecodeString", "encoding/hex.Decode"},
	{"(*encoding/base64.Encoding).DecodeString", "(*encoding/base64.Encoding).Decode"},
	{"(*encoding/base32.Encoding).DecodeString", "(*encoding/base32.Encoding).Decode"},
}

// inOtherForm is the function that takes what is converted as it is, in place of the one that the conversion is made for; ""
// for none.
func inOtherForm(p idiom.Place) string {
	conversion, ok := p.Expr.(*ast.CallExpr)
	if !ok || len(p.Path) == 0 || len(conversion.Args) != 1 || !p.Info.Types[conversion.Fun].IsType() {
		return ""
	}
	c, ok := p.Path[len(p.Path)-1].(*ast.CallExpr)
	if !ok || !slices.Contains(c.Args, ast.Expr(conversion)) {
		return ""
	}
	from, name := isBytes(p, conversion.Args[0]), calleeName(p, c)
	for _, form := range slices.Concat(forms, decoders) {
		switch {
		case from && name == form[0]:
			return nameOf(form[1])
		case !from && isBytes(p, conversion) && name == form[1] && slices.Contains(forms, form):
			return nameOf(form[0])
		}
	}
	return ""
}

// nameOf is the name of a method, and of a function that with its package.
func nameOf(function string) string {
	if _, method, ok := strings.Cut(function, ")."); ok {
		return method
	}
	return function[strings.LastIndexByte(function, '/')+1:]
}
