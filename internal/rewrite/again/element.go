package again

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/prescribe/written"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/rewrite/idiom"
)

// ElementItself gives a loop the addresses of the elements themselves, where the address of a copy of each was taken.
func ElementItself(s *code.Site) []code.Edit {
	id, ok := s.Cur.Node().(*ast.Ident)
	if !ok {
		return nil
	}
	loop := written.ElementCopied(idiom.Place(s, id))
	if loop == nil {
		return nil
	}
	v, _ := s.Info().Defs[id].(*types.Var)
	fn, _ := code.Function(s.Cur)
	if v == nil || nilable(v.Type()) {
		return nil
	}
	index, key := "i", loop.Key.(*ast.Ident)
	if key.Name == "_" {
		index = s.Fresh("i", loop.Pos())
	} else {
		index = key.Name
	}
	of := s.Source(loop.X)
	var changes []code.Change
	if !s.Pure(loop.X) || s.Changed(loop.X, loop, loop.Body.Pos(), loop.Body.End()) { // the loop asks for it once
		stmt, listed := code.Statement(s.Cur)
		if !listed || stmt.Node() != ast.Node(loop) {
			return nil
		}
		list := s.Fresh("list", loop.Pos())
		changes = append(changes, s.Before(loop, list+" := "+of))
		of = list
	}
	head := fmt.Sprintf("%s := range %s", index, of)
	changes = append(changes, code.Change{From: s.Offset(loop.Key.Pos()), To: s.Offset(loop.X.End()), Text: head},
		s.Insert(s.Offset(loop.Body.Lbrace)+1, fmt.Sprintf("\n%s := &%s[%s]", v.Name(), of, index)))
	for _, u := range s.Uses(v, fn) {
		switch k := u.ParentEdgeKind(); {
		case u.Node().Pos() == v.Pos():
		case k == edge.UnaryExpr_X && u.Parent().Node().(*ast.UnaryExpr).Op == token.AND:
			changes = append(changes, s.Replace(u.Parent().Node(), v.Name()))
		case k == edge.SelectorExpr_X, k == edge.SliceExpr_X, k == edge.IndexExpr_X && isArray(v.Type()):
		case k == edge.CallExpr_Args, k == edge.AssignStmt_Rhs, k == edge.ReturnStmt_Results, k == edge.BinaryExpr_X, k == edge.BinaryExpr_Y:
			changes = append(changes, s.Replace(u.Node(), "*"+v.Name()))
		default:
			return nil
		}
	}
	return []code.Edit{{Text: fmt.Sprintf("take the addresses of the elements of `%s` themselves", code.Brief(s.Source(loop.X))),
		Open: fmt.Sprintf("what gets `%s` must not change it, nor need it after another has changed the element", v.Name()), Changes: changes}}
}

func isArray(t types.Type) bool {
	_, array := t.Underlying().(*types.Array)
	return array
}

// SliceItself slices an array in place of a call of its method that returns a slice of a copy.
func SliceItself(s *code.Site) []code.Edit {
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return nil
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	fn := calleeOf(s, call)
	if !ok || fn == nil || fn.Signature().Recv() == nil || !isArray(fn.Signature().Recv().Type()) || !givesSlice(fn.Signature()) || !isArray(s.Info().TypeOf(sel.X)) || !s.Info().Types[sel.X].Addressable() {
		return nil
	}
	open := "what gets the slice must not change it, nor need it after `%s` has changed"
	if _, decl := s.FuncOf(fn); decl == nil {
		open = fn.Name() + " has to do no more than return a slice of its receiver; " + open
	} else if !slicesReceiver(decl) {
		return nil
	}
	x := s.Source(sel.X)
	return []code.Edit{{Text: fmt.Sprintf("slice `%s` itself", code.Brief(x)), Changes: []code.Change{s.Replace(call, x+"[:]")},
		Open: fmt.Sprintf(open, code.Brief(x))}}
}

// slicesReceiver reports whether all that a method does is to return a slice of all of its receiver.
func slicesReceiver(decl *ast.FuncDecl) bool {
	if decl.Body == nil || len(decl.Body.List) != 1 || len(decl.Recv.List[0].Names) != 1 {
		return false
	}
	ret, ok := decl.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return false
	}
	cut, ok := ret.Results[0].(*ast.SliceExpr)
	return ok && cut.Low == nil && cut.High == nil && cut.Max == nil && identOf(cut.X) != nil && identOf(cut.X).Name == decl.Recv.List[0].Names[0].Name
}

// givesSlice reports whether a method of an array returns a slice of the array's elements, and nothing else.
func givesSlice(sig *types.Signature) bool {
	if sig.Results().Len() != 1 {
		return false
	}
	slice, ok := sig.Results().At(0).Type().Underlying().(*types.Slice)
	array, is := sig.Recv().Type().Underlying().(*types.Array)
	return ok && is && types.Identical(array.Elem(), slice.Elem())
}
