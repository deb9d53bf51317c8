package branch

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// MadeLater makes a value in the branches that use it, where it is made before anybody knows that
// it is needed: an error for a failure, a text for a log.
func MadeLater(on *code.Site) []code.Edit {
	s := &site{on}
	e, ok := s.Cur.Node().(ast.Expr)
	if !ok || s.free(e) {
		return nil
	}
	v, stmt := s.Defined()
	if v == nil {
		return s.asInit(e)
	}
	fn, body := code.Function(s.Cur)
	if body == nil || s.Commented(stmt.Node()) {
		return nil
	}
	open, ok := s.waits(e)
	if !ok {
		return nil
	}
	if open != onlyQuiet {
		if edits := s.asElse(e, v, stmt, open); edits != nil {
			return edits
		}
	}
	uses := s.Uses(v, fn)[1:]
	if slices.ContainsFunc(uses, changed) {
		return nil
	}
	before, ok := sunk(stmt.Parent().Node(), uses)
	if !ok || len(before) == 0 {
		return nil
	}
	return s.movedTo(e, before, code.Edit{Open: open, Changes: []code.Change{s.Replace(stmt.Node(), "")}})
}

// free reports whether an expression makes nothing: a constant, a number, a truth value, a name.
func (s *site) free(e ast.Expr) bool {
	tv := s.Info().Types[e]
	b := code.Basic(tv.Type)
	return tv.Value != nil || b != nil && b.Info()&types.IsString == 0 || s.Pure(e)
}

// changed reports whether a use of a variable changes it, or lets others do so.
func changed(u inspector.Cursor) bool {
	return u.ParentEdgeKind() == edge.AssignStmt_Lhs || u.ParentEdgeKind() == edge.UnaryExpr_X
}

// asInit makes a value in the body of a condition, where it is made before the condition is asked:
// if v := e; cond { … }.
func (s *site) asInit(e ast.Expr) []code.Edit {
	if s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs || s.Cur.Parent().ParentEdgeKind() != edge.IfStmt_Init {
		return nil
	}
	init := s.Cur.Parent()
	assign, guard := init.Node().(*ast.AssignStmt), init.Parent().Node().(*ast.IfStmt)
	open, ok := s.waits(e)
	if !ok || len(assign.Lhs) != 1 || assign.Tok != token.DEFINE {
		return nil
	}
	v := s.Local(assign.Lhs[0])
	list, listed := code.Statement(init.Parent())
	if v == nil || !listed {
		return nil
	}
	uses := s.Uses(v, init.Parent())[1:]
	if len(uses) == 0 || slices.ContainsFunc(uses, changed) {
		return nil
	}
	before, ok := sunk(list.Parent().Node(), uses)
	if !ok {
		return nil
	}
	return s.movedTo(e, before, code.Edit{Open: open, Changes: []code.Change{{From: s.Offset(assign.Pos()), To: s.Offset(guard.Cond.Pos())}}})
}

// movedTo completes an edit that takes the statement of the site from where it is and puts it before
// others.
func (s *site) movedTo(e ast.Expr, before []inspector.Cursor, edit code.Edit) []code.Edit {
	assign := s.Cur.Parent().Node().(*ast.AssignStmt)
	v := s.Local(assign.Lhs[0])
	_, body := code.Function(s.Cur)
	if !slices.ContainsFunc(before, func(at inspector.Cursor) bool { return !s.quiet(body, assign.End(), at.Node().Pos()) }) {
		edit.Open = s.printed(e) // nothing happens meanwhile
	}
	if edit.Open == onlyQuiet {
		return nil
	}
	for _, at := range before {
		if s.changes(e, body, assign.End(), at.Node().Pos()) || !s.sameNames(e, at.Node()) || s.Lookup(v.Name(), at.Node().Pos()) != v {
			return nil
		}
		edit.Changes = append(edit.Changes, s.Before(at.Node(), s.Source(assign)))
	}
	if len(before) > 1 && edit.Open == "" && !code.PointerFree(v.Type()) && !code.IsString(v.Type()) && !isError(v.Type()) {
		edit.Open = fmt.Sprintf("the branches must not share what `%s` points to", v.Name())
	}
	where := "where it is needed"
	if len(before) == 1 {
		where = fmt.Sprintf("on line %d, where it is needed", s.Line(before[0].Node().Pos()))
	}
	edit.Text = fmt.Sprintf("make `%s` %s", v.Name(), where)
	return []code.Edit{edit}
}

