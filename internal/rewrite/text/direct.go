package text

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// ReadNumber reads a number from bytes that are at hand without a reader and without reflection.
func ReadNumber(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if ok && s.Cur.ParentEdgeKind() == edge.CallExpr_Args { // the reader's own row
		call, ok = s.Cur.Parent().Node().(*ast.CallExpr)
	}
	if !ok || s.Callee(call) != "encoding/binary.Read" {
		return nil
	}
	made, isCall := ast.Unparen(call.Args[0]).(*ast.CallExpr)
	order, isOrder := ast.Unparen(call.Args[1]).(*ast.SelectorExpr)
	to, isPointer := ast.Unparen(call.Args[2]).(*ast.UnaryExpr)
	stmt, listed := code.Statement(s.Cur)
	if !isCall || !isOrder || !isPointer || to.Op != token.AND || !listed || order.Sel.Name != "BigEndian" && order.Sel.Name != "LittleEndian" {
		return nil
	}
	if alone, ok := stmt.Node().(*ast.ExprStmt); !ok || ast.Unparen(alone.X) != ast.Expr(call) {
		return nil // its error is looked at
	}
	b := code.Basic(s.Info().TypeOf(to.X))
	if name := s.Callee(made); name != "bytes.NewReader" && name != "bytes.NewBuffer" || b == nil {
		return nil
	}
	how, ok := fixed[b.Kind()]
	if !ok {
		return nil
	}
	bytes := s.Source(made.Args[0])
	value := fmt.Sprintf("%s.%s(%s)", s.Source(order), strings.TrimPrefix(how[0], "Append"), bytes)
	if how[1] != "" || types.Unalias(s.Info().TypeOf(to.X)) != types.Type(b) {
		value = fmt.Sprintf("%s(%s)", s.TypeText(s.Info().TypeOf(to.X)), value)
	}
	return []code.Edit{{Text: fmt.Sprintf("take the number from `%s` by %s", code.Brief(bytes), s.Source(order)),
		Open:    fmt.Sprintf("`%s` must be long enough: it panics where the error is dropped today", code.Brief(bytes)),
		Changes: []code.Change{s.Replace(call, s.Source(to.X)+" = "+value)}}}
}

// OneStream takes a reader or writer where it is wrapped as the only one of several.
func OneStream(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || call.Ellipsis.IsValid() {
		return nil
	}
	if name := s.Callee(call); name != "io.MultiReader" && name != "io.MultiWriter" {
		return nil
	}
	x := s.Source(call.Args[0])
	return []code.Edit{{Text: fmt.Sprintf("take `%s` itself", code.Brief(x)), Open: fmt.Sprintf("others may ask `%s` for more methods than Read or Write", code.Brief(x)),
		Changes: []code.Change{s.Replace(call, x)}}}
}

// CallString asks a value for its text where fmt does the same by reflection.
func CallString(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok {
		return nil
	}
	x := s.onlyPrinted(call)
	if x == nil {
		return nil
	}
	t := s.Info().TypeOf(x)
	reflected := code.Named(t, "reflect.Value")
	described := code.Named(t, "net.Addr") || code.Named(t, "reflect.Type") // fmt would print the text of an error
	if t == nil || types.IsInterface(t) && !described || code.HasMethod(t, "Error") || code.HasMethod(t, "Format") || !isStringer(t) {
		return nil
	}
	e := code.Edit{Text: fmt.Sprintf("ask `%s` for its String", code.Brief(s.Source(x))), Changes: []code.Change{s.Replace(call, operand(x, s.Source(x))+".String()")}}
	if reflected {
		e.Open = fmt.Sprintf("`%s` must hold a string, of a type without methods", s.Source(x))
	} else if _, pointer := t.Underlying().(*types.Pointer); pointer || described {
		e.Open = fmt.Sprintf("`%s` must not be nil, which fmt prints as <nil>", s.Source(x))
	}
	return []code.Edit{e}
}

// isStringer reports whether a value of a type has a method String() string.
func isStringer(t types.Type) bool {
	sel := types.NewMethodSet(t).Lookup(nil, "String")
	if sel == nil {
		return false
	}
	sig, ok := sel.Type().(*types.Signature)
	return ok && sig.Params().Len() == 0 && sig.Results().Len() == 1 && types.Identical(sig.Results().At(0).Type(), types.Typ[types.String])
}

// operand is an expression's text in front of a selector.
func operand(e ast.Expr, text string) string {
	switch e.(type) {
	case *ast.UnaryExpr, *ast.BinaryExpr, *ast.StarExpr, *ast.FuncLit:
		return "(" + text + ")"
	}
	return text
}
