package owner

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// taken is the way from bytes to a number: how many bytes, the method of a byte order that reads them, and the conversion of
// its result. An empty method is for a single byte, an empty conversion for a result of the right type.
type taken struct {
	bytes         int
	method, wraps string
}

// numbers are the types that binary.Read knows without reflection.
var numbers = map[types.BasicKind]taken{
	types.Uint8: {1, "", ""}, types.Int8: {1, "", "int8"},
	types.Uint16: {2, "Uint16", ""}, types.Int16: {2, "Uint16", "int16"},
	types.Uint32: {4, "Uint32", ""}, types.Int32: {4, "Uint32", "int32"}, types.Float32: {4, "Uint32", "math.Float32frombits"},
	types.Uint64: {8, "Uint64", ""}, types.Int64: {8, "Uint64", "int64"}, types.Float64: {8, "Uint64", "math.Float64frombits"},
}

// ReadStream reads a number from a stream into an array of the receiver, and takes it from there: binary.Read makes a slice
// for its bytes in each call.
func ReadStream(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Callee(call) != "encoding/binary.Read" || !s.Pure(call.Args[1]) {
		return nil
	}
	to, ok := ast.Unparen(call.Args[2]).(*ast.UnaryExpr)
	stmt, listed := code.Statement(s.Cur)
	h := s.receiver()
	if !ok || to.Op != token.AND || !s.Pure(to.X) || !listed || h == nil {
		return nil
	}
	b := code.Basic(s.Info().TypeOf(to.X))
	pkg, imports, usable := s.Use("io", call.Pos())
	if b == nil || numbers[b.Kind()].bytes == 0 || !usable {
		return nil
	}
	size := numbers[b.Kind()].bytes
	e := code.Edit{Text: fmt.Sprintf("read `%s` by an array in %s", code.Brief(s.Source(to.X)), h.typ.Obj().Name()), Imports: imports}
	e.Open = h.open(s, stmt)
	if e.Open != "" {
		e.Open += "; "
	}
	e.Open += fmt.Sprintf("reading from `%s` must not call this method again", code.Brief(s.Source(call.Args[0])))
	field := h.add(s, &e, "raw", types.NewArray(types.Universe.Lookup("byte").Type(), int64(size)))
	if field == "" {
		return nil
	}
	raw := h.v.Name() + "." + field
	value, more, ok := s.number(call, to.X, raw)
	changes := s.replaceRead(call, fmt.Sprintf("%s.ReadFull(%s, %s[:])", pkg, s.Source(call.Args[0]), raw), fmt.Sprintf("%s = %s", s.Source(to.X), value))
	if !ok || changes == nil {
		return nil
	}
	e.Imports, e.Changes = append(e.Imports, more...), append(e.Changes, changes...)
	return []code.Edit{e}
}

// number is the expression that takes a variable's value from an array.
func (s *site) number(call *ast.CallExpr, x ast.Expr, raw string) (value string, imports []string, ok bool) {
	t := s.Info().TypeOf(x)
	how := numbers[code.Basic(t).Kind()]
	value = raw + "[0]"
	if how.method != "" {
		value = fmt.Sprintf("%s.%s(%s[:])", s.Source(call.Args[1]), how.method, raw)
	}
	if pkg, name, is := strings.Cut(how.wraps, "."); is {
		if pkg, imports, ok = s.Use(pkg, call.Pos()); !ok {
			return "", nil, false
		}
		value = fmt.Sprintf("%s.%s(%s)", pkg, name, value)
	} else if how.wraps != "" {
		value = fmt.Sprintf("%s(%s)", how.wraps, value)
	}
	if types.Unalias(t) != types.Type(code.Basic(t)) {
		value = fmt.Sprintf("%s(%s)", s.TypeText(t), value)
	}
	return value, imports, true
}

// replaceRead puts another call, which returns a count, too, in the place of one that returns an error, and sets the number where
// that is nil.
func (s *site) replaceRead(call *ast.CallExpr, read, set string) []code.Change {
	switch parent := s.Cur.Parent().Node().(type) {
	case *ast.ExprStmt:
		return []code.Change{s.Replace(parent, fmt.Sprintf("if _, err := %s; err == nil {\n%s\n}", read, set))}
	case *ast.ReturnStmt:
		if len(parent.Results) == 1 {
			return []code.Change{s.Replace(parent, fmt.Sprintf("if _, err := %s; err != nil {\nreturn err\n}\n%s\nreturn nil", read, set))}
		}
	case *ast.AssignStmt:
		if len(parent.Lhs) != 1 || !s.Pure(parent.Lhs[0]) {
			return nil
		}
		err := s.Source(parent.Lhs[0])
		changes := []code.Change{s.Replace(parent.Lhs[0], "_, "+err), s.Replace(call, read)}
		at := s.Cur.Parent()
		switch around, _ := at.Parent().Node().(*ast.IfStmt); {
		case err == "_":
			return nil
		case at.ParentEdgeKind() == edge.IfStmt_Init && s.fails(around, err):
			return append(changes, s.After(around, set))
		case at.ParentEdgeKind() == edge.BlockStmt_List:
			return append(changes, s.After(parent, fmt.Sprintf("if %s == nil {\n%s\n}", err, set)))
		}
	}
	return nil
}

// fails reports whether a branch runs where err is not nil, and leaves the block: the statements behind the branch do not run.
func (s *site) fails(branch *ast.IfStmt, err string) bool {
	cond, ok := ast.Unparen(branch.Cond).(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ || s.Source(cond.X) != err || s.Source(cond.Y) != "nil" || branch.Else != nil || len(branch.Body.List) == 0 {
		return false
	}
	switch last := branch.Body.List[len(branch.Body.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		c, ok := last.X.(*ast.CallExpr)
		return ok && s.Builtin(c, "panic") != nil
	}
	return false
}
