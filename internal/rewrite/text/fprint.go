package text

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// WriteText writes text to a writer without fmt, in one piece: strings and the parts of a format whose text is
// known.
func WriteText(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || call.Ellipsis.IsValid() || len(call.Args) < 2 {
		return nil
	}
	var parts, imports []string
	switch s.Callee(call) {
	case "fmt.Fprint":
		t := s.Info().TypeOf(call.Args[1])
		if len(call.Args) > 2 || !code.IsString(t) || !code.Plain(t) {
			return nil
		}
		_, isNamed := types.Unalias(t).(*types.Named)
		parts = []string{converted(s.Source(call.Args[1]), "string", isNamed)}
	case "fmt.Fprintf":
		if s.fprintf(call) != nil {
			return nil // one write for each part is better
		}
		if parts, imports, ok = s.formatParts(call, 1); !ok || len(parts) == 0 {
			return nil
		}
	default:
		return nil
	}
	w := call.Args[0]
	t := s.Info().TypeOf(w)
	pkg, more, ok := s.Use("io", call.Pos())
	if !ok || t == nil {
		return nil
	}
	e := code.Edit{Text: fmt.Sprintf("write `%s` without fmt", code.Brief(strings.Join(parts, " + "))), Imports: append(imports, more...)}
	if !s.inMemory(t) {
		e.Open = fmt.Sprintf("Write and WriteString of `%s` must do the same", code.Brief(s.Source(w)))
	}
	e.Changes = []code.Change{s.Replace(call, fmt.Sprintf("%s.WriteString(%s, %s)", pkg, s.Source(w), strings.Join(parts, " + ")))}
	return []code.Edit{e}
}

// ErrorText makes an error of a text that is put together without fmt, which makes the same error of it.
func ErrorText(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Callee(call) != "fmt.Errorf" || call.Ellipsis.IsValid() || len(call.Args) < 2 {
		return nil
	}
	parts, imports, ok := s.formatParts(call, 0)
	pkg, more, free := s.Use("errors", call.Pos())
	if !ok || !free || len(parts) == 0 {
		return nil
	}
	text := strings.Join(parts, " + ")
	return []code.Edit{{Text: fmt.Sprintf("make the error of `%s`, without fmt", code.Brief(text)), Imports: append(imports, more...),
		Changes: []code.Change{s.Replace(call, fmt.Sprintf("%s.New(%s)", pkg, text))}}}
}
