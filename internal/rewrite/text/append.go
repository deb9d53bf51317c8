package text

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// appender is a function that appends text to bytes: its name, the Go version that has it where not all
// have, and the text after the arguments.
type appender struct{ name, since, end string }

// appenders are functions that make text, and those that append the same text to bytes.
var appenders = map[string]appender{
	"fmt.Sprintf":          {"Appendf", "go1.19", ""},
	"fmt.Sprint":           {"Append", "go1.19", ""},
	"fmt.Sprintln":         {"Appendln", "go1.19", ""},
	"strconv.Itoa":         {"AppendInt", "", ", 10"},
	"strconv.FormatInt":    {"AppendInt", "", ""},
	"strconv.FormatUint":   {"AppendUint", "", ""},
	"strconv.FormatFloat":  {"AppendFloat", "", ""},
	"strconv.FormatBool":   {"AppendBool", "", ""},
	"strconv.Quote":        {"AppendQuote", "", ""},
	"strconv.QuoteToASCII": {"AppendQuoteToASCII", "", ""},
	"(time.Time).Format":   {"AppendFormat", "", ""},
}

// AppendText appends text where it is made, instead of making a string of it first.
func AppendText(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok {
		return nil
	}
	a, known := appenders[s.Callee(call)]
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !known || !isSel || a.since != "" && !s.Since(a.since) {
		return nil
	}
	outer, dst := s.appended()
	if outer == nil {
		return nil
	}
	text := s.appendCall(call, sel, a, dst)
	return []code.Edit{{Text: fmt.Sprintf("append the text by %s, without a string of it", a.name), Changes: []code.Change{s.Replace(outer, text)}}}
}

// appendCall is the call that appends to bytes what a call makes a text of.
func (s *site) appendCall(call *ast.CallExpr, sel *ast.SelectorExpr, a appender, dst string) string {
	args := make([]string, 0, len(call.Args)+1)
	args = append(args, dst)
	for _, arg := range call.Args {
		args = append(args, s.Source(arg))
	}
	if a.name == "AppendInt" && a.end != "" {
		args[1] = "int64(" + args[1] + ")"
	}
	dots := ""
	if call.Ellipsis.IsValid() {
		dots = "..."
	}
	return fmt.Sprintf("%s.%s(%s%s%s)", s.Source(sel.X), a.name, strings.Join(args, ", "), dots, a.end)
}

// appended is the expression that puts the text of the site behind bytes, and these: append(b, text...),
// or []byte(text) with nil for no bytes.
func (s *site) appended() (outer ast.Expr, dst string) {
	at := s.Cur
	if conv, ok := at.Parent().Node().(*ast.CallExpr); ok && at.ParentEdgeKind() == edge.CallExpr_Args &&
		s.Info().Types[conv.Fun].IsType() && types.Identical(s.Info().TypeOf(conv), types.NewSlice(types.Typ[types.Byte])) {
		outer, dst = conv, "nil"
		at = at.Parent()
	}
	call, ok := at.Parent().Node().(*ast.CallExpr)
	if ok && at.ParentEdgeKind() == edge.CallExpr_Args && s.Builtin(call, "append") != nil && call.Ellipsis.IsValid() &&
		call.Args[1] == at.Node() && types.Identical(s.Info().TypeOf(call), types.NewSlice(types.Typ[types.Byte])) {
		return call, s.Source(call.Args[0])
	}
	return outer, dst
}

// FormatInto formats into a writer, where the text is made for nothing else.
func FormatInto(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.CallExpr_Args {
		return nil
	}
	name, known := strings.CutPrefix(s.Callee(call), "fmt.S")
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !isSel || len(call.Args) == 0 {
		return nil
	}
	if a, ok := appenders[s.Callee(call)]; ok && a.since == "" {
		return s.appendInto(call, sel, a)
	}
	if !known || !strings.HasPrefix(name, "print") {
		return nil
	}
	at := s.Cur
	outer := at.Parent().Node().(*ast.CallExpr)
	bytes := s.Info().Types[outer.Fun].IsType() && code.IsBytes(s.Info().TypeOf(outer))
	if bytes {
		at = at.Parent()
		if outer, ok = at.Parent().Node().(*ast.CallExpr); !ok || at.ParentEdgeKind() != edge.CallExpr_Args {
			return nil
		}
	}
	writer, typ := s.writtenTo(outer, bytes)
	if writer == "" {
		return nil
	}
	text := fmt.Sprintf("%s.F%s(%s, %s", s.Source(sel.X), name, writer, string(s.Text[s.Offset(call.Args[0].Pos()):s.Offset(call.End())]))
	e := code.Edit{Text: fmt.Sprintf("format into `%s` by fmt.F%s", writer, name), Changes: []code.Change{s.Replace(outer, text)}}
	if !bytes && !s.inMemory(typ) {
		e.Open = fmt.Sprintf("Write and WriteString of %s must do the same", types.TypeString(typ, types.RelativeTo(s.Pkg.Types)))
	}
	return []code.Edit{e}
}

