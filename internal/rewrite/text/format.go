package text

import (
	"fmt"
	"go/ast"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// FmtToStrconv puts concatenation and strconv in place of fmt where the format has only verbs
// whose result for the arguments' types is known: %s of strings, %d of integers, %v of both.
func FmtToStrconv(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || call.Ellipsis.IsValid() {
		return nil
	}
	switch s.Callee(call) {
	case "fmt.Sprintf":
		parts, imports, ok := s.formatParts(call, 0)
		if !ok || len(parts) == 0 {
			return nil
		}
		text := strings.Join(parts, " + ")
		_, binary := ast.Unparen(call.Args[len(call.Args)-1]).(*ast.BinaryExpr)
		if (len(parts) > 1 || binary) && s.binds() {
			text = "(" + text + ")"
		}
		return []code.Edit{{Text: "put `" + code.Brief(text) + "` together without fmt", Imports: imports,
			Changes: []code.Change{s.Replace(call, text)}}}
	case "fmt.Fprintf":
		return s.fprintf(call)
	case "fmt.Appendf":
		return s.appendf(call)
	}
	return nil
}

// appendf appends the only part of a format to bytes.
func (s *site) appendf(call *ast.CallExpr) []code.Edit {
	if len(call.Args) != 3 {
		return nil
	}
	parts, imports, ok := s.formatParts(call, 1)
	if !ok || len(parts) != 1 {
		return nil
	}
	dst, x := s.Source(call.Args[0]), parts[0]
	text := fmt.Sprintf("append(%s, %s...)", dst, x)
	if b := code.Basic(s.Info().TypeOf(call.Args[2])); b.Info()&types.IsString == 0 || strings.Contains(x, "Quote(") {
		pkg, made, _ := strings.Cut(x, ".")
		name, arg, _ := strings.Cut(made, "(")
		switch name {
		case "Itoa":
			name, arg = "AppendInt", "int64("+strings.TrimSuffix(arg, ")")+"), 10)"
		default:
			name = "Append" + strings.TrimPrefix(name, "Format")
		}
		text = fmt.Sprintf("%s.%s(%s, %s", pkg, name, dst, arg)
	}
	return []code.Edit{{Text: "append `" + code.Brief(x) + "` without fmt", Imports: imports, Changes: []code.Change{s.Replace(call, text)}}}
}

// binds reports whether what is around the site binds closer than +.
func (s *site) binds() bool {
	switch s.Cur.ParentEdgeKind() {
	case edge.SelectorExpr_X, edge.IndexExpr_X, edge.SliceExpr_X, edge.BinaryExpr_X, edge.BinaryExpr_Y:
		return true
	}
	return false
}

// fprintf writes the parts of a format into a buffer in memory, whose writes cannot fail.
func (s *site) fprintf(call *ast.CallExpr) []code.Edit {
	if s.Cur.ParentEdgeKind() != edge.ExprStmt_X || len(call.Args) < 2 {
		return nil
	}
	w := call.Args[0]
	if u, ok := ast.Unparen(w).(*ast.UnaryExpr); ok {
		w = u.X
	}
	t := s.Info().TypeOf(w)
	if !s.Pure(w) || !code.Named(t, "strings.Builder") && !code.Named(t, "bytes.Buffer") {
		return nil
	}
	parts, imports, ok := s.formatParts(call, 1)
	stmt, listed := code.Statement(s.Cur)
	if !ok || !listed || stmt != s.Cur.Parent() || len(parts) > 1 && !s.simple(call.Args[2:], s.RootOf(w)) {
		return nil
	}
	var lines []string
	for _, p := range parts {
		lines = append(lines, fmt.Sprintf("%s.WriteString(%s)", s.Source(w), p))
	}
	return []code.Edit{{Text: fmt.Sprintf("write the parts into `%s` without fmt", s.Source(w)), Imports: imports,
		Changes: []code.Change{s.Replace(call, strings.Join(lines, "\n"))}}}
}

// simple reports whether arguments can be evaluated one after the other between writes: they
// call nothing and do not name what is written to.
func (s *site) simple(args []ast.Expr, w types.Object) bool {
	ok := true
	for _, a := range args {
		ast.Inspect(a, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				ok = ok && (s.Info().Types[n.Fun].IsType() || s.Builtin(n, "len") != nil)
			case *ast.Ident:
				ok = ok && s.Info().ObjectOf(n) != w
			}
			return ok
		})
	}
	return ok
}

// formatParts are the operands whose concatenation is what a format at the i-th argument gives.
func (s *site) formatParts(call *ast.CallExpr, i int) (parts, imports []string, ok bool) {
	return s.partsBy(call, i, s.formatOperand)
}

// operandOf is the string that a verb makes of an argument.
type operandOf func(verb string, arg ast.Expr) (text string, imports []string, ok bool)

