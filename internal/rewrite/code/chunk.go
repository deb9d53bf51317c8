package code

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
)

// Pointee is the value that the site puts on the heap, and its type: of &T{…} whose parts can be evaluated a statement
// earlier, and of new(T). The value is empty for other sites, and in packages that use finalizers, cleanups or weak pointers.
func (s *Site) Pointee() (value string, typ ast.Expr) {
	switch n := s.Cur.Node().(type) {
	case *ast.UnaryExpr:
		lit, ok := n.X.(*ast.CompositeLit)
		if !ok || n.Op != token.AND || lit.Type == nil {
			return "", nil
		}
		if _, isStruct := s.Info().TypeOf(lit).Underlying().(*types.Struct); !isStruct {
			return "", nil
		}
		if v, _ := s.Defined(); v == nil {
			stmt, listed := Statement(s.Cur)
			calls := listed && s.callsFunctions(stmt.Node())
			for _, e := range lit.Elts {
				if kv, pair := e.(*ast.KeyValueExpr); pair {
					e = kv.Value
				}
				if constant := s.Info().Types[e].Value != nil; !constant && (calls || !s.Pure(e)) {
					return "", nil
				}
			}
		}
		if s.asksForEnds() {
			return "", nil
		}
		return s.Source(lit), lit.Type
	case *ast.CallExpr:
		if s.Builtin(n, "new") == nil {
			return "", nil
		}
		if _, isStruct := s.Info().TypeOf(n.Args[0]).Underlying().(*types.Struct); isStruct && s.Info().Types[n.Args[0]].IsType() && !s.asksForEnds() {
			return s.Source(n.Args[0]) + "{}", n.Args[0]
		}
	}
	return "", nil
}

// InCondition reports whether a statement may run without evaluating the site, or evaluate it more than once: the site is an
// operand of && or ||, or the statement is none of assignment, expression, return, send and declaration of one variable.
func (s *Site) InCondition(stmt inspector.Cursor) bool {
	for c := range s.Cur.Enclosing() {
		if c == stmt {
			break
		}
		if b, ok := c.Node().(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) {
			return true
		}
	}
	switch n := stmt.Node().(type) {
	case *ast.AssignStmt, *ast.ExprStmt, *ast.ReturnStmt, *ast.SendStmt:
		return false
	case *ast.DeclStmt:
		return OnlySpec(n) == nil
	}
	return true
}

// callsFunctions reports whether a statement calls something beside builtins and conversions.
func (s *Site) callsFunctions(stmt ast.Node) bool {
	found := false
	ast.Inspect(stmt, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			found = found || !s.Info().Types[call.Fun].IsType() && !s.Info().Types[call.Fun].IsBuiltin()
		}
		return !found
	})
	return found
}

// asksForEnds reports whether the package asks when a single object dies: one in an array lives as long as the array.
func (s *Site) asksForEnds() bool {
	watchers := []string{"runtime.SetFinalizer", "runtime.AddCleanup", "weak.Make"}
	for _, f := range s.Package {
		for c := range f.Root.Preorder((*ast.CallExpr)(nil)) {
			if slices.Contains(watchers, f.Callee(c.Node().(*ast.CallExpr))) {
				return true
			}
		}
	}
	return false
}

// mostInChunk is the number of objects in the largest array of several. As long as one of them is in use, all stay in memory.
const mostInChunk = 32

// Chunk are the statements that append a value to a slice whose elements never move, as pointers to them are kept: where it
// is full, a new one begins. The first has room for four, and each for more than twice the one before, up to mostInChunk;
// before Go 1.21, and where min means something else, each has room for 16. All arguments and results are Go source.
func (s *Site) Chunk(slice, typ, value string) []string {
	room := fmt.Sprintf("min(2*cap(%s)+4, %d)", slice, mostInChunk)
	if !s.Since("go1.21") || s.Lookup("min", s.Cur.Node().Pos()) != types.Universe.Lookup("min") {
		room = "16"
	}
	return []string{fmt.Sprintf("if len(%s) == cap(%[1]s) {\n%[1]s = make([]%s, 0, %s)\n}", slice, typ, room),
		fmt.Sprintf("%s = append(%[1]s, %s)", slice, value)}
}

// OneKeeps is the question that arrays of several leave open.
func OneKeeps(typ string) string {
	return fmt.Sprintf("one live %s keeps up to %d others in memory", typ, mostInChunk-1)
}
