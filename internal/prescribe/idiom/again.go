package idiom

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// making are methods that make their result anew each time, of nothing but their receiver and arguments.
var making = []string{
	"net/url.(*URL).Query", "net/url.(*URL).String", "net/url.Values.Encode", "net/http.(*Request).Cookies", "net/http.(*Request).Cookie",
	"net.IP.String", "net.(*IPNet).String", "net.(*TCPAddr).String", "net.(*UDPAddr).String", "net/netip.Addr.String", "net/netip.AddrPort.String", "net/netip.Prefix.String",
	"time.Time.Format", "time.Time.String", "time.Duration.String", "math/big.(*Int).String", "math/big.(*Int).Bytes", "bytes.(*Buffer).String",
	"regexp.(*Regexp).FindString", "regexp.(*Regexp).FindStringSubmatch", "regexp.(*Regexp).FindAllString", "regexp.(*Regexp).String",
	"reflect.Type.String", "go/ast.(*Ident).String",
}

// reading are methods that change nothing, beside those that make something.
var reading = []string{
	"net/url.Values.Get", "net/url.Values.Has", "net/http.Header.Get", "net/http.Header.Values", "net/http.(*Request).UserAgent",
	"time.Time.Unix", "time.Time.IsZero", "time.Time.After", "time.Time.Before", "time.Time.Sub", "bytes.(*Buffer).Len", "strings.(*Builder).Len",
}

// isMaking reports whether a call makes its result of nothing but what it is handed.
func isMaking(l *source.Line, c *ast.CallExpr) bool {
	callee := l.Callee(c)
	return flow.Pure(callee) || slices.Contains(making, callee)
}

// Again reports whether a call makes what an earlier one of the function has made: the same function of the same
// operands, and nothing between the two that could change them. With several such calls on one line, times is their
// number, and the first of them counts as well.
func Again(l *source.Line, e *source.Expr) (times int, again bool) {
	c, ok := expr(e).(*ast.CallExpr)
	fn := body(e)
	if !ok || fn == nil || !isMaking(l, c) || !plain(l, c) || !shareable(l, fn, c) {
		return 0, false
	}
	want := types.ExprString(c)
	times = 1
	ast.Inspect(fn, func(n ast.Node) bool {
		if _, literal := n.(*ast.FuncLit); literal {
			return false
		}
		other, ok := n.(*ast.CallExpr)
		if !ok || other == c || types.ExprString(other) != want || !shareable(l, fn, other) {
			return true
		}
		first, second := other, c
		if c.Lparen < other.Lparen {
			first, second = c, other
		}
		sameLine := l.LineOf(c.Lparen) == l.LineOf(other.Lparen)
		if (first == other || sameLine) && unchanged(l, fn, first, second) {
			again = true
			if sameLine {
				times++
			}
		}
		return true
	})
	return times, again
}

// shareable reports whether the result of a call could be that of another call as well: it is a text or a number, or
// the code reads it at once and does not keep it.
func shareable(l *source.Line, fn *ast.BlockStmt, c *ast.CallExpr) bool {
	if t := l.Info().TypeOf(c); t != nil {
		if _, basic := t.Underlying().(*types.Basic); basic {
			return true
		}
	}
	read := false
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			read = read || ok && sel.X == ast.Expr(c) && slices.Contains(reading, l.Callee(n))
		case *ast.IndexExpr:
			t := l.Info().TypeOf(n)
			_, basic := t.Underlying().(*types.Basic)
			read = read || n.X == ast.Expr(c) && basic
		}
		return !read
	})
	return read
}

// plain reports whether the operands of a call are variables, fields of those and constants.
func plain(l *source.Line, c *ast.CallExpr) bool {
	operands := slices.Clone(c.Args)
	if sel, ok := c.Fun.(*ast.SelectorExpr); ok && l.Info().Selections[sel] != nil {
		operands = append(operands, sel.X)
	}
	return len(operands) > 0 && !slices.ContainsFunc(operands, func(x ast.Expr) bool { return !l.Constant(x) && root(l, x) == nil })
}

// root is the variable that an expression of names and fields begins with; nil for another expression.
func root(l *source.Line, e ast.Expr) types.Object {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return variable(l, x)
		case *ast.SelectorExpr:
			if s := l.Info().Selections[x]; s == nil || s.Kind() != types.FieldVal {
				return nil
			}
			e = x.X
		default:
			return nil
		}
	}
}

// unchanged reports whether the first call always comes before the second, with nothing between them that could change
// what they read: no statement that sets their variables, and no call other than of what changes nothing.
func unchanged(l *source.Line, fn *ast.BlockStmt, first, second *ast.CallExpr) bool {
	vars := map[types.Object]bool{}
	ast.Inspect(second, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && variable(l, id) != nil {
			vars[variable(l, id)] = true
		}
		return true
	})
	if !leads(fn, first, second) {
		return false
	}
	between := func(p token.Pos) bool { return first.Rparen < p && p < second.Rparen }
	ok := true
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				set := variable(l, to)
				if between(n.TokPos) && (vars[set] || set == nil && !isBlank(to)) {
					ok = false
				}
			}
		case *ast.IncDecStmt:
			ok = ok && !(between(n.TokPos) && (variable(l, n.X) == nil || vars[variable(l, n.X)]))
		case *ast.UnaryExpr:
			ok = ok && !(n.Op == token.AND && between(n.Pos()) || n.Op == token.ARROW && between(n.Pos()))
		case *ast.CallExpr:
			ok = ok && (n == first || n == second || !between(n.Lparen) || isQuiet(l, n))
		case *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.SelectStmt, *ast.LabeledStmt:
			ok = ok && !between(n.Pos())
		}
		return ok
	})
	return ok
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// isQuiet reports whether a call changes nothing that it is not handed: a conversion, a builtin that only reads, or a
// function that makes or reads something.
func isQuiet(l *source.Line, c *ast.CallExpr) bool {
	if l.Info().Types[c.Fun].IsType() || isMaking(l, c) || slices.Contains(reading, l.Callee(c)) {
		return true
	}
	id, ok := c.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := l.Info().Uses[id].(*types.Builtin)
	return ok && slices.Contains([]string{"len", "cap", "append", "make", "new", "min", "max", "panic"}, b.Name())
}

// leads reports whether each way to the second call passes the first: the list of statements that holds the first, on no
// branch of an expression, also holds the second, or the block around it.
func leads(fn *ast.BlockStmt, first, second *ast.CallExpr) bool {
	inner := fn
	found := false
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		if n == nil || first.Lparen < n.Pos() || n.End() <= first.Lparen {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			found = false
			return false
		case *ast.BlockStmt:
			inner = n
		case *ast.CaseClause, *ast.CommClause:
			inner = nil
		case *ast.BinaryExpr:
			if (n.Op == token.LAND || n.Op == token.LOR) && n.Y.Pos() <= first.Lparen {
				inner = nil
			}
		case *ast.CallExpr:
			found = found || n == first
		}
		return true
	}
	ast.Inspect(fn, visit)
	return found && inner != nil && inner.Pos() <= second.Pos() && second.End() <= inner.End()
}
