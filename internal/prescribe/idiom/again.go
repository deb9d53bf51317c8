package idiom

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// making are methods that make their result anew each time, of nothing but their receiver and arguments.
var making = []string{
	"net/url.(*URL).Query", "net/url.(*URL).String", "net/url.Values.Encode", "net/http.(*Request).Cookies", "net/http.(*Request).Cookie",
	"net.IP.String", "net.(*IPNet).String", "net.(*TCPAddr).String", "net.(*UDPAddr).String", "net/netip.Addr.String", "net/netip.AddrPort.String", "net/netip.Prefix.String",
	"time.Time.Format", "time.Time.String", "time.Duration.String", "math/big.(*Int).String", "math/big.(*Int).Bytes", "bytes.(*Buffer).String",
	"regexp.(*Regexp).FindString", "regexp.(*Regexp).FindStringSubmatch", "regexp.(*Regexp).FindAllString",
}

// reading are methods that change nothing, beside those that make something.
var reading = []string{
	"net/url.Values.Get", "net/url.Values.Has", "net/http.Header.Get", "net/http.Header.Values", "net/http.(*Request).UserAgent",
	"time.Time.Unix", "time.Time.IsZero", "time.Time.After", "time.Time.Before", "time.Time.Sub", "bytes.(*Buffer).Len", "strings.(*Builder).Len",
}

// isMaking reports whether a call makes its result of nothing but what it is handed.
func (p Place) isMaking(c *ast.CallExpr) bool {
	callee := p.callee(c)
	return flow.Pure(callee) || slices.Contains(making, callee)
}

// Again are the calls that make what the expression, a call, makes: the same function of the same operands, and nothing
// between them that could change those. The first of them comes before the expression, or stands on its line, as here
// of them do. There are none where the expression is the first, and alone on its line.
func (p Place) Again() (calls []*ast.CallExpr, here int) {
	c, ok := p.Expr.(*ast.CallExpr)
	fn := p.Body()
	if !ok || fn == nil || !p.isMaking(c) || !p.plain(c) || !p.shareable(fn, c) {
		return nil, 0
	}
	want := types.ExprString(c)
	ast.Inspect(fn, func(n ast.Node) bool {
		if _, literal := n.(*ast.FuncLit); literal {
			return false
		}
		other, ok := n.(*ast.CallExpr)
		if !ok || other != c && (types.ExprString(other) != want || !slices.Equal(p.named(other), p.named(c)) || !p.shareable(fn, other)) {
			return true
		}
		first, second := other, c
		if c.Lparen < other.Lparen {
			first, second = c, other
		}
		if other == c || p.unchanged(fn, first, second) {
			calls = append(calls, other)
			if p.Line(c.Lparen) == p.Line(other.Lparen) {
				here++
			}
		}
		return true
	})
	slices.SortFunc(calls, func(a, b *ast.CallExpr) int { return cmp.Compare(a.Lparen, b.Lparen) })
	if len(calls) == 0 || here < 2 && calls[0] == c {
		return nil, 0
	}
	return calls, here
}

// named are the objects that an expression names, in order.
func (p Place) named(e ast.Expr) (list []types.Object) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			list = append(list, p.Info.ObjectOf(id))
		}
		return true
	})
	return list
}

// shareable reports whether the result of a call could be that of another call as well: it is a text or a number, or
// the code reads it at once and does not keep it.
func (p Place) shareable(fn *ast.BlockStmt, c *ast.CallExpr) bool {
	if t := p.Info.TypeOf(c); t != nil {
		if _, basic := t.Underlying().(*types.Basic); basic {
			return true
		}
	}
	read := false
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			read = read || ok && sel.X == ast.Expr(c) && slices.Contains(reading, p.callee(n))
		case *ast.IndexExpr:
			t := p.Info.TypeOf(n)
			_, basic := t.Underlying().(*types.Basic)
			read = read || n.X == ast.Expr(c) && basic
		}
		return !read
	})
	return read
}

// plain reports whether the operands of a call are variables, fields of those and constants.
func (p Place) plain(c *ast.CallExpr) bool {
	operands := slices.Clone(c.Args)
	if sel, ok := c.Fun.(*ast.SelectorExpr); ok && p.Info.Selections[sel] != nil {
		operands = append(operands, sel.X)
	}
	return len(operands) > 0 && !slices.ContainsFunc(operands, func(x ast.Expr) bool { return !p.constant(x) && p.root(x) == nil })
}