// printed is the question that is left of a value that nothing changes until it is made: the methods by which fmt prints
// values may do something; "" for others.
func (s *site) printed(e ast.Expr) string {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !strings.HasPrefix(s.Callee(call), "fmt.") {
		return ""
	}
	for _, a := range call.Args {
		t := s.Info().TypeOf(a)
		if list, ok := t.Underlying().(*types.Slice); ok {
			t = list.Elem()
		}
		if !isError(t) && code.Basic(t) == nil {
			return fmt.Sprintf("printing `%s` must change nothing", s.Source(a))
		}
	}
	return ""
}

// changes reports whether what an expression is made of may be changed between two positions.
func (s *site) changes(e ast.Expr, in ast.Node, from, to token.Pos) bool {
	parts := []ast.Expr{e}
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		parts = call.Args
	}
	return slices.ContainsFunc(parts, func(x ast.Expr) bool { return s.Changed(x, in, from, to) })
}

// lazy are functions that do nothing but make their result from their arguments.
var lazy = map[string]bool{
	"errors.New": true, "fmt.Errorf": true, "fmt.Sprint": true, "fmt.Sprintf": true, "fmt.Sprintln": true,
	"strconv.Itoa": true, "strconv.FormatInt": true, "strconv.FormatUint": true, "strconv.FormatFloat": true, "strconv.Quote": true,
	"strings.Join": true, "strings.Split": true, "strings.ToLower": true, "strings.ToUpper": true, "strings.Fields": true,
	"strings.ReplaceAll": true, "strings.Clone": true, "bytes.Clone": true,
}

// onlyQuiet stands for a question that is not asked: the value is made later only where nothing happens in between.
const onlyQuiet = "quiet"

// waits reports whether an expression can be evaluated later, or never, without anybody noticing: it
// computes with what sideless expressions give, and the functions of lazy. What formats print of values
// with methods is a question.
func (s *site) waits(e ast.Expr) (open string, ok bool) {
	e = ast.Unparen(e)
	call, isCall := e.(*ast.CallExpr)
	if !isCall {
		_, isFunc := e.(*ast.FuncLit)
		if s.shares(e) {
			open = onlyQuiet
		}
		return open, !isFunc && s.sideless([]ast.Expr{e})
	}
	if s.fresh(call) {
		return "", true
	}
	name := s.Callee(call)
	if !s.Info().Types[call.Fun].IsType() && !lazy[name] || call.Ellipsis.IsValid() || !s.sideless(call.Args) {
		return "", false
	}
	for _, a := range call.Args {
		t := s.Info().TypeOf(a)
		if code.Basic(t) == nil && !isError(t) && strings.HasPrefix(name, "fmt.") {
			open = fmt.Sprintf("what `%s` prints must not change before", s.Source(a))
		}
		if s.shares(a) {
			open = fmt.Sprintf("what `%s` points to must not change before", s.Source(a))
		}
	}
	return open, true
}

// fresh reports whether a call is new(T), or make with sizes that are constants, lengths, or sums and products of these.
func (s *site) fresh(call *ast.CallExpr) bool {
	if s.Builtin(call, "new") != nil {
		return s.Info().Types[call.Args[0]].IsType()
	}
	if s.Builtin(call, "make") == nil {
		return false
	}
	return !slices.ContainsFunc(call.Args[1:], func(e ast.Expr) bool { return !s.isLength(e) })
}

