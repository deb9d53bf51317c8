package sum

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// appender is the function or method that appends the text which another one makes, the version of Go that has
// it where not all have, and what it takes behind the other's arguments.
type appender struct{ name, since, more string }

// appenders are by the functions and methods that make a text.
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
	"(net/netip.Addr).String":                    {"AppendTo", "go1.18", ""},
	"(net/netip.AddrPort).String":                {"AppendTo", "go1.18", ""},
	"(net/netip.Prefix).String":                  {"AppendTo", "go1.18", ""},
	"(*math/big.Int).String":                     {"Append", "", "10"},
}

// leastRoom is the length of an array that a text is put together in: two numbers and some words fit.
const leastRoom = 64

// InArray puts a text together in an array of the frame where parts of it, such as numbers, are made into strings
// for it only.
func InArray(on *code.Site) []code.Edit {
	s := &site{on}
	sum, ok := s.Cur.Node().(*ast.BinaryExpr)
	if !ok || sum.Op != token.ADD || !types.Identical(s.Info().TypeOf(sum), types.Typ[types.String]) || s.Info().Types[sum].Value != nil || s.partOf() {
		return nil
	}
	stmt, listed := code.Statement(s.Cur)
	room := s.Room(leastRoom)
	operands := s.operands(sum)
	if !listed || room == 0 || !s.Steady(operands) {
		return nil
	}
	var pieces []code.Piece
	for _, e := range operands {
		pieces = append(pieces, s.piece(e))
	}
	if !code.Appended(pieces) {
		return nil
	}
	array := s.Fresh("text", sum.Pos())
	return []code.Edit{{Text: fmt.Sprintf("put `%s` together in an array on the stack", code.Brief(s.Source(sum))), Changes: []code.Change{
		s.Before(stmt.Node(), fmt.Sprintf("var %s [%d]byte", array, room)), s.Replace(sum, "string("+code.Append(array+"[:0]", pieces)+")")}}}
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

// piece is an operand as it is appended.
func (s *site) piece(e ast.Expr) code.Piece {
	plain := code.Piece{Text: s.Source(e)}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return plain
	}
	a, known := appenders[s.Callee(call)]
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !known || !isSel || a.since != "" && !s.Since(a.since) {
		return plain
	}
	args := make([]string, 0, len(call.Args)+1)
	for _, arg := range call.Args {
		args = append(args, s.Source(arg))
	}
	if s.Callee(call) == "strconv.Itoa" {
		args[0] = "int64(" + args[0] + ")"
	}
	if a.more != "" {
		args = append(args, a.more)
	}
	p := code.Piece{Append: s.Source(sel.X) + "." + a.name, Args: strings.Join(args, ", ")}
	if call.Ellipsis.IsValid() {
		p.Args += "..."
	}
	return p
}
