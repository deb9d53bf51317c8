package code

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

// Trips is how often a loop runs at most, as Go source.
type Trips struct {
	Text string   // empty if not known before it starts
	Expr ast.Expr // what it names
	Open string   // why it may be wrong to reserve so much
}

// Trips asks for the count of a loop: that of what it ranges over, or n of i := 0; i < n; i++
// and of i := 1; i <= n; i++.
func (f *File) Trips(loop ast.Node) Trips {
	switch n := loop.(type) {
	case *ast.RangeStmt:
		t, x := f.Info().TypeOf(n.X), n.X
		if star, pointer := ast.Unparen(x).(*ast.StarExpr); pointer {
			x = star.X // the loop looks behind it at once
		}
		if t == nil || !f.Pure(x) {
			return Trips{}
		}
		switch u := t.Underlying().(type) {
		case *types.Slice, *types.Map, *types.Array:
			return Trips{Text: "len(" + f.Source(n.X) + ")", Expr: n.X}
		case *types.Basic:
			if u.Info()&types.IsInteger != 0 {
				return f.number(n.X)
			}
		}
	case *ast.ForStmt:
		cond, ok := n.Cond.(*ast.BinaryExpr)
		init, isInit := n.Init.(*ast.AssignStmt)
		post, isPost := n.Post.(*ast.IncDecStmt)
		if !ok || !isInit || !isPost || post.Tok != token.INC || len(init.Rhs) != 1 || !f.Pure(cond.Y) || !f.asMany(init.Rhs[0], cond.Op) {
			return Trips{}
		}
		return f.number(cond.Y)
	}
	return Trips{}
}

// asMany reports whether a loop from a number on turns n times: below n from 0, or up to n from 1.
func (f *File) asMany(from ast.Expr, op token.Token) bool {
	v := f.Info().Types[from].Value
	return op == token.LSS && f.IsZero(from) || op == token.LEQ && v != nil && v.ExactString() == "1"
}

// number is an integer expression as a count: of a length it is safe, another may be negative
// or come from outside.
func (f *File) number(e ast.Expr) Trips {
	if f.Builtin(e, "len") != nil {
		return Trips{Text: f.Source(e), Expr: e}
	}
	if v := f.Info().Types[e].Value; v != nil {
		return Trips{}
	}
	t := Trips{Text: fmt.Sprintf("max(0, %s)", f.Source(e)), Expr: e,
		Open: fmt.Sprintf("`%s` may be much larger than what is appended, if it comes from outside", f.Source(e))}
	switch b := Basic(f.Info().TypeOf(e)); {
	case b != nil && b.Info()&types.IsUnsigned != 0:
		t.Text = fmt.Sprintf("int(%s)", f.Source(e))
		return t
	case b == nil || b.Kind() != types.Int:
		t.Text = fmt.Sprintf("max(0, int(%s))", f.Source(e))
	}
	if !f.Since("go1.21") { // no max
		t.Text = ""
	}
	return t
}

// between is the count of a loop that turns from one number below another, i := m; i < n; i++, and what it begins at.
func (f *File) between(loop ast.Node) (Trips, ast.Expr) {
	n, ok := loop.(*ast.ForStmt)
	if !ok || !f.Since("go1.21") {
		return Trips{}, nil
	}
	cond, ok := n.Cond.(*ast.BinaryExpr)
	init, isInit := n.Init.(*ast.AssignStmt)
	post, isPost := n.Post.(*ast.IncDecStmt)
	if !ok || !isInit || !isPost || cond.Op != token.LSS || post.Tok != token.INC || len(init.Rhs) != 1 {
		return Trips{}, nil
	}
	from, isInt := init.Rhs[0], func(e ast.Expr) bool {
		b := Basic(f.Info().TypeOf(e))
		return b != nil && (b.Kind() == types.Int || b.Kind() == types.UntypedInt)
	}
	length := f.Builtin(cond.Y, "len") != nil
	if !isInt(from) || !isInt(cond.Y) || !f.Pure(from) || !length && !f.Pure(cond.Y) {
		return Trips{}, nil
	}
	t := Trips{Text: fmt.Sprintf("max(0, %s-%s)", f.Source(cond.Y), f.Source(from)), Expr: cond.Y}
	if !length {
		t.Open = f.number(cond.Y).Open
	}
	return t, from
}

// Straight reports whether every trip of a loop runs to its end; returns says that it may end with
// the function.
func Straight(loop ast.Node, returns bool) bool {
	ok := true
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			ok = ok && n.Tok == token.FALLTHROUGH
		case *ast.ReturnStmt:
			ok = ok && returns
		}
		return ok
	})
	return ok
}

// Growth is a place where something grows: by a number of elements or bytes, and by the lengths of
// other values.
type Growth struct {
	At    inspector.Cursor
	Fixed int
	Lens  []ast.Expr
}

// Amount is how much something grows in all, as Go source that can be evaluated before it does.
type Amount struct {
	Lines []string // statements that compute it first; often none
	Text  string   // "" where nothing is known
	Open  string   // why it may be wrong to reserve so much
	Exact bool     // it grows by so much in any case
	Full  bool     // it does unless the function ends before
	Whole bool     // it does not grow by more
	loop  string   // header of the loop that adds up what is different in each turn; often empty
	each  []string // what it adds in a turn
}

