package written

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// CallRule is a way of writing a call on the way to what allocates, and its cure.
type CallRule struct {
	Name          string // stable: the table of hit rates has it
	Cure          string // code
	Kinds         []finding.Kind
	Needs         []Need
	Kept, InPlace bool // as of a Rule
	// Tell is what to do at the call of a function, which is nil where it was not read; "" where it is written in another way.
	Tell func(call idiom.Place, callee *ssa.Function) string
}

// CallRules has all ways of writing a call with a cure, in no order.
var CallRules = []CallRule{
	{Name: "grown and dropped", Cure: "reuse-buffer", Kinds: kinds(finding.KindGrowth, finding.KindMake), Kept: true, Tell: grownAndDropped},
	{Name: "grown in another variable", Cure: "reuse-buffer", Kinds: kinds(finding.KindGrowth, finding.KindMake), Needs: []Need{Dies}, Tell: grownElsewhere},
	{Name: "nil for what is used again", Cure: "reuse-buffer", Kinds: kinds(finding.KindNew, finding.KindMake), Kept: true, Tell: nilForReuse},
	{Name: "made anew in each turn", Cure: "reuse-buffer", Needs: []Need{Dies}, Tell: resettable},
	{Name: "slice of a copied array", Cure: "keep-on-stack", Kinds: kinds(finding.KindNew), Needs: []Need{Own}, Kept: true, InPlace: true, Tell: sliceOfCopy},
	{Name: "made by a constructor in a loop", Cure: "batch-arena", Kinds: kinds(finding.KindNew), Needs: []Need{Own, Small, Many}, Kept: true, Tell: madeInLoop},
}

// assigned is the statement that sets variables to all results of a call; nil for others.
func assigned(p idiom.Place, callee *ssa.Function) (*ast.CallExpr, *ast.AssignStmt) {
	c, ok := p.Expr.(*ast.CallExpr)
	if !ok || callee == nil || len(p.Path) == 0 {
		return nil, nil
	}
	a, ok := p.Path[len(p.Path)-1].(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 || ast.Unparen(a.Rhs[0]) != ast.Expr(c) || len(a.Lhs) != callee.Signature.Results().Len() {
		return nil, nil
	}
	return c, a
}

// handed is the argument of a call for a parameter of its callee, of which the receiver is the first; nil for none.
func handed(p idiom.Place, c *ast.CallExpr, callee *ssa.Function, param int) ast.Expr {
	if callee.Signature.Recv() != nil {
		sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
		if ok && p.Info.Selections[sel] != nil && p.Info.Selections[sel].Kind() == types.MethodVal {
			if param == 0 {
				return sel.X
			}
			param--
		}
	}
	if param < 0 || param >= len(c.Args) || c.Ellipsis.IsValid() && param == len(c.Args)-1 {
		return nil
	}
	return ast.Unparen(c.Args[param])
}

// grownAndDropped is what to do where a call grows memory that a field or a variable has, and its result is dropped.
func grownAndDropped(p idiom.Place, callee *ssa.Function) string {
	c, a := assigned(p, callee)
	if a == nil {
		return ""
	}
	for i, to := range a.Lhs {
		id, ok := to.(*ast.Ident)
		if !ok || id.Name != "_" {
			continue
		}
		if from := lasting(p, c, callee, i); from != nil {
			return fmt.Sprintf("set `%s` to what %s gives back: it is grown in each call, and dropped", types.ExprString(from), shortName(callee))
		}
	}
	return ""
}

// grownElsewhere is what to do where a call grows memory of a variable, and a new one of the same name gets the result.
func grownElsewhere(p idiom.Place, callee *ssa.Function) string {
	c, a := assigned(p, callee)
	if a == nil || a.Tok != token.DEFINE {
		return ""
	}
	for i, to := range a.Lhs {
		v := p.Info.Defs[identOf(to)]
		if v == nil {
			continue
		}
		from := lasting(p, c, callee, i)
		if from != nil && p.Variable(from) != nil && p.Variable(from) != v && p.Variable(from).Name() == v.Name() {
			return fmt.Sprintf("set the `%s` of before, with = in place of :=, to what %s gives back: a new one gets it, so the memory is lost with each turn", v.Name(), shortName(callee))
		}
	}
	return ""
}

func identOf(e ast.Expr) *ast.Ident { id, _ := e.(*ast.Ident); return id }

// lasting is the field or variable whose memory a call gives back as one of its results, if that is there before and after
// the statement: a field, a variable of the package, or one that is declared before a loop around it. It is nil for others.
func lasting(p idiom.Place, c *ast.CallExpr, callee *ssa.Function, result int) ast.Expr {
	param, cut := flow.GivesBack(callee, result)
	if param < 0 {
		return nil
	}
	from := handed(p, c, callee, param)
	if from == nil {
		return nil
	}
	if whole := emptied(from); whole != nil {
		from, cut = ast.Unparen(whole), true
	}
	if !cut {
		return nil // it would go on with what is there
	}
	switch e := from.(type) {
	case *ast.SelectorExpr:
		if rootOf(p, e) != nil && p.Info.Selections[e] != nil {
			return e
		}
	case *ast.Ident:
		v := p.Variable(e)
		if v == nil {
			return nil
		}
		if v.Parent() == v.Pkg().Scope() {
			return e
		}
		if loop := loopAround(p); loop != nil && v.Pos() < loop.Pos() && p.Body() != nil && v.Pos() > p.Body().Pos() {
			return e
		}
	}
	return nil
}

// loopAround is the innermost loop around an expression, in its function; nil for none.
func loopAround(p idiom.Place) ast.Stmt {
	for _, n := range slices.Backward(p.Path) {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return nil
		case *ast.ForStmt:
			return n
		case *ast.RangeStmt:
			return n
		}
	}
	return nil
}

