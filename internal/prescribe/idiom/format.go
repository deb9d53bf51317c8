package idiom

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// ForFormat is the value whose text, by its method String or Error, is an argument of a function that formats it, by a name
// that ends in f, and is not of fmt: such a function makes the text itself where it needs it. It is "" for other expressions, and where formatting the
// value gives another text or boxes it. With dynamic, an interface has the function.
func (p Place) ForFormat() (value string, dynamic bool) {
	c, ok := p.Expr.(*ast.CallExpr)
	if !ok || len(p.Path) == 0 || len(c.Args) != 0 {
		return "", false
	}
	sel, method := c.Fun.(*ast.SelectorExpr)
	around, call := p.Path[len(p.Path)-1].(*ast.CallExpr)
	if !method || !call || p.Info.Selections[sel] == nil {
		return "", false
	}
	fn, ok := typeutil.Callee(p.Info, around).(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() == "fmt" || !strings.HasSuffix(fn.Name(), "f") || !p.formats(fn.Signature(), around, c) || !showsBy(p.Info.TypeOf(sel.X), sel.Sel.Name) {
		return "", false
	}
	recv := fn.Signature().Recv()
	return types.ExprString(sel.X), recv != nil && types.IsInterface(recv.Type())
}

// formats reports whether a call puts an argument into a constant format, as a text.
func (p Place) formats(sig *types.Signature, c *ast.CallExpr, argument ast.Expr) bool {
	at := sig.Params().Len() - 2
	if !sig.Variadic() || at < 0 || at >= len(c.Args) || c.Ellipsis.IsValid() {
		return false
	}
	boxes, ok := types.Unalias(sig.Params().At(at + 1).Type()).(*types.Slice)
	format := p.Info.Types[c.Args[at]].Value
	if any, is := types.Unalias(boxes.Elem()).Underlying().(*types.Interface); !ok || !is || !any.Empty() || format == nil || format.Kind() != constant.String {
		return false
	}
	verbs := verbsOf(constant.StringVal(format))
	for i, a := range c.Args[at+1:] {
		if ast.Unparen(a) == argument {
			return i < len(verbs) && (verbs[i] == 's' || verbs[i] == 'v')
		}
	}
	return false
}

// verbsOf are the verbs of a format, one for each argument; none where it is not that simple, or asks for another form.
func verbsOf(format string) (verbs []byte) {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		for i++; i < len(format) && strings.IndexByte("-.0123456789 ", format[i]) >= 0; i++ {
		}
		switch {
		case i == len(format) || strings.IndexByte("*[+#", format[i]) >= 0:
			return nil
		case format[i] != '%':
			verbs = append(verbs, format[i])
		}
	}
	return verbs
}

// showsBy reports whether fmt makes the text of a value by one of its methods, and an interface holds the value without a
// box.
func showsBy(t types.Type, method string) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface, *types.Map, *types.Chan, *types.Signature:
	default:
		return false
	}
	has := func(name string) bool {
		obj, _, _ := types.LookupFieldOrMethod(t, false, nil, name)
		fn, ok := obj.(*types.Func)
		return ok && fn.Exported()
	}
	return has(method) && !has("Format") && (method == "Error" || method == "String" && !has("Error"))
}

// IsType reports whether the expression prints the type of one value as a text of its own.
func (p Place) IsType() bool {
	c := p.call(p.Expr, "fmt.Sprintf")
	if c == nil || len(c.Args) != 2 || c.Ellipsis.IsValid() {
		return false
	}
	format := p.Info.Types[c.Args[0]].Value
	return format != nil && format.Kind() == constant.String && constant.StringVal(format) == "%T"
}
