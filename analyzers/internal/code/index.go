package code

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// Facts is what every rule asks of a package, made once for all of them.
type Facts struct {
	Calls  map[string][]inspector.Cursor       // by the callee's full name, in files the rules look at
	Uses   map[types.Object][]inspector.Cursor // identifiers, definitions included, in all files
	files  []inspector.Cursor                  // neither generated nor tests, nor of a package of errors
	silent map[*token.File]bool

	suppressed suppressions // by comments of the author
}

// Index makes the Facts of a package, once for all rules.
var Index = &analysis.Analyzer{
	Name:       "allocindex",
	Doc:        "index calls and uses of variables for the other analyzers",
	Requires:   []*analysis.Analyzer{inspect.Analyzer},
	ResultType: reflect.TypeFor[*Facts](),
	Run:        buildIndex,
}

func buildIndex(pass *analysis.Pass) (any, error) {
	ix := &Facts{
		Calls:  make(map[string][]inspector.Cursor),
		Uses:   make(map[types.Object][]inspector.Cursor),
		silent: make(map[*token.File]bool),

		suppressed: make(suppressions),
	}
	for file := range pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root().Children() {
		syntax := file.Node().(*ast.File)
		tf := pass.Fset.File(syntax.FileStart)
		if strings.HasSuffix(pass.Pkg.Name(), "errors") || ast.IsGenerated(syntax) ||
			strings.HasSuffix(tf.Name(), "_test.go") || importsTesting(syntax) {
			ix.silent[tf] = true
		} else {
			ix.files = append(ix.files, file)
			ix.suppressed.add(tf, syntax)
		}
		ix.add(pass, file, ix.silent[tf])
	}
	return ix, nil
}

// importsTesting reports whether a file helps tests, from outside of them.
func importsTesting(file *ast.File) bool {
	for _, imp := range file.Imports {
		if imp.Path.Value == `"testing"` {
			return true
		}
	}
	return false
}

func (ix *Facts) add(pass *analysis.Pass, file inspector.Cursor, silent bool) {
	for c := range file.Preorder((*ast.Ident)(nil), (*ast.CallExpr)(nil)) {
		switch n := c.Node().(type) {
		case *ast.Ident:
			if obj, ok := pass.TypesInfo.ObjectOf(n).(*types.Var); ok {
				ix.Uses[obj] = append(ix.Uses[obj], c)
			}
		case *ast.CallExpr:
			if silent {
				continue
			}
			if fn, ok := typeutil.Callee(pass.TypesInfo, n).(*types.Func); ok {
				name := fn.FullName()
				ix.Calls[name] = append(ix.Calls[name], c)
			}
		}
	}
}
