package suited

import (
	"go/ast"
	"go/types"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// settings are methods of a json.Decoder that json.Unmarshal has nothing for.
var settings = map[string]bool{"UseNumber": true, "DisallowUnknownFields": true, "More": true, "Token": true, "Buffered": true, "InputOffset": true}

// oneValue reports whether a decoder decodes one value, by nothing but Decode.
func oneValue(p idiom.Place) bool {
	c := call(p)
	if c == nil || p.Body() == nil {
		return false
	}
	decoder, decode := c.Fun.(*ast.SelectorExpr)
	if decode = decode && decoder.Sel.Name == "Decode"; decode {
		if _, chained := ast.Unparen(decoder.X).(*ast.CallExpr); chained {
			return true
		}
	} else if method := chainedMethod(p); method != "" {
		return method == "Decode"
	}
	return callsOnce(p, variableOf(p, decode), "Decode", func(method string) bool { return !settings[method] })
}

// encodesOnce reports whether an encoder of a stream gets all its bytes by one Write.
func encodesOnce(p idiom.Place) bool {
	if method := chainedMethod(p); method != "" {
		return method == "Write"
	}
	return p.Body() != nil && callsOnce(p, variableOf(p, false), "Write", func(method string) bool { return method == "Write" || method == "Close" })
}

// chainedMethod is the method that is called of what a place makes, in the same expression; "" for none.
func chainedMethod(p idiom.Place) string {
	if len(p.Path) > 0 {
		if sel, ok := p.Path[len(p.Path)-1].(*ast.SelectorExpr); ok {
			return sel.Sel.Name
		}
	}
	return ""
}

// callsOnce reports whether a variable is used for nothing but its methods, outside of loops: once for one of them, and else
// for those that others allows.
func callsOnce(p idiom.Place, v types.Object, once string, others func(method string) bool) bool {
	if v == nil {
		return false
	}
	n := 0
	each := eachUse(p, v, func(path []ast.Node) bool {
		sel, ok := path[len(path)-1].(*ast.SelectorExpr)
		if ok && sel.Sel.Name == once {
			n++
		}
		return ok && others(sel.Sel.Name) && !inLoop(path, v)
	})
	return each && n == 1
}

// variableOf is the local variable whose method a place calls, or that it defines.
func variableOf(p idiom.Place, method bool) types.Object {
	if method {
		sel := call(p).Fun.(*ast.SelectorExpr)
		return local(p.Variable(sel.X))
	}
	if len(p.Path) == 0 {
		return nil
	}
	if assign, ok := p.Path[len(p.Path)-1].(*ast.AssignStmt); ok && len(assign.Lhs) >= 1 && len(assign.Rhs) == 1 {
		return local(p.Variable(assign.Lhs[0]))
	}
	return nil
}

// local is a variable of a function; nil for another.
func local(obj types.Object) types.Object {
	if obj == nil || obj.Pkg() == nil || obj.Parent() == obj.Pkg().Scope() {
		return nil
	}
	return obj
}

// inLoop reports whether a path leads into a loop that a variable is declared outside of.
func inLoop(path []ast.Node, v types.Object) bool {
	for _, n := range path {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if v.Pos() < n.Pos() {
				return true
			}
		}
	}
	return false
}

// eachUse asks about all uses of a variable in the function around a place, by the nodes around them.
func eachUse(p idiom.Place, v types.Object, ask func(path []ast.Node) bool) bool {
	var stack []ast.Node
	all := true
	ast.Inspect(p.Body(), func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if id, ok := n.(*ast.Ident); ok && p.Info.Uses[id] == v {
			all = all && ask(stack)
		}
		stack = append(stack, n)
		return true
	})
	return all
}

// asksNames reports whether a use asks a file's information for its name, or whether it is a folder.
func asksNames(path []ast.Node) bool {
	sel, ok := path[len(path)-1].(*ast.SelectorExpr)
	return ok && (sel.Sel.Name == "Name" || sel.Sel.Name == "IsDir")
}

// namesOnly reports whether the program asks the files of a list for their names and kinds alone.
func namesOnly(p idiom.Place) bool {
	v := variableOf(p, false)
	if v == nil || p.Body() == nil {
		return false
	}
	return eachUse(p, v, func(path []ast.Node) bool {
		switch n := path[len(path)-1].(type) {
		case *ast.RangeStmt:
			file := p.Variable(n.Value)
			return n.Value == nil || file != nil && eachUse(p, file, asksNames)
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			return ok && p.Info.Uses[id] == types.Universe.Lookup("len")
		}
		return false
	})
}

// walksNames reports whether the function of a walk asks files for their names and kinds alone.
func walksNames(p idiom.Place) bool {
	lit, ok := argument(p, 1).(*ast.FuncLit)
	if !ok || p.Body() == nil {
		return false
	}
	params := lit.Type.Params.List
	if len(params) != 3 || len(params[1].Names) != 1 {
		return false
	}
	info := p.Info.Defs[params[1].Names[0]]
	return info == nil || eachUse(p, info, asksNames)
}
