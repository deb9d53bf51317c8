// Package genbench writes a benchmark for a function that none reaches: it makes the calls that the tests
// of the package make with constant arguments, or one with plain values.
package genbench

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

// Bench is a benchmark and the file that is to hold it, which is not written.
type Bench struct {
	File string
	Text []byte
	Name string
}

// mostCalls is how many calls of tests an operation makes.
const mostCalls = 8

// For writes a benchmark for the function that holds a line. It reports false for functions that cannot be
// called like that: methods, and those with type parameters, or with arguments that no plain value is of.
func For(file string, line int) (Bench, bool, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return Bench{}, false, err
	}
	i := slices.IndexFunc(f.Decls, func(d ast.Decl) bool {
		return fset.Position(d.Pos()).Line <= line && line <= fset.Position(d.End()).Line
	})
	if i < 0 {
		return Bench{}, false, nil
	}
	fn, ok := f.Decls[i].(*ast.FuncDecl)
	if !ok || fn.Recv != nil || fn.Type.TypeParams != nil || fn.Name.Name == "main" || fn.Name.Name == "init" {
		return Bench{}, false, nil
	}
	calls, err := tested(filepath.Dir(file), f.Name.Name, fn.Name.Name)
	if err != nil {
		return Bench{}, false, err
	}
	if len(calls) == 0 {
		call, ok := plain(fn)
		if !ok {
			return Bench{}, false, nil
		}
		calls = []string{call}
	}
	b := Bench{File: filepath.Join(filepath.Dir(file), "heaptrim_"+strings.ToLower(fn.Name.Name)+"_test.go"),
		Name: "BenchmarkHeaptrim" + strings.ToUpper(fn.Name.Name[:1]) + fn.Name.Name[1:]}
	b.Text, err = format.Source(fmt.Appendf(nil, "package %s\n\nimport \"testing\"\n\nfunc %s(b *testing.B) {\n\tfor b.Loop() {\n\t\t%s\n\t}\n}\n",
		f.Name.Name, b.Name, strings.Join(calls, "\n\t\t")))
	return b, err == nil, err
}

// tested are the calls of a function with constant arguments in the tests of its package.
func tested(dir, pkg, name string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if f.Name.Name != pkg {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if id, is := ast.Unparen(calleeOf(call, ok)).(*ast.Ident); !is || id.Name != name || !constant(call.Args) || len(out) == mostCalls {
				return true
			}
			if text := types.ExprString(call); !slices.Contains(out, text) {
				out = append(out, text)
			}
			return true
		})
	}
	return out, nil
}

func calleeOf(call *ast.CallExpr, ok bool) ast.Expr {
	if !ok {
		return nil
	}
	return call.Fun
}

// constant reports whether expressions are literals, or made of them alone.
func constant(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool {
		switch x := ast.Unparen(e).(type) {
		case *ast.BasicLit:
			return false
		case *ast.UnaryExpr:
			return !constant([]ast.Expr{x.X})
		case *ast.Ident:
			return x.Name != "true" && x.Name != "false" && x.Name != "nil"
		}
		return true
	})
}

// values are those of the types that a plain call is made with.
func values() map[string]string {
	out := map[string]string{"string": `"a text of six words, no more"`, "bool": "true", "error": "nil", "any": "1234", "interface{}": "1234",
		"[]byte": `[]byte("a text of six words, no more")`, "[]string": `[]string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}`,
		"[]int": "[]int{1, 2, 3, 4, 5, 6, 7, 8, 9}", "map[string]string": `map[string]string{"one": "1", "two": "2"}`}
	for _, name := range []string{"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "byte", "rune", "float32", "float64"} {
		out[name] = "123"
	}
	return out
}

// plain is a call with plain values.
func plain(fn *ast.FuncDecl) (string, bool) {
	var args []string
	known := values()
	for _, p := range fn.Type.Params.List {
		typ := p.Type
		if e, ok := typ.(*ast.Ellipsis); ok {
			typ = e.Elt
		}
		v, ok := known[types.ExprString(typ)]
		if !ok {
			return "", false
		}
		for range max(len(p.Names), 1) {
			args = append(args, v)
		}
	}
	return fn.Name.Name + "(" + strings.Join(args, ", ") + ")", true
}
