package once

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// CompiledOnce moves what is made of constants on every call into a variable of the package.
func CompiledOnce(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || call.Ellipsis.IsValid() {
		return nil
	}
	base := ""
	switch s.Callee(call) {
	case "regexp.MustCompile", "regexp.MustCompilePOSIX":
		pattern, ok := s.ConstString(call.Args[0])
		if !ok {
			return nil
		}
		if _, err := regexp.Compile(pattern); err != nil {
			return nil // the panic must stay where it is
		}
		base = "pattern"
	case "strings.NewReplacer":
		if len(call.Args)%2 != 0 {
			return nil
		}
		base = "replacer"
	case "errors.New":
		if len(call.Args) != 1 {
			return nil
		}
		base = "error"
	case "fmt.Errorf":
		if text, ok := s.ConstString(call.Args[0]); !ok || len(call.Args) != 1 || strings.Contains(text, "%") {
			return nil
		}
		base = "error"
	default:
		return nil
	}
	for _, a := range call.Args {
		if s.Info().Types[a].Value == nil || s.NamesLocals(a) {
			return nil
		}
	}
	fn := code.Declaration(s.Cur)
	if fn == nil || fn.Recv == nil && fn.Name.Name == "init" || base != "error" && !s.onlyCalled() {
		return nil
	}
	open := ""
	if base == "error" {
		open = "two errors that were made here become equal to each other"
	}
	return []code.Edit{s.once(fn, call, base, open)}
}

// once moves an expression into a variable of the package before a function.
func (s *site) once(fn *ast.FuncDecl, e ast.Expr, base, open string) code.Edit {
	owner := fmt.Sprint(s.Cur.Node().Pos())
	name := s.FreshDeclared(fn.Name.Name+strings.ToUpper(base[:1])+base[1:], owner)
	if ast.IsExported(name) {
		name = s.FreshDeclared(strings.ToLower(name[:1])+name[1:], owner)
	}
	start := fn.Pos()
	if fn.Doc != nil {
		start = fn.Doc.Pos()
	}
	at := s.Offset(start)
	decl := fmt.Sprintf("var %s = %s\n\n", name, s.Source(e))
	first, _, _ := strings.Cut(s.Source(e), "\n")
	return code.Edit{Text: fmt.Sprintf("make `%s` once, as `%s` of the package", code.Brief(first), name), Open: open,
		Changes: []code.Change{s.Insert(at, decl), s.Replace(e, name)}}
}

// TableOnce moves a slice or map of constants that a function only reads into a variable of the
// package, also the bytes of a constant text.
func TableOnce(on *code.Site) []code.Edit {
	s := &site{on}
	if conv, isCall := s.Cur.Node().(*ast.CallExpr); isCall && s.constantBytes(conv) {
		if fn := code.Declaration(s.Cur); fn != nil && (fn.Recv != nil || fn.Name.Name != "init") && s.onlyRead(false) {
			return []code.Edit{s.once(fn, conv, "bytes", "")}
		}
		return nil
	}
	lit, ok := s.Cur.Node().(*ast.CompositeLit)
	if !ok || len(lit.Elts) == 0 || lit.Type == nil || s.TypeText(s.Info().TypeOf(lit)) == "" {
		return nil
	}
	switch s.Info().TypeOf(lit).Underlying().(type) {
	case *types.Slice, *types.Map:
	default:
		return nil
	}
	fn := code.Declaration(s.Cur)
	if fn == nil || fn.Recv == nil && fn.Name.Name == "init" || code.HasTypeParams(fn) || !s.constants(lit) && !s.settled(lit) || !s.onlyRead(true) {
		return nil
	}
	open := ""
	if !s.constants(lit) {
		open = "the variables that it is made of must not get other values"
	}
	return []code.Edit{s.once(fn, lit, "table", open)}
}

// constantBytes reports whether a call converts a constant text to bytes.
func (s *site) constantBytes(conv *ast.CallExpr) bool {
	if !s.Info().Types[conv.Fun].IsType() || len(conv.Args) != 1 || !code.IsBytes(s.Info().TypeOf(conv)) || s.NamesLocals(conv) {
		return false
	}
	text, constant := s.ConstString(conv.Args[0])
	return constant && text != ""
}

// settled reports whether all elements of a map or slice are variables of packages, which hold values that are shared anyway:
// pointers and interfaces; keys are constants.
func (s *site) settled(lit *ast.CompositeLit) bool {
	for _, e := range lit.Elts {
		if kv, pair := e.(*ast.KeyValueExpr); pair {
			if !s.fixed(kv.Key) {
				return false
			}
			e = kv.Value
		}
		switch s.Info().TypeOf(e).Underlying().(type) {
		case *types.Pointer, *types.Interface, *types.Signature:
		default:
			return false
		}
		v, ok := s.NamedBy(e).(*types.Var)
		if !ok || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() {
			return false
		}
	}
	return true
}

// constants reports whether all elements of a literal are constants, or literals of such.
func (s *site) constants(lit *ast.CompositeLit) bool {
	ok := true
	for _, e := range lit.Elts {
		if kv, pair := e.(*ast.KeyValueExpr); pair {
			_, isMap := s.Info().TypeOf(lit).Underlying().(*types.Map)
			ok = ok && (!isMap || s.fixed(kv.Key))
			e = kv.Value
		}
		ok = ok && s.fixed(e)
	}
	return ok
}