// root is the variable that an expression of names and fields begins with; nil for another expression.
func (p Place) root(e ast.Expr) types.Object {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return p.Variable(x)
		case *ast.SelectorExpr:
			if s := p.Info.Selections[x]; s == nil || s.Kind() != types.FieldVal {
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
func (p Place) unchanged(fn *ast.BlockStmt, first, second *ast.CallExpr) bool {
	vars, values := map[types.Object]bool{}, flow.Pure(p.callee(second))
	ast.Inspect(second, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && p.Variable(id) != nil {
			vars[p.Variable(id)] = true
			_, basic := p.Variable(id).Type().Underlying().(*types.Basic)
			values = values && basic && p.Variable(id).Parent() != nil && p.Variable(id).Parent() != p.Variable(id).Pkg().Scope()
		}
		return true
	})
	if !leads(fn, first, second) {
		return false
	}
	end := second.Rparen
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if first.Rparen < n.Pos() && n.Pos() < second.Pos() && second.Rparen < n.End() {
				end = max(end, n.End()) // a turn may change what the next one asks
			}
		}
		return true
	})
	between := func(p token.Pos) bool { return first.Rparen < p && p < end }
	ok := true
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				set := p.ofValue(to)
				if between(n.TokPos) && (vars[set] || !values && set == nil && !isBlank(to)) {
					ok = false
				}
			}
		case *ast.IncDecStmt:
			ok = ok && !(between(n.TokPos) && (!values && p.Variable(n.X) == nil || vars[p.Variable(n.X)]))
		case *ast.UnaryExpr:
			ok = ok && !(n.Op == token.AND && vars[p.Variable(n.X)] || !values && (n.Op == token.AND || n.Op == token.ARROW) && between(n.Pos()))
		case *ast.CallExpr:
			ok = ok && (values || n == first || n == second || !between(n.Lparen) || p.isQuiet(n))
		case *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.SelectStmt:
			ok = ok && (values || !between(n.Pos()))
		case *ast.LabeledStmt:
			ok = ok && !between(n.Pos())
		case *ast.FuncLit:
			ok = ok && !p.sets(n, vars)
		}
		return ok
	})
	return ok
}

// ofValue is the variable that is set with an expression: it, or the struct that a field of it is in. It is nil where that
// is behind a pointer.
func (p Place) ofValue(e ast.Expr) types.Object {
	for {
		sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
		if !ok {
			return p.Variable(e)
		}
		if s := p.Info.Selections[sel]; s == nil || s.Indirect() {
			return nil
		}
		e = sel.X
	}
}

// sets reports whether a function literal sets one of the variables.
func (p Place) sets(fn *ast.FuncLit, vars map[types.Object]bool) (found bool) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, func(to ast.Expr) bool { return vars[p.Variable(to)] })
		case *ast.IncDecStmt:
			found = found || vars[p.Variable(n.X)]
		}
		return !found
	})
	return found
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// isQuiet reports whether a call changes nothing that it is not handed: a conversion, a builtin that only reads, or a
// function that makes or reads something.
func (p Place) isQuiet(c *ast.CallExpr) bool {
	if p.Info.Types[c.Fun].IsType() || p.isMaking(c) || slices.Contains(reading, p.callee(c)) || p.call(c, "errors.New", "fmt.Errorf") != nil {
		return true
	}
	id, ok := c.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := p.Info.Uses[id].(*types.Builtin)
	return ok && slices.Contains([]string{"len", "cap", "append", "make", "new", "min", "max", "panic"}, b.Name())
}

// leads reports whether each way to the second call passes the first: the list of statements that holds the first, on no
// branch of an expression, also holds the second, or the block around it.
func leads(fn *ast.BlockStmt, first, second *ast.CallExpr) bool {
	inner := fn
	found := false
	visit := func(n ast.Node) bool {
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

// CutAgain is the text of which a call of strings.Join makes a part anew: strings.Split cut that text at the same separator,
// and Join puts the first or the last of the parts together. It is "" for others.
func (p Place) CutAgain() string {
	c := p.call(p.Expr, "strings.Join")
	fn := p.Body()
	if c == nil || fn == nil {
		return ""
	}
	some, ok := ast.Unparen(c.Args[0]).(*ast.SliceExpr)
	if !ok || some.Slice3 || (some.Low == nil) == (some.High == nil) {
		return ""
	}
	parts := p.Variable(some.X)
	if parts == nil || parts.Pos() < fn.Pos() || parts.Pos() >= fn.End() {
		return ""
	}
	text, set := "", 0
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if at, ok := to.(*ast.IndexExpr); ok && p.Variable(at.X) == parts {
					set = 2 // a part is changed
				}
				if p.Variable(to) != parts {
					continue
				}
				set++
				if len(n.Lhs) != len(n.Rhs) {
					continue
				}
				if split := p.call(n.Rhs[i], "strings.Split"); split != nil && p.constant(c.Args[1]) && p.constant(split.Args[1]) &&
					p.Info.Types[c.Args[1]].Value.ExactString() == p.Info.Types[split.Args[1]].Value.ExactString() {
					text = types.ExprString(split.Args[0])
				}
			}
		}
		return true
	})
	if set != 1 {
		return ""
	}
	return text
}

// parsers are functions that take a text apart, by the number of the argument that is the text.
var parsers = map[string]int{
	"time.Parse": 1, "time.ParseInLocation": 1, "time.ParseDuration": 0, "strconv.Atoi": 0, "strconv.ParseInt": 0, "strconv.ParseUint": 0, "strconv.ParseFloat": 0,
	"net.ParseIP": 0, "net/netip.ParseAddr": 0, "net/netip.ParseAddrPort": 0,
}