// isLength reports whether a number is not negative, and only variables tell it.
func (s *site) isLength(e ast.Expr) bool {
	if v := s.Info().Types[e].Value; v != nil {
		return constant.Sign(v) >= 0
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		return (e.Op == token.ADD || e.Op == token.MUL) && s.isLength(e.X) && s.isLength(e.Y)
	case *ast.CallExpr:
		if s.Builtin(e, "len") == nil || !s.Pure(e.Args[0]) {
			return false
		}
		_, isMap := s.Info().TypeOf(e.Args[0]).Underlying().(*types.Map)
		return !isMap
	}
	return false
}

// shares reports whether a value may change while the variables that an expression names do not: it
// reads memory through a slice, a map or a pointer.
func (s *site) shares(e ast.Expr) bool {
	shared := false
	ast.Inspect(e, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		if sel, ok := x.(*ast.SelectorExpr); ok && s.Pure(sel) {
			_, basic := s.Info().TypeOf(sel).Underlying().(*types.Basic)
			if basic {
				return false // fields that change are asked for apart
			}
		}
		t := s.Info().TypeOf(x)
		if t == nil || s.Info().Types[x].IsType() || s.Info().Types[x].IsNil() {
			return true
		}
		switch t.Underlying().(type) {
		case *types.Slice, *types.Pointer, *types.Map:
			if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.AND {
				x = u.X
			}
			if _, made := x.(*ast.CompositeLit); !made {
				shared = true
			}
		}
		return !shared
	})
	return shared
}

func isError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// sunk are the statements before which a value has to be made if it is made in branches below a block only:
// in each of the innermost lists of statements that use it, the first that does. Not ok if a use is in no
// branch, or in a loop or a function of its own.
func sunk(block ast.Node, uses []inspector.Cursor) (before []inspector.Cursor, ok bool) {
	lists := map[ast.Node]bool{}
	for _, u := range uses {
		at, ok := branch(u, block)
		if !ok {
			return nil, false
		}
		lists[at.Parent().Node()] = true
	}
	seen := map[ast.Node]bool{}
	for _, u := range uses {
		var top inspector.Cursor // the statement in the outermost of the lists
		for c := range u.Enclosing() {
			if lists[c.Parent().Node()] {
				top = c
			}
			if c.Parent().Node() == block {
				break
			}
		}
		if list := top.Parent().Node(); !seen[list] {
			seen[list] = true
			before = append(before, top)
		}
	}
	return before, true
}

// branch is the statement around a use in the innermost branch below a block.
func branch(u inspector.Cursor, block ast.Node) (at inspector.Cursor, ok bool) {
	for c := range u.Enclosing() {
		switch c.Node().(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit, *ast.LabeledStmt:
			return at, false
		}
		if c.Parent().Node() == block {
			return at, ok
		}
		if ok {
			continue
		}
		switch c.ParentEdgeKind() {
		case edge.BlockStmt_List:
			if k := c.Parent().ParentEdgeKind(); k == edge.IfStmt_Body || k == edge.IfStmt_Else {
				at, ok = c, true
			}
		case edge.CaseClause_Body, edge.CommClause_Body:
			at, ok = c, true
		}
	}
	return at, false
}

// sameNames reports whether all names of an expression mean the same at a place.
func (s *site) sameNames(e ast.Expr, at ast.Node) bool {
	same := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			ast.Inspect(n.X, func(x ast.Node) bool {
				id, ok := x.(*ast.Ident)
				same = same && (!ok || s.Info().ObjectOf(id) == s.Lookup(id.Name, at.Pos()))
				return true
			})
			return false
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok {
				if v, ok := s.Info().ObjectOf(id).(*types.Var); ok && v.IsField() {
					same = same && s.sameNames(n.Value, at)
					return false
				}
			}
		case *ast.Ident:
			same = same && s.Info().ObjectOf(n) == s.Lookup(n.Name, at.Pos())
		}
		return same
	})
	return same
}
