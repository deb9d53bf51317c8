package owner

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// ScratchField keeps a slice, map, buffer or hash that a method makes in each call, and that dies with it, in
// a field of the receiver. The field is empty while it is in use, so a call inside the call makes its own.
func ScratchField(on *code.Site) []code.Edit {
	s := &site{on}
	if !s.Place.Dies || len(s.Place.Held) > 0 {
		return nil
	}
	h := s.receiver()
	if h == nil {
		return nil
	}
	v, stmt := s.declares()
	if v == nil || stmt.Parent().Node() != ast.Node(h.fn.Body) || !s.stays(v) {
		return nil
	}
	use := s.scratch(v, stmt)
	if use == nil {
		return nil
	}
	e := code.Edit{Open: h.open(s, stmt), Imports: use.imports, Changes: use.changes,
		Text: fmt.Sprintf("keep `%s` in a field of %s from call to call", v.Name(), h.typ.Obj().Name())}
	field := h.add(s, &e, v.Name()+"Scratch", use.typ)
	if field == "" {
		return nil
	}
	text := strings.NewReplacer("FIELD", h.v.Name()+"."+field, "NAME", v.Name()).Replace(strings.Join(use.lines, "\n"))
	e.Changes = append(e.Changes, s.Replace(stmt.Node(), text))
	return []code.Edit{e}
}

// reuse is how a value is taken from a field and put back: FIELD and NAME stand for the two.
type reuse struct {
	typ     types.Type // of the field
	lines   []string
	changes []code.Change
	imports []string
}

// declares is the variable that the statement of the site declares alone.
func (s *site) declares() (v *types.Var, stmt inspector.Cursor) {
	if d, ok := s.Cur.Node().(*ast.DeclStmt); ok {
		if spec := code.OnlySpec(d); spec != nil && len(spec.Values) == 0 {
			v, _ = s.Info().Defs[spec.Names[0]].(*types.Var)
			return v, s.Cur
		}
		return nil, s.Cur
	}
	if _, ok := s.Cur.Node().(ast.Expr); !ok {
		return nil, stmt
	}
	return s.Defined()
}

// stays reports whether a variable is only used by the function itself, not by a literal in it.
func (s *site) stays(v *types.Var) bool {
	fn, body := code.Function(s.Cur)
	if body == nil {
		return false
	}
	for _, u := range s.Uses(v, fn) {
		if !code.Within(u, fn) {
			return false
		}
	}
	return true
}

// scratch says how the value of a variable can be kept; nil for others.
func (s *site) scratch(v *types.Var, stmt inspector.Cursor) *reuse {
	e, isExpr := s.Cur.Node().(ast.Expr)
	switch v.Type().Underlying().(type) {
	case *types.Slice:
		if isExpr {
			return s.scratchSlice(v, e)
		}
	case *types.Map:
		if isExpr && s.newMap(s.File, e) && s.Since("go1.21") && len(s.sets(v)) == 0 {
			return &reuse{typ: v.Type(), lines: []string{"NAME := FIELD", "FIELD = nil",
				fmt.Sprintf("if NAME == nil {\nNAME = %s\n}", s.Source(e)), "defer func() {\nclear(NAME)\nFIELD = NAME\n}()"}}
		}
	default:
		switch {
		case code.Named(v.Type(), "bytes.Buffer"):
			return s.scratchBuffer(v, stmt)
		case isExpr && code.Named(v.Type(), "hash.Hash"):
			return s.scratchHash(v, e)
		}
	}
	return nil
}

// sets are the statements that put another value into a variable after its declaration.
func (s *site) sets(v *types.Var) []*ast.AssignStmt {
	fn, _ := code.Function(s.Cur)
	var out []*ast.AssignStmt
	for _, u := range s.Uses(v, fn) {
		if u.ParentEdgeKind() == edge.AssignStmt_Lhs && u.Node().Pos() != v.Pos() {
			out = append(out, u.Parent().Node().(*ast.AssignStmt))
		}
	}
	return out
}

// scratchSlice keeps the array of a slice that only its own appends change.
func (s *site) scratchSlice(v *types.Var, e ast.Expr) *reuse {
	grows := false
	for _, n := range s.sets(v) {
		call, ok := n.Rhs[0].(*ast.CallExpr)
		if !ok || len(n.Lhs) != 1 || s.Builtin(call, "append") == nil || s.Local(call.Args[0]) != v {
			return nil
		}
		grows = true
	}
	var length, room string
	switch e := e.(type) {
	case *ast.CompositeLit:
		if len(e.Elts) > 0 {
			return nil
		}
	case *ast.CallExpr:
		if s.Builtin(e, "make") == nil || len(e.Args) < 2 || !s.PureSize(e.Args[1]) || !s.PureSize(e.Args[len(e.Args)-1]) {
			return nil
		}
		if last := e.Args[len(e.Args)-1]; !s.IsZero(last) {
			room = s.Source(last)
		}
		if !s.IsZero(e.Args[1]) {
			length = s.Source(e.Args[1])
		}
	default:
		return nil
	}
	pointers := !code.PointerFree(v.Type().Underlying().(*types.Slice).Elem())
	if !s.Since("go1.21") && (pointers || length != "") || room == "" && !grows {
		return nil
	}
	r := &reuse{typ: v.Type(), lines: []string{"NAME := FIELD[:0]", "FIELD = nil"}}
	if room != "" {
		r.lines = append(r.lines, fmt.Sprintf("if cap(NAME) < %s {\nNAME = %s\n}", room, s.Source(e)))
	}
	if length != "" {
		r.lines = append(r.lines, fmt.Sprintf("NAME = NAME[:%s]\nclear(NAME)", length))
	}
	if pointers {
		r.lines = append(r.lines, "defer func() {\nclear(NAME)\nFIELD = NAME\n}()")
	} else {
		r.lines = append(r.lines, "defer func() { FIELD = NAME }()")
	}
	return r
}

