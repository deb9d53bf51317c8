package written

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// sorters are the functions that sort slices without an interface value, by the types that give the slices methods.
var sorters = map[string]string{"sort.StringSlice": "sort.Strings", "sort.IntSlice": "sort.Ints", "sort.Float64Slice": "sort.Float64s"}

// sortedAs is the function that sorts what sort.Sort is handed as a slice of one of these types; "" for others.
func sortedAs(p idiom.Place) string {
	sorts := func(n ast.Node) *ast.CallExpr {
		c, ok := n.(*ast.CallExpr)
		if !ok || len(c.Args) != 1 || calleeName(p, c) != "sort.Sort" {
			return nil
		}
		return c
	}
	c := sorts(p.Expr)
	if c == nil && len(p.Path) > 0 {
		c = sorts(p.Path[len(p.Path)-1])
	}
	if c == nil {
		return ""
	}
	return sorters[types.TypeString(p.Info.TypeOf(c.Args[0]), nil)]
}

// sortedByAddress reports whether a slice's variable is on the heap because sort.Sort or sort.Stable is handed its address.
func sortedByAddress(p idiom.Place) bool {
	id, ok := p.Expr.(*ast.Ident)
	if !ok || p.Info.Defs[id] == nil || p.Body() == nil {
		return false
	}
	v := p.Info.Defs[id]
	if _, slice := v.Type().Underlying().(*types.Slice); !slice {
		return false
	}
	sorted, other := 0, 0
	ast.Inspect(p.Body(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := calleeName(p, n)
			if at := addressOf(n.Args); at != nil && p.Variable(at) == v && (name == "sort.Sort" || name == "sort.Stable") {
				sorted++
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND && p.Variable(n.X) == v {
				other++
			}
		}
		return true
	})
	return sorted > 0 && other == sorted
}

// addressOf is what the only argument is the address of; nil for others.
func addressOf(args []ast.Expr) ast.Expr {
	if len(args) != 1 {
		return nil
	}
	at, ok := ast.Unparen(args[0]).(*ast.UnaryExpr)
	if !ok || at.Op != token.AND {
		return nil
	}
	return at.X
}
