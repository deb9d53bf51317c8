package sum

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// Concatenated adds texts at once that statements in a row write to a builder, if the next statement takes the result. A
// builder grows; a sum makes its memory once, or on the stack.
func Concatenated(on *code.Site) []code.Edit {
	s := &site{on}
	v, decl, calls := s.builder()
	if len(calls) < 3 {
		return nil
	}
	result := calls[len(calls)-1]
	var parts []string
	at := decl
	for _, call := range calls[:len(calls)-1] {
		next, ok := at.NextSibling()
		if !ok || call.Parent() != next || call.ParentEdgeKind() != edge.ExprStmt_X {
			return nil
		}
		part, ok := s.part(call)
		if !ok {
			return nil
		}
		if part != "" {
			parts = append(parts, part)
		}
		at = next
	}
	last, ok := at.NextSibling()
	if !ok || len(parts) < 2 || called(result) != "String" || !s.comesFirst(result, last) || s.between(decl.Node(), last.Node()) {
		return nil
	}
	return []code.Edit{{Text: fmt.Sprintf("add what `%s` is written at once", v.Name()), Changes: []code.Change{
		{From: s.Offset(decl.Node().Pos()), To: s.Offset(last.Node().Pos())}, s.Replace(result.Node(), inLines(parts))}}}
}

// builder is the empty builder or buffer of the function that the site names, with the statement that declares it and all
// that is done with it, where that is calls of its methods; no calls for others.
func (s *site) builder() (v *types.Var, decl inspector.Cursor, calls []inspector.Cursor) {
	for id := range s.Cur.Preorder((*ast.Ident)(nil)) {
		x := s.Local(id.Node().(*ast.Ident))
		if s.Line(id.Node().Pos()) == s.Place.Line && x != nil && (code.Named(x.Type(), "strings.Builder") || code.Named(x.Type(), "bytes.Buffer")) {
			if _, pointer := x.Type().Underlying().(*types.Pointer); !pointer {
				v = x
			}
		}
	}
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil {
		return nil, decl, nil
	}
	for i, u := range s.Uses(v, fn) {
		switch stmt, listed := code.Statement(u); {
		case !listed:
			return nil, decl, nil
		case i == 0:
			n, ok := stmt.Node().(*ast.DeclStmt)
			if !ok || u.Node().Pos() != v.Pos() || code.OnlySpec(n) == nil || len(code.OnlySpec(n).Values) > 0 {
				return nil, decl, nil
			}
			decl = stmt
		case u.ParentEdgeKind() != edge.SelectorExpr_X || u.Parent().ParentEdgeKind() != edge.CallExpr_Fun:
			return nil, decl, nil
		default:
			calls = append(calls, u.Parent().Parent())
		}
	}
	return v, decl, calls
}

// called is the name of the method that a call is of.
func called(call inspector.Cursor) string {
	return call.Node().(*ast.CallExpr).Fun.(*ast.SelectorExpr).Sel.Name
}

// part is the text that a call writes; "" for one that only makes room. Not ok for bytes, and for a value that may depend
// on when it is evaluated.
func (s *site) part(call inspector.Cursor) (text string, ok bool) {
	name, args := called(call), call.Node().(*ast.CallExpr).Args
	if len(args) != 1 || !s.still(args[0]) {
		return "", false
	}
	v := s.Info().Types[args[0]].Value
	switch name {
	case "Grow":
		return "", v != nil // what a size is made of would be no longer used
	case "WriteString":
		return s.Source(args[0]), true
	case "WriteByte", "WriteRune":
		if v == nil {
			return "string(" + s.Source(args[0]) + ")", name == "WriteRune"
		}
		r, exact := constant.Int64Val(constant.ToInt(v))
		return strconv.Quote(string(rune(r))), exact && r >= 0 && r < 0x80
	}
	return "", false
}

// still reports whether an expression calls nothing but what turns a value into text.
func (s *site) still(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			ok = ok && (s.Info().Types[n.Fun].IsType() || s.Builtin(n, "len") != nil || strings.HasPrefix(s.Callee(n), "strconv."))
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW
		case *ast.FuncLit:
			ok = false
		}
		return ok
	})
	return ok
}

// comesFirst reports whether nothing else of a statement is evaluated before a call in it.
func (s *site) comesFirst(call, in inspector.Cursor) bool {
	for at := call; at != in; at = at.Parent() {
		switch n := at.Parent().Node().(type) {
		case *ast.ParenExpr, *ast.ExprStmt:
		case *ast.CallExpr:
			_, name := n.Fun.(*ast.Ident)
			if at.ParentEdgeKind() != edge.CallExpr_Args || len(n.Args) != 1 || !name && !s.Info().Types[n.Fun].IsType() {
				return false
			}
		case *ast.ReturnStmt:
			if len(n.Results) != 1 {
				return false
			}
		case *ast.AssignStmt:
			if at.ParentEdgeKind() != edge.AssignStmt_Rhs || len(n.Lhs) != 1 || s.Local(n.Lhs[0]) == nil {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// between reports whether a comment stands between two statements, or in one of them.
func (s *site) between(first, last ast.Node) bool {
	for _, g := range s.Syntax.Comments {
		if g.Pos() > first.Pos() && g.End() < last.End() {
			return true
		}
	}
	return false
}

// inLines is a sum of texts, in lines of about 100 columns.
func inLines(parts []string) string {
	const width = 100
	var b strings.Builder
	line := 0
	for i, part := range parts {
		sep := ""
		if i > 0 {
			sep = " + "
		}
		if line+len(part) > width && i > 0 {
			sep, line = " +\n", 0
		}
		b.WriteString(sep + part)
		line += len(sep) + len(part)
	}
	return b.String()
}
