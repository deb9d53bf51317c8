package text

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
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
	parts, imports, ok := s.formatParts(call, 0)
	if !ok || len(parts) < 2 || !s.Steady(call.Args) {
		return nil
	}
	var pieces []code.Piece
	for _, p := range parts {
		pieces = append(pieces, s.piece(call, p))
	}
	changes := s.Together(call, pieces, s.Room(shortText))
	if changes == nil {
		return nil
	}
	return []code.Edit{{Text: fmt.Sprintf("format `%s` in an array on the stack", code.Brief(strings.Join(parts, " + "))), Imports: imports, Changes: changes}}
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
