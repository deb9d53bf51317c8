package text

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// askBytes are functions of package strings that only look at their first argument, with their twins
// in package bytes: whether these take the second argument as it is.
var askBytes = map[string]bool{
	"strings.HasPrefix": false, "strings.HasSuffix": false, "strings.Contains": false, "strings.Index": false,
	"strings.LastIndex": false, "strings.Count": false, "strings.EqualFold": false,
	"strings.IndexByte": true, "strings.LastIndexByte": true, "strings.IndexRune": true, "strings.ContainsRune": true,
	"strings.IndexAny": true, "strings.ContainsAny": true, "strings.Compare": false,
}

// bytesAsWell are functions and methods that take a string, and those beside them that take bytes.
var bytesAsWell = map[string]string{
	"(*regexp.Regexp).MatchString": "Match", "(*regexp.Regexp).FindStringIndex": "FindIndex",
	"(*regexp.Regexp).FindStringSubmatchIndex": "FindSubmatchIndex", "(*regexp.Regexp).FindAllStringIndex": "FindAllIndex",
	"unicode/utf8.RuneCountInString": "RuneCount", "unicode/utf8.ValidString": "Valid",
	"unicode/utf8.DecodeRuneInString": "DecodeRune", "unicode/utf8.DecodeLastRuneInString": "DecodeLastRune",
	"unicode/utf8.FullRuneInString": "FullRune",
}

// AskString asks a string what its copy as bytes is asked.
func AskString(on *code.Site) []code.Edit {
	s := &site{on}
	conv, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.CallExpr_Args || s.ofText(conv) == nil {
		return nil
	}
	call := s.Cur.Parent().Node().(*ast.CallExpr)
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || call.Args[0] != s.Cur.Node() {
		return nil
	}
	asked := s.Callee(call)
	for name, bytes := range bytesAsWell {
		if cut := strings.LastIndexByte(name, '.') + 1; name[:cut]+bytes == asked {
			return []code.Edit{{Text: fmt.Sprintf("ask `%s` itself by %s", code.Brief(s.Source(conv.Args[0])), name[cut:]),
				Changes: []code.Change{s.Replace(sel.Sel, name[cut:]), s.Replace(conv, s.Source(conv.Args[0]))}}}
		}
	}
	return nil
}

// AskBytes asks bytes what their copy as a string is asked.
func AskBytes(on *code.Site) []code.Edit {
	s := &site{on}
	conv, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.CallExpr_Args || len(conv.Args) != 1 || !s.Info().Types[conv.Fun].IsType() ||
		!types.Identical(s.Info().TypeOf(conv), types.Typ[types.String]) || !code.IsBytes(s.Info().TypeOf(conv.Args[0])) {
		return nil
	}
	call := s.Cur.Parent().Node().(*ast.CallExpr)
	sel, isSel := call.Fun.(*ast.SelectorExpr)
	if name, ok := bytesAsWell[s.Callee(call)]; ok && isSel && call.Args[0] == s.Cur.Node() {
		return []code.Edit{{Text: fmt.Sprintf("ask `%s` itself by %s", code.Brief(s.Source(conv.Args[0])), name),
			Changes: []code.Change{s.Replace(sel.Sel, name), s.Replace(conv, s.Source(conv.Args[0]))}}}
	}
	same, known := askBytes[s.Callee(call)]
	if !known || !isSel || len(call.Args) != 2 || call.Args[0] != s.Cur.Node() {
		return nil
	}
	pkg, imports, ok := s.Use("bytes", call.Pos())
	if !ok {
		return nil
	}
	second := s.Source(call.Args[1])
	if both := s.textOfBytes(call.Args[1]); both != nil && !same {
		second = s.Source(both)
	} else if !same {
		second = "[]byte(" + second + ")"
	}
	text := fmt.Sprintf("%s.%s(%s, %s)", pkg, sel.Sel.Name, s.Source(conv.Args[0]), second)
	return []code.Edit{{Text: fmt.Sprintf("ask `%s` itself by bytes.%s", code.Brief(s.Source(conv.Args[0])), sel.Sel.Name), Imports: imports,
		Changes: []code.Change{s.Replace(call, text)}}}
}

// textOfBytes is what an expression makes a string of, if these are bytes; nil for other expressions.
func (s *site) textOfBytes(e ast.Expr) ast.Expr {
	conv, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(conv.Args) != 1 || !s.Info().Types[conv.Fun].IsType() || !code.IsString(s.Info().TypeOf(conv)) || !code.IsBytes(s.Info().TypeOf(conv.Args[0])) {
		return nil
	}
	return conv.Args[0]
}

// fixed are the types whose values binary.Write writes as they are, with the method of a byte order
// that appends them, and what that takes.
var fixed = map[types.BasicKind][2]string{
	types.Uint16: {"AppendUint16", ""}, types.Uint32: {"AppendUint32", ""}, types.Uint64: {"AppendUint64", ""},
	types.Int16: {"AppendUint16", "uint16"}, types.Int32: {"AppendUint32", "uint32"}, types.Int64: {"AppendUint64", "uint64"},
}

// WriteNumber writes a number without reflection.
func WriteNumber(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Callee(call) != "encoding/binary.Write" || !s.Since("go1.21") {
		return nil
	}
	order, isOrder := ast.Unparen(call.Args[1]).(*ast.SelectorExpr)
	b := code.Basic(s.Info().TypeOf(call.Args[2]))
	if !isOrder || b == nil || order.Sel.Name != "BigEndian" && order.Sel.Name != "LittleEndian" || s.Info().Types[call.Args[2]].Value != nil {
		return nil
	}
	how, ok := fixed[b.Kind()]
	typ := s.Info().TypeOf(call.Args[0])
	if !ok || !code.Named(typ, "bytes.Buffer") && !code.Named(typ, "bufio.Writer") {
		return nil // another writer takes memory of its own to write from
	}
	w := ast.Unparen(call.Args[0])
	if u, ok := w.(*ast.UnaryExpr); ok {
		w = u.X
	}
	value := s.Source(call.Args[2])
	to := how[1]
	if _, named := types.Unalias(s.Info().TypeOf(call.Args[2])).(*types.Named); named && to == "" {
		to = b.Name()
	}
	if to != "" {
		value = to + "(" + value + ")"
	}
	writer := s.Source(w)
	text := fmt.Sprintf("%s.Write(%s.%s(%[1]s.AvailableBuffer(), %[4]s))", writer, s.Source(order), how[0], value)
	e := code.Edit{Text: fmt.Sprintf("append the number by %s.%s", s.Source(order), how[0])}
	switch s.Cur.ParentEdgeKind() {
	case edge.ExprStmt_X:
		e.Changes = []code.Change{s.Replace(call, text)}
	case edge.AssignStmt_Rhs:
		assign := s.Cur.Parent().Node().(*ast.AssignStmt)
		if len(assign.Lhs) != 1 {
			return nil
		}
		e.Changes = []code.Change{s.Replace(assign.Lhs[0], "_, "+s.Source(assign.Lhs[0])), s.Replace(call, text)}
	default:
		return nil
	}
	return []code.Edit{e}
}
