package bench

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// benchSource is what the test files of a package tell about its benchmarks.
type benchSource struct {
	names []string            // top-level benchmark functions, in source order
	loops []evidence.Loop     // measured loops, anywhere in the test files
	once  []string            // functions that loop by b.Loop
	calls map[string][]string // functions of the package that each benchmark calls, by its name
}

// readBenchSource parses the test files of a package.
func readBenchSource(p gocmd.Package) benchSource {
	var s benchSource
	for _, name := range append(append([]string(nil), p.TestGoFiles...), p.XTestGoFiles...) {
		s.read(filepath.Join(p.Dir, name))
	}
	return s
}

// runsOnce reports whether a benchmark loops by b.Loop, itself or in a function that it calls: package testing
// then runs it once.
func (s *benchSource) runsOnce(name string) bool {
	return slices.ContainsFunc(append(s.calls[name], name), func(f string) bool { return slices.Contains(s.once, f) })
}

// read adds one file. It skips a file that does not parse; the build gives the better
// error.
func (s *benchSource) read(file string) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return
	}
	if s.calls == nil {
		s.calls = map[string][]string{}
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && fn.Recv == nil && isBenchmarkName(fn.Name.Name) && takesB(fn.Type) {
			s.names = append(s.names, fn.Name.Name)
			s.calls[fn.Name.Name] = calledBy(fn)
		}
		if ok && callsLoop(fn) {
			s.once = append(s.once, fn.Name.Name)
		}
	}
	for _, n := range measuredLoops(f) {
		s.loops = append(s.loops, evidence.Loop{File: file, First: set.Position(n.Pos()).Line,
			Last: set.Position(n.End()).Line})
	}
}

// callsLoop reports whether a function loops by b.Loop.
func callsLoop(fn *ast.FuncDecl) bool {
	found := false
	ast.Inspect(fn, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 0 {
			sel, ok := call.Fun.(*ast.SelectorExpr)
			found = found || ok && sel.Sel.Name == "Loop"
		}
		return !found
	})
	return found
}

// calledBy lists the functions that a function calls by their names alone.
func calledBy(fn *ast.FuncDecl) (names []string) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); ok {
				names = append(names, id.Name)
			}
		}
		return true
	})
	return names
}

// testHelpers lists the user's files that import testing but are not test files: they
// may contain a benchmark's measured loop.
func testHelpers(all []gocmd.Package) []string {
	var files []string
	for _, p := range all {
		if p.Standard || p.Module == nil || !p.Module.Main || !slices.Contains(p.Imports, "testing") ||
			strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		for _, name := range p.GoFiles {
			if !strings.HasSuffix(name, "_test.go") && !filepath.IsAbs(name) {
				files = append(files, filepath.Join(p.Dir, name))
			}
		}
	}
	return files
}

// measuredLoops returns the loops whose iterations a benchmark counts.
func measuredLoops(f *ast.File) []ast.Node { return loopsIn(f, beforeReset(f)) }

// loopsIn returns the measured loops of a node, but for statements that a later reset excludes.
func loopsIn(root ast.Node, reset map[ast.Node]bool) []ast.Node {
	var loops []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if n != nil && reset[n] {
			loops = append(loops, loopsApart(n, reset)...)
			return false
		}
		if !isMeasured(n) {
			return true
		}
		if _, call := n.(*ast.CallExpr); call && loopInside(n) {
			return true // the loop itself is the better boundary
		}
		loops = append(loops, n)
		return true
	})
	return loops
}

// loopsApart returns the measured loops of a statement that no reset behind it excludes: those of blocks that return
// before it, and of benchmarks that the statement runs.
func loopsApart(stmt ast.Node, reset map[ast.Node]bool) (loops []ast.Node) {
	ast.Inspect(stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if takesB(n.Type) {
				loops = append(loops, loopsIn(n.Body, reset)...)
			}
			return false
		case *ast.BlockStmt:
			if len(n.List) == 0 {
				return true
			}
			if _, returns := n.List[len(n.List)-1].(*ast.ReturnStmt); returns {
				loops = append(loops, loopsIn(n, reset)...)
				return false
			}
		}
		return true
	})
	return loops
}

// beforeReset returns the statements that a later b.ResetTimer in the same block
// excludes from the measurement. A loop over b.N among them only makes the input.
func beforeReset(f *ast.File) map[ast.Node]bool {
	out := map[ast.Node]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		block, ok := n.(*ast.BlockStmt)
		if !ok {
			return true
		}
		last := -1
		for i, stmt := range block.List {
			if isReset(stmt) {
				last = i
			}
		}
		for i := range last {
			out[block.List[i]] = true
		}
		return true
	})
	return out
}

func isReset(stmt ast.Stmt) bool {
	e, ok := stmt.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "ResetTimer"
}

func loopInside(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(m ast.Node) bool {
		if m != n && m != nil && isMeasured(m) {
			found = true
		}
		return !found
	})
	return found
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

// isMeasured reports whether a node is a loop over b.N, b.Loop() or pb.Next(),
// or a call of b.RunParallel.
func isMeasured(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ForStmt:
		if n.Cond != nil && mentionsIteration(n.Cond) {
			return true
		}
		// for i := b.N; i > 0; i-- counts down from it.
		return n.Init != nil && n.Cond != nil && mentionsIteration(n.Init)
	case *ast.RangeStmt:
		return mentionsIteration(n.X)
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "RunParallel" && len(n.Args) == 1
	}
	return false
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
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) == 0 &&
				(sel.Sel.Name == "Loop" || sel.Sel.Name == "Next") {
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
