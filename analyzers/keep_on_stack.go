package analyzers

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
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
	Silent: "the value found is used as an interface, or is a pointer as far as one can see; reflect.TypeAssert, the way " +
		"out for values that are used, needs Go 1.25.",
}

func keepOnStack(s *source) {
	s.eachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		made := s.made(call)
		switch c.ParentEdgeKind() {
		case edge.TypeAssertExpr_X:
		default:
			return
		}
		assert := c.Parent()
		if assert.Node().(*ast.TypeAssertExpr).Type == nil {
			s.checkTypeSwitch(assert, made)
			return
		}
		s.checkAssertion(assert, made)
	}, "(reflect.Value).Interface")
}

// made names the reflect function that makes the value v of v.Interface(), or
// is "" for a value that was there.
func (s *source) made(call *ast.CallExpr) string {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	x := sel.X
	if elem, ok := s.isCallOf(x, "(reflect.Value).Elem"); ok {
		x = elem.Fun.(*ast.SelectorExpr).X
	}
	if _, ok := s.isCallOf(x, "reflect.New"); ok {
		return "reflect.New"
	}
	if _, ok := s.isCallOf(x, "reflect.Zero"); ok {
		return "reflect.Zero"
	}
	return ""
}

// checkTypeSwitch looks at `switch v.Interface().(type)` without a variable.
func (s *source) checkTypeSwitch(assert inspector.Cursor, made string) {
	if assert.ParentEdgeKind() != edge.ExprStmt_X {
		return // switch x := v.Interface().(type)
	}
	if made != "" {
		s.report(assert.Node(), "%s makes a value only to switch on its type: compare the reflect.Type, or ask it with Implements", made)
		return
	}
	s.report(assert.Node(), "the value is copied to the heap only to switch on its type: compare v.Type(), or ask it with Implements")
}

// checkAssertion looks at `v.Interface().(T)`.
func (s *source) checkAssertion(c inspector.Cursor, made string) {
	assert := c.Node().(*ast.TypeAssertExpr)
	t := s.TypesInfo.TypeOf(assert.Type)
	if s.onlyAsks(c) {
		what := "the value is copied to the heap"
		if made != "" {
			what = made + " makes a value"
		}
		how := "v.Type() with reflect.TypeFor[" + types.ExprString(assert.Type) + "]()"
		if types.IsInterface(t) {
			how = "Implements of the reflect.Type"
		}
		s.report(assert, "%s only to be asked for its type: use %s", what, how)
		return
	}
	if made == "" && !types.IsInterface(t) && !pointerShaped(t) && !isTypeParam(t) && s.sizeof(t) > 1 && s.since(c, "go1.25") {
		s.report(assert, "Interface copies the value to the heap before it is asserted: reflect.TypeAssert[%s] does not",
			types.ExprString(assert.Type))
	}
}

// onlyAsks reports whether c is the right side of `_, ok := …`.
func (s *source) onlyAsks(c inspector.Cursor) bool {
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
