package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// rareIf is an if statement that a value may be made before: without an initial statement, and with
// no call in its condition but len, so that nothing that the value names changes meanwhile.
func rareIf(s *source.File, n ast.Node) *ast.IfStmt {
	st, ok := n.(*ast.IfStmt)
	if !ok || st.Init != nil || len(st.Body.List) == 0 {
		return nil
	}
	if p, ok := s.Parent(st).(*ast.IfStmt); ok && p.Else == st {
		return nil
	}
	calls := false
	ast.Inspect(st.Cond, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && s.Builtin(c, "len") == nil {
			calls = true
		}
		return true
	})
	if calls {
		return nil
	}
	return st
}

// madeBefore makes an expression of the body before the condition is asked.
func madeBefore(s *source.File, st *ast.IfStmt, e ast.Expr, name string) []corpus.Edit {
	if strings.Contains(s.Of(e), "\n") || strings.Contains(s.Of(st), name) {
		return nil
	}
	return []corpus.Edit{s.Insert(st.Cond.Pos(), name+" := ("+s.Of(e)+"); "), s.Swap(e, name)}
}

// eagerError makes an error, or the text of a panic, before it asks whether there is one.
func eagerError(s *source.File, n ast.Node) []corpus.Edit {
	st := rareIf(s, n)
	if st == nil {
		return nil
	}
	var list []ast.Expr
	switch last := st.Body.List[len(st.Body.List)-1].(type) {
	case *ast.ReturnStmt:
		list = last.Results
	case *ast.ExprStmt:
		if args := s.Builtin(last.X, "panic"); len(args) == 1 {
			list = args
		}
	}
	for _, e := range list {
		for _, of := range [][2]string{{"fmt", "Errorf"}, {"errors", "New"}, {"fmt", "Sprintf"}, {"fmt", "Sprint"}} {
			args := s.Call(e, of[0], of[1])
			if args == nil || slices.ContainsFunc(args, func(a ast.Expr) bool { return !s.Simple(a, st.Pos()) }) {
				continue
			}
			return madeBefore(s, st, e, "failure")
		}
	}
	return nil
}

// eagerValue makes a value before it asks whether it is needed.
func eagerValue(s *source.File, n ast.Node) []corpus.Edit {
	st := rareIf(s, n)
	if st == nil || st.Else != nil {
		return nil
	}
	var out []corpus.Edit
	ast.Inspect(st.Body.List[0], func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || out != nil {
			return out == nil
		}
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if makesNew(s, e, st.Pos()) {
			out = madeBefore(s, st, e, "value")
			return false
		}
		return true
	})
	return out
}

// makesNew reports whether an expression makes new memory of what is there before a position.
func makesNew(s *source.File, e ast.Expr, before token.Pos) bool {
	simple := func(list []ast.Expr) bool {
		return !slices.ContainsFunc(list, func(a ast.Expr) bool {
			if kv, ok := a.(*ast.KeyValueExpr); ok {
				a = kv.Value
			}
			return !s.Simple(a, before)
		})
	}
	switch e := e.(type) {
	case *ast.UnaryExpr:
		l, ok := e.X.(*ast.CompositeLit)
		return ok && e.Op == token.AND && simple(l.Elts)
	case *ast.CallExpr:
		if args := s.Builtin(e, "make"); len(args) > 1 {
			return simple(args[1:])
		}
		if s.Builtin(e, "new") != nil {
			return true
		}
		if len(e.Args) == 1 && s.Info.Types[e.Fun].IsType() && (s.IsString(e) && s.IsBytes(e.Args[0]) || s.IsBytes(e) && s.IsString(e.Args[0])) {
			return simple(e.Args)
		}
		for _, of := range [][2]string{{"bytes", "Clone"}, {"slices", "Clone"}, {"strings", "ToLower"}, {"strings", "ToUpper"},
			{"fmt", "Sprintf"}, {"strconv", "Itoa"}, {"strings", "Repeat"}} {
			if args := s.Call(e, of[0], of[1]); args != nil {
				return simple(args)
			}
		}
	case *ast.BinaryExpr:
		return e.Op == token.ADD && s.IsString(e) && simple([]ast.Expr{e.X, e.Y})
	}
	return false
}

// logUnguarded hands what a function is called with to a log that is off.
func logUnguarded(s *source.File, n ast.Node) []corpus.Edit {
	fn, ok := n.(*ast.FuncDecl)
	if !ok || !s.Free("debugf", "debugLog") || fn.Name.Name == "init" {
		return nil
	}
	params := s.Params(fn, func(t types.Type) bool {
		switch t := t.Underlying().(type) {
		case *types.Basic:
			return t.Info()&(types.IsString|types.IsNumeric) != 0
		case *types.Slice:
			return true
		}
		return false
	})
	if len(params) == 0 {
		return nil
	}
	text := ` debugf("` + fn.Name.Name + strings.Repeat(" %v", min(len(params), 2)) + `"`
	for _, id := range params[:min(len(params), 2)] {
		text += ", " + id.Name
	}
	return []corpus.Edit{s.Insert(fn.Body.Lbrace+1, text+");"),
		s.Tail("var debugLog func(format string, args ...interface{})\n\nfunc debugf(format string, args ...interface{}) {\n\tif debugLog != nil {\n\t\tdebugLog(format, args...)\n\t}\n}")}
}