// nilForReuse is what to do where a call hands nil to a function that returns what it is handed, set anew, and makes
// another only for nil.
func nilForReuse(p idiom.Place, callee *ssa.Function) string {
	c, a := assigned(p, callee)
	if a == nil {
		return ""
	}
	for i, to := range a.Lhs {
		param := flow.Reuses(callee, i)
		if param < 0 {
			continue
		}
		arg := handed(p, c, callee, param)
		if arg == nil || !p.Info.Types[arg].IsNil() || !types.Identical(p.Info.TypeOf(to), callee.Signature.Results().At(i).Type()) {
			continue
		}
		if _, field := to.(*ast.SelectorExpr); field || a.Tok == token.ASSIGN && identOf(to) != nil && identOf(to).Name != "_" {
			return fmt.Sprintf("hand `%s` to %s in place of nil, if nothing else has the one before: it sets anew what it is handed", types.ExprString(to), shortName(callee))
		}
		if loop := loopAround(p); loop != nil && a.Tok == token.DEFINE && onlyCalled(p, loop, p.Info.Defs[identOf(to)]) {
			return fmt.Sprintf("declare `%s` before the loop of line %d and hand it to %s in place of nil: it sets anew what it is handed", types.ExprString(to), p.Line(loop.Pos()), shortName(callee))
		}
	}
	return ""
}

// resettable is what to do where each turn of a loop makes an object by its constructor, and the object has a method Reset
// with the parameters of that.
func resettable(p idiom.Place, callee *ssa.Function) string {
	_, a := assigned(p, callee)
	loop := loopAround(p)
	if a == nil || loop == nil || a.Tok != token.DEFINE || len(a.Lhs) != 1 || !isConstructor(callee) {
		return ""
	}
	v := p.Info.Defs[identOf(a.Lhs[0])]
	if v == nil {
		return ""
	}
	if _, pointer := v.Type().Underlying().(*types.Pointer); !pointer {
		return ""
	}
	obj, _, _ := types.LookupFieldOrMethod(v.Type(), true, v.Pkg(), "Reset")
	reset, ok := obj.(*types.Func)
	if !ok {
		return ""
	}
	if !types.Identical(reset.Signature().Params(), callee.Signature.Params()) || !onlyCalled(p, loop, v) {
		return ""
	}
	return fmt.Sprintf("make `%s` once, before the loop of line %d, and call its Reset in each turn: nothing has it after the turn", v.Name(), p.Line(loop.Pos()))
}

