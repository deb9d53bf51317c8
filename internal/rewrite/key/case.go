package key

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// InOneCase brings a text into one case in an array of the frame where a map or a switch is asked for it only:
// both take the bytes as a string without a copy.
func InOneCase(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !types.Identical(s.Info().TypeOf(call.Args[0]), types.Typ[types.String]) {
		return nil
	}
	name := strings.TrimPrefix(s.Callee(call), "strings.")
	sel, isSel := call.Fun.(*ast.SelectorExpr)
	stmt, listed := code.Statement(s.Cur)
	size := s.size()
	if name != "ToLower" && name != "ToUpper" || !isSel || !listed || size == 0 {
		return nil
	}
	helper := s.FreshDeclared(strings.Replace(name, "To", "append", 1), s.Name+name) // those of one file share it
	array := s.Fresh("folded", call.Pos())
	e := code.Edit{Text: fmt.Sprintf("bring `%s` into one case in an array on the stack", code.Brief(s.Source(call.Args[0])))}
	text := fmt.Sprintf("%s(%s[:0], %s)", helper, array, s.Source(call.Args[0]))
	v, define := s.Defined()
	switch fn, _ := code.Function(s.Cur); {
	case s.OnlyAsked(s.Cur):
		text = "string(" + text + ")"
	case v == nil || !types.Identical(v.Type(), types.Typ[types.String]) || define != stmt || !s.allAsked(v, fn):
		return nil
	default:
		for _, u := range s.Uses(v, fn)[1:] {
			e.Changes = append(e.Changes, s.Replace(u.Node(), "string("+v.Name()+")"))
		}
	}
	e.Changes = append(e.Changes, s.Before(stmt.Node(), fmt.Sprintf("var %s [%d]byte", array, size)), s.Replace(call, text),
		s.Insert(len(s.Text), inCase(helper, s.Source(sel), name)))
	return []code.Edit{e}
}

// size is the length of an array that most of the texts seen fit into; 0 if they are too long for one.
func (s *site) size() int64 {
	const least, most = 32, 256
	n := int64(least)
	if seen := s.Place.Sizes; len(seen) > 0 {
		for n < seen[len(seen)*9/10] {
			n *= 2
		}
	}
	if n > most {
		return 0
	}
	return n
}

// allAsked reports whether a variable is set once, and only asked for in the function that sets it.
func (s *site) allAsked(v *types.Var, fn inspector.Cursor) bool {
	uses := s.Uses(v, fn)
	for _, u := range uses[1:] {
		if !code.Within(u, fn) || !s.OnlyAsked(u) {
			return false
		}
	}
	return len(uses) > 1
}

// inCase declares the function that appends a text in one case. What is not ASCII is left to the function of
// package strings, which replaces bytes that are no characters.
func inCase(helper, asked, name string) string {
	what, first, last, change := "lower", 'A', 'Z', "+= 'a' - 'A'"
	if name == "ToUpper" {
		what, first, last, change = "upper", 'a', 'z', "-= 'a' - 'A'"
	}
	return fmt.Sprintf(`
// %[1]s appends a text in %[2]s case, as %[3]s makes it.
func %[1]s(to []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= 0x80 {
			return append(to[:len(to)-i], %[3]s(text)...)
		}
		if '%[4]c' <= c && c <= '%[5]c' {
			c %[6]s
		}
		to = append(to, c)
	}
	return to
}
`, helper, what, asked, first, last, change)
}