// scratchBuffer keeps a bytes.Buffer by pointer.
func (s *site) scratchBuffer(v *types.Var, stmt inspector.Cursor) *reuse {
	pkg, _, ok := s.Use("bytes", stmt.Node().Pos())
	buffer := pointed(v.Type())
	fn, _ := code.Function(s.Cur)
	if !ok || len(s.sets(v)) > 0 {
		return nil
	}
	_, pointer := v.Type().Underlying().(*types.Pointer)
	if pointer {
		if e, isExpr := s.Cur.Node().(ast.Expr); !isExpr || !s.emptyBuffer(e) {
			return nil
		}
	} else if lit, isLit := s.Cur.Node().(*ast.CompositeLit); isLit && len(lit.Elts) > 0 {
		return nil
	}
	r := &reuse{typ: types.NewPointer(buffer), lines: []string{"NAME := FIELD", "FIELD = nil",
		fmt.Sprintf("if NAME == nil {\nNAME = new(%s.Buffer)\n}", pkg), "NAME.Reset()", "defer func() { FIELD = NAME }()"}}
	for _, u := range s.Uses(v, fn) {
		switch {
		case pointer || u.Node().Pos() == v.Pos() || u.ParentEdgeKind() == edge.SelectorExpr_X:
		case u.ParentEdgeKind() == edge.UnaryExpr_X && u.Parent().Node().(*ast.UnaryExpr).Op == token.AND:
			r.changes = append(r.changes, s.Replace(u.Parent().Node(), v.Name()))
		default:
			return nil // the buffer itself
		}
	}
	return r
}

// emptyBuffer reports whether an expression makes a pointer to an empty bytes.Buffer.
func (s *site) emptyBuffer(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.UnaryExpr:
		lit, ok := e.X.(*ast.CompositeLit)
		return ok && len(lit.Elts) == 0
	case *ast.CallExpr:
		return s.Builtin(e, "new") != nil || s.Callee(e) == "bytes.NewBuffer" && s.Info().Types[e.Args[0]].IsNil()
	}
	return false
}

// scratchHash keeps a hash of the standard library that is made of constants.
func (s *site) scratchHash(v *types.Var, e ast.Expr) *reuse {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(s.sets(v)) > 0 {
		return nil
	}
	fn, ok := typeutil.Callee(s.Info(), call).(*types.Func)
	if !ok || fn.Pkg() == nil || !strings.HasPrefix(fn.Pkg().Path(), "hash/") && !strings.HasPrefix(fn.Pkg().Path(), "crypto/") {
		return nil
	}
	for _, a := range call.Args {
		if s.Info().Types[a].Value == nil {
			return nil
		}
	}
	return &reuse{typ: v.Type(), lines: []string{"NAME := FIELD", "FIELD = nil",
		fmt.Sprintf("if NAME == nil {\nNAME = %s\n}", s.Source(e)), "NAME.Reset()", "defer func() { FIELD = NAME }()"}}
}

// keepable are the makers whose result has a Reset that takes what the maker takes, and else the same state.
var keepable = map[string]bool{
	"compress/gzip.NewWriter": true, "compress/zlib.NewWriter": true, "bufio.NewWriter": true, "bufio.NewReader": true,
	"bytes.NewReader": true, "strings.NewReader": true,
}

// MadeOnce makes what a field holds once, and resets it where it was made anew.
func MadeOnce(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs || !keepable[s.Callee(call)] || len(call.Args) != 1 {
		return nil
	}
	assign := s.Cur.Parent().Node().(*ast.AssignStmt)
	if len(assign.Lhs) != 1 || assign.Tok != token.ASSIGN {
		return nil
	}
	field := s.fieldOf(s.File, assign.Lhs[0])
	if field == nil || !types.Identical(field.Type(), s.Info().TypeOf(call)) || s.madeIn(s.File, assign, assign.Lhs[0]) ||
		s.Lookup("nil", call.Pos()).Parent() != types.Universe {
		return nil
	}
	name := s.Source(assign.Lhs[0])
	text := fmt.Sprintf("if %s == nil {\n%s\n} else {\n%[1]s.Reset(%[3]s)\n}", name, s.Source(assign), s.Source(call.Args[0]))
	return []code.Edit{{Open: s.onlyAsked(field, name), Text: fmt.Sprintf("make `%s` once, and Reset it afterwards", name),
		Changes: []code.Change{s.Replace(assign, text)}}}
}

// onlyAsked asks who may still use what a field points to; "" where the package only calls its methods.
func (s *site) onlyAsked(field *types.Var, name string) string {
	open := fmt.Sprintf("nobody must still use what `%s` was", name)
	if field.Exported() || field.Embedded() {
		return open
	}
	for _, f := range s.Package {
		for c := range f.Root.Preorder((*ast.SelectorExpr)(nil)) {
			if f.Info().ObjectOf(c.Node().(*ast.SelectorExpr).Sel) != types.Object(field) {
				continue
			}
			if k := c.ParentEdgeKind(); k != edge.AssignStmt_Lhs && (k != edge.SelectorExpr_X || c.Parent().ParentEdgeKind() != edge.CallExpr_Fun) {
				return open
			}
		}
	}
	return ""
}