// isConstructor reports whether a function is named as one that makes something new.
func isConstructor(fn *ssa.Function) bool {
	return strings.HasPrefix(strings.ToLower(fn.Name()), "new") && fn.Signature.Recv() == nil
}

// onlyCalled reports whether a loop does nothing with a variable but to call its methods, to get at its fields and to hand
// it to calls, and no function literal, goroutine or deferred call has it.
func onlyCalled(p idiom.Place, loop ast.Node, v types.Object) bool {
	if v == nil {
		return false
	}
	only := true
	var path []ast.Node
	ast.Inspect(loop, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return false
		}
		if id, ok := n.(*ast.Ident); ok && p.Info.Uses[id] == v {
			switch around := path[len(path)-1].(type) {
			case *ast.SelectorExpr:
			case *ast.CallExpr:
				only = only && p.Appends(around) == nil
			case *ast.BinaryExpr:
			default:
				only = false
			}
			only = only && !slices.ContainsFunc(path, func(n ast.Node) bool {
				switch n.(type) {
				case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt:
					return true
				}
				return false
			})
		}
		path = append(path, n)
		return only
	})
	return only
}

// isKept reports whether a loop keeps what an expression makes for later turns: in an element, a field, a slice or a literal, at once or
// by a variable.
func isKept(p idiom.Place, loop ast.Node) bool {
	keeps := func(around ast.Node, e ast.Expr) bool {
		switch n := around.(type) {
		case *ast.CallExpr:
			return p.Appends(n) != nil
		case *ast.AssignStmt:
			return n.Tok == token.ASSIGN && slices.Contains(n.Rhs, e)
		case *ast.KeyValueExpr, *ast.CompositeLit:
			return true
		}
		return false
	}
	if keeps(p.Path[len(p.Path)-1], p.Expr) {
		return true
	}
	a, ok := p.Path[len(p.Path)-1].(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE {
		return false
	}
	v, kept := p.Info.Defs[identOf(a.Lhs[0])], false
	var path []ast.Node
	ast.Inspect(loop, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		if id, ok := n.(*ast.Ident); ok && v != nil && p.Info.Uses[id] == v {
			kept = kept || keeps(path[len(path)-1], id)
		}
		path = append(path, n)
		return true
	})
	return kept
}

// madeInLoop is what to do where a loop calls a constructor that returns a new struct of its own, and keeps that: it is no error, and
// not one of several kinds that a switch chooses from.
func madeInLoop(p idiom.Place, callee *ssa.Function) string {
	loop := loopAround(p)
	if loop == nil || callee == nil || !isConstructor(callee) || !flow.Makes(callee) {
		return ""
	}
	if !isKept(p, loop) || types.Implements(p.Info.TypeOf(p.Expr), types.Universe.Lookup("error").Type().Underlying().(*types.Interface)) {
		return ""
	}
	for _, n := range slices.Backward(p.Path) {
		if n == ast.Node(loop) {
			break
		}
		switch n.(type) {
		case *ast.CaseClause, *ast.CommClause:
			return ""
		}
	}
	return fmt.Sprintf("make what %s makes in slabs: one slice of them for many turns of the loop of line %d, and the address of an element for each", shortName(callee), p.Line(loop.Pos()))
}

// shortName is a function's name with its package's or its receiver's.
func shortName(fn *ssa.Function) string {
	if obj, ok := fn.Object().(*types.Func); ok {
		name := flow.Spelling(obj)
		return name[strings.LastIndexByte(name, '/')+1:]
	}
	return fn.Name()
}