// partsBy is formatParts with another way to make operands.
func (s *site) partsBy(call *ast.CallExpr, i int, operand operandOf) (parts, imports []string, ok bool) {
	format, ok := s.ConstString(call.Args[i])
	if !ok {
		return nil, nil, false
	}
	args := call.Args[i+1:]
	text := ""
	for {
		before, rest, found := strings.Cut(format, "%")
		text += before
		if !found {
			break
		}
		if strings.HasPrefix(rest, "%") {
			text, format = text+"%", rest[1:]
			continue
		}
		verb, rest := verbOf(rest)
		if verb == "" || len(args) == 0 {
			return nil, nil, false
		}
		part, needs, ok := operand(verb, args[0])
		if !ok {
			return nil, nil, false
		}
		if text != "" {
			parts, text = append(parts, strconv.Quote(text)), ""
		}
		parts, imports = append(parts, part), append(imports, needs...)
		args, format = args[1:], rest
	}
	if text != "" {
		parts = append(parts, strconv.Quote(text))
	}
	return parts, imports, len(args) == 0
}

// verbOf takes the verb off a format: one letter, or a width or precision before it.
func verbOf(format string) (verb, rest string) {
	if strings.HasPrefix(format, "0.") {
		format = format[1:] // zeros fill up a width, and there is none
	}
	i := 0
	if strings.HasPrefix(format, ".") {
		i = 1
	}
	for i < len(format) && format[i] >= '0' && format[i] <= '9' {
		i++
	}
	if i >= len(format) || format[i] > 'z' || format[i] < 'a' {
		return "", format
	}
	return format[:i+1], format[i+1:]
}

// formatOperand is the string that a verb without flags and width makes of an argument.
func (s *site) formatOperand(verb string, arg ast.Expr) (text string, imports []string, ok bool) {
	t := s.Info().TypeOf(arg)
	b := code.Basic(t)
	text = s.Source(arg)
	switch {
	case len(verb) > 1 && verb[0] != '.':
		return "", nil, false // a width
	case code.Plain(t):
	case verb == "d" && b != nil && !code.HasMethod(t, "Format"): // fmt asks no other method for a number
	case verb == "s" || verb == "v":
		return s.ownText(arg)
	default:
		return "", nil, false
	}
	if b == nil {
		return s.formatBytes(verb, arg)
	}
	_, isNamed := types.Unalias(t).(*types.Named)
	switch {
	case b.Info()&types.IsString != 0 && verb == "q":
		name, imports, ok := s.Use("strconv", arg.Pos())
		return name + ".Quote(" + converted(text, "string", isNamed) + ")", imports, ok
	case b.Info()&types.IsString != 0 && (verb == "s" || verb == "v"):
		if isNamed {
			return "string(" + s.Source(arg) + ")", nil, true
		}
		return text, nil, true
	case (b.Kind() == types.Byte || b.Kind() == types.Rune) && verb == "c":
		return "string(" + converted(text, "rune", isNamed || b.Kind() != types.Rune) + ")", nil, true
	case b.Info()&types.IsInteger != 0 && (verb == "d" || verb == "v" || verb == "x"):
		return s.integer(arg, b, verb)
	case b.Info()&types.IsFloat != 0:
		return s.float(arg, b, verb)
	case b.Info()&types.IsBoolean != 0 && (verb == "t" || verb == "v"):
		name, imports, ok := s.Use("strconv", arg.Pos())
		return name + ".FormatBool(" + converted(s.Source(arg), "bool", isNamed) + ")", imports, ok
	}
	return "", nil, false
}

// ownText is what a value says that it is, where fmt asks it: it is no interface and no pointer, which may be nil.
func (s *site) ownText(arg ast.Expr) (text string, imports []string, ok bool) {
	t := s.Info().TypeOf(arg)
	if types.IsInterface(t) || !isStringer(t) || code.HasMethod(t, "Error") || code.HasMethod(t, "Format") || code.Named(t, "reflect.Value") {
		return "", nil, false
	}
	switch t.Underlying().(type) {
	case *types.Basic, *types.Struct, *types.Array, *types.Slice:
		return operand(arg, s.Source(arg)) + ".String()", nil, true
	}
	return "", nil, false
}

// formatBytes are bytes as text, or as hexadecimal digits.
func (s *site) formatBytes(verb string, arg ast.Expr) (text string, imports []string, ok bool) {
	t := s.Info().TypeOf(arg)
	text = s.Source(arg)
	if array, isArray := t.Underlying().(*types.Array); isArray {
		b := code.Basic(array.Elem())
		if _, isIdent := ast.Unparen(arg).(*ast.Ident); b == nil || b.Kind() != types.Byte || !isIdent || !s.Info().Types[arg].Addressable() {
			return "", nil, false
		}
		text += "[:]"
	} else if !code.IsBytes(t) {
		return "", nil, false
	}
	switch verb {
	case "s":
		return "string(" + text + ")", nil, true
	case "x":
		name, imports, ok := s.Use("encoding/hex", arg.Pos())
		return name + ".EncodeToString(" + text + ")", imports, ok
	}
	return "", nil, false
}

