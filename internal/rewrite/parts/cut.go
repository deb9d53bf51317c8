package parts

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// CutParts takes the first two parts of a string by strings.Cut where a slice of all parts is only asked
// for its length and for these.
func CutParts(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || len(call.Args) < 2 {
		return nil
	}
	full := s.Callee(call)
	v, stmt := s.definedThere()
	fn, body := code.Function(s.Cur)
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if full != "strings.Split" && full != "strings.SplitN" || v == nil || body == nil || !isSel {
		return nil
	}
	if sep, ok := s.ConstString(call.Args[1]); !ok || sep == "" {
		return nil
	}
	p := &parts{s: s, pkg: s.Source(sel.X), sep: s.Source(call.Args[1]), text: call.Args[0], body: body, end: stmt.Node().End(), all: full == "strings.Split"}
	if !p.all && !s.isNumber(call.Args[2], 2) {
		return nil
	}
	at := s.Cur.Node().Pos()
	p.as.first, p.as.second, p.as.rest, p.as.more = s.Fresh("first", at), s.Fresh("second", at), s.Fresh("rest", at), s.Fresh("more", at)
	for _, u := range s.Uses(v, fn)[1:] {
		if !p.use(u) {
			return nil
		}
	}
	if !p.asked {
		return nil // today a part that is missing is a panic
	}
	names := []string{p.as.first, p.as.rest, p.as.more}
	for i, used := range p.used {
		if !used && (i > 0 || s.Since("go1.18")) {
			names[i] = "_"
		}
	}
	if !p.used[0] && !p.used[1] && !p.used[2] {
		return nil
	}
	if p.set && p.third {
		return nil // what is behind the first separator is asked for a second one, after it changed
	}
	if heads(stmt) && (p.as.whole != "" || p.again || !s.Since("go1.18")) {
		return nil // that takes more than one statement
	}
	line := s.cut(cutting{pkg: p.pkg, text: p.source(), sep: call.Args[1]}, names)
	if p.as.whole != "" {
		line = fmt.Sprintf("%s := %s\n%s", p.as.whole, s.Source(call.Args[0]), line)
	}
	if p.again {
		line += "\n" + s.cut(cutting{pkg: p.pkg, text: p.as.rest, sep: call.Args[1]}, []string{p.as.second, "_", "_"})
	}
	return []code.Edit{{Text: "cut the text instead of splitting it into a slice", Changes: append(p.changes, s.Replace(stmt.Node(), line))}}
}

// definedThere is the variable that a statement of the form `v := e` defines, where e is the site: a statement
// of a list, or the one at the head of an if or a switch.
func (s *site) definedThere() (v *types.Var, stmt inspector.Cursor) {
	if s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs || !heads(s.Cur.Parent()) {
		return s.Defined()
	}
	assign := s.Cur.Parent().Node().(*ast.AssignStmt)
	if assign.Tok != token.DEFINE || len(assign.Lhs) != 1 {
		return nil, stmt
	}
	return s.Local(assign.Lhs[0]), s.Cur.Parent()
}

// heads reports whether a statement stands at the head of an if or a switch.
func heads(stmt inspector.Cursor) bool {
	return stmt.ParentEdgeKind() == edge.IfStmt_Init || stmt.ParentEdgeKind() == edge.SwitchStmt_Init
}

// cutting is a text that is cut at a constant separator.
type cutting struct {
	pkg, text string // as Go source
	sep       ast.Expr
}

// cut declares names for what Cut returns, by Index where the module's version of Go has no Cut; then the
// first has to have a name.
func (s *site) cut(c cutting, names []string) string {
	sep := s.Source(c.sep)
	if s.Since("go1.18") {
		return fmt.Sprintf("%s := %s.Cut(%s, %s)", strings.Join(names, ", "), c.pkg, c.text, sep)
	}
	value, _ := s.ConstString(c.sep)
	first, at := names[0], s.Fresh("at", c.sep.Pos())
	set, empty, found := []string{first}, []string{c.text}, []string{fmt.Sprintf("%s[:%s]", first, at)}
	if names[1] != "_" {
		set, empty, found = append(set, names[1]), append(empty, `""`), append(found, fmt.Sprintf("%s[%s+%d:]", first, at, len(value)))
	}
	if names[2] != "_" {
		set, empty, found = append(set, names[2]), append(empty, "false"), append(found, "true")
	}
	to := strings.Join(set, ", ")
	return fmt.Sprintf("%s := %s\nif %s := %s.Index(%s, %s); %[3]s >= 0 {\n%[1]s = %[7]s\n}", to, strings.Join(empty, ", "), at, c.pkg, first, sep, strings.Join(found, ", "))
}

