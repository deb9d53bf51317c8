package sum

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// appender is the function or method that appends the text which another one makes, the version of Go that has
// it where not all have, and what it takes behind the other's arguments.
type appender struct{ name, since, more string }

// appenders are by the functions and methods that make a text. Those of net/netip append nothing for a zero value,
// which String says is invalid.
var appenders = map[string]appender{
	"strconv.Itoa":                               {"AppendInt", "", "10"},
	"strconv.FormatInt":                          {"AppendInt", "", ""},
	"strconv.FormatUint":                         {"AppendUint", "", ""},
	"strconv.FormatFloat":                        {"AppendFloat", "", ""},
	"strconv.Quote":                              {"AppendQuote", "", ""},
	"strconv.QuoteToASCII":                       {"AppendQuoteToASCII", "", ""},
	"fmt.Sprintf":                                {"Appendf", "go1.19", ""},
	"fmt.Sprint":                                 {"Append", "go1.19", ""},
	"(time.Time).Format":                         {"AppendFormat", "", ""},
	"encoding/hex.EncodeToString":                {"AppendEncode", "go1.22", ""},
	"(*encoding/base64.Encoding).EncodeToString": {"AppendEncode", "go1.22", ""},
	"(*encoding/base32.Encoding).EncodeToString": {"AppendEncode", "go1.22", ""},
	"(*math/big.Int).String":                     {"Append", "", "10"},
}

// leastRoom is the length of an array that a text is put together in: two numbers and some words fit.
const leastRoom = 64

// helpers are functions that make a text, those that an edit declares to append it, and their source, with %[1]s for the
// name and %[2]s for that of package strings.
var helpers = map[string][2]string{
	"strings.Join": {"appendJoined", `
// %[1]s appends the elements of a list with a separator between them, as %[2]s.Join puts them together.
func %[1]s(to []byte, list []string, sep string) []byte {
	for i, s := range list {
		if i > 0 {
			to = append(to, sep...)
		}
		to = append(to, s...)
	}
	return to
}
`},
	"strings.ReplaceAll": {"appendReplaced", `
// %[1]s appends a text with one part of it in place of another, as %[2]s.ReplaceAll does. The other is not empty.
func %[1]s(to []byte, s, old, by string) []byte {
	for {
		i := %[2]s.Index(s, old)
		if i < 0 {
			return append(to, s...)
		}
		to = append(append(to, s[:i]...), by...)
		s = s[i+len(old):]
	}
}
`},
}

// InArray puts a text together in an array of the frame where parts of it, such as numbers, are made into strings
// for it only.
func InArray(on *code.Site) []code.Edit {
	s := &site{on}
	sum, ok := s.Cur.Node().(*ast.BinaryExpr)
	if !ok || sum.Op != token.ADD || s.Info().Types[sum].Value != nil || s.partOf() {
		return nil
	}
	operands := s.operands(sum)
	if len(operands) < 2 || !s.Steady(operands) {
		return nil
	}
	return s.inArray(sum, operands)
}

// AskedInArray makes a text in an array of the frame where a map, a switch or a comparison is asked for it only.
func AskedInArray(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || !s.OnlyAsked(s.Cur) {
		return nil
	}
	return s.inArray(call, []ast.Expr{call})
}

// inArray puts operands together in an array of the frame, one of which has to be appended by a function.
func (s *site) inArray(e ast.Expr, operands []ast.Expr) []code.Edit {
	if !types.Identical(s.Info().TypeOf(e), types.Typ[types.String]) {
		return nil
	}
	var pieces []code.Piece
	var declared []code.Change
	for _, operand := range operands {
		piece, helper := s.piece(operand)
		pieces = append(pieces, piece)
		if change := s.Insert(len(s.Text), helper); helper != "" && !slices.Contains(declared, change) {
			declared = append(declared, change)
		}
	}
	changes := s.Together(e, pieces, s.Room(leastRoom))
	if changes == nil {
		return nil
	}
	return []code.Edit{{Text: fmt.Sprintf("put `%s` together in an array on the stack", code.Brief(s.Source(e))), Changes: append(changes, declared...)}}
}

// partOf reports whether the sum of the site is an operand of a longer one.
func (s *site) partOf() bool {
	at := s.Cur
	for at.ParentEdgeKind() == edge.ParenExpr_X {
		at = at.Parent()
	}
	b, ok := at.Parent().Node().(*ast.BinaryExpr)
	return ok && b.Op == token.ADD
}

// operands are the operands of a sum, with constants that stand beside each other as one.
func (s *site) operands(e ast.Expr) []ast.Expr {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok || b.Op != token.ADD || s.Info().Types[e].Value != nil {
		return []ast.Expr{e}
	}
	return append(s.operands(b.X), s.operands(b.Y)...)
}

// piece is an operand as it is appended, and the declaration that this needs.
func (s *site) piece(e ast.Expr) (p code.Piece, helper string) {
	plain := code.Piece{Text: s.Source(e)}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return plain, ""
	}
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !isSel {
		return plain, ""
	}
	args := make([]string, 0, len(call.Args)+1)
	for _, arg := range call.Args {
		args = append(args, s.Source(arg))
	}
	if h, ok := helpers[s.Callee(call)]; ok && s.cuts(call) {
		name := s.FreshDeclared(h[0], s.Name+h[0]) // those of one file share it
		return code.Piece{Append: name, Args: strings.Join(args, ", ")}, fmt.Sprintf(h[1], name, s.Source(sel.X))
	}
	a, known := appenders[s.Callee(call)]
	if !known || a.since != "" && !s.Since(a.since) {
		return plain, ""
	}
	if s.Callee(call) == "strconv.Itoa" {
		args[0] = "int64(" + args[0] + ")"
	}
	if a.more != "" {
		args = append(args, a.more)
	}
	p = code.Piece{Append: s.Source(sel.X) + "." + a.name, Args: strings.Join(args, ", ")}
	if call.Ellipsis.IsValid() {
		p.Args += "..."
	}
	return p, ""
}

// cuts reports whether a helper can take a call's arguments: what is replaced is a constant, and not empty.
func (s *site) cuts(call *ast.CallExpr) bool {
	if s.Callee(call) != "strings.ReplaceAll" {
		return true
	}
	old, ok := s.ConstString(call.Args[1])
	return ok && old != ""
}
