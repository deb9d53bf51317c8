package analyzers_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/heaptrim/heaptrim/analyzers"
)

// The rules run on syntax trees that have been type-checked, in any driver.
func ExampleAll() {
	const text = `package shop

import "strings"

func host(addr string) string {
	return strings.Split(addr, ":")[0]
}

func port(addr string) string {
	return strings.Split(addr, ":")[1] //nolint:heaptrim
}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "shop.go", text, parser.ParseComments)
	if err != nil {
		fmt.Println(err)
		return
	}
	info := &types.Info{
		Types: make(map[ast.Expr]types.TypeAndValue), Defs: make(map[*ast.Ident]types.Object),
		Uses: make(map[*ast.Ident]types.Object), Selections: make(map[*ast.SelectorExpr]*types.Selection),
		Implicits: make(map[ast.Node]types.Object), Instances: make(map[*ast.Ident]types.Instance),
		Scopes: make(map[ast.Node]*types.Scope), FileVersions: make(map[*ast.File]string),
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	sizes := types.SizesFor("gc", "amd64")
	pkg, err := config.Check("example.com/shop", fset, []*ast.File{file}, info)
	if err != nil {
		fmt.Println(err)
		return
	}
	loaded := &packages.Package{
		ID: pkg.Path(), PkgPath: pkg.Path(), Name: pkg.Name(), Fset: fset,
		Syntax: []*ast.File{file}, Types: pkg, TypesInfo: info, TypesSizes: sizes,
	}
	graph, err := checker.Analyze(analyzers.All(), []*packages.Package{loaded}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, root := range graph.Roots {
		if root.Err != nil {
			fmt.Println(root.Err)
		}
		for _, d := range root.Diagnostics {
			fmt.Printf("%s: %s: %s\n", fset.Position(d.Pos), d.Category, d.Message)
		}
	}
	// Output:
	// shop.go:6:9: avoid-conversion: Split makes a slice of all parts for the first: use strings.Cut
}

func ExampleRules() {
	for _, r := range analyzers.Rules() {
		a := r.Analyzer
		if a.Name == "presizeslice" {
			fmt.Printf("%s: %s\n%s\n", r.Code, r.Title, a.URL)
		}
	}
	// Output:
	// presize-slice: make the slice with the capacity that the loop will fill
	// https://github.com/heaptrim/heaptrim/blob/main/doc/analyzers.md#presize-slice
}