// parts is a slice of the parts of a text on the way to a cut.
type parts struct {
	s        *site
	pkg, sep string
	text     ast.Expr // that is split
	body     *ast.BlockStmt
	end      token.Pos // of the statement

	as cutNames

	all     bool    // all parts, not two at most
	asked   bool    // for their number
	again   bool    // the second part ends where a third begins
	set     bool    // a part is set to something else
	third   bool    // it is asked for a third part
	used    [3]bool // what Cut returns
	changes []code.Change
}

// cutNames are the names of what a text is cut to, and of the text itself where it takes more than names to say
// it.
type cutNames struct{ first, second, rest, more, whole string }

// use takes one use of the slice: the first part, the second, or a comparison of the length.
func (p *parts) use(u inspector.Cursor) bool {
	switch u.ParentEdgeKind() {
	case edge.IndexExpr_X:
		index := u.Parent()
		n := index.Node().(*ast.IndexExpr)
		if index.ParentEdgeKind() == edge.UnaryExpr_X {
			return false
		}
		if index.ParentEdgeKind() == edge.AssignStmt_Lhs {
			if p.set = true; index.Parent().Node().(*ast.AssignStmt).Tok == token.DEFINE {
				return false
			}
		}
		switch {
		case p.s.IsZero(n.Index):
			p.used[0] = true
			p.changes = append(p.changes, p.s.Replace(n, p.as.first))
			return true
		case p.s.isNumber(n.Index, 1):
			p.behind(index)
			return true
		}
	case edge.CallExpr_Args:
		call := u.Parent()
		if p.s.Builtin(call.Node().(ast.Expr), "len") != nil {
			return p.length(call)
		}
	}
	return false
}

// behind puts the rest in place of the second part, cut once more where there may be a third.
func (p *parts) behind(index inspector.Cursor) {
	p.used[1] = true
	name := p.as.rest
	if p.all && !p.two(index) {
		p.again, name = true, p.as.second
	}
	p.changes = append(p.changes, p.s.Replace(index.Node(), name))
}

// two reports whether a place is reached with two parts only: in a branch or case of that length, or
// behind a statement that leaves for all others.
func (p *parts) two(at inspector.Cursor) bool {
	for c := range at.Enclosing() {
		switch c.ParentEdgeKind() {
		case edge.IfStmt_Body:
			if p.compares(c.Parent().Node().(*ast.IfStmt).Cond, token.EQL) {
				return true
			}
		case edge.BlockStmt_List, edge.CaseClause_Body:
			if p.caseOfTwo(c.Parent()) {
				return true
			}
			for before, ok := c.PrevSibling(); ok; before, ok = before.PrevSibling() {
				guard, isIf := before.Node().(*ast.IfStmt)
				if isIf && guard.Else == nil && p.compares(guard.Cond, token.NEQ) && leaves(guard.Body) {
					return true
				}
			}
		case edge.FuncDecl_Body, edge.FuncLit_Body:
			return false
		}
	}
	return false
}

// caseOfTwo reports whether a node is the case of two parts in a switch by their number.
func (p *parts) caseOfTwo(c inspector.Cursor) bool {
	clause, ok := c.Node().(*ast.CaseClause)
	if !ok || len(clause.List) != 1 || !p.s.isNumber(clause.List[0], 2) {
		return false
	}
	by, ok := c.Parent().Parent().Node().(*ast.SwitchStmt)
	if !ok || by.Tag == nil {
		return false
	}
	call := p.s.Builtin(by.Tag, "len")
	return call != nil && types.Identical(p.s.Info().TypeOf(call.Args[0]), types.NewSlice(types.Typ[types.String]))
}