// appendInto appends text to the free memory of a buffer, which it is then written to.
func (s *site) appendInto(call *ast.CallExpr, sel *ast.SelectorExpr, a appender) []code.Edit {
	outer := s.Cur.Parent().Node().(*ast.CallExpr)
	to, ok := ast.Unparen(outer.Fun).(*ast.SelectorExpr)
	if !ok || to.Sel.Name != "WriteString" || s.Info().Selections[to] == nil || len(outer.Args) != 1 || !s.Pure(to.X) {
		return nil
	}
	method := s.Info().Selections[to].Obj().(*types.Func)
	if !slices.Contains([]string{"bytes", "bufio", "strings"}, method.Pkg().Path()) {
		return nil
	}
	switch path := method.Pkg().Path(); {
	case path == "strings" || path == "bytes" && !s.Since("go1.21"):
		return s.appendToArray(call, sel, a)
	case !s.Since("go1.21"):
		return nil
	}
	dst := s.Source(to.X) + ".AvailableBuffer()"
	text := fmt.Sprintf("%s.Write(%s)", s.Source(to.X), s.appendCall(call, sel, a, dst))
	return []code.Edit{{Text: fmt.Sprintf("append the text to what `%s` has free, by %s", s.Source(to.X), a.name), Changes: []code.Change{s.Replace(outer, text)}}}
}

// appendToArray appends text to an array of the frame, from which it is then written to a buffer.
func (s *site) appendToArray(call *ast.CallExpr, sel *ast.SelectorExpr, a appender) []code.Edit {
	outer := s.Cur.Parent().Node().(*ast.CallExpr)
	to := ast.Unparen(outer.Fun).(*ast.SelectorExpr)
	stmt, listed := code.Statement(s.Cur)
	if _, alone := stmt.Node().(*ast.ExprStmt); !listed || !alone || stmt.Node() != s.Cur.Parent().Parent().Node() {
		return nil
	}
	array := s.Fresh("text", call.Pos())
	text := fmt.Sprintf("%s.Write(%s)", s.Source(to.X), s.appendCall(call, sel, a, array+"[:0]"))
	return []code.Edit{{Text: fmt.Sprintf("append the text to an array on the stack, by %s, and write that", a.name),
		Changes: []code.Change{s.Before(stmt.Node(), fmt.Sprintf("var %s [%d]byte", array, shortText)), s.Replace(outer, text)}}}
}

// shortText is the length of the array that text is appended to: numbers and most quoted words fit.
const shortText = 64

// writtenTo is the writer that a call writes its text to, as an argument for fmt, and its type; empty
// if the call does something else. bytes says that the text was converted.
func (s *site) writtenTo(call *ast.CallExpr, bytes bool) (writer string, typ types.Type) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return "", nil
	}
	if s.Callee(call) == "io.WriteString" && !bytes && len(call.Args) == 2 && s.Cur.Node() == ast.Node(call.Args[1]) {
		return s.Source(call.Args[0]), s.Info().TypeOf(call.Args[0])
	}
	method := "WriteString"
	if bytes {
		method = "Write"
	}
	typ = s.Info().TypeOf(sel.X)
	if sel.Sel.Name != method || s.Info().Selections[sel] == nil || len(call.Args) != 1 || !s.signature(typ, "Write", code.IsBytes) {
		return "", nil
	}
	writer = s.Source(sel.X)
	if _, pointer := typ.Underlying().(*types.Pointer); !pointer && !types.IsInterface(typ) {
		if s.Info().Selections[sel].Indirect() || !s.Info().Types[sel.X].Addressable() {
			return "", nil
		}
		writer = "&" + writer
	}
	return writer, typ
}

// RangeString walks through the characters of a string without a slice of them.
func RangeString(on *code.Site) []code.Edit {
	s := &site{on}
	conv, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.RangeStmt_X || !s.Info().Types[conv.Fun].IsType() || len(conv.Args) != 1 {
		return nil
	}
	slice, ok := s.Info().TypeOf(conv).Underlying().(*types.Slice)
	loop := s.Cur.Parent().Node().(*ast.RangeStmt)
	if !ok || !types.Identical(slice.Elem(), types.Typ[types.Rune]) || !code.IsString(s.Info().TypeOf(conv.Args[0])) || !blank(loop.Key) {
		return nil
	}
	x := s.Source(conv.Args[0])
	return []code.Edit{{Text: fmt.Sprintf("walk through `%s` itself", code.Brief(x)), Changes: []code.Change{s.Replace(conv, x)}}}
}

// blank reports whether a variable of a loop is left out.
func blank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return e == nil || ok && id.Name == "_"
}
