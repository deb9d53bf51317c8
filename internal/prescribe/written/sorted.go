package written

import (
	"go/ast"
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
