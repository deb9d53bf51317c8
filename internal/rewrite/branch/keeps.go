package branch

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// keeps are the places of a function that need a variable to be on the heap: its address is taken there, or a function
// literal refers to it, though it changes.
type keeps struct {
	of      *site
	v       *types.Var
	fn      inspector.Cursor
	at      []keep
	changes bool // the variable is assigned to outside of its declaration
	later   bool // behind the first of the places
}

// keep is one of them: a use of the variable, and the node that the copy has to stand in front of.
type keep struct {
	use, at inspector.Cursor
	closure bool
}

// add takes a use of the variable, in order. It reports whether the variable can be copied as far as that use goes: a
// function literal must only read it, and nothing may change it after its address was taken.
func (k *keeps) add(u inspector.Cursor) bool {
	changed := u.ParentEdgeKind() == edge.AssignStmt_Lhs || u.ParentEdgeKind() == edge.IncDecStmt_X || k.of.partAssigned(u)
	lit := literal(u, k.fn)
	closure := lit != k.fn
	switch {
	case closure && (changed || k.of.addressed(u)):
		return false
	case closure:
		return k.keep(keep{u, lit.Parent(), true})
	case k.of.addressed(u):
		return k.keep(keep{u, u, false})
	case changed:
		k.changes = true
		k.later = k.later || len(k.at) > 0
		return len(k.at) == 0 || !slices.ContainsFunc(k.at, func(at keep) bool { return !at.closure || waits(at.at) })
	}
	return true
}

// keep takes a place. It reports whether all places are of one kind: a literal with a copy would not see values that are
// written through an address.
func (k *keeps) keep(at keep) bool {
	k.at = append(k.at, at)
	return at.closure == k.at[0].closure
}

// literal is the outermost function literal around a node that lies in a function; the function itself if there is none.
func literal(u, fn inspector.Cursor) inspector.Cursor {
	for c := range u.Enclosing((*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		if c == fn {
			break
		}
		if next, _ := code.Function(c.Parent()); next == fn {
			return c
		}
	}
	return fn
}

// waits reports whether a call begins when its function ends, or on another goroutine.
func waits(call inspector.Cursor) bool {
	return call.ParentEdgeKind() == edge.DeferStmt_Call || call.ParentEdgeKind() == edge.GoStmt_Call
}

// copies puts a copy of the variable before the statements that need it on the heap.
func (k *keeps) copies(decl ast.Node) []code.Edit {
	s := k.of
	var changes []code.Change
	before := map[ast.Node]string{}
	read := false
	for _, u := range k.at {
		at, ok := branch(u.at, decl)
		if ok {
			at, ok = code.Statement(u.at)
		}
		if !ok || s.loopBetween(at, decl) {
			return nil
		}
		name := before[at.Node()]
		if name == "" {
			name = s.Fresh(k.v.Name()+"Copy", u.use.Node().Pos())
			before[at.Node()] = name
			changes = append(changes, s.Before(at.Node(), name+" := "+k.v.Name()))
		}
		changes = append(changes, s.Replace(u.use.Node(), name))
		read = read || !u.closure && !s.leavesAfter(at)
	}
	e := code.Edit{Text: fmt.Sprintf("copy `%s` in the branch that keeps its address", k.v.Name()), Changes: changes}
	if k.at[0].closure {
		e.Text = fmt.Sprintf("copy `%s` in the branch that has a function which reads it", k.v.Name())
	}
	switch {
	case k.later:
		e.Open = fmt.Sprintf("a function literal that reads `%s` must not run after `%s` has changed: it has the value of before", k.v.Name(), k.v.Name())
	case read:
		e.Open = fmt.Sprintf("who gets the address must not change `%s` for the code behind it", k.v.Name())
	}
	return []code.Edit{e}
}

// capturedCopies declare copies of the variables that function literals among a call's arguments read, and that change.
// open is the question that they leave. They are empty if a literal does more than read, or reads a result of the function.
func (s *site) capturedCopies(call inspector.Cursor) (declared, open string) {
	fn, body := code.Function(call)
	_, results := code.Signature(fn)
	var seen []*types.Var
	var changing []string
	for id := range call.Preorder((*ast.Ident)(nil)) {
		v, _ := s.Info().Uses[id.Node().(*ast.Ident)].(*types.Var)
		if v == nil || v.IsField() || literal(id, fn) == fn || v.Pos() < fn.Node().Pos() || v.Pos() > fn.Node().End() || v.Parent() == nil ||
			call.Node().Pos() <= v.Pos() && v.Pos() < call.Node().End() || slices.Contains(seen, v) {
			continue
		}
		seen = append(seen, v)
		k := keeps{of: s, v: v, fn: fn}
		for _, u := range s.Uses(v, fn) {
			if s.Info().Defs[u.Node().(*ast.Ident)] == nil && !k.add(u) {
				return "", ""
			}
		}
		if results != nil && results.Pos() <= v.Pos() && v.Pos() < results.End() {
			return "", "" // a return changes it
		}
		if !k.changes {
			continue
		}
		if slices.ContainsFunc(k.at, func(at keep) bool { return !at.closure || !call.Contains(at.use) }) {
			return "", "" // it stays on the heap for another
		}
		declared += fmt.Sprintf("%s := %s\n", v.Name(), v.Name())
		if k.later || s.loopBetween(call, body) {
			changing = append(changing, "`"+v.Name()+"`")
		}
	}
	if len(changing) > 0 {
		open = fmt.Sprintf("the function literal must not run after %s changed: it has the value of before the call", strings.Join(changing, " or "))
	}
	return declared, open
}
