package analyzers

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// CacheCompiled reports patterns known at compile time that are compiled on
// each call.
var CacheCompiled = cacheCompiledRule.analyzer("cachecompiled", cacheCompiled)

var cacheCompiledRule = Rule{
	Code:  "cache-compiled",
	Title: "compile a constant pattern once, in a package variable",
	Why: "Compiling a regular expression, parsing a template, or building a Replacer allocates tens to thousands of objects " +
		"that are the same each time.",
	Before: "func valid(s string) bool {\n\treturn regexp.MustCompile(`^\\w+$`).MatchString(s)\n}",
	After:  "var word = regexp.MustCompile(`^\\w+$`)\n\nfunc valid(s string) bool { return word.MatchString(s) }",
	Silent: "the pattern comes from elsewhere, the result is kept (returned, stored, passed on), or the function " +
		"runs once.",
}

func cacheCompiled(s *source) {
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		switch {
		case !s.usedHereOnly(c):
		case s.IsConstant(call.Args[0]):
			s.Flag(call, "a constant pattern is compiled on each call: compile it once, in a package variable")
		case s.isPutTogether(call.Args[0]):
			s.Flag(call, "a pattern is put together and compiled for one use: keep the compiled ones by what goes "+
				"into them")
		}
	}, "regexp.MustCompile", "regexp.Compile", "regexp.MustCompilePOSIX", "regexp.CompilePOSIX")
	s.EachCall(func(_ inspector.Cursor, call *ast.CallExpr) {
		if s.IsConstant(call.Args[0]) {
			s.Flag(call, "a constant pattern is compiled on each call: compile it once, in a package variable, and "+
				"match with that")
		}
	}, "regexp.MatchString", "regexp.Match", "regexp.MatchReader")
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		if s.allConstant(call.Args) && !call.Ellipsis.IsValid() && s.usedHereOnly(c) {
			s.Flag(call, "a Replacer of constants is built on each call: build it once, in a package variable")
		}
	}, "strings.NewReplacer")
	s.EachCall(func(_ inspector.Cursor, call *ast.CallExpr) {
		if name, ok := s.ConstantString(call.Args[0]); ok && name != "" && name != "UTC" && name != "Local" {
			s.Flag(call, "the zone's data is read and parsed on each call: load it once")
		}
	}, "time.LoadLocation")
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		if s.IsConstant(call.Args[0]) && s.startsFresh(call) && s.usedHereOnly(c) {
			s.Flag(call, "a constant template is parsed on each call: parse it once, in a package variable")
		}
	}, "(*text/template.Template).Parse", "(*html/template.Template).Parse")
}

// isPutTogether reports whether e adds variable text to a constant pattern.
func (s *source) isPutTogether(e ast.Expr) bool {
	if call, ok := s.IsCallOf(e, "fmt.Sprintf"); ok {
		return s.IsConstant(call.Args[0])
	}
	sum, ok := ast.Unparen(e).(*ast.BinaryExpr)
	return ok && (s.IsConstant(sum.X) || s.IsConstant(sum.Y) || s.isPutTogether(sum.X))
}

func (s *source) allConstant(list []ast.Expr) bool {
	for _, e := range list {
		if !s.IsConstant(e) {
			return false
		}
	}
	return len(list) > 0
}

// startsFresh reports whether the receiver of call is a chain that begins with
// template.New and takes in nothing that a call could change.
func (s *source) startsFresh(call *ast.CallExpr) bool {
	for {
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return false
		}
		inner, ok := ast.Unparen(sel.X).(*ast.CallExpr)
		if !ok {
			return false
		}
		for _, arg := range inner.Args {
			if !s.IsConstant(arg) && !s.isPackageVar(arg) {
				return false
			}
		}
		switch s.CalleeName(inner) {
		case "text/template.New", "html/template.New":
			return true
		}
		call = inner
	}
}

func (s *source) isPackageVar(e ast.Expr) bool {
	v := s.Object(e)
	return v != nil && v.Parent() == s.Pkg.Scope()
}

// usedHereOnly reports whether the value at c, or the variable that it is put
// into, is only the receiver of method calls.
func (s *source) usedHereOnly(c inspector.Cursor) bool {
	for c.ParentEdgeKind() == edge.CallExpr_Args { // template.Must(…)
		if _, ok := s.IsCallOf(c.Parent().Node().(*ast.CallExpr), "text/template.Must", "html/template.Must"); !ok {
			return false
		}
		c = c.Parent()
	}
	if isReceiver(c) {
		return true
	}
	v, stmt := s.assignedTo(c)
	if v == nil {
		return false
	}
	for _, use := range s.Uses[v] {
		if use.Node().Pos() >= stmt.Pos() && use.Node().End() <= stmt.End() {
			continue
		}
		if !isReceiver(use) || s.inLiteral(use, stmt) {
			return false
		}
	}
	return true
}

// isReceiver reports whether c is x of a call x.f(…).
func isReceiver(c inspector.Cursor) bool {
	return c.ParentEdgeKind() == edge.SelectorExpr_X && c.Parent().ParentEdgeKind() == edge.CallExpr_Fun
}

// assignedTo returns the local variable that a short declaration, or a var
// statement, makes of the first result at c.
func (s *source) assignedTo(c inspector.Cursor) (*types.Var, ast.Node) {
	switch c.ParentEdgeKind() {
	case edge.AssignStmt_Rhs:
		assign := c.Parent().Node().(*ast.AssignStmt)
		if assign.Tok == token.DEFINE && len(assign.Rhs) == 1 {
			return s.Object(assign.Lhs[0]), assign
		}
	case edge.ValueSpec_Values:
		spec := c.Parent().Node().(*ast.ValueSpec)
		if len(spec.Values) == 1 {
			return s.Object(spec.Names[0]), spec
		}
	}
	return nil, nil
}

// inLiteral reports whether use stands in a function literal that the
// statement does not: the value then is made once for many calls of it.
func (s *source) inLiteral(use inspector.Cursor, stmt ast.Node) bool {
	for f := range use.Enclosing((*ast.FuncLit)(nil)) {
		if !(f.Node().Pos() <= stmt.Pos() && stmt.End() <= f.Node().End()) {
			return true
		}
	}
	return false
}
