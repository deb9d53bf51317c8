package mutate

import (
	"go/ast"
	"go/types"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// writerOf is what is written to by fmt for the receiver of a method: itself or its address.
func writerOf(s *source.File, recv ast.Expr) string {
	t := s.TypeOf(recv)
	if types.IsInterface(t) {
		return s.Of(recv)
	}
	if _, ok := t.(*types.Pointer); ok {
		return s.Of(recv)
	}
	return "&" + s.Of(recv)
}

// written1 returns the receiver and the argument of a statement that writes one thing.
func written1(s *source.File, n ast.Node, name string) (ast.Expr, ast.Expr) {
	st, ok := n.(*ast.ExprStmt)
	if !ok {
		return nil, nil
	}
	c, ok := st.X.(*ast.CallExpr)
	if !ok || len(c.Args) != 1 {
		return nil, nil
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	f := s.Callee(c)
	if !ok || f == nil || f.Name() != name || f.Signature().Recv() == nil {
		return nil, nil
	}
	return sel.X, c.Args[0]
}

// boxWrite writes through fmt what was written by a method.
func boxWrite(s *source.File, n ast.Node) []corpus.Edit {
	for method, verb := range map[string]string{"WriteString": "%s", "WriteRune": "%c", "WriteByte": "%c"} {
		if recv, x := written1(s, n, method); recv != nil && s.Info.Types[x].Value == nil {
			name, add := s.Named("fmt")
			return append(add, s.Swap(n, name+".Fprintf("+writerOf(s, recv)+`, "`+verb+`", `+s.Of(x)+")"))
		}
	}
	return nil
}

// rangeOverCopy walks over a copy of a slice.
func rangeOverCopy(s *source.File, n ast.Node) []corpus.Edit {
	r, ok := n.(*ast.RangeStmt)
	if !ok || !source.Plain(r.X) {
		return nil
	}
	t, ok := s.TypeOf(r.X).(*types.Slice)
	if !ok {
		return nil
	}
	if b, ok := t.Elem().(*types.Basic); !ok || b.Kind() == types.Invalid {
		return nil
	}
	return []corpus.Edit{s.Swap(r.X, "append([]"+t.Elem().String()+"(nil), "+s.Of(r.X)+"...)")}
}

// copyString hands a copy of a string to a function.
func copyString(s *source.File, n ast.Node) []corpus.Edit {
	c, ok := n.(*ast.CallExpr)
	if !ok || s.Callee(c) == nil {
		return nil
	}
	for _, a := range c.Args {
		if source.Plain(a) && s.IsString(a) {
			return []corpus.Edit{s.Swap(a, "string([]byte("+s.Of(a)+"))")}
		}
	}
	return nil
}

// formatThenAppend makes a string of a number and appends that.
func formatThenAppend(s *source.File, n ast.Node) []corpus.Edit {
	for app, format := range map[string]string{"AppendInt": "FormatInt", "AppendUint": "FormatUint",
		"AppendFloat": "FormatFloat", "AppendQuote": "Quote"} {
		args := s.Call(n, "strconv", app)
		if len(args) < 2 {
			continue
		}
		name, _ := s.Named("strconv")
		text := name + "." + format + "("
		for i, a := range args[1:] {
			if i > 0 {
				text += ", "
			}
			text += s.Of(a)
		}
		return []corpus.Edit{s.Swap(n, "append("+s.Of(args[0])+", "+text+")...)")}
	}
	return nil
}

// freshDestination appends to a copy of the destination.
func freshDestination(s *source.File, n ast.Node) []corpus.Edit {
	args := s.Builtin(n, "append")
	if len(args) < 2 || !source.Plain(args[0]) || !s.IsBytes(args[0]) {
		return nil
	}
	return []corpus.Edit{s.Swap(args[0], "append([]byte(nil), "+s.Of(args[0])+"...)")}
}

// lowerToCompare makes two strings lower to compare them.
func lowerToCompare(s *source.File, n ast.Node) []corpus.Edit {
	args := s.Call(n, "strings", "EqualFold")
	if len(args) != 2 {
		return nil
	}
	name, _ := s.Named("strings")
	return []corpus.Edit{s.Swap(n, "("+name+".ToUpper("+s.Of(args[0])+") == "+name+".ToUpper("+s.Of(args[1])+"))")}
}

// writeConverted writes a string as bytes, and bytes as a string.
func writeConverted(s *source.File, n ast.Node) []corpus.Edit {
	if recv, x := written1(s, n, "WriteString"); recv != nil && s.IsString(x) {
		return []corpus.Edit{s.Swap(n, s.Of(recv)+".Write([]byte("+s.Of(x)+"))")}
	}
	if recv, x := written1(s, n, "Write"); recv != nil && s.IsBytes(x) {
		return []corpus.Edit{s.Swap(n, s.Of(recv)+".WriteString(string("+s.Of(x)+"))")}
	}
	return nil
}
