package code

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// EnclosingLoop is the innermost loop that runs c again and again, within the
// function that c stands in.
func EnclosingLoop(c inspector.Cursor) (inspector.Cursor, bool) {
	for c.Node() != nil {
		switch c.ParentEdgeKind() {
		case edge.RangeStmt_Body, edge.ForStmt_Body, edge.ForStmt_Cond, edge.ForStmt_Post:
			return c.Parent(), true
		case edge.FuncLit_Body, edge.FuncDecl_Body, edge.File_Decls:
			return inspector.Cursor{}, false
		}
		c = c.Parent()
	}
	return inspector.Cursor{}, false
}

// Repeats reports whether what stands at c, in loop, may run on more than a few
// trips: the loop is not over a handful of constants, and none of the lists of
// statements around c goes on to leave the loop.
func (s *Source) Repeats(c, loop inspector.Cursor) bool {
	for ; c != loop; c = c.Parent() {
		switch c.ParentEdgeKind() {
		case edge.BlockStmt_List, edge.CaseClause_Body, edge.CommClause_Body:
			if leaves(c) {
				return false
			}
		}
	}
	return s.mayRunOften(loop.Node())
}

// leaves reports whether the list of statements, from c on, ends the loop.
func leaves(c inspector.Cursor) bool {
	for ok := true; ok; c, ok = c.NextSibling() {
		switch n := c.Node().(type) {
		case *ast.ReturnStmt:
			return true
		case *ast.BranchStmt:
			if n.Tok == token.BREAK || n.Tok == token.GOTO {
				return true
			}
		}
	}
	return false
}

// mayRunOften excludes loops over a few constants.
func (s *Source) mayRunOften(loop ast.Node) bool {
	r, ok := loop.(*ast.RangeStmt)
	if !ok {
		return true
	}
	if _, literal := r.X.(*ast.CompositeLit); literal {
		return false
	}
	array, ok := s.TypesInfo.TypeOf(r.X).Underlying().(*types.Array)
	return !ok || array.Len() >= manyTrips
}

// EnclosingFunc is the innermost function, declared or literal, whose body c
// stands in.
func EnclosingFunc(c inspector.Cursor) (inspector.Cursor, bool) {
	for f := range c.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		if f != c {
			return f, true
		}
	}
	return inspector.Cursor{}, false
}

// Cold reports whether c visibly runs once, or only when something went wrong.
func (s *Source) Cold(c inspector.Cursor) bool {
	inLiteral, inLoop := false, false
	for c.ParentEdgeKind() != edge.File_Decls {
		switch c.ParentEdgeKind() {
		case edge.FuncLit_Body:
			inLiteral = true
		case edge.ForStmt_Body, edge.RangeStmt_Body:
			inLoop = true
		case edge.FuncDecl_Body:
			fn := c.Parent().Node().(*ast.FuncDecl)
			return s.reportsOnly(fn) || !inLiteral && s.runsOnce(fn, inLoop)
		}
		if s.coldWithin(c) {
			return true
		}
		c = c.Parent()
	}
	return !inLiteral // the initial value of a package variable
}

// coldWithin reports whether the node around c runs c only in case of failure,
// or once.
func (s *Source) coldWithin(c inspector.Cursor) bool {
	switch n := c.Parent().Node().(type) {
	case *ast.CallExpr:
		return c.ParentEdgeKind() == edge.CallExpr_Args && (s.callsOnce(n) || s.reportsFailure(n))
	case *ast.IfStmt:
		if c.ParentEdgeKind() == edge.IfStmt_Body && s.TestsError(n.Cond) {
			return true
		}
		block, ok := c.Node().(*ast.BlockStmt)
		return ok && s.Fails(block.List)
	case *ast.CaseClause:
		return s.Fails(n.Body)
	}
	return false
}

// runsOnce reports whether a declared function runs once in a process. The
// loops of a main function may still be where the program works.
func (s *Source) runsOnce(fn *ast.FuncDecl, inLoop bool) bool {
	if fn.Recv != nil {
		return false
	}
	return fn.Name.Name == "init" || fn.Name.Name == "main" && s.Pkg.Name() == "main" && !inLoop
}

// reportsOnly reports whether fn is there to put an error or a debugging value
// into words.
func (s *Source) reportsOnly(fn *ast.FuncDecl) bool {
	return fn.Recv != nil && (fn.Name.Name == "Error" || fn.Name.Name == "GoString")
}
func (s *Source) callsOnce(call *ast.CallExpr) bool {
	switch s.CalleeName(call) {
	case "(*sync.Once).Do", "sync.OnceFunc", "sync.OnceValue", "sync.OnceValues":
		return true
	}
	return false
}

// reportsFailure reports whether call ends the program, or makes an error.
func (s *Source) reportsFailure(call *ast.CallExpr) bool {
	if _, ok := s.Builtin(call, "panic"); ok {
		return true
	}
	name := s.CalleeName(call)
	for _, word := range []string{"Fatal", "Panic", "os.Exit"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	if t := s.TypesInfo.TypeOf(call); t == nil || !isError(t) {
		return false
	}
	// A function that may return an error, such as a writer, is no maker of one.
	last := name[strings.LastIndexAny(name, "./)")+1:]
	return strings.HasPrefix(name, "errors.") || strings.Contains(last, "Err") || strings.HasPrefix(last, "Wrap")
}

// TestsError reports whether cond is true when an error is there.
func (s *Source) TestsError(cond ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	switch b.Op {
	case token.LAND:
		return s.TestsError(b.X) || s.TestsError(b.Y)
	case token.LOR:
		return s.TestsError(b.X) && s.TestsError(b.Y)
	}
	return b.Op == token.NEQ && s.IsNil(b.Y) && isError(s.TypesInfo.TypeOf(b.X))
}

// Fails reports whether a branch ends in a panic or the return of a new error.
func (s *Source) Fails(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch last := list[len(list)-1].(type) {
	case *ast.ExprStmt:
		call, ok := last.X.(*ast.CallExpr)
		return ok && s.reportsFailure(call)
	case *ast.ReturnStmt:
		return s.returnsError(last)
	}
	return false
}

// returnsError reports whether the last result of ret is an error and made here.
func (s *Source) returnsError(ret *ast.ReturnStmt) bool {
	if len(ret.Results) == 0 {
		return false
	}
	switch e := ast.Unparen(ret.Results[len(ret.Results)-1]).(type) {
	case *ast.CallExpr:
		return s.reportsFailure(e)
	case *ast.UnaryExpr:
		_, literal := e.X.(*ast.CompositeLit)
		return literal && isError(s.TypesInfo.TypeOf(e))
	case *ast.CompositeLit:
		return isError(s.TypesInfo.TypeOf(e))
	}
	return false
}
