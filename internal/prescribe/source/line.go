package source

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Line is one line of source with the expressions that may allocate there.
type Line struct {
	Number int
	Func   *Func
	Exprs  []*Expr // in the order of the source, outer ones before inner ones

	file    *file
	program *Program
	path    []ast.Node // from the file to the innermost function on the line
}

// Func is the function or function literal that a line is in.
type Func struct {
	Name       string // of the declaration
	First      int    // lines
	Last       int
	Literal    bool // the line is in a function literal
	Init       bool // package initialisation: runs once
	Exported   bool // by name, and so is its receiver's type
	Loops      int  // loops in it
	Parameters []string

	decl *ast.FuncDecl
	body *ast.BlockStmt
	fn   *ssa.Function
}

// enclosing is the path of nodes to the innermost function around the line. A literal that
// begins on the line counts only if inside is set.
func (l *Line) enclosing(inside bool) []ast.Node {
	var path, best []ast.Node
	ast.Inspect(l.file.syntax, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		if !l.spans(n) {
			return false
		}
		path = append(path, n)
		switch n.(type) {
		case *ast.FuncDecl:
			best = append([]ast.Node(nil), path...)
		case *ast.FuncLit:
			// A literal that begins on the line is an expression of the line.
			if inside || l.LineOf(n.Pos()) != l.Number || len(best) == 0 {
				best = append([]ast.Node(nil), path...)
			}
		}
		return true
	})
	return best
}

// LineOf is the line of a position of the file.
func (l *Line) LineOf(p token.Pos) int { return l.program.fset.PositionFor(p, false).Line }

// spans reports whether the line is within a node.
func (l *Line) spans(n ast.Node) bool {
	if f, ok := n.(*ast.File); ok {
		return l.LineOf(f.FileStart) <= l.Number && l.Number <= l.LineOf(f.FileEnd)
	}
	return l.LineOf(n.Pos()) <= l.Number && l.Number <= l.LineOf(n.End())
}

// function describes the innermost function; nil outside of any.
func (l *Line) function() *Func {
	f := &Func{}
	for _, n := range l.path {
		switch n := n.(type) {
		case *ast.FuncDecl:
			f.decl, f.body = n, n.Body
			f.Name = n.Name.Name
			f.Init = n.Recv == nil && n.Name.Name == "init"
			f.Exported = n.Name.IsExported()
			f.Parameters = names(n.Type.Params)
			if obj, ok := l.Info().Defs[n.Name].(*types.Func); ok {
				f.fn = l.program.funcs[obj]
			}
		case *ast.FuncLit:
			f.body, f.Literal = n.Body, true
			f.Parameters = append(f.Parameters, names(n.Type.Params)...)
			f.fn = l.program.lits[n]
			f.Init = f.Init || f.decl == nil && len(l.path) > 0
		}
	}
	if f.body == nil {
		return nil
	}
	if f.decl == nil {
		f.Init = false // a literal in a package variable runs when it is called
	}
	f.First, f.Last = l.LineOf(l.path[len(l.path)-1].Pos()), l.LineOf(f.body.End())
	ast.Inspect(f.body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			f.Loops++
		}
		return true
	})
	return f
}

// Conditional reports whether another line of the same function is in a branch that this one
// is not in, so it may run less often.
func (l *Line) Conditional(line int) bool {
	found := false
	ast.Inspect(l.Func.body, func(n ast.Node) bool {
		var body ast.Node
		switch n := n.(type) {
		case *ast.IfStmt:
			switch {
			case l.within(n.Body, line):
				body = n.Body
			case n.Else != nil && l.within(n.Else, line):
				body = n.Else
			}
		case *ast.CaseClause, *ast.CommClause:
			body = n
		}
		if body != nil && l.within(body, line) && !l.within(body, l.Number) {
			found = true
		}
		return !found
	})
	return found
}

func (l *Line) within(n ast.Node, line int) bool {
	return l.LineOf(n.Pos()) <= line && line <= l.LineOf(n.End())
}

func names(fields *ast.FieldList) []string {
	var out []string
	if fields == nil {
		return nil
	}
	for _, f := range fields.List {
		for _, n := range f.Names {
			out = append(out, n.Name)
		}
	}
	return out
}

// Info has the types of the expressions of the file. It is not to be changed.
func (l *Line) Info() *types.Info { return l.file.pkg.TypesInfo }

// Loop is a loop around an expression.
type Loop struct {
	First int    // line
	Count string // Go expression for how often it runs at most; empty when the code does not say
	Over  string // what it ranges over; empty for another loop

	node ast.Node
}

