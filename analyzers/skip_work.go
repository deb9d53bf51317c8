package analyzers

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// SkipWork reports results that are made and then not looked at.
var SkipWork = skipWorkRule.analyzer("skipwork", skipWork)

var skipWorkRule = Rule{
	Code:  "skip-work",
	Title: "make it only where it is used",
	Why: "A default that is built before a test replaces it, a string made before the early return that ignores it, and the text " +
		"for a log level that is switched off cost as much as if they were used.",
	Before: "key := fmt.Sprintf(\"%s/%s\", a, b)\nif cache == nil {\n\treturn load(a, b)\n}\nreturn cache.get(key)",
	After:  "if cache == nil {\n\treturn load(a, b)\n}\nreturn cache.get(fmt.Sprintf(\"%s/%s\", a, b))",
	Silent: "the call may have effects beyond its result, the branch is that of an error, or an if around the log call asks for the level.",
}

func skipWork(s *source) {
	s.Each(s.checkEarly, (*ast.AssignStmt)(nil))
	s.Each(s.checkLog, (*ast.CallExpr)(nil))
}

// checkEarly looks at `v := make…` directly before an if that does not need v.
func (s *source) checkEarly(c inspector.Cursor) {
	assign := c.Node().(*ast.AssignStmt)
	if assign.Tok != token.DEFINE || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 ||
		c.ParentEdgeKind() != edge.BlockStmt_List {
		return
	}
	v := s.Object(assign.Lhs[0])
	what := s.allocates(assign.Rhs[0])
	next, ok := c.NextSibling()
	if v == nil || what == "" || !ok || s.Cold(c) {
		return
	}
	branch, ok := next.Node().(*ast.IfStmt)
	if !ok || branch.Else != nil || s.MentionsIn(branch.Cond, v) || branch.Init != nil &&
		s.MentionsIn(branch.Init, v) || s.TestsError(branch.Cond) {
		return
	}
	switch {
	case s.replaces(branch.Body, v):
		s.Flag(assign, "%s makes a value that the next branch replaces: make it in an else", what)
	case what == "make" && testsEmpty(branch.Cond):
		// What is made for nothing has no size.
	case s.returnsWithout(branch.Body, v):
		s.Flag(assign, "%s makes a value that the early return after it does not use: make it after the return", what)
	}
}

// allocates names the function that e calls, if the call allocates and has no
// other effect.
func (s *source) allocates(e ast.Expr) string {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return ""
	}
	for _, arg := range call.Args {
		if !s.Pure(arg) && !s.TypesInfo.Types[arg].IsType() {
			return ""
		}
	}
	if _, ok := s.Builtin(call, "make"); ok {
		return s.makesLarge(call)
	}
	switch name := s.CalleeName(call); name {
	case "fmt.Sprintf", "fmt.Sprint", "strings.Join", "strings.Split", "strings.Fields", "strings.Repeat",
		"strings.ReplaceAll",
		"bytes.Join", "bytes.Split", "bytes.Clone", "strings.Clone", "maps.Clone", "slices.Clone",
		"encoding/hex.EncodeToString", "strconv.Quote":
		return name
	}
	return ""
}

// makesLarge is "make" if the call makes a slice or map of a size that only the
// running program knows, or a channel with a buffer.
func (s *source) makesLarge(call *ast.CallExpr) string {
	if len(call.Args) < 2 || s.IsConstant(call.Args[len(call.Args)-1]) {
		return ""
	}
	return "make"
}

// testsEmpty reports whether cond compares a length with a number.
func testsEmpty(cond ast.Expr) bool {
	return strings.Contains(types.ExprString(cond), "len(")
}

// replaces reports whether body sets v, in a statement of its own list, without
// having looked at it.
func (s *source) replaces(body *ast.BlockStmt, v *types.Var) bool {
	for _, stmt := range body.List {
		assign, ok := stmt.(*ast.AssignStmt)
		if ok && assign.Tok == token.ASSIGN && len(assign.Lhs) == 1 && s.Object(assign.Lhs[0]) == v &&
			!s.MentionsIn(assign.Rhs[0], v) {
			return true
		}
		if s.MentionsIn(stmt, v) {
			return false
		}
	}
	return false
}

// returnsWithout reports whether body ends in a return that is no error's, and
// does not mention v.
func (s *source) returnsWithout(body *ast.BlockStmt, v *types.Var) bool {
	if s.MentionsIn(body, v) || len(body.List) == 0 || s.Fails(body.List) {
		return false
	}
	ret, ok := body.List[len(body.List)-1].(*ast.ReturnStmt)
	return ok && !s.GivesUp(ret)
}

// checkLog looks at arguments made for a level that may be switched off.
func (s *source) checkLog(c inspector.Cursor) {
	call := c.Node().(*ast.CallExpr)
	level := s.logs(call)
	if level != "debug" || s.guarded(c) || s.Cold(c) {
		return
	}
	for _, arg := range call.Args {
		made := ast.Unparen(arg)
		if _, ok := s.StringOf(made); ok {
			s.Flag(arg, "the bytes are copied to a string even when the level is off: ask for the level first")
			return
		}
		inner, ok := s.IsCallOf(made, "fmt.Sprintf", "fmt.Sprint", "strings.Join", "encoding/hex.EncodeToString",
			"encoding/hex.Dump",
			"net/http/httputil.DumpRequest", "github.com/davecgh/go-spew/spew.Sdump")
		if ok {
			s.Flag(arg, "%s runs even when the level is off: ask for the level first, or hand the logger the parts",
				s.CalleeName(inner))
			return
		}
	}
}

// logs says at what level call logs: "debug" for those that are switched off
// where it matters, "other", or "" if it is no logging call.
func (s *source) logs(call *ast.CallExpr) string {
	fn, ok := typeutil.Callee(s.TypesInfo, call).(*types.Func)
	if !ok || fn.Pkg() == nil {
		return ""
	}
	owner := fn.Pkg().Path()
	if recv := fn.Signature().Recv(); recv != nil {
		owner += " " + recv.Type().String()
	}
	if !strings.Contains(strings.ToLower(owner), "log") && !strings.Contains(owner, "zap") {
		return ""
	}
	name := fn.Name()
	if strings.HasPrefix(name, "Debug") || strings.HasPrefix(name, "Trace") {
		return "debug"
	}
	for _, level := range []string{"Info", "Warn", "Error", "Print", "Log", "Notice", "Fatal", "Panic"} {
		if strings.HasPrefix(name, level) {
			return "other"
		}
	}
	return ""
}

// guarded reports whether an if around c asks for a level or a switch.
func (s *source) guarded(c inspector.Cursor) bool {
	for stmt := range c.Enclosing((*ast.IfStmt)(nil)) {
		cond := strings.ToLower(types.ExprString(stmt.Node().(*ast.IfStmt).Cond))
		for _, word := range []string{"debug", "trace", "level", "enabled", "verbose", ".v("} {
			if strings.Contains(cond, word) {
				return true
			}
		}
	}
	return false
}