// integer is an integer in decimal, or with the verb x in hexadecimal digits.
func (s *site) integer(arg ast.Expr, b *types.Basic, verb string) (string, []string, bool) {
	name, imports, ok := s.Use("strconv", arg.Pos())
	x := s.Source(arg)
	_, isNamed := types.Unalias(s.Info().TypeOf(arg)).(*types.Named)
	base := "10"
	if verb == "x" {
		base = "16"
	}
	switch {
	case !ok || b.Info()&types.IsUntyped != 0:
		return "", nil, false
	case b.Kind() == types.Int && base == "10":
		return name + ".Itoa(" + converted(x, "int", isNamed) + ")", imports, true
	case b.Info()&types.IsUnsigned != 0:
		return fmt.Sprintf("%s.FormatUint(%s, %s)", name, converted(x, "uint64", isNamed || b.Kind() != types.Uint64), base), imports, true
	}
	return fmt.Sprintf("%s.FormatInt(%s, %s)", name, converted(x, "int64", isNamed || b.Kind() != types.Int64), base), imports, true
}

// float is a floating-point number as fmt prints it with the verbs v, g, f and e, which hand it to
// strconv with the same letter: v and g as short as possible, the others with six digits unless the
// verb says how many.
func (s *site) float(arg ast.Expr, b *types.Basic, verb string) (string, []string, bool) {
	name, imports, ok := s.Use("strconv", arg.Pos())
	bits := map[types.BasicKind]string{types.Float32: "32", types.Float64: "64"}[b.Kind()]
	letter, precision := verb[len(verb)-1:], strings.TrimPrefix(verb[:len(verb)-1], ".")
	switch {
	case !ok || bits == "" || !strings.Contains("vgfe", letter) || strings.HasPrefix(verb, ".") && (precision == "" || letter == "v"):
		return "", nil, false
	case letter == "v":
		letter = "g"
	}
	if precision == "" {
		precision = map[string]string{"g": "-1", "f": "6", "e": "6"}[letter]
	}
	_, isNamed := types.Unalias(s.Info().TypeOf(arg)).(*types.Named)
	x := converted(s.Source(arg), "float64", isNamed || bits == "32")
	return fmt.Sprintf("%s.FormatFloat(%s, '%s', %s, %s)", name, x, letter, precision, bits), imports, true
}

func converted(x, to string, needed bool) string {
	if !needed {
		return x
	}
	return to + "(" + x + ")"
}

// WriteString hands a string to a writer as it is, instead of a copy as bytes, and bytes to what
// takes bytes.
func WriteString(on *code.Site) []code.Edit {
	s := &site{on}
	conv, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || len(conv.Args) != 1 || !s.Info().Types[conv.Fun].IsType() || s.Cur.ParentEdgeKind() != edge.CallExpr_Args {
		return nil
	}
	call := s.Cur.Parent().Node().(*ast.CallExpr)
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || len(call.Args) != 1 || s.Info().Selections[sel] == nil {
		return nil
	}
	to, from := s.Info().TypeOf(conv.Fun), s.Info().TypeOf(conv.Args[0])
	recv := s.Info().TypeOf(sel.X)
	operand := s.Source(conv.Args[0])
	var text string
	var imports []string
	switch {
	case sel.Sel.Name == "Write" && code.IsBytes(to) && code.IsString(from) && types.IsInterface(recv) && !code.HasMethod(recv, "WriteString"):
		name, needs, ok := s.Use("io", call.Pos())
		if !ok || !s.signature(recv, "Write", code.IsBytes) {
			return nil
		}
		text, imports = name+".WriteString("+s.Source(sel.X)+", "+plainString(operand, from)+")", needs
	case sel.Sel.Name == "Write" && code.IsBytes(to) && code.IsString(from) && s.signature(recv, "WriteString", code.IsString):
		text = s.Source(sel.X) + ".WriteString(" + plainString(operand, from) + ")"
	case sel.Sel.Name == "WriteString" && code.IsString(to) && code.IsBytes(from) && s.signature(recv, "Write", code.IsBytes):
		text = s.Source(sel.X) + ".Write(" + operand + ")"
	default:
		return nil
	}
	e := code.Edit{Text: "`" + code.Brief(text) + "`, without the copy", Imports: imports, Changes: []code.Change{s.Replace(call, text)}}
	if !s.inMemory(recv) {
		e.Open = fmt.Sprintf("Write and WriteString of %s must do the same", types.TypeString(recv, types.RelativeTo(s.Pkg.Types)))
	}
	return []code.Edit{e}
}

// inMemory reports whether a type is a writer of the standard library whose Write and
// WriteString do the same.
func (s *site) inMemory(t types.Type) bool {
	return code.Named(t, "strings.Builder") || code.Named(t, "bytes.Buffer") || code.Named(t, "bufio.Writer") || code.Named(t, "os.File")
}

func plainString(x string, t types.Type) string {
	_, isNamed := types.Unalias(t).(*types.Named)
	return converted(x, "string", isNamed)
}

// signature reports whether t has a method of one parameter that want accepts, and with the
// results of io.Writer.
func (s *site) signature(t types.Type, method string, want func(types.Type) bool) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, s.Pkg.Types, method)
	fn, ok := obj.(*types.Func)
	if !ok {
		return false
	}
	sig := fn.Signature()
	return sig.Params().Len() == 1 && want(sig.Params().At(0).Type()) && sig.Results().Len() == 2
}