// loopOf describes a for or range statement.
func (l *Line) loopOf(n ast.Node) Loop {
	loop := Loop{First: l.LineOf(n.Pos()), node: n}
	switch n := n.(type) {
	case *ast.RangeStmt:
		loop.Over = l.text(n.X)
		loop.Count = l.countOf(n.X)
	case *ast.ForStmt:
		loop.Count = l.boundOf(n)
	}
	return loop
}

// countOf is the number of iterations of a range over x.
func (l *Line) countOf(x ast.Expr) string {
	t := l.Info().TypeOf(x)
	if t == nil {
		return ""
	}
	switch u := t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Array:
		return l.lenOf(x)
	case *types.Pointer:
		if _, ok := u.Elem().Underlying().(*types.Array); ok {
			return l.lenOf(x)
		}
	case *types.Basic:
		switch {
		case u.Info()&types.IsInteger != 0:
			return l.number(x)
		case u.Info()&types.IsString != 0 && pureOperand(x) != nil:
			return "utf8.RuneCountInString(" + l.text(x) + ")"
		}
	case *types.Signature:
		return l.sequence(x)
	}
	return ""
}

func (l *Line) lenOf(x ast.Expr) string {
	if pureOperand(x) == nil {
		return ""
	}
	return "len(" + l.text(x) + ")"
}

// sequence is the length of what an iterator of the standard library goes over.
func (l *Line) sequence(x ast.Expr) string {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return ""
	}
	switch l.callee(call) {
	case "maps.Keys", "maps.Values", "maps.All", "slices.All", "slices.Values", "slices.Backward":
		return l.lenOf(call.Args[0])
	}
	return ""
}

// boundOf is how often a for statement runs at most: n of for i := 0; i < n; i++, of for i := 1; i <= n; i++ and of
// for i := n - 1; i >= 0; i--, n-m of for i := m; i < n; i++, and l.Len() for one over the elements of a container/list.
func (l *Line) boundOf(n *ast.ForStmt) string {
	init, ok := n.Init.(*ast.AssignStmt)
	cond, isTest := n.Cond.(*ast.BinaryExpr)
	if !ok || !isTest || n.Post == nil || len(init.Rhs) != 1 {
		return ""
	}
	from := init.Rhs[0]
	switch inc, _ := n.Post.(*ast.IncDecStmt); cond.Op {
	case token.LSS, token.LEQ:
		switch n, v := l.number(cond.Y), l.Info().Types[from].Value; {
		case inc == nil || inc.Tok != token.INC || n == "":
		case cond.Op == token.LSS && l.isZero(from) || cond.Op == token.LEQ && v != nil && v.String() == "1":
			return n
		case cond.Op == token.LSS && (l.Constant(from) || pureOperand(from) != nil):
			return n + "-" + l.text(from)
		}
	case token.GEQ:
		last, ok := from.(*ast.BinaryExpr)
		if inc != nil && inc.Tok == token.DEC && l.isZero(cond.Y) && ok && last.Op == token.SUB && l.Constant(last.Y) {
			return l.number(last.X)
		}
	case token.NEQ:
		return l.listOf(from)
	}
	return ""
}

// number is an expression that counts something without effects; "" for others.
func (l *Line) number(e ast.Expr) string {
	if pureOperand(e) == nil && !l.isLen(e) && !l.isNumMethod(e) {
		return ""
	}
	return l.text(e)
}

// listOf is the number of elements of the container/list that an element is the first or last of.
func (l *Line) listOf(e ast.Expr) string {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return ""
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if callee := l.callee(call); !ok || callee != "container/list.(*List).Front" && callee != "container/list.(*List).Back" || pureOperand(sel.X) == nil {
		return ""
	}
	return l.text(sel.X) + ".Len()"
}

func (l *Line) isZero(e ast.Expr) bool {
	v := l.Info().Types[e].Value
	return v != nil && v.String() == "0"
}

func (l *Line) isLen(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	return ok && l.builtin(call) == "len" && pureOperand(call.Args[0]) != nil
}

// isNumMethod reports whether e counts something without arguments: x.Len().
func (l *Line) isNumMethod(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && pureOperand(sel.X) != nil && (sel.Sel.Name == "Len" || sel.Sel.Name == "NumField")
}

// pureOperand returns e when reading it has no side effect: a name, or a chain
// of fields.
func pureOperand(e ast.Expr) ast.Expr {
	switch x := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		if pureOperand(x.X) != nil {
			return e
		}
	case *ast.IndexExpr:
		if _, constant := x.Index.(*ast.BasicLit); constant && pureOperand(x.X) != nil {
			return e
		}
	case *ast.ParenExpr:
		return pureOperand(x.X)
	case *ast.StarExpr:
		return pureOperand(x.X)
	case *ast.BasicLit:
		return e
	}
	return nil
}
