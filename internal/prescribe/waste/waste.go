// Package waste finds work whose result is not used, or is there already.
package waste

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
	"github.com/heaptrim/heaptrim/internal/prescribe/life"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// Text says why an expression's work is unnecessary; "" where it is not known to be.
func Text(d *finding.Diagnosis, l *source.Line, e *source.Expr, file string) string {
	switch e.Kind {
	case source.Call, source.Literal, source.Concat, source.Conversion, source.Make:
	default:
		return ""
	}
	f := l.FlowOf(e)
	switch {
	case f == nil:
		return ""
	case f.Fixed && flow.Pure(e.Call.Callee):
		return fmt.Sprintf("call %s once before the loop of line %d: its arguments are the same in every iteration", life.ShortName(e.Call.Callee), f.FixedLoop)
	case e.Kind == source.Call && again(l, e) > 0:
		return fmt.Sprintf("keep the result of %s in line %d: it is called again with the same arguments", life.ShortName(e.Call.Callee), again(l, e))
	case f.Partly && e.Use.Kind == source.UseAssigned:
		used, unused := Heaviest(d, file, f.Used), Heaviest(d, file, f.Unused)
		if used > 0 || unused == 0 && !f.Failed {
			return ""
		}
		return fmt.Sprintf("make `%s` only where it is used: the branch that the program takes does not use it", e.Use.Name)
	}
	return ""
}

// Place is an expression of a line, for package idiom.
func Place(l *source.Line, e *source.Expr) idiom.Place {
	return idiom.Place{Info: l.Info(), Expr: e.Node().(ast.Expr), Path: idiom.Within(e.Path()), Line: l.LineOf}
}

// again is the line of an earlier call that makes the same; 0 for none.
func again(l *source.Line, e *source.Expr) int {
	calls, _ := Place(l, e).Again()
	if len(calls) == 0 || l.LineOf(calls[0].Lparen) == l.Number {
		return 0
	}
	return l.LineOf(calls[0].Lparen)
}

// InARow is how many statements, one after the other, add text to the variable that a concatenation is added to.
func InARow(e *source.Expr) int {
	path := e.Path()
	if len(path) < 2 {
		return 0
	}
	var list []ast.Stmt
	switch block := path[len(path)-2].(type) {
	case *ast.BlockStmt:
		list = block.List
	case *ast.CaseClause:
		list = block.Body
	}
	first := slices.IndexFunc(list, func(s ast.Stmt) bool { return ast.Node(s) == path[len(path)-1] })
	if first < 0 || !addsTo(list[first], e.Use.Name) {
		return 0
	}
	last := first
	for first > 0 && addsTo(list[first-1], e.Use.Name) {
		first--
	}
	for last+1 < len(list) && addsTo(list[last+1], e.Use.Name) {
		last++
	}
	return last - first + 1
}

// addsTo reports whether a statement is of the form name += x.
func addsTo(s ast.Stmt, name string) bool {
	assign, ok := s.(*ast.AssignStmt)
	if !ok || assign.Tok != token.ADD_ASSIGN {
		return false
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	return ok && id.Name == name
}

// formats are the functions of fmt that take a format, with its place among their arguments.
var formats = map[string]int{"fmt.Sprintf": 0, "fmt.Errorf": 0, "fmt.Printf": 0, "fmt.Fprintf": 1, "fmt.Appendf": 1}

// FormatVaries reports whether a call of fmt has a format without a constant part.
func FormatVaries(l *source.Line, e *source.Expr) bool {
	call, ok := e.Node().(*ast.CallExpr)
	at, format := formats[e.Call.Callee]
	if !ok || !format || len(call.Args) <= at {
		return false
	}
	varies := true
	ast.Inspect(call.Args[at], func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		varies = varies && !(ok && l.Constant(x))
		return varies
	})
	return varies
}

// PrintsHex reports whether a call of fmt prints bytes in hexadecimal digits.
func PrintsHex(l *source.Line, e *source.Expr) bool {
	call, ok := e.Node().(*ast.CallExpr)
	at, format := formats[e.Call.Callee]
	if !ok || !format || len(call.Args) <= at {
		return false
	}
	v := l.Info().Types[call.Args[at]].Value
	return v != nil && strings.Contains(v.ExactString(), "%x") && slices.ContainsFunc(call.Args[at+1:], func(a ast.Expr) bool {
		switch t := l.Info().TypeOf(a).Underlying().(type) {
		case *types.Slice:
			return types.Identical(t.Elem(), types.Typ[types.Byte])
		case *types.Array:
			return types.Identical(t.Elem(), types.Typ[types.Byte])
		}
		return false
	})
}

