package parts

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// CutLoop cuts one part after the other off a string, in place of a loop over a slice of all of them: where the module's
// Go has no SplitSeq, where the loop counts the parts, or where it begins behind the first.
func CutLoop(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Callee(call) != "strings.Split" {
		return nil
	}
	sel, isSel := call.Fun.(*ast.SelectorExpr)
	sep, constant := s.ConstString(call.Args[1])
	if !constant || sep == "" || !isSel {
		return nil
	}
	if loop := s.behindFirst(); loop != nil {
		return s.cutBehind(loop, call)
	}
	loop := s.rangedOver()
	if loop == nil || loop.Tok != token.DEFINE {
		return nil
	}
	part, isName := loop.Value.(*ast.Ident)
	if !isName || part.Name == "_" {
		return nil
	}
	index := loop.Key.(*ast.Ident).Name
	if index == "_" && s.Since("go1.24") || index != "_" && !s.counts(loop) {
		return nil
	}
	rest, more := s.Fresh("rest", loop.Pos()), s.Fresh("more", loop.Pos())
	var changes []code.Change
	text := s.Source(call.Args[0])
	if loop.X != ast.Expr(call) { // a variable, which now holds the whole text
		changes, text = append(changes, s.Replace(call, text)), s.Source(loop.X)
	}
	head := fmt.Sprintf("for %s, %s := %s, true; %[2]s; {\n", rest, more, text)
	if index != "_" {
		head = fmt.Sprintf("for %s, %s, %s := 0, %s, true; %[3]s; %[1]s++ {\n", index, rest, more, text)
	}
	head += s.cutOff(cutting{pkg: s.Source(sel.X), text: rest, sep: call.Args[1]}, part.Name, more)
	return []code.Edit{{Text: "cut one part after the other off", Changes: append(changes, s.headOf(loop, head))}}
}

// headOf puts a text in place of a loop up to its opening brace.
func (s *site) headOf(loop *ast.RangeStmt, text string) code.Change {
	return code.Change{From: s.Offset(loop.For), To: s.Offset(loop.Body.Lbrace) + 1, Text: text}
}

// cutOff declares a part, which it cuts off the text, and says in a variable whether there are more.
func (s *site) cutOff(c cutting, part, more string) string {
	sep := s.Source(c.sep)
	if s.Since("go1.18") {
		return fmt.Sprintf("var %[1]s string\n%[1]s, %[2]s, %[3]s = %[4]s.Cut(%[2]s, %[5]s)", part, c.text, more, c.pkg, sep)
	}
	at := s.Fresh("at", c.sep.Pos())
	value, _ := s.ConstString(c.sep)
	return fmt.Sprintf("%[1]s := %[2]s\nif %[3]s := %[4]s.Index(%[2]s, %[5]s); %[3]s >= 0 {\n%[1]s, %[2]s = %[2]s[:%[3]s], %[2]s[%[3]s+%[6]d:]\n} else {\n%[7]s = false\n}",
		part, c.text, at, c.pkg, sep, len(value), more)
}

// behindFirst is the loop over all parts but the first, if nothing else is done with a variable of all than to ask for the
// first; nil if more is.
func (s *site) behindFirst() (loop *ast.RangeStmt) {
	v, _ := s.Defined()
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil {
		return nil
	}
	for _, u := range s.Uses(v, fn)[1:] {
		switch n := u.Parent().Node().(type) {
		case *ast.IndexExpr:
			if u.ParentEdgeKind() != edge.IndexExpr_X || !s.IsZero(n.Index) || !readOnly(u.Parent()) {
				return nil
			}
		case *ast.SliceExpr:
			r, isRange := u.Parent().Parent().Node().(*ast.RangeStmt)
			if loop != nil || !isRange || s.repeats(u, v) || n.Low == nil || n.High != nil || !s.isNumber(n.Low, 1) || r.X != ast.Expr(n) || r.Tok != token.DEFINE {
				return nil
			}
			loop = r
		default:
			return nil
		}
		if !code.Within(u, fn) {
			return nil
		}
	}
	return loop
}

// repeats reports whether a loop around the one over a use goes through the same parts several times.
func (s *site) repeats(u inspector.Cursor, v *types.Var) bool {
	over := u.Parent().Parent() // the loop over the use
	for c := range over.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
		if c != over && c.Node().Pos() > v.Pos() {
			return true
		}
	}
	return false
}

// readOnly reports whether an expression is neither assigned to nor asked for its address.
func readOnly(c inspector.Cursor) bool {
	switch c.ParentEdgeKind() {
	case edge.AssignStmt_Lhs, edge.IncDecStmt_X, edge.UnaryExpr_X:
		return false
	}
	return true
}

// cutBehind takes the first part by Cut, and the others by one Cut in each turn of the loop over them.
func (s *site) cutBehind(loop *ast.RangeStmt, call *ast.CallExpr) []code.Edit {
	part, isName := loop.Value.(*ast.Ident)
	key, _ := loop.Key.(*ast.Ident)
	v, stmt := s.Defined()
	if !isName || part.Name == "_" || key == nil || key.Name != "_" {
		return nil
	}
	fn, _ := code.Function(s.Cur)
	at := s.Cur.Node().Pos()
	first, rest, more := "_", s.Fresh("rest", at), s.Fresh("more", at)
	if !s.Since("go1.18") {
		first = s.Fresh("first", at)
	}
	var changes []code.Change
	for _, u := range s.Uses(v, fn)[1:] {
		if index, ok := u.Parent().Node().(*ast.IndexExpr); ok {
			if first == "_" {
				first = s.Fresh("first", at)
			}
			changes = append(changes, s.Replace(index, first))
		}
	}
	c := cutting{pkg: s.Source(call.Fun.(*ast.SelectorExpr).X), text: rest, sep: call.Args[1]}
	changes = append(changes, s.headOf(loop, fmt.Sprintf("for %s {\n", more)+s.cutOff(c, part.Name, more)))
	c.text = s.Source(call.Args[0])
	changes = append(changes, s.Replace(stmt.Node(), s.cut(c, []string{first, rest, more})))
	return []code.Edit{{Text: "cut one part after the other off", Changes: changes}}
}

// counts reports whether the body of a loop only reads the number of the turn, and no function literal does.
func (s *site) counts(loop *ast.RangeStmt) bool {
	fn, _ := code.Function(s.Cur)
	v := s.Local(loop.Key)
	if v == nil {
		return false
	}
	return !slices.ContainsFunc(s.Uses(v, fn), func(u inspector.Cursor) bool {
		switch u.ParentEdgeKind() {
		case edge.AssignStmt_Lhs, edge.IncDecStmt_X:
			return true
		case edge.UnaryExpr_X:
			return u.Parent().Node().(*ast.UnaryExpr).Op == token.AND
		}
		return !code.Within(u, fn)
	})
}
