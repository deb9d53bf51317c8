package analyzers

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/analyzers/internal/code"
)

// longFormat is the length above which a format is a template, which reads
// better whole than in pieces.
const longFormat = 64

// simpleFormat reports whether format and args need fmt for nothing: strings
// and integers put between constant text. It says how many of each there are.
func (s *source) simpleFormat(format ast.Expr, args []ast.Expr) (texts, numbers int, ok bool) {
	f, isConst := s.ConstantString(format)
	if !isConst {
		return 0, 0, false
	}
	list, simple := code.Verbs(f)
	if !simple || len(f) > longFormat || len(list) != len(args) || len(args) == 0 {
		return 0, 0, false
	}
	for i, verb := range list {
		t := s.TypesInfo.TypeOf(args[i])
		switch {
		case t == nil || !code.Plain(t) || s.IsConstant(args[i]):
			return 0, 0, false
		case code.IsString(t) && (verb == 's' || verb == 'v'):
			texts++
		case code.IsInteger(t) && (verb == 'd' || verb == 'v'):
			numbers++
		default:
			return 0, 0, false
		}
	}
	return texts, numbers, true
}

// checkSprintf looks at calls of Sprintf that strconv and + can do.
func (s *source) checkSprintf() {
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		if len(call.Args) == 0 || call.Ellipsis.IsValid() || s.consumed(c) {
			return
		}
		texts, numbers, ok := s.simpleFormat(call.Args[0], call.Args[1:])
		if !ok || texts+numbers > 4 {
			return
		}
		f, _ := s.ConstantString(call.Args[0])
		switch bare := len(f) == 2; {
		case bare && texts == 1:
			s.Flag(call, "Sprintf boxes and copies what is a string already: use %s", code.Brief(call.Args[1]))
		case bare:
			s.Flag(call, "Sprintf boxes the number to format it: use strconv.%s",
				formatter(s.TypesInfo.TypeOf(call.Args[1])))
		case numbers == 0:
			s.Flag(call, "Sprintf boxes strings to join them: concatenate them with +")
		default:
			s.Flag(call, "Sprintf boxes its arguments: concatenate with + and format numbers with strconv")
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
		if _, ok := code.EnclosingLoop(c); ok {
			return true // checkConcatLoops has its say
		}
	}
	if c.ParentEdgeKind() != edge.CallExpr_Args {
		return false
	}
	parent := c.Parent().Node().(*ast.CallExpr)
	if _, ok := s.BytesOf(parent); ok {
		return true
	}
	if dwarfs(s.CalleeName(parent)) {
		return true
	}
	sel, ok := parent.Fun.(*ast.SelectorExpr)
	return ok && (strings.HasPrefix(sel.Sel.Name, "Write") || s.logs(parent) != "")
}

// dwarfs reports whether a call of the named function costs so much that making
// the text for it does not count.
func dwarfs(name string) bool {
	for _, prefix := range []string{"regexp.", "os/exec.", "net/http.NewRequest", "net.Dial", "os.Open",
		"os.ReadFile"} {
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
	for _, word := range []string{"msg", "message", "err", "reason", "desc", "detail", "warn", "help", "usage", "fail",
		"log"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// checkFprintf looks at calls of Fprint that write a string or two.
func (s *source) checkFprintf() {
	s.EachCall(func(_ inspector.Cursor, call *ast.CallExpr) {
		if len(call.Args) < 3 || call.Ellipsis.IsValid() || s.isTerminal(call.Args[0]) {
			return
		}
		texts, numbers, ok := s.simpleFormat(call.Args[1], call.Args[2:])
		if !ok || texts+numbers > 3 {
			return
		}
		// Several writes instead of one are no gain where each may be a system call.
		f, _ := s.ConstantString(call.Args[1])
		buffer := isBuffer(s.TypesInfo.TypeOf(call.Args[0]))
		switch {
		case numbers == 0 && (buffer || len(f) == 2):
			s.Flag(call, "Fprintf boxes each string to write it: %s", s.writeString(call.Args[0]))
		case buffer:
			s.Flag(call, "Fprintf boxes what it writes: write the strings, and append numbers with strconv.Append")
		}
	}, "fmt.Fprintf")
	s.EachCall(func(_ inspector.Cursor, call *ast.CallExpr) {
		if len(call.Args) != 2 || call.Ellipsis.IsValid() || s.isTerminal(call.Args[0]) || s.IsConstant(call.Args[1]) {
			return
		}
		if t := s.TypesInfo.TypeOf(call.Args[1]); code.IsString(t) && code.Plain(t) {
			s.Flag(call, "Fprint boxes the string to write it: %s", s.writeString(call.Args[0]))
		}
	}, "fmt.Fprint")
}

// writeString says how to write a string to w.
func (s *source) writeString(w ast.Expr) string {
	if code.HasMethod(s.TypesInfo.TypeOf(w), "WriteString") && s.Pure(w) {
		if u, ok := ast.Unparen(w).(*ast.UnaryExpr); ok {
			w = u.X
		}
		return code.Brief(w) + ".WriteString"
	}
	return "io.WriteString"
}

func isBuffer(t types.Type) bool {
	return code.IsPointerTo(t, "bytes", "Buffer") || code.IsPointerTo(t, "strings", "Builder") ||
		code.IsPointerTo(t, "bufio", "Writer")
}

// isTerminal reports whether w is one of the standard streams, where a person
// reads, or a writer that lays out tables for one.
func (s *source) isTerminal(w ast.Expr) bool {
	if code.IsPointerTo(s.TypesInfo.TypeOf(w), "text/tabwriter", "Writer") {
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
	s.Each(func(c inspector.Cursor) {
		call, ok := s.Builtin(c.Node().(*ast.CallExpr), "append")
		if !ok || len(call.Args) != 2 || !call.Ellipsis.IsValid() || !code.IsBytes(s.TypesInfo.TypeOf(call)) ||
			s.Cold(c) {
			return
		}
		arg := ast.Unparen(call.Args[1])
		if inner, ok := s.BytesOf(arg); ok {
			arg = ast.Unparen(inner)
		}
		if _, ok := s.IsCallOf(arg, "fmt.Sprintf"); ok && s.Since(c, "go1.19") {
			s.Flag(call, "the text is made as a string to be appended: fmt.Appendf appends it")
			return
		}
		if better, ok := s.appender(arg); ok {
			s.Flag(call, "a string is made to be appended: %s appends without it", better)
		}
	}, (*ast.CallExpr)(nil))
}