// source is the text that is split, as Go source.
func (p *parts) source() string {
	if p.as.whole != "" {
		return p.as.whole
	}
	return p.s.Source(p.text)
}

// compares reports whether a condition compares the number of parts with two.
func (p *parts) compares(cond ast.Expr, op token.Token) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	if op == token.NEQ && b.Op == token.LOR || op == token.EQL && b.Op == token.LAND {
		return p.compares(b.X, op) || p.compares(b.Y, op)
	}
	call := p.s.Builtin(b.X, "len")
	return call != nil && b.Op == op && p.s.isNumber(b.Y, 2) && types.Identical(p.s.Info().TypeOf(call.Args[0]), types.NewSlice(types.Typ[types.String]))
}

// leaves reports whether a block ends with leaving what is around it.
func leaves(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch last := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		call, ok := last.X.(*ast.CallExpr)
		id, named := (*ast.Ident)(nil), false
		if ok {
			id, named = call.Fun.(*ast.Ident)
		}
		return named && id.Name == "panic"
	}
	return false
}

// length puts what Cut says in place of a comparison of the number of parts, and their count in place of
// the number.
func (p *parts) length(call inspector.Cursor) bool {
	text, rest := "", false
	b, ok := call.Parent().Node().(*ast.BinaryExpr)
	if ok && call.ParentEdgeKind() == edge.BinaryExpr_X {
		if n, exact := p.s.constInt(b.Y); exact {
			text, rest = p.condition(b.Op, n)
		}
	}
	if text == "" {
		if !p.all {
			return false
		}
		if !p.s.Pure(p.text) || p.s.Changed(p.text, p.body, p.end, call.Node().Pos()) {
			p.as.whole = p.s.Fresh("whole", p.text.Pos())
		}
		p.asked = true
		count := fmt.Sprintf("%s.Count(%s, %s) + 1", p.pkg, p.source(), p.sep)
		if k := call.ParentEdgeKind(); k != edge.CallExpr_Args && k != edge.SwitchStmt_Tag {
			count = "(" + count + ")"
		}
		p.changes = append(p.changes, p.s.Replace(call.Node(), count))
		return true
	}
	if strings.Contains(text, " ") && call.Parent().ParentEdgeKind() != edge.IfStmt_Cond {
		text = "(" + text + ")"
	}
	p.asked, p.used[2], p.used[1], p.third = true, true, p.used[1] || rest, p.third || rest
	p.changes = append(p.changes, p.s.Replace(b, text))
	return true
}

// constInt is the value of a constant number.
func (s *site) constInt(e ast.Expr) (n int64, ok bool) {
	v := s.Info().Types[e].Value
	if v == nil || v.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(v)
}

// condition is the comparison of the number of parts with a number in the words of Cut; empty where
// there are none. rest says that it names the rest.
func (p *parts) condition(op token.Token, n int64) (text string, rest bool) {
	type comparison struct {
		op token.Token
		n  int64
	}
	third := fmt.Sprintf("%s.Contains(%s, %s)", p.pkg, p.as.rest, p.sep)
	switch (comparison{op, n}) {
	case comparison{token.LSS, 2}, comparison{token.LEQ, 1}, comparison{token.EQL, 1}:
		return "!" + p.as.more, false
	case comparison{token.GEQ, 2}, comparison{token.GTR, 1}, comparison{token.NEQ, 1}:
		return p.as.more, false
	case comparison{token.EQL, 2}:
		if p.all {
			return fmt.Sprintf("%s && !%s", p.as.more, third), true
		}
		return p.as.more, false
	case comparison{token.NEQ, 2}:
		if p.all {
			return fmt.Sprintf("!%s || %s", p.as.more, third), true
		}
		return "!" + p.as.more, false
	}
	return "", false
}

// isNumber reports whether an expression is a constant number.
func (s *site) isNumber(e ast.Expr, n int64) bool {
	v, ok := s.constInt(e)
	return ok && v == n
}
