package record

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// benchSource is what the test files of a package say of its benchmarks.
type benchSource struct {
	names []string        // top-level benchmark functions, in source order
	loops []evidence.Loop // measured loops, wherever in the test files they stand
}

// readBenchSource parses the test files of a package. A file that does not
// parse is skipped here: the build reports it better.
func readBenchSource(p goPackage) benchSource {
	var s benchSource
	for _, name := range append(append([]string(nil), p.TestGoFiles...), p.XTestGoFiles...) {
		file := filepath.Join(p.Dir, name)
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Recv == nil && isBenchmarkName(fn.Name.Name) && takesB(fn.Type) {
				s.names = append(s.names, fn.Name.Name)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if body := measuredBody(n); body != nil {
				s.loops = append(s.loops, evidence.Loop{File: file, First: set.Position(n.Pos()).Line, Last: set.Position(body.End()).Line})
			}
			return true
		})
	}
	return s
}

func isBenchmarkName(name string) bool {
	rest, ok := strings.CutPrefix(name, "Benchmark")
	return ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
}

func takesB(t *ast.FuncType) bool {
	if t.TypeParams != nil || t.Params.NumFields() != 1 {
		return false
	}
	star, ok := t.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "B"
}

// measuredBody returns the body of a loop over b.N, b.Loop() or pb.Next(), or
// the function handed to b.RunParallel or testing.Benchmark's kin, else nil.
func measuredBody(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.ForStmt:
		if n.Cond != nil && mentionsIteration(n.Cond) {
			return n.Body
		}
		// for i := b.N; i > 0; i-- counts down from it.
		if n.Init != nil && mentionsIteration(n.Init) && n.Cond != nil {
			return n.Body
		}
	case *ast.RangeStmt:
		if mentionsIteration(n.X) {
			return n.Body
		}
	case *ast.CallExpr:
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "RunParallel" && len(n.Args) == 1 {
			return n
		}
	}
	return nil
}

// mentionsIteration reports whether an expression reads b.N or calls b.Loop or
// pb.Next.
func mentionsIteration(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) == 0 && (sel.Sel.Name == "Loop" || sel.Sel.Name == "Next") {
				if x, ok := sel.X.(*ast.Ident); ok && len(x.Name) <= 3 {
					found = true
				}
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && n.Sel.Name == "N" && len(x.Name) <= 3 {
				found = true
			}
		}
		return !found
	})
	return found
}