// Total adds up what places in a statement, and in those after it in the same list, grow by. at is
// that statement: the amount is wanted before it.
func (s *Site) Total(grown []Growth, at inspector.Cursor) Amount {
	sum := Amount{Exact: true, Full: true, Whole: true}
	fixed := 0
	var terms, branched []string
	var loops []Amount
	for _, g := range grown {
		a, ok := s.amount(g, at)
		if !ok {
			sum.Whole, sum.Exact = false, false
			continue
		}
		if !a.Full && slices.Contains(branched, a.Text) {
			continue // of another branch
		}
		if !a.Full {
			branched = append(branched, a.Text)
		}
		sum.Exact, sum.Full = sum.Exact && a.Exact, sum.Full && a.Full
		if sum.Open == "" {
			sum.Open = a.Open
		}
		if a.loop != "" {
			i := slices.IndexFunc(loops, func(l Amount) bool { return l.loop == a.loop })
			if i < 0 {
				loops = append(loops, a)
				terms = append(terms, a.Text)
			} else {
				loops[i].each = append(loops[i].each, a.each...)
			}
		} else if n, err := strconv.Atoi(a.Text); err == nil {
			fixed += n
		} else {
			terms = append(terms, a.Text)
		}
	}
	for _, l := range loops {
		sum.Lines = append(sum.Lines, l.Text+" := 0", fmt.Sprintf("%s{\n%s += %s\n}", l.loop, l.Text, strings.Join(l.each, "+")))
	}
	if len(terms) == 0 {
		return Amount{}
	}
	if fixed > 0 {
		terms = append(terms, strconv.Itoa(fixed))
	}
	sum.Text = strings.Join(terms, "+")
	return sum
}

// amount is what one place grows by, with all turns of the loops around it below the list of at.
func (s *Site) amount(g Growth, at inspector.Cursor) (a Amount, ok bool) {
	var parts []string
	names := append([]ast.Expr(nil), g.Lens...)
	for _, e := range g.Lens {
		if !s.Pure(e) {
			return a, false
		}
		parts = append(parts, "len("+s.Source(e)+")")
	}
	if g.Fixed > 0 || len(parts) == 0 {
		parts = append(parts, strconv.Itoa(g.Fixed))
	}
	a = Amount{Text: strings.Join(parts, "+"), Exact: true, Full: true}
	to := g.At.Node().Pos()
	for c := g.At; c != at.Parent(); c = c.Parent() {
		switch n := c.Node().(type) {
		case *ast.FuncLit:
			return a, false
		case *ast.IfStmt, *ast.CaseClause, *ast.CommClause:
			a.Exact, a.Full = false, false
		case *ast.RangeStmt, *ast.ForStmt:
			a.Exact, a.Full = a.Exact && Straight(n, false), a.Full && Straight(n, true)
			to = n.Pos()
			if names, ok = s.turns(&a, n, names); !ok {
				return a, false
			}
		case nil, *ast.File:
			return a, false
		}
	}
	for _, e := range names {
		if s.DeclaredAfter(e, at.Node().Pos()) || s.Changed(e, at.Parent().Node(), at.Node().Pos(), to) {
			return a, false
		}
	}
	return a, true
}

// turns multiplies an amount by the trips of a loop, or adds up what it is in each turn if that names
// the loop's variables. It returns what the amount names then.
func (s *Site) turns(a *Amount, loop ast.Node, names []ast.Expr) ([]ast.Expr, bool) {
	own := false
	for _, e := range names {
		own = own || s.DeclaredAfter(e, loop.Pos())
	}
	if !own {
		t := s.Trips(loop)
		if t.Text == "" {
			var from ast.Expr
			if t, from = s.between(loop); t.Text != "" {
				names = append(names, from)
			}
		}
		if t.Text == "" || a.loop != "" {
			return nil, false
		}
		if a.Open == "" {
			a.Open = t.Open
		}
		switch n, err := strconv.Atoi(a.Text); {
		case err == nil && n == 1:
			a.Text = t.Text
		case err == nil || len(names) == 1 && !strings.Contains(a.Text, "+"):
			a.Text += "*" + t.Text
		default:
			a.Text = "(" + a.Text + ")*" + t.Text
		}
		return append(names, t.Expr), true
	}
	r, ok := loop.(*ast.RangeStmt)
	if !ok || r.Tok != token.DEFINE || !s.Pure(r.X) || a.loop != "" || a.Open != "" || !s.container(r.X) {
		return nil, false
	}
	for _, e := range names {
		if s.DeclaredAfter(e, r.Body.Pos()) {
			return nil, false
		}
	}
	header := string(s.Text[s.Offset(r.Pos()):s.Offset(r.Body.Pos())])
	if key, isName := r.Key.(*ast.Ident); isName && key.Name != "_" && r.Value != nil && !mentions(names, key.Name) {
		header = fmt.Sprintf("for _, %s := range %s ", s.Source(r.Value), s.Source(r.X))
	}
	a.loop, a.each, a.Text = header, []string{a.Text}, s.Fresh("size", loop.Pos())
	return []ast.Expr{r.X}, true
}

// container reports whether ranging over e twice gives the same twice.
func (s *Site) container(e ast.Expr) bool {
	switch s.Info().TypeOf(e).Underlying().(type) {
	case *types.Slice, *types.Array, *types.Map:
		return true
	}
	return false
}

// mentions reports whether expressions name something.
func mentions(list []ast.Expr, name string) bool {
	found := false
	for _, e := range list {
		ast.Inspect(e, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			found = found || ok && id.Name == name
			return !found
		})
	}
	return found
}

// BeginsAnew reports whether a loop sets a slice to something else than what is appended to it: what its turns append is
// then not all in one slice.
func (f *File) BeginsAnew(loop ast.Node, slice ast.Expr) (anew bool) {
	name := f.Source(slice)
	ast.Inspect(loop, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && f.Source(a.Lhs[0]) == name {
			call, grows := a.Rhs[0].(*ast.CallExpr)
			anew = anew || !(grows && len(call.Args) > 0 && f.Source(call.Args[0]) == name)
		}
		return !anew
	})
	return anew
}
