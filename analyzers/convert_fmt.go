package analyzers

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// longFormat is the length above which a format is a template, which reads
// better whole than in pieces.
const longFormat = 64

// simpleFormat reports whether format and args need fmt for nothing: strings
// and integers put between constant text. It says how many of each there are.
func (s *source) simpleFormat(format ast.Expr, args []ast.Expr) (texts, numbers int, ok bool) {
	f, isConst := s.constantString(format)
	if !isConst {
		return 0, 0, false
	}
	list, simple := verbs(f)
	if !simple || len(f) > longFormat || len(list) != len(args) || len(args) == 0 {
		return 0, 0, false
	}
	for i, verb := range list {
		t := s.TypesInfo.TypeOf(args[i])
		switch {
		case t == nil || !plain(t) || s.isConstant(args[i]):
			return 0, 0, false
		case isString(t) && (verb == 's' || verb == 'v'):
			texts++
		case isInteger(t) && (verb == 'd' || verb == 'v'):
			numbers++
		default:
			return 0, 0, false
		}
	}
	return texts, numbers, true
}

// checkSprintf looks at calls of Sprintf that strconv and + can do.
func (s *source) checkSprintf() {
	s.eachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		if len(call.Args) == 0 || call.Ellipsis.IsValid() || s.consumed(c) {
			return
		}
		texts, numbers, ok := s.simpleFormat(call.Args[0], call.Args[1:])
		if !ok || texts+numbers > 4 {
			return
		}
		f, _ := s.constantString(call.Args[0])
		switch bare := len(f) == 2; {
		case bare && texts == 1:
			s.report(call, "Sprintf boxes and copies what is a string already: use %s", brief(call.Args[1]))
		case bare:
			s.report(call, "Sprintf boxes the number to format it: use strconv.%s", formatter(s.TypesInfo.TypeOf(call.Args[1])))
		case numbers == 0:
			s.report(call, "Sprintf boxes strings to join them: concatenate them with +")
		default:
			s.report(call, "Sprintf boxes its arguments: concatenate with + and format numbers with strconv")
		}
	}, "fmt.Sprintf")
}

// formatter names the function of strconv for integers of type t.
func formatter(t types.Type) string {
	b := t.Underlying().(*types.Basic)
	switch {
	case b.Kind() == types.Int:
		return "Itoa"
	case b.Info()&types.IsUnsigned != 0:
		return "FormatUint"
	}
	return "FormatInt"
}

// consumed reports whether another check speaks of the call at c by what is
// done with the string, or whether it is a message that is made only to be
// logged or to name something in a report.
func (s *source) consumed(c inspector.Cursor) bool {
	if isMessage(c) {
		return true
	}
	if assign, ok := c.Parent().Node().(*ast.AssignStmt); ok && s.growsString(assign) != nil {
		if _, ok := enclosingLoop(c); ok {
			return true // checkConcatLoops has its say
		}
	}
	if c.ParentEdgeKind() != edge.CallExpr_Args {
		return false
	}
	parent := c.Parent().Node().(*ast.CallExpr)
	if _, ok := s.bytesOf(parent); ok {
		return true
	}
	if dwarfs(s.calleeName(parent)) {
		return true
	}
	sel, ok := parent.Fun.(*ast.SelectorExpr)
	return ok && (strings.HasPrefix(sel.Sel.Name, "Write") || s.logs(parent) != "")
}