// Filled reports whether a call parses a text into a template that is not made by the same expression, makes one for a
// field, or is of an expression that gives it functions of its own: there is more in it than its text.
func Filled(e *source.Expr) bool {
	call, ok := e.Node().(*ast.CallExpr)
	if ok && strings.HasSuffix(e.Call.Callee, "/template.New") {
		return filledLater(e)
	}
	if !ok || !strings.HasSuffix(e.Call.Callee, "/template.(*Template).Parse") {
		return false
	}
	for {
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if givesFuncs(sel, call) {
			return true
		}
		if sel.Sel.Name == "New" {
			return false
		}
		if call, ok = ast.Unparen(sel.X).(*ast.CallExpr); !ok {
			return true
		}
	}
}

// filledLater reports whether the calls on a template that an expression makes give it functions of their own, or leave it
// to a field without a text.
func filledLater(e *source.Expr) bool {
	path := e.Path()
	for i := len(path) - 1; i > 0; i -= 2 {
		sel, ok := path[i].(*ast.SelectorExpr)
		if !ok {
			assign, ok := path[i].(*ast.AssignStmt)
			if !ok {
				return false
			}
			_, field := assign.Lhs[0].(*ast.SelectorExpr)
			return field
		}
		call, ok := path[i-1].(*ast.CallExpr)
		switch {
		case !ok || strings.HasPrefix(sel.Sel.Name, "Parse"):
			return false
		case givesFuncs(sel, call):
			return true
		}
	}
	return false
}

// givesFuncs reports whether a call gives a template functions that are listed there.
func givesFuncs(sel *ast.SelectorExpr, call *ast.CallExpr) bool {
	return sel.Sel.Name == "Funcs" && slices.ContainsFunc(call.Args, func(a ast.Expr) bool { _, literal := a.(*ast.CompositeLit); return literal })
}

// Heaviest is the largest cost of any of the lines, as a share of CPU or of
// bytes.
func Heaviest(d *finding.Diagnosis, file string, lines []int) float64 {
	most := 0.0
	for _, l := range d.Lines {
		if l.Site.File == file && slices.Contains(lines, l.Site.Line) {
			most = max(most, l.CPU.Value, l.BytesShare)
		}
	}
	return most
}

// hotLine is the share of CPU or bytes of a line, callees included, from which its source is
// read.
const hotLine = 0.01

// Line is a line that allocates nothing itself, but calls for work that is not needed.
type Line struct {
	finding.LineCost
	Text string
}

// Lines finds such lines among the first of a diagnosis, most at most. Without the source there are none.
func Lines(d *finding.Diagnosis, src *source.Program, most int) []Line {
	if src == nil {
		return nil
	}
	sites := map[string]bool{}
	key := func(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }
	for _, f := range d.Findings {
		sites[key(f.Site.File, f.Site.Line)] = true
	}
	var out []Line
	for _, lc := range d.Lines[:min(len(d.Lines), most)] {
		if max(lc.CPU.Value, lc.BytesShare) < hotLine || sites[key(lc.Site.File, lc.Site.Line)] {
			continue
		}
		l := src.At(lc.Site.File, lc.Site.Line)
		if l == nil {
			continue
		}
		for _, e := range l.Exprs {
			if text := Text(d, l, e, lc.Site.File); text != "" {
				out = append(out, Line{lc, text})
				break
			}
		}
	}
	return out
}

// OtherForm says how the code does without a conversion between text and bytes. The callee is ours if the user can change it.
func OtherForm(e *source.Expr, ours bool) string {
	has, bytes := "a string", e.Type != "string"
	if !bytes {
		has = "the bytes"
	}
	switch taker := life.ShortName(e.Use.Callee); {
	case e.Use.Kind == source.UseReturned:
		return "return " + strings.Replace(has, "a ", "the ", 1) + " instead"
	case e.Use.Kind == source.UseArgument && ours:
		return fmt.Sprintf("let %s take %s", taker, has)
	case e.Use.Kind == source.UseArgument && bytes && taker != "":
		return fmt.Sprintf("append the text to a []byte that is kept, and hand %s that", taker)
	}
	return "keep the text in one form"
}

// always reports whether each run of a block comes to a node, which no branch in it holds.
func always(block *ast.BlockStmt, node ast.Node) bool {
	found := false
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			return n == block
		case *ast.CaseClause, *ast.CommClause, *ast.FuncLit:
			return false
		}
		found = found || n == node
		return !found
	})
	return found
}

