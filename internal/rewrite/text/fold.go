package text

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// EqualFold compares text without regard to case, and without a copy in one case.
func EqualFold(on *code.Site) []code.Edit {
	s := &site{on}
	cmp, ok := s.Cur.Node().(*ast.BinaryExpr)
	if !ok || cmp.Op != token.EQL && cmp.Op != token.NEQ {
		return nil
	}
	x, y := cmp.X, cmp.Y
	if s.caseOf(x) == "" {
		x, y = y, x
	}
	in := s.caseOf(x)
	if in == "" {
		return nil
	}
	e := code.Edit{}
	a, b := x.(*ast.CallExpr).Args[0], y
	if text, constant := s.ConstString(y); constant {
		if e.Open, ok = FoldsAs(text, in); !ok {
			return nil
		}
	} else if s.caseOf(y) == in {
		b = y.(*ast.CallExpr).Args[0]
		e.Open = "a few letters, such as ſ and s, are equal to each other then, or no longer are"
	} else {
		return nil
	}
	sel, ok := x.(*ast.CallExpr).Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	not := ""
	if cmp.Op == token.NEQ {
		not = "!"
	}
	text := fmt.Sprintf("%s%s.EqualFold(%s, %s)", not, s.Source(sel.X), s.Source(a), s.Source(b))
	e.Text, e.Changes = fmt.Sprintf("compare by %s, which makes no copy", text), []code.Change{s.Replace(cmp, text)}
	return []code.Edit{e}
}

// caseOf is the function that brings a string into one case, if e calls one.
func (s *site) caseOf(e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	if name := s.Callee(call); name == "strings.ToLower" || name == "strings.ToUpper" {
		return name
	}
	return ""
}

// FoldsAs reports whether a constant of ASCII letters in the right case can be compared by
// EqualFold, and for which letters the result is another. Beside the two cases, k has the Kelvin
// sign and s the long s; ToLower makes i of the dotted İ, ToUpper I of the dotless ı.
func FoldsAs(text, in string) (open string, ok bool) {
	change, odd := strings.ToLower, "is"
	if in == "strings.ToUpper" {
		change, odd = strings.ToUpper, "IK"
	}
	for _, r := range text {
		if r >= 0x80 {
			return "", false
		}
	}
	if change(text) != text {
		return "", false // never equal: that is another fault
	}
	if strings.ContainsAny(text, odd) {
		open = "letters such as ſ (for s), K (for K), ı and İ (for i) compare in another way then"
	}
	return open, true
}
