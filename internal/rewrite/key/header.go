package key

import (
	"fmt"
	"go/ast"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// CanonicalName writes the name of a header as headers keep it: another way to write it is brought into that
// form by each call.
func CanonicalName(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return nil
	}
	typ, method, _ := strings.Cut(s.Callee(call), ").")
	switch typ {
	case "(net/http.Header", "(net/textproto.MIMEHeader":
	default:
		return nil
	}
	switch method {
	case "Add", "Del", "Get", "Set", "Values":
	default:
		return nil
	}
	lit, ok := ast.Unparen(call.Args[0]).(*ast.BasicLit)
	if !ok {
		return nil
	}
	name, ok := s.ConstString(lit)
	canonical := textproto.CanonicalMIMEHeaderKey(name)
	if !ok || canonical == name {
		return nil
	}
	return []code.Edit{{Text: fmt.Sprintf("name the header %q, as it is kept", canonical), Changes: []code.Change{s.Replace(lit, strconv.Quote(canonical))}}}
}
