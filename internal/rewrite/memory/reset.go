package memory

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// resettable are the makers of values whose Reset takes what the maker takes first; what else
// it takes must be constant. Each with its result type, and how a new one is made for a pool, with
// the maker's constants.
var resettable = map[string]struct{ typ, made string }{
	"compress/gzip.NewWriter": {"*%s.Writer", "%s.NewWriter(nil)"},
	"compress/gzip.NewReader": {"*%s.Reader", "new(%s.Reader)"},
	"compress/zlib.NewWriter": {"*%s.Writer", "%s.NewWriter(nil)"},
	"bufio.NewWriter":         {"*%s.Writer", "%s.NewWriter(nil)"},
	"bufio.NewReader":         {"*%s.Reader", "%s.NewReader(nil)"},
	"bufio.NewWriterSize":     {"*%s.Writer", "%s.NewWriterSize(nil, %s)"},
	"bufio.NewReaderSize":     {"*%s.Reader", "%s.NewReaderSize(nil, %s)"},
}

// PoolWriter takes a compressor, a hash, or a buffered reader or writer from a pool of the package.
func PoolWriter(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if ok && s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs {
		call, ok = s.toMaker(call)
	}
	if !ok || s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return nil
	}
	sel, isSel := call.Fun.(*ast.SelectorExpr)
	stmt, listed := code.Statement(s.Cur)
	assign := s.Cur.Parent().Node().(*ast.AssignStmt)
	if !isSel || !listed || stmt.Node() != ast.Node(assign) || assign.Tok != token.DEFINE {
		return nil
	}
	r := s.reset(call, sel, assign)
	v := s.Local(assign.Lhs[0])
	if r == nil || v == nil {
		return nil
	}
	open, ok := s.allStay(v)
	p, free := s.poolFor(stmt, "Pool")
	if !ok || !free {
		return nil
	}
	text := fmt.Sprintf("%s := %s.Get().(%s)\n%s\ndefer %[2]s.Put(%[1]s)", v.Name(), p.name, r.typ, r.again)
	return []code.Edit{{Text: fmt.Sprintf("take `%s` from a sync.Pool and Reset it", v.Name()), Imports: append(p.imports, r.imports...),
		Open: open, Changes: []code.Change{s.declare(p, r.made), s.Replace(assign, text)}}}
}

// toMaker moves the site from a method call of a variable, which makes what the value puts off until it is
// first used, to the call that the variable is defined by.
func (s *site) toMaker(method *ast.CallExpr) (*ast.CallExpr, bool) {
	sel, ok := ast.Unparen(method.Fun).(*ast.SelectorExpr)
	fn, body := code.Function(s.Cur)
	if !ok || body == nil {
		return nil, false
	}
	v := s.Local(sel.X)
	if v == nil || v.Pos() < body.Pos() {
		return nil, false
	}
	for c := range fn.Preorder((*ast.CallExpr)(nil)) {
		if c.ParentEdgeKind() != edge.AssignStmt_Rhs {
			continue
		}
		assign := c.Parent().Node().(*ast.AssignStmt)
		if id, ok := assign.Lhs[0].(*ast.Ident); ok && s.Info().Defs[id] == types.Object(v) && len(assign.Rhs) == 1 {
			s.Site = &code.Site{File: s.File, Cur: c, Place: s.Place}
			return c.Node().(*ast.CallExpr), true
		}
	}
	return nil, false
}

// again is how a value is made for a pool and reset when it is taken from there.
type again struct {
	typ, made, again string
	imports          []string
}

// reset says how what a call makes can be used again; nil if that is not known.
func (s *site) reset(call *ast.CallExpr, sel *ast.SelectorExpr, assign *ast.AssignStmt) *again {
	pkg, name := s.Source(sel.X), s.Source(assign.Lhs[0])
	if h := s.hash(call, assign); h != nil {
		h.made, h.again = s.Source(call), name+".Reset()"
		return h
	}
	known := resettable[s.Callee(call)]
	if known.typ == "" || len(call.Args) == 0 {
		return nil
	}
	var rest []string
	for _, a := range call.Args[1:] {
		if s.Info().Types[a].Value == nil || s.NamesLocals(a) {
			return nil
		}
		rest = append(rest, s.Source(a))
	}
	a := &again{typ: fmt.Sprintf(known.typ, pkg), again: fmt.Sprintf("%s.Reset(%s)", name, s.Source(call.Args[0]))}
	if strings.Count(known.made, "%s") == 2 {
		a.made = fmt.Sprintf(known.made, pkg, rest[0])
	} else {
		a.made = fmt.Sprintf(known.made, pkg)
	}
	if len(assign.Lhs) == 2 {
		id, ok := assign.Lhs[1].(*ast.Ident)
		if !ok {
			return nil
		}
		tok := ":="
		if id.Name == "_" || s.Info().Defs[id] == nil {
			tok = "="
		}
		a.again = fmt.Sprintf("%s %s %s", id.Name, tok, a.again)
	}
	return a
}

// hash is the type of a hash of the standard library that a call without arguments, or with constants,
// makes: its Reset puts it back to the state it was made in.
func (s *site) hash(call *ast.CallExpr, assign *ast.AssignStmt) *again {
	fn, ok := typeutil.Callee(s.Info(), call).(*types.Func)
	if !ok || fn.Pkg() == nil || len(assign.Lhs) != 1 || !strings.HasPrefix(fn.Pkg().Path()+"/", "hash/") &&
		!strings.HasPrefix(fn.Pkg().Path(), "crypto/") {
		return nil
	}
	n, ok := types.Unalias(s.Info().TypeOf(call)).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "hash" {
		return nil
	}
	for _, a := range call.Args {
		if s.Info().Types[a].Value == nil || s.NamesLocals(a) {
			return nil // such as a key or a table
		}
	}
	pkg, imports, ok := s.Use("hash", call.Pos())
	if !ok {
		return nil
	}
	return &again{typ: pkg + "." + n.Obj().Name(), imports: imports}
}

// allStay reports whether all uses of a variable leave it in its function, and what that rests on.
func (s *site) allStay(v *types.Var) (open string, ok bool) {
	fn, body := code.Function(s.Cur)
	if body == nil {
		return "", false
	}
	for _, u := range s.Uses(v, fn) {
		why, ok := s.staysIn(u, v)
		if !ok || !code.Within(u, fn) {
			return "", false
		}
		if open == "" {
			open = why
		}
	}
	return open, true
}