// dwarfs reports whether a call of the named function costs so much that making
// the text for it does not count.
func dwarfs(name string) bool {
	for _, prefix := range []string{"regexp.", "os/exec.", "net/http.NewRequest", "net.Dial", "os.Open", "os.ReadFile"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// isMessage reports whether the text at c is named as words for a person.
func isMessage(c inspector.Cursor) bool {
	name := ""
	switch n := c.Parent().Node().(type) {
	case *ast.KeyValueExpr:
		name = types.ExprString(n.Key)
	case *ast.AssignStmt:
		if i := c.ParentEdgeIndex(); c.ParentEdgeKind() == edge.AssignStmt_Rhs && i < len(n.Lhs) {
			name = types.ExprString(n.Lhs[i])
		}
	case *ast.CallExpr:
		name = types.ExprString(n.Fun)
	}
	name = strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	for _, word := range []string{"msg", "message", "err", "reason", "desc", "detail", "warn", "help", "usage", "fail", "log"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// checkFprintf looks at calls of Fprint that write a string or two.
func (s *source) checkFprintf() {
	s.eachCall(func(_ inspector.Cursor, call *ast.CallExpr) {
		if len(call.Args) < 3 || call.Ellipsis.IsValid() || s.isTerminal(call.Args[0]) {
			return
		}
		texts, numbers, ok := s.simpleFormat(call.Args[1], call.Args[2:])
		if !ok || texts+numbers > 3 {
			return
		}
		// Several writes instead of one are no gain where each may be a system call.
		f, _ := s.constantString(call.Args[1])
		buffer := isBuffer(s.TypesInfo.TypeOf(call.Args[0]))
		switch {
		case numbers == 0 && (buffer || len(f) == 2):
			s.report(call, "Fprintf boxes each string to write it: %s", s.writeString(call.Args[0]))
		case buffer:
			s.report(call, "Fprintf boxes what it writes: write the strings, and append numbers with strconv.Append")
		}
	}, "fmt.Fprintf")
	s.eachCall(func(_ inspector.Cursor, call *ast.CallExpr) {
		if len(call.Args) != 2 || call.Ellipsis.IsValid() || s.isTerminal(call.Args[0]) || s.isConstant(call.Args[1]) {
			return
		}
		if t := s.TypesInfo.TypeOf(call.Args[1]); isString(t) && plain(t) {
			s.report(call, "Fprint boxes the string to write it: %s", s.writeString(call.Args[0]))
		}
	}, "fmt.Fprint")
}

// writeString says how to write a string to w.
func (s *source) writeString(w ast.Expr) string {
	if hasMethod(s.TypesInfo.TypeOf(w), "WriteString") && s.pure(w) {
		if u, ok := ast.Unparen(w).(*ast.UnaryExpr); ok {
			w = u.X
		}
		return brief(w) + ".WriteString"
	}
	return "io.WriteString"
}

func isBuffer(t types.Type) bool {
	return isPointerTo(t, "bytes", "Buffer") || isPointerTo(t, "strings", "Builder") || isPointerTo(t, "bufio", "Writer")
}

// isTerminal reports whether w is one of the standard streams, where a person
// reads, or a writer that lays out tables for one.
func (s *source) isTerminal(w ast.Expr) bool {
	if isPointerTo(s.TypesInfo.TypeOf(w), "text/tabwriter", "Writer") {
		return true
	}
	sel, ok := ast.Unparen(w).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	obj := s.TypesInfo.ObjectOf(sel.Sel)
	return obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == "os" && strings.HasPrefix(obj.Name(), "Std")
}

// checkAppends looks at append(b, text...) where the text is made on the spot.
func (s *source) checkAppends() {
	s.each(func(c inspector.Cursor) {
		call, ok := s.builtin(c.Node().(*ast.CallExpr), "append")
		if !ok || len(call.Args) != 2 || !call.Ellipsis.IsValid() || !isBytes(s.TypesInfo.TypeOf(call)) || s.cold(c) {
			return
		}
		arg := ast.Unparen(call.Args[1])
		if inner, ok := s.bytesOf(arg); ok {
			arg = ast.Unparen(inner)
		}
		if _, ok := s.isCallOf(arg, "fmt.Sprintf"); ok && s.since(c, "go1.19") {
			s.report(call, "the text is made as a string to be appended: fmt.Appendf appends it")
			return
		}
		if better, ok := s.appender(arg); ok {
			s.report(call, "a string is made to be appended: %s appends without it", better)
		}
	}, (*ast.CallExpr)(nil))
}