// fixed reports whether an expression has the same value whenever it is evaluated, and nothing in it
// can be changed through another name.
func (s *site) fixed(e ast.Expr) bool {
	if lit, ok := e.(*ast.CompositeLit); ok {
		switch s.Info().TypeOf(lit).Underlying().(type) {
		case *types.Struct, *types.Array:
			return s.constants(lit)
		}
		return false
	}
	return s.Info().Types[e].Value != nil && !s.NamesLocals(e)
}

// onlyRead reports whether a slice or map is only indexed, walked through, or asked for its length,
// and nothing in it is assigned to or has its address taken.
func (s *site) onlyRead(shared bool) bool {
	if s.reads(s.Cur, shared) {
		return true
	}
	if s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return false
	}
	assign := s.Cur.Parent().Node().(*ast.AssignStmt)
	fn, body := code.Function(s.Cur)
	if len(assign.Lhs) != 1 || assign.Tok != token.DEFINE || s.Local(assign.Lhs[0]) == nil || body == nil {
		return false
	}
	for _, u := range s.Uses(s.Local(assign.Lhs[0]), fn) {
		if u.Node() != assign.Lhs[0] && !s.reads(u, shared) {
			return false
		}
	}
	return true
}

// reads reports whether a use of a slice or map only reads: a value of basic type at an index, its
// elements in a loop, its length.
func (s *site) reads(u inspector.Cursor, shared bool) bool {
	switch u.ParentEdgeKind() {
	case edge.RangeStmt_X:
		loop := u.Parent().Node().(*ast.RangeStmt)
		return loop.Value == nil || flat(s.Info().TypeOf(loop.Value), shared)
	case edge.IndexExpr_X:
		switch u.Parent().ParentEdgeKind() {
		case edge.AssignStmt_Lhs, edge.IncDecStmt_X, edge.UnaryExpr_X, edge.SliceExpr_X:
			return u.Parent().ParentEdgeKind() == edge.UnaryExpr_X && u.Parent().Parent().Node().(*ast.UnaryExpr).Op != token.AND
		}
		e := u.Parent().Node().(ast.Expr)
		t := s.Info().TypeOf(e)
		if both, ok := t.(*types.Tuple); ok {
			t = both.At(0).Type()
		}
		return flat(t, shared) || u.Parent().ParentEdgeKind() == edge.AssignStmt_Rhs && s.commaOK(u.Parent())
	case edge.CallExpr_Args:
		call := u.Parent().Node().(*ast.CallExpr)
		return s.Builtin(call, "len") != nil || slices.Contains(readers, s.Callee(call)) && plain(s.Info().TypeOf(u.Node().(ast.Expr)))
	}
	return false
}

// flat reports whether a value of a type has no memory of its own that its reader could change. Where all elements are
// variables of packages, what they point to is shared anyway.
func flat(t types.Type, shared bool) bool {
	switch t.Underlying().(type) {
	case *types.Basic:
		return true
	case *types.Pointer, *types.Interface, *types.Signature:
		return shared
	}
	return false
}

// readers are functions that neither change nor keep a slice or map that they are handed.
var readers = []string{
	"encoding/json.Marshal", "encoding/json.MarshalIndent", "strings.Join", "slices.Contains", "slices.Index", "bytes.Equal", "bytes.Contains",
	"bytes.HasPrefix", "bytes.HasSuffix", "bytes.Index", "(*bytes.Buffer).Write", "(*strings.Builder).Write", "(*bufio.Writer).Write",
}

// plain reports whether a type is a slice or map of basic types, all without methods.
func plain(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Slice:
		return isBasic(t.Elem())
	case *types.Map:
		return isBasic(t.Key()) && isBasic(t.Elem())
	}
	return false
}

func isBasic(t types.Type) bool { _, ok := types.Unalias(t).(*types.Basic); return ok }

// commaOK reports whether a map's value is only asked for being there: _, ok := m[k].
func (s *site) commaOK(index inspector.Cursor) bool {
	assign := index.Parent().Node().(*ast.AssignStmt)
	id, ok := assign.Lhs[0].(*ast.Ident)
	return ok && len(assign.Lhs) == 2 && id.Name == "_"
}

// onlyCalled reports whether the value of the site is only used to call methods on it, or by a
// variable that is: nothing compares or changes what all calls would share.
func (s *site) onlyCalled() bool {
	switch s.Cur.ParentEdgeKind() {
	case edge.SelectorExpr_X:
		return true
	case edge.AssignStmt_Rhs:
		assign := s.Cur.Parent().Node().(*ast.AssignStmt)
		if len(assign.Rhs) != 1 {
			return false
		}
		v := s.Local(assign.Lhs[0]) // an error may come with it
		fn, body := code.Function(s.Cur)
		if v == nil || body == nil {
			return false
		}
		for _, u := range s.Uses(v, fn) {
			if u.Node() != assign.Lhs[0] && !s.isMethodCall(u) {
				return false
			}
		}
		return true
	}
	return false
}

// isMethodCall reports whether a name is the receiver of a call that does not change it: of a
// regexp all but Longest are.
func (s *site) isMethodCall(u inspector.Cursor) bool {
	if u.ParentEdgeKind() != edge.SelectorExpr_X {
		return false
	}
	sel := u.Parent().Node().(*ast.SelectorExpr)
	return u.Parent().ParentEdgeKind() == edge.CallExpr_Fun && sel.Sel.Name != "Longest"
}
