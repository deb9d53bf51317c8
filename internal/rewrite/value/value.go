// Package value has the edit that hands a value over instead of a pointer to it.
package value

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// site adds to a site what the edit asks of it.
type site struct{ *code.Site }

// Return lets a function return a value where it returns a pointer to a new one, and every caller takes
// the value or asks for its fields.
func Return(on *code.Site) []code.Edit {
	s := &site{on}
	decl := code.Declaration(s.Cur)
	if decl == nil || decl.Body == nil || decl.Name.IsExported() || code.HasTypeParams(decl) {
		return nil
	}
	fn, ok := s.Info().Defs[decl.Name].(*types.Func)
	at, star := s.pointerOf(decl)
	if !ok || star == nil {
		return nil
	}
	r := &returned{site: s, place: [2]int{at, fn.Signature().Results().Len()}, zero: s.Source(star.X) + "{}", made: map[ast.Node]bool{}}
	if !r.all(decl) || !r.made[s.Cur.Node()] {
		return nil
	}
	t := &takers{fn: fn, at: at}
	e := code.Edit{Text: fmt.Sprintf("return the %s of %s by value", s.Source(star.X), fn.Name()), Changes: append(r.changes, s.Replace(star, s.Source(star.X)))}
	if r.none {
		e.Open = fmt.Sprintf("callers of %s must not look at the value where there was none", fn.Name())
	}
	for _, f := range s.Package {
		changes, ok := t.in(&site{&code.Site{File: f}})
		switch {
		case !ok:
			return nil
		case f == s.File:
			e.Changes = append(e.Changes, changes...)
		case len(changes) > 0:
			e.Also = append(e.Also, code.Part{File: f.Name, Changes: changes})
		}
	}
	for _, used := range s.Info().Uses {
		if used == types.Object(fn) {
			t.calls--
		}
	}
	if t.calls != 0 {
		return nil // a file that is not to be edited calls it
	}
	return []code.Edit{e}
}

// pointerOf is the only result of a function that is a pointer to a struct or an array, and its number; nil for others, and
// where results have names.
func (s *site) pointerOf(decl *ast.FuncDecl) (at int, star *ast.StarExpr) {
	if decl.Type.Results == nil {
		return 0, nil
	}
	for i, f := range decl.Type.Results.List {
		if len(f.Names) > 0 {
			return 0, nil
		}
		p, ok := f.Type.(*ast.StarExpr)
		if !ok || !code.IsComposite(s.Info().TypeOf(p.X)) {
			continue
		}
		if star != nil {
			return 0, nil
		}
		at, star = i, p
	}
	return at, star
}

// returned are the new values that a function returns pointers to.
type returned struct {
	*site
	place   [2]int            // the number of the result, and of how many
	zero    string            // a value in place of nil, which stands beside another result, such as an error
	none    bool              // there is one
	made    map[ast.Node]bool // what makes them
	changes []code.Change
}

// all takes all return statements of a function; false if one returns something else.
func (r *returned) all(decl *ast.FuncDecl) bool {
	fn, ok := r.Root.FindNode(decl)
	if !ok {
		return false
	}
	vars := map[*types.Var]bool{}
	for c := range fn.Preorder((*ast.ReturnStmt)(nil)) {
		if !code.Within(c, fn) {
			continue
		}
		list := c.Node().(*ast.ReturnStmt).Results
		if len(list) != r.place[1] || !r.value(list[r.place[0]], vars) {
			return false
		}
	}
	for v := range vars {
		if !r.variable(v, fn) {
			return false
		}
	}
	return len(r.made) > 0
}

// value takes what a statement returns: a literal, or a variable that is looked at later.
func (r *returned) value(e ast.Expr, vars map[*types.Var]bool) bool {
	if r.place[1] > 1 && r.Info().Types[e].IsNil() {
		r.none, r.changes = true, append(r.changes, r.Replace(e, r.zero))
		return true
	}
	if text := r.maker(e); text != "" {
		r.made[ast.Unparen(e)] = true
		r.changes = append(r.changes, r.Replace(e, text))
		return true
	}
	if n, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && n.Op == token.AND {
		v := r.Local(n.X)
		if v != nil {
			vars[v] = true
			r.changes = append(r.changes, r.Replace(n, r.Source(n.X)))
		}
		return v != nil
	}
	v := r.Local(e)
	if v != nil {
		vars[v] = true
	}
	return v != nil
}

// maker is the value that &T{…} or new(T) points to; empty for others.
func (r *returned) maker(e ast.Expr) string {
	switch n := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		if lit, ok := n.X.(*ast.CompositeLit); ok && n.Op == token.AND {
			return r.Source(lit)
		}
	case *ast.CallExpr:
		if r.Builtin(n, "new") != nil && r.Info().Types[n.Args[0]].IsType() && code.IsComposite(r.Info().TypeOf(n.Args[0])) {
			return r.Source(n.Args[0]) + "{}"
		}
	}
	return ""
}

