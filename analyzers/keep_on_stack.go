package analyzers

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/analyzers/internal/code"
)

// KeepOnStack reports values put on the heap only to be asked for their type.
var KeepOnStack = keepOnStackRule.analyzer("keeponstack", keepOnStack)

var keepOnStackRule = Rule{
	Code:  "keep-on-stack",
	Title: "ask the reflect.Type, not a copy of the value on the heap",
	Why: "reflect.Value.Interface copies the value to the heap unless it is a pointer, and reflect.New allocates one, " +
		"although a type assertion needs the type alone.",
	Before: "switch v.Interface().(type) {\ncase time.Time, json.Number:\n\treturn true\n}",
	After:  "switch v.Type() {\ncase timeType, numberType: // package variables, made by reflect.TypeFor\n\treturn true\n}",
	Silent: "the value found is used as an interface, or seems to be a pointer; reflect.TypeAssert, the replacement " +
		"for values that are used, needs Go 1.25.",
}

func keepOnStack(s *source) {
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		if c.ParentEdgeKind() != edge.TypeAssertExpr_X {
			return
		}
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return
		}
		assert := c.Parent()
		made := s.made(sel.X)
		switch {
		case made == "" && !s.mayCopy(sel.X):
		case assert.Node().(*ast.TypeAssertExpr).Type == nil:
			s.checkTypeSwitch(assert, made)
		default:
			s.checkAssertion(assert, made)
		}
	}, "(reflect.Value).Interface")
}

// made names the reflect function that makes the value v, or is "" for a value
// that was there.
func (s *source) made(v ast.Expr) string {
	if elem, ok := s.IsCallOf(v, "(reflect.Value).Elem"); ok {
		v = elem.Fun.(*ast.SelectorExpr).X
	}
	for _, name := range []string{"reflect.New", "reflect.Zero"} {
		if _, ok := s.IsCallOf(v, name); ok {
			return name
		}
	}
	return ""
}

// mayCopy reports whether v.Interface() may have to copy: v can be addressable,
// and nothing shows that it is a pointer.
func (s *source) mayCopy(v ast.Expr) bool {
	switch v := ast.Unparen(v).(type) {
	case *ast.CallExpr:
		_, ok := s.IsCallOf(v, "(reflect.Value).Elem", "(reflect.Value).Field", "(reflect.Value).Index",
			"(reflect.Value).FieldByName",
			"reflect.Indirect")
		return ok
	case *ast.Ident:
		return !s.setFrom(s.Object(v), "reflect.New", "reflect.ValueOf", "(reflect.Value).Addr",
			"(reflect.Value).MapIndex",
			"(*reflect.MapIter).Key", "(*reflect.MapIter).Value")
	}
	return false
}

// setFrom reports whether some assignment to v is a call of a named function.
func (s *source) setFrom(v *types.Var, names ...string) bool {
	for _, use := range s.Uses[v] {
		if use.ParentEdgeKind() != edge.AssignStmt_Lhs {
			continue
		}
		assign := use.Parent().Node().(*ast.AssignStmt)
		i := use.ParentEdgeIndex()
		if i >= len(assign.Rhs) {
			continue
		}
		if _, ok := s.IsCallOf(assign.Rhs[i], names...); ok {
			return true
		}
	}
	return false
}

// checkTypeSwitch looks at `switch v.Interface().(type)` without a variable.
func (s *source) checkTypeSwitch(assert inspector.Cursor, made string) {
	if assert.ParentEdgeKind() != edge.ExprStmt_X {
		return // switch x := v.Interface().(type)
	}
	stmt, ok := assert.Parent().Parent().Node().(*ast.TypeSwitchStmt)
	if !ok || made == "" && s.allPointers(stmt) {
		return
	}
	what := "the value is copied to the heap"
	if made != "" {
		what = made + " makes a value"
	}
	s.Flag(assert.Node(), "%s only to switch on its type: compare the reflect.Type, or ask it with Implements", what)
}

// allPointers reports whether all cases of stmt are pointer types, as they are
// where the value is known to be one.
func (s *source) allPointers(stmt *ast.TypeSwitchStmt) bool {
	for _, clause := range stmt.Body.List {
		for _, e := range clause.(*ast.CaseClause).List {
			if t := s.TypesInfo.TypeOf(e); !s.IsNil(e) && !code.PointerShaped(t) {
				return false
			}
		}
	}
	return true
}

// checkAssertion looks at `v.Interface().(T)`.
func (s *source) checkAssertion(c inspector.Cursor, made string) {
	assert := c.Node().(*ast.TypeAssertExpr)
	t := s.TypesInfo.TypeOf(assert.Type)
	pointer := !types.IsInterface(t) && code.PointerShaped(t)
	switch {
	case onlyAsks(c):
		if pointer && made == "" {
			return
		}
		what := "the value is copied to the heap"
		if made != "" {
			what = made + " makes a value"
		}
		how := "its reflect.Type with reflect.TypeFor[" + code.Brief(assert.Type) + "]()"
		if types.IsInterface(t) {
			how = "Implements of its reflect.Type"
		}
		s.Flag(assert, "%s only to be asked for its type: use %s", what, how)
	case made == "" && !types.IsInterface(t) && !pointer && !code.IsTypeParam(t) && s.Sizeof(t) > 1 &&
		s.Since(c, "go1.25"):
		s.Flag(assert, "Interface copies an addressable value to the heap before it is asserted: "+
			"reflect.TypeAssert[%s] does not",
			code.Brief(assert.Type))
	}
}

// onlyAsks reports whether c is the right side of `_, ok := …`.
func onlyAsks(c inspector.Cursor) bool {
	if c.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return false
	}
	assign := c.Parent().Node().(*ast.AssignStmt)
	if len(assign.Lhs) != 2 || assign.Tok != token.DEFINE && assign.Tok != token.ASSIGN {
		return false
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	return ok && id.Name == "_"
}
