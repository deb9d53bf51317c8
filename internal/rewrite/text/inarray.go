package text

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// FormatInArray formats into an array of the frame, without fmt and without a string for each number.
func FormatInArray(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || call.Ellipsis.IsValid() || s.Callee(call) != "fmt.Sprintf" || !types.Identical(s.Info().TypeOf(call), types.Typ[types.String]) {
		return nil
	}
	padded := s.FreshDeclared("appendPadded", s.Name+"appendPadded") // those of one file share it
	parts, imports, ok := s.partsBy(call, 0, func(verb string, arg ast.Expr) (string, []string, bool) {
		if text, needs, ok := s.paddedNumber(verb, arg); ok {
			return padded + "(" + text + ")", needs, true
		}
		return s.formatOperand(verb, arg)
	})
	if !ok || len(parts) < 2 || !s.Steady(call.Args) {
		return nil
	}
	var pieces []code.Piece
	declared := ""
	for _, p := range parts {
		if args, ok := strings.CutPrefix(p, padded+"("); ok {
			name, _, _ := s.Use("strconv", call.Pos())
			pieces, declared = append(pieces, code.Piece{Append: padded, Args: strings.TrimSuffix(args, ")")}), fmt.Sprintf(paddedSource, padded, name)
			continue
		}
		pieces = append(pieces, s.piece(call, p))
	}
	changes := s.Together(call, pieces, s.Room(shortText))
	if changes == nil {
		return nil
	}
	if declared != "" {
		changes = append(changes, s.Insert(len(s.Text), declared))
	}
	return []code.Edit{{Text: fmt.Sprintf("format `%s` in an array on the stack", code.Brief(strings.Join(parts, " + "))), Imports: imports, Changes: changes}}
}

// paddedSource declares what appends a number with a width.
const paddedSource = `
// %[1]s appends a number, filled up in front to a width.
func %[1]s(to []byte, n int64, base, width int, fill byte) []byte {
	var room [20]byte
	digits := %[2]s.AppendInt(room[:0], n, base)
	if n < 0 && fill == '0' {
		to, digits, width = append(to, '-'), digits[1:], width-1
	}
	for i := len(digits); i < width; i++ {
		to = append(to, fill)
	}
	return append(to, digits...)
}
`

// paddedNumber is what appendPadded takes for a number that a verb such as 4d or 02x gives a width.
func (s *site) paddedNumber(verb string, arg ast.Expr) (text string, imports []string, ok bool) {
	width, letter := verb[:len(verb)-1], verb[len(verb)-1]
	b, t := code.Basic(s.Info().TypeOf(arg)), s.Info().TypeOf(arg)
	base := map[byte]string{'d': "10", 'x': "16"}[letter]
	if n, err := strconv.Atoi(width); err != nil || n == 0 || n > shortText || base == "" || b == nil || b.Info()&types.IsInteger == 0 || !code.Plain(t) {
		return "", nil, false
	}
	switch b.Kind() {
	case types.Uint, types.Uint64, types.Uintptr, types.UntypedInt, types.UntypedRune:
		return "", nil, false
	}
	fill := "' '"
	if width[0] == '0' {
		fill, width = "'0'", strings.TrimLeft(width, "0")
	}
	_, imports, ok = s.Use("strconv", arg.Pos())
	return fmt.Sprintf("int64(%s), %s, %s, %s", s.Source(arg), base, width, fill), imports, ok
}

// piece is a part of a format as it is appended.
func (s *site) piece(call *ast.CallExpr, part string) code.Piece {
	plain := code.Piece{Text: part}
	e, err := parser.ParseExpr(part)
	made, ok := e.(*ast.CallExpr)
	if err != nil || !ok {
		return plain
	}
	sel, ok := made.Fun.(*ast.SelectorExpr)
	if !ok || len(made.Args) == 0 {
		return plain
	}
	args := part[made.Args[0].Pos()-1 : made.Rparen-1]
	pkg, ok := sel.X.(*ast.Ident)
	name, _, found := s.Use("strconv", call.Pos())
	encoding, _, hex := s.Use("encoding/hex", call.Pos())
	switch {
	case ok && hex && pkg.Name == encoding && sel.Sel.Name == "EncodeToString" && s.Since("go1.22"):
		return code.Piece{Append: encoding + ".AppendEncode", Args: args}
	case !ok || !found || pkg.Name != name:
	case sel.Sel.Name == "Itoa":
		return code.Piece{Append: name + ".AppendInt", Args: "int64(" + args + "), 10"}
	case sel.Sel.Name == "Quote":
		return code.Piece{Append: name + ".AppendQuote", Args: args}
	case strings.HasPrefix(sel.Sel.Name, "Format"):
		return code.Piece{Append: name + ".Append" + strings.TrimPrefix(sel.Sel.Name, "Format"), Args: args}
	}
	return plain
}
