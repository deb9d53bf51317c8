package copies

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// lastUse takes a slice that the function made itself instead of a copy of it, where nothing uses the
// slice afterwards and nothing else knows it.
func (s *site) lastUse(x ast.Expr) []code.Edit {
	v := s.Local(s.whole(x))
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil {
		return nil
	}
	made, back, open := false, false, "" // back: other code assigns it an append to itself, or the result of a call that takes it
	anew := s.setsAnew(v)
	given := anew != nil && v.Pos() < body.Pos() // a parameter that the statement assigns anew
	around, listed := code.Statement(s.Cur)
	if !given && s.mayRunAgain(v) || !listed || anew != nil && s.Cur.ParentEdgeKind() == edge.AssignStmt_Rhs {
		return nil
	}
	for _, u := range s.Uses(v, fn) {
		at := s.outside(u)
		switch {
		case !code.Within(u, fn):
			return nil // a literal that may run later
		case u.Node().Pos() >= s.Cur.Node().Pos() && u.Node().End() <= s.Cur.Node().End():
		case anew != nil && (u.Node().Pos() > anew.End() || u.ParentEdgeKind() == edge.AssignStmt_Lhs && u.Parent().Node() == ast.Node(anew)):
			back = back || s.handsBack(u, v)
		case u.Node().Pos() >= around.Node().Pos(), waitsFor(u):
			return nil
		case s.makesAnew(u):
			made = true
		case s.growsItself(u, v):
			back = true
		case given && (u.ParentEdgeKind() == edge.AssignStmt_Lhs || u.ParentEdgeKind() == edge.Field_Names):
		case at.ParentEdgeKind() == edge.AssignStmt_Rhs && s.assigned(at) == v, u.ParentEdgeKind() == edge.AssignStmt_Lhs && s.cutsItself(u, v):
		case s.onlyRead(at), s.setsElement(at), s.fills(at), at.ParentEdgeKind() == edge.ReturnStmt_Results:
		case at.ParentEdgeKind() == edge.CallExpr_Args:
			call := at.Parent().Node().(*ast.CallExpr)
			if s.Callee(call) == "" || open != "" && !given {
				return nil
			}
			open = fmt.Sprintf("`%s` must not keep `%s`", s.Source(call.Fun), v.Name())
		default:
			return nil
		}
	}
	switch {
	case !made && !(given && back):
		return nil
	case !made:
		open = fmt.Sprintf("whoever hands `%s` in must go on with what is returned alone, and no call may keep it", v.Name())
	}
	if open == "" && s.nilStart() {
		open = fmt.Sprintf("nothing must ask whether an empty copy of `%s` is nil", v.Name())
	}
	edit := s.instead(s.whole(x))
	edit.Text = fmt.Sprintf("take `%s` itself instead of a copy: nothing else uses it afterwards", v.Name())
	edit.Open = open
	return []code.Edit{edit}
}

// handsBack reports whether a variable is handed here to a call that gives it another value.
func (s *site) handsBack(u inspector.Cursor, v *types.Var) bool {
	if u.ParentEdgeKind() != edge.CallExpr_Args || u.Parent().ParentEdgeKind() != edge.AssignStmt_Rhs {
		return false
	}
	assign := u.Parent().Parent().Node().(*ast.AssignStmt)
	return assign.Tok == token.ASSIGN && slices.ContainsFunc(assign.Lhs, func(e ast.Expr) bool { return s.Local(e) == v })
}

// waitsFor reports whether something is used when its function ends, or by another goroutine.
func waitsFor(u inspector.Cursor) bool {
	for range u.Enclosing((*ast.DeferStmt)(nil), (*ast.GoStmt)(nil)) {
		return true
	}
	return false
}

// setsAnew is the statement around the site, if it gives v another value, which all later uses have.
func (s *site) setsAnew(v *types.Var) *ast.AssignStmt {
	stmt, ok := code.Statement(s.Cur)
	if !ok {
		return nil
	}
	assign, ok := stmt.Node().(*ast.AssignStmt)
	if !ok || assign.Tok != token.ASSIGN || !slices.ContainsFunc(assign.Lhs, func(e ast.Expr) bool { return s.Local(e) == v }) {
		return nil
	}
	return assign
}