// ParsedAgain is the function that takes a text apart again which the code puts together for it alone; "" for others.
func (p Place) ParsedAgain() string {
	made := ast.Unparen(p.Expr)
	c, isCall := made.(*ast.CallExpr)
	if _, sum := made.(*ast.BinaryExpr); !sum && !(isCall && p.isMaking(c)) {
		return ""
	}
	takes := func(n ast.Node, text func(ast.Expr) bool) string {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return ""
		}
		name := p.callee(call)
		if at, parses := parsers[name]; parses && len(call.Args) > at && text(call.Args[at]) {
			return name
		}
		return ""
	}
	if len(p.Path) > 0 {
		if name := takes(p.Path[len(p.Path)-1], func(e ast.Expr) bool { return ast.Unparen(e) == made }); name != "" {
			return name
		}
	}
	v, fn := p.Defined(), p.Body()
	if v == nil || fn == nil {
		return ""
	}
	name, others := "", 0
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		if n := takes(path[len(path)-1], func(e ast.Expr) bool { return e == ast.Expr(id) }); n != "" {
			name = n
			return
		}
		others++
	})
	if others > 0 {
		return ""
	}
	return name
}

// EncodedAgain reports whether a value is encoded as JSON only to be decoded in the same function: the call of Marshal or
// of Unmarshal is the expression.
func (p Place) EncodedAgain() bool {
	c, ok := p.Expr.(*ast.CallExpr)
	fn := p.Body()
	if !ok || fn == nil {
		return false
	}
	var v types.Object
	switch p.callee(c) {
	case "encoding/json.Marshal":
		if len(p.Path) > 0 {
			if a, ok := p.Path[len(p.Path)-1].(*ast.AssignStmt); ok && len(a.Rhs) == 1 {
				v = p.Variable(a.Lhs[0])
			}
		}
	case "encoding/json.Unmarshal":
		v = p.Variable(c.Args[0])
	}
	if v == nil || v.Pos() < fn.Pos() || v.Pos() >= fn.End() {
		return false
	}
	made, decoded, others := 0, 0, 0
	ast.Inspect(fn, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && slices.ContainsFunc(a.Lhs, func(to ast.Expr) bool { return p.Variable(to) == v }) {
			made++
			if p.call(a.Rhs[0], "encoding/json.Marshal") == nil {
				others++
			}
		}
		return true
	})
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		switch around := path[len(path)-1].(type) {
		case *ast.CallExpr:
			to := p.call(around, "encoding/json.Unmarshal")
			if to == nil || types.IsInterface(p.Info.TypeOf(to.Args[1])) { // its fields are the caller's
				others++
			}
			decoded++
		case *ast.AssignStmt:
			if !slices.Contains(around.Lhs, ast.Expr(id)) {
				others++
			}
		default:
			others++
		}
	})
	return made == 1 && decoded > 0 && others == 0
}

// KeyOfItsOwn reports whether the key that an HMAC is made for is computed by the function too, so that the next one has
// another.
func (p Place) KeyOfItsOwn() (yes bool) {
	c, fn := p.call(p.Expr, "crypto/hmac.New"), p.Body()
	if c == nil || fn == nil {
		return false
	}
	v := p.Variable(c.Args[1])
	if v == nil {
		_, yes = ast.Unparen(c.Args[1]).(*ast.CallExpr)
		return yes && !p.Info.Types[c.Args[1].(*ast.CallExpr).Fun].IsType()
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if ok && len(a.Rhs) == 1 && slices.ContainsFunc(a.Lhs, func(to ast.Expr) bool { return p.Variable(to) == v }) {
			made, call := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
			yes = yes || call && !p.Info.Types[made.Fun].IsType()
		}
		return !yes
	})
	return yes
}

// Loose is the map of any values that JSON is decoded into, where the function only reads values of it by constant keys;
// "" for others.
func (p Place) Loose() string {
	c, fn := p.call(p.Expr, "encoding/json.Unmarshal"), p.Body()
	if c == nil || fn == nil {
		return ""
	}
	to, ok := ast.Unparen(c.Args[1]).(*ast.UnaryExpr)
	if !ok || to.Op != token.AND {
		return ""
	}
	v := p.Variable(to.X)
	if v == nil || v.Pos() < fn.Pos() || v.Pos() >= fn.End() {
		return ""
	}
	m, ok := v.Type().Underlying().(*types.Map)
	if !ok || !types.IsInterface(m.Elem()) {
		return ""
	}
	read, others := 0, 0
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		switch around := path[len(path)-1].(type) {
		case *ast.IndexExpr:
			read++
			if around.X != ast.Expr(id) || !p.constant(around.Index) || isSet(around, path) {
				others++
			}
		case *ast.UnaryExpr:
			if around != to {
				others++
			}
		default:
			others++
		}
	})
	if read == 0 || others > 0 {
		return ""
	}
	return v.Name()
}

// isSet reports whether an element is set by the statement around it.
func isSet(e ast.Expr, path []ast.Node) bool {
	a, ok := path[len(path)-2].(*ast.AssignStmt)
	return ok && slices.Contains(a.Lhs, e)
}