// contextValue adds a value to a context that nobody asks for.
func contextValue(s *source.File, n ast.Node) []corpus.Edit {
	fn, ok := n.(*ast.FuncDecl)
	if !ok || !s.Free("callKey") {
		return nil
	}
	params := s.Params(fn, func(t types.Type) bool { return types.TypeString(t, nil) == "context.Context" })
	if len(params) == 0 {
		return nil
	}
	name, add := s.Named("context")
	ctx := params[0].Name
	return append(add, s.Insert(fn.Body.Lbrace+1, " "+ctx+" = "+name+".WithValue("+ctx+`, callKey{}, "`+fn.Name.Name+`");`),
		s.Tail("type callKey struct{}"))
}

// madeAgain makes a value at each place where it is used.
func madeAgain(s *source.File, n ast.Node) []corpus.Edit {
	a, ok := n.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 || len(a.Rhs) != 1 || strings.Contains(s.Of(a), "\n") {
		return nil
	}
	if _, ok := s.Parent(a).(*ast.BlockStmt); !ok {
		return nil
	}
	operand := pureOperand(s, a.Rhs[0], a.Pos())
	fn := s.Around(n)
	if operand == nil || fn == nil {
		return nil
	}
	o := s.Object(a.Lhs[0])
	if o == nil || s.Assigns(fn.Body, o) || s.Assigns(fn.Body, s.Object(operand)) {
		return nil
	}
	out := []corpus.Edit{s.Gone(a, s.Of(operand))}
	for _, u := range s.Uses(o) {
		if u.N == a.Lhs[0] {
			continue
		}
		if p, ok := s.Parent(u.N).(*ast.KeyValueExpr); ok && p.Key == u.N {
			return nil
		}
		out = append(out, s.Swap(u.N, s.Of(a.Rhs[0])))
	}
	if len(out) < 3 {
		return nil
	}
	return out
}

// pureOperand is the local operand of an expression that makes the same text each time, nil where the
// expression is another.
func pureOperand(s *source.File, e ast.Expr, before token.Pos) ast.Expr {
	var args []ast.Expr
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.ADD && s.IsString(e) {
			args = []ast.Expr{e.X, e.Y}
		}
	case *ast.CallExpr:
		if s.Info.Types[e.Fun].IsType() && len(e.Args) == 1 && s.IsString(e.Args[0]) {
			args = e.Args
		}
		for _, of := range [][2]string{{"strings", "ToLower"}, {"strings", "ToUpper"}, {"strings", "Repeat"}, {"strings", "ReplaceAll"},
			{"strings", "Replace"}, {"strconv", "Itoa"}, {"strconv", "FormatInt"}, {"strconv", "FormatUint"}, {"strconv", "FormatFloat"},
			{"strconv", "Quote"}, {"fmt", "Sprintf"}, {"fmt", "Sprint"}, {"strings", "Split"}, {"strings", "Fields"}} {
			if list := s.Call(e, of[0], of[1]); list != nil {
				args = list
			}
		}
	}
	for _, a := range args {
		if !s.Simple(a, before) {
			return nil
		}
	}
	for _, a := range args {
		id, ok := a.(*ast.Ident)
		if !ok || s.Info.Types[a].Value != nil {
			continue
		}
		if _, basic := s.TypeOf(a).Underlying().(*types.Basic); basic {
			return id
		}
	}
	return nil
}

// noCapacityCheck makes scratch memory anew although what is there would do.
func noCapacityCheck(s *source.File, n ast.Node) []corpus.Edit {
	st, ok := n.(*ast.IfStmt)
	if !ok || st.Init != nil || st.Else != nil || len(st.Body.List) == 0 {
		return nil
	}
	c, ok := st.Cond.(*ast.BinaryExpr)
	if !ok {
		return nil
	}
	x := ast.Expr(nil)
	for _, f := range []string{"cap", "len"} {
		for _, e := range []ast.Expr{c.X, c.Y} {
			if args := s.Builtin(e, f); len(args) == 1 {
				x = args[0]
			}
		}
	}
	if c.Op == token.EQL && s.Of(c.Y) == "nil" {
		x = c.X
	}
	if x == nil {
		return nil
	}
	for _, b := range st.Body.List {
		a, ok := b.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN || s.Of(a.Lhs[0]) != s.Of(x) {
			continue
		}
		if _, ok := a.Rhs[0].(*ast.FuncLit); !ok && !strings.HasPrefix(s.Of(a.Rhs[0]), "append(") {
			return []corpus.Edit{s.Swap(st.Cond, "true")}
		}
	}
	return nil
}