// variable takes a variable that is returned, or whose address is: besides it is only asked for its
// fields, or set.
func (r *returned) variable(v *types.Var, fn inspector.Cursor) bool {
	_, pointer := v.Type().Underlying().(*types.Pointer)
	for _, u := range r.Uses(v, fn) {
		if !code.Within(u, fn) {
			return false
		}
		switch u.ParentEdgeKind() {
		case edge.ReturnStmt_Results:
		case edge.SelectorExpr_X:
			m := r.Info().Selections[u.Parent().Node().(*ast.SelectorExpr)]
			if m == nil || addressTaken(u.Parent()) || m.Kind() != types.FieldVal && (pointer || !byValue(m) || u.Parent().ParentEdgeKind() != edge.CallExpr_Fun) {
				return false
			}
		case edge.Field_Names: // a parameter, whose address is returned
			r.made[u.Node()] = !pointer
		case edge.UnaryExpr_X:
			if u.Parent().ParentEdgeKind() != edge.ReturnStmt_Results {
				return false
			}
		case edge.ValueSpec_Names:
			if pointer || u.Node().Pos() != v.Pos() {
				return false
			}
			r.made[u.Node()] = true
		case edge.AssignStmt_Lhs:
			assign := u.Parent().Node().(*ast.AssignStmt)
			if !pointer {
				r.made[u.Node()] = r.made[u.Node()] || u.Node().Pos() == v.Pos()
				continue
			}
			text := ""
			if len(assign.Lhs) == 1 && assign.Tok == token.DEFINE {
				text = r.maker(assign.Rhs[0])
			}
			if text == "" {
				return false
			}
			r.made[ast.Unparen(assign.Rhs[0])] = true
			r.changes = append(r.changes, r.Replace(assign.Rhs[0], text))
		default:
			if pointer {
				return false
			}
		}
	}
	return true
}

// byValue reports whether a method gets a copy of its receiver.
func byValue(m *types.Selection) bool {
	_, pointer := m.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
	return m.Kind() == types.MethodVal && !pointer
}

// addressTaken reports whether the address of a field is taken.
func addressTaken(field inspector.Cursor) bool {
	for field.ParentEdgeKind() == edge.SelectorExpr_X || field.ParentEdgeKind() == edge.IndexExpr_X || field.ParentEdgeKind() == edge.ParenExpr_X {
		field = field.Parent()
	}
	return field.ParentEdgeKind() == edge.UnaryExpr_X && field.Parent().Node().(*ast.UnaryExpr).Op == token.AND || field.ParentEdgeKind() == edge.SliceExpr_X
}

// takers are the callers of a function.
type takers struct {
	fn    *types.Func
	at    int // the number of the result
	calls int // of the function, that were seen
}

// in takes the calls in a file; false if one needs the pointer.
func (t *takers) in(s *site) (changes []code.Change, ok bool) {
	for c := range s.Root.Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		if typeutil.Callee(s.Info(), call) != types.Object(t.fn) {
			continue
		}
		t.calls++
		switch c.ParentEdgeKind() {
		case edge.StarExpr_X:
			changes = append(changes, s.Replace(c.Parent().Node(), s.Source(call)))
		case edge.SelectorExpr_X:
			if m := s.Info().Selections[c.Parent().Node().(*ast.SelectorExpr)]; m == nil || m.Kind() != types.FieldVal || addressTaken(c.Parent()) ||
				c.Parent().ParentEdgeKind() == edge.AssignStmt_Lhs {
				return nil, false
			}
		case edge.AssignStmt_Rhs:
			more, ok := s.fieldsOnly(c, t)
			if !ok {
				return nil, false
			}
			changes = append(changes, more...)
		default:
			return nil, false
		}
	}
	return changes, true
}

// fieldsOnly takes the variable that a call defines: it is asked for fields, set, or taken by value.
func (s *site) fieldsOnly(call inspector.Cursor, t *takers) (changes []code.Change, ok bool) {
	assign := call.Parent().Node().(*ast.AssignStmt)
	fn, body := code.Function(call)
	if len(assign.Lhs) != t.fn.Signature().Results().Len() || body == nil {
		return nil, false
	}
	to := assign.Lhs[t.at]
	if id, blank := to.(*ast.Ident); blank && id.Name == "_" {
		return nil, true
	}
	v := s.Local(to)
	if v == nil || assign.Tok != token.DEFINE || v.Pos() != to.Pos() {
		return nil, false
	}
	for _, u := range s.Uses(v, fn) {
		switch {
		case u.Node() == ast.Node(to):
		case u.ParentEdgeKind() == edge.StarExpr_X:
			changes = append(changes, s.Replace(u.Parent().Node(), v.Name()))
		case u.ParentEdgeKind() == edge.SelectorExpr_X && !addressTaken(u.Parent()):
			m := s.Info().Selections[u.Parent().Node().(*ast.SelectorExpr)]
			if m == nil || m.Kind() != types.FieldVal && u.Parent().ParentEdgeKind() != edge.CallExpr_Fun {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	return changes, true
}
