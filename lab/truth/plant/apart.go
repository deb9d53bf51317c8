package main

import (
	"go/ast"
	"go/types"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// writer is what is written to by fmt for the receiver of a method: itself or its address.
func (s *source) writer(recv ast.Expr) string {
	t := s.typeOf(recv)
	if types.IsInterface(t) {
		return s.of(recv)
	}
	if _, ok := t.(*types.Pointer); ok {
		return s.of(recv)
	}
	return "&" + s.of(recv)
}

// write returns the receiver and the argument of a statement that writes one thing.
func (s *source) write(n ast.Node, name string) (ast.Expr, ast.Expr) {
	st, ok := n.(*ast.ExprStmt)
	if !ok {
		return nil, nil
	}
	c, ok := st.X.(*ast.CallExpr)
	if !ok || len(c.Args) != 1 {
		return nil, nil
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	f := s.callee(c)
	if !ok || f == nil || f.Name() != name || f.Signature().Recv() == nil {
		return nil, nil
	}
	return sel.X, c.Args[0]
}

// boxWrite writes through fmt what was written by a method.
func boxWrite(s *source, n ast.Node) []corpus.Edit {
	for method, verb := range map[string]string{"WriteString": "%s", "WriteRune": "%c", "WriteByte": "%c"} {
		if recv, x := s.write(n, method); recv != nil && s.info.Types[x].Value == nil {
			name, add := s.named("fmt")
			return append(add, s.swap(n, name+".Fprintf("+s.writer(recv)+`, "`+verb+`", `+s.of(x)+")"))
		}
	}
	return nil
}

// rangeOverCopy walks over a copy of a slice.
func rangeOverCopy(s *source, n ast.Node) []corpus.Edit {
	r, ok := n.(*ast.RangeStmt)
	if !ok || !plain(r.X) {
		return nil
	}
	t, ok := s.typeOf(r.X).(*types.Slice)
	if !ok {
		return nil
	}
	if b, ok := t.Elem().(*types.Basic); !ok || b.Kind() == types.Invalid {
		return nil
	}
	return []corpus.Edit{s.swap(r.X, "append([]"+t.Elem().String()+"(nil), "+s.of(r.X)+"...)")}
}

// copyString hands a copy of a string to a function.
func copyString(s *source, n ast.Node) []corpus.Edit {
	c, ok := n.(*ast.CallExpr)
	if !ok || s.callee(c) == nil {
		return nil
	}
	for _, a := range c.Args {
		if plain(a) && s.isString(a) {
			return []corpus.Edit{s.swap(a, "string([]byte("+s.of(a)+"))")}
		}
	}
	return nil
}

// formatThenAppend makes a string of a number and appends that.
func formatThenAppend(s *source, n ast.Node) []corpus.Edit {
	for app, format := range map[string]string{"AppendInt": "FormatInt", "AppendUint": "FormatUint",
		"AppendFloat": "FormatFloat", "AppendQuote": "Quote"} {
		args := s.call(n, "strconv", app)
		if len(args) < 2 {
			continue
		}
		name, _ := s.named("strconv")
		text := name + "." + format + "("
		for i, a := range args[1:] {
			if i > 0 {
				text += ", "
			}
			text += s.of(a)
		}
		return []corpus.Edit{s.swap(n, "append("+s.of(args[0])+", "+text+")...)")}
	}
	return nil
}

// freshDestination appends to a copy of the destination.
func freshDestination(s *source, n ast.Node) []corpus.Edit {
	args := s.builtin(n, "append")
	if len(args) < 2 || !plain(args[0]) || !s.isBytes(args[0]) {
		return nil
	}
	return []corpus.Edit{s.swap(args[0], "append([]byte(nil), "+s.of(args[0])+"...)")}
}

// lowerToCompare makes two strings lower to compare them.
func lowerToCompare(s *source, n ast.Node) []corpus.Edit {
	args := s.call(n, "strings", "EqualFold")
	if len(args) != 2 {
		return nil
	}
	name, _ := s.named("strings")
	return []corpus.Edit{s.swap(n, "("+name+".ToUpper("+s.of(args[0])+") == "+name+".ToUpper("+s.of(args[1])+"))")}
}

// writeConverted writes a string as bytes, and bytes as a string.
func writeConverted(s *source, n ast.Node) []corpus.Edit {
	if recv, x := s.write(n, "WriteString"); recv != nil && s.isString(x) {
		return []corpus.Edit{s.swap(n, s.of(recv)+".Write([]byte("+s.of(x)+"))")}
	}
	if recv, x := s.write(n, "Write"); recv != nil && s.isBytes(x) {
		return []corpus.Edit{s.swap(n, s.of(recv)+".WriteString(string("+s.of(x)+"))")}
	}
	return nil
}