// growsItself reports whether a variable gets here what is appended to it.
func (s *site) growsItself(u inspector.Cursor, v *types.Var) bool {
	stmt, ok := code.Statement(u)
	if !ok {
		return false
	}
	assign, ok := stmt.Node().(*ast.AssignStmt)
	if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || s.Local(assign.Lhs[0]) != v || s.Builtin(assign.Rhs[0], "append") == nil {
		return false
	}
	first := ast.Unparen(assign.Rhs[0]).(*ast.CallExpr).Args[0]
	return s.Local(first) == v && (u.Node() == ast.Node(assign.Lhs[0]) || u.Node() == ast.Node(first))
}

// whole is the slice of which x is all: x[:] is all of x.
func (s *site) whole(x ast.Expr) ast.Expr {
	if e, ok := ast.Unparen(x).(*ast.SliceExpr); ok && e.Low == nil && e.High == nil {
		if _, slice := s.Info().TypeOf(e.X).Underlying().(*types.Slice); slice {
			return ast.Unparen(e.X)
		}
	}
	return ast.Unparen(x)
}

// mayRunAgain reports whether the site may run twice for one value of v.
func (s *site) mayRunAgain(v *types.Var) bool {
	for c := range s.Cur.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.LabeledStmt)(nil)) {
		if v.Pos() < c.Node().Pos() || v.Pos() >= c.Node().End() {
			return true
		}
		if loop, ok := c.Node().(*ast.ForStmt); ok && loop.Init != nil && v.Pos() < loop.Init.End() {
			return true // a variable of the loop itself
		}
	}
	return false
}

// outside goes from a variable out to the slice of it that is used.
func (s *site) outside(u inspector.Cursor) inspector.Cursor {
	for u.ParentEdgeKind() == edge.ParenExpr_X || u.ParentEdgeKind() == edge.SliceExpr_X {
		u = u.Parent()
	}
	return u
}

// makesAnew reports whether a variable is declared here with a slice that is made for it.
func (s *site) makesAnew(u inspector.Cursor) bool {
	assign, ok := u.Parent().Node().(*ast.AssignStmt)
	return ok && u.ParentEdgeKind() == edge.AssignStmt_Lhs && assign.Tok == token.DEFINE && len(assign.Lhs) == 1 &&
		s.Info().Defs[u.Node().(*ast.Ident)] != nil && s.Builtin(assign.Rhs[0], "make") != nil
}

// assigned is the only variable that gets the value of an assignment.
func (s *site) assigned(at inspector.Cursor) *types.Var {
	assign := at.Parent().Node().(*ast.AssignStmt)
	if assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 {
		return nil
	}
	return s.Local(assign.Lhs[0])
}

// cutsItself reports whether a variable gets a slice of itself.
func (s *site) cutsItself(u inspector.Cursor, v *types.Var) bool {
	assign := u.Parent().Node().(*ast.AssignStmt)
	if assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 {
		return false
	}
	cut, ok := ast.Unparen(assign.Rhs[0]).(*ast.SliceExpr)
	return ok && s.Local(cut.X) == v
}

// setsElement reports whether an element of the slice is read or set here, and its address not taken.
func (s *site) setsElement(at inspector.Cursor) bool {
	return at.ParentEdgeKind() == edge.IndexExpr_X && at.Parent().ParentEdgeKind() != edge.UnaryExpr_X &&
		code.Basic(s.Info().TypeOf(at.Parent().Node().(ast.Expr))) != nil
}

// fills reports whether a call writes into the slice and does not keep it: by the contract of io.Reader,
// its Read does not.
func (s *site) fills(at inspector.Cursor) bool {
	if at.ParentEdgeKind() != edge.CallExpr_Args {
		return false
	}
	call := at.Parent().Node().(*ast.CallExpr)
	name := s.Callee(call)
	switch {
	case s.Builtin(call, "copy") != nil:
		return true
	case name == "io.ReadFull" || name == "io.ReadAtLeast" || name == "crypto/rand.Read":
		return true
	case strings.HasPrefix(name, "(encoding/binary.littleEndian).Put"), strings.HasPrefix(name, "(encoding/binary.bigEndian).Put"):
		return true
	}
	results, ok := s.Info().TypeOf(call).(*types.Tuple)
	return strings.HasSuffix(name, ").Read") && len(call.Args) == 1 && ok && results.Len() == 2 &&
		results.At(0).Type() == types.Typ[types.Int] && types.Identical(results.At(1).Type(), types.Universe.Lookup("error").Type())
}

// nilStart reports whether the copy of nothing is nil.
func (s *site) nilStart() bool {
	call := s.Cur.Node().(*ast.CallExpr)
	if s.Builtin(call, "append") == nil {
		return false
	}
	_, literal := ast.Unparen(call.Args[0]).(*ast.CompositeLit)
	_, cut := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
	return !literal && !cut
}