// EachForgotten reports whether an expression is ranged over, and each turn of the loop only calls methods of its value,
// or hands it to functions: a value that is set again in each turn would do.
func EachForgotten(e *source.Expr) bool {
	path := e.Path()
	if e.Use.Kind != source.UseRanged || len(path) == 0 {
		return false
	}
	loop, ok := path[len(path)-1].(*ast.RangeStmt)
	if !ok || loop.Tok != token.DEFINE || loop.Value == nil {
		return false
	}
	value := loop.Value.(*ast.Ident)
	uses, forgotten := 0, 0
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if n.Name == value.Name {
				uses++
			}
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && id.Name == value.Name && !(n.Sel.Name == "Interface" && always(loop.Body, n)) { // which makes a copy anyway
				forgotten++
			}
		case *ast.CallExpr:
			if isAppend(n) {
				return true
			}
			for _, a := range n.Args {
				if id, ok := a.(*ast.Ident); ok && id.Name == value.Name {
					forgotten++
				}
			}
		case *ast.GoStmt, *ast.FuncLit:
			uses++ // for which nothing is known
		}
		return true
	})
	return uses > 0 && uses == forgotten
}

// Retold reports whether the function around an expression makes a text, of the texts that functions of its own name make.
func Retold(e *source.Expr) bool {
	path := e.Path()
	i := slices.IndexFunc(path, func(n ast.Node) bool { _, ok := n.(*ast.FuncDecl); return ok })
	if i < 0 {
		return false
	}
	fn := path[i].(*ast.FuncDecl)
	if r := fn.Type.Results; r == nil || len(r.List) == 0 || !isText(r.List[0].Type) {
		return false
	}
	found := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(f.Sel.Name, "Write") || isAppend(n) {
				found = found || slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return calls(a, fn) })
			}
		case *ast.BinaryExpr:
			found = found || n.Op == token.ADD && (calls(n.X, fn) || calls(n.Y, fn))
		case *ast.AssignStmt:
			found = found || n.Tok == token.ADD_ASSIGN && calls(n.Rhs[0], fn)
		}
		return !found
	})
	return found
}

func isText(t ast.Expr) bool {
	if array, ok := t.(*ast.ArrayType); ok && array.Len == nil {
		id, ok := array.Elt.(*ast.Ident)
		return ok && id.Name == "byte"
	}
	id, ok := t.(*ast.Ident)
	return ok && id.Name == "string"
}

func isAppend(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.Ident)
	return ok && f.Name == "append"
}

// calls reports whether e is a call of a function or method of fn's name.
func calls(e ast.Expr, fn *ast.FuncDecl) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return fn.Recv == nil && f.Name == fn.Name.Name
	case *ast.SelectorExpr:
		return fn.Recv != nil && f.Sel.Name == fn.Name.Name
	}
	return false
}

// NewEachTurn reports whether the variable that a text is added to is declared inside the innermost loop around that.
func NewEachTurn(e *source.Expr) bool {
	path := e.Path()
	for i := len(path) - 1; i >= 0; i-- {
		var body *ast.BlockStmt
		switch loop := path[i].(type) {
		case *ast.ForStmt:
			body = loop.Body
		case *ast.RangeStmt:
			if loop.Tok == token.DEFINE && (isNamed(loop.Key, e.Use.Name) || isNamed(loop.Value, e.Use.Name)) {
				return true
			}
			body = loop.Body
		case *ast.FuncLit, *ast.FuncDecl:
			return false
		}
		if body != nil {
			return declares(body, e.Use.Name)
		}
	}
	return false
}

func isNamed(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// declares reports whether a block declares a variable of a name, but in function literals.
func declares(body *ast.BlockStmt, name string) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.AssignStmt:
			found = found || n.Tok == token.DEFINE && slices.ContainsFunc(n.Lhs, func(l ast.Expr) bool { return isNamed(l, name) })
		case *ast.ValueSpec:
			found = found || slices.ContainsFunc(n.Names, func(id *ast.Ident) bool { return id.Name == name })
		}
		return !found
	})
	return found
}

// HeldPool reports whether a function literal, the New of a pool, stands in a function: it is not that of a variable of the
// package.
func HeldPool(function string) bool {
	name := function[strings.LastIndexByte(function, '/')+1:]
	outer, _, literal := strings.Cut(name, ".func")
	_, in, _ := strings.Cut(outer, ".")
	return literal && in != "init" && in != "glob."
}
