package alloc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
)

// Source says which kind of expression allocates on each line of a file, from the syntax
// alone. It is used if a profile hides the runtime's frames and the compiler was not asked.
// It must not be changed.
type Source struct {
	lines map[int]finding.Kind // KindUnknown where several kinds are on the line
	moved map[int]bool         // lines that declare a variable whose address is taken
}

// NewSource reads a file. A file with errors is read as far as it goes.
func NewSource(src []byte) *Source {
	k := &Source{lines: map[int]finding.Kind{}, moved: map[int]bool{}}
	files := token.NewFileSet()
	file, _ := parser.ParseFile(files, "", src, 0)
	if file == nil {
		return k
	}
	w := &kindWalker{
		kinds: k,
		line:  func(p token.Pos) int { return files.PositionFor(p, false).Line },
		maps:  mapNames(file),
		inner: map[ast.Node]bool{},

		methods: methodNames(file),
	}
	ast.Inspect(file, w.visit)
	return k
}

// At returns what allocates on a line.
func (k *Source) At(line int) finding.Kind {
	if kind, ok := k.lines[line]; ok {
		return kind
	}
	if k.moved[line] {
		return finding.KindNew
	}
	return finding.KindUnknown
}

// kindWalker walks one file.
type kindWalker struct {
	kinds *Source
	line  func(token.Pos) int
	maps  map[string]bool
	inner map[ast.Node]bool // parts of an expression that is counted already

	methods map[string]bool
}

func (w *kindWalker) add(pos token.Pos, kind finding.Kind) {
	if kind == finding.KindUnknown {
		return
	}
	line := w.line(pos)
	if have, ok := w.kinds.lines[line]; ok && have != kind {
		kind = finding.KindUnknown
	}
	w.kinds.lines[line] = kind
}

func (w *kindWalker) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		w.inner[ast.Unparen(n.Fun)] = true
		w.add(n.Lparen, w.call(n))
	case *ast.SelectorExpr:
		if !w.inner[n] && w.methods[n.Sel.Name] {
			w.add(n.Sel.Pos(), finding.KindClosure)
		}
	case *ast.UnaryExpr:
		w.address(n)
	case *ast.CompositeLit:
		w.add(n.Lbrace, literal(n))
	case *ast.FuncLit:
		w.add(n.Type.Func, finding.KindClosure)
	case *ast.SliceExpr:
		w.move(n.X)
	case *ast.BinaryExpr:
		w.sum(n)
	case *ast.AssignStmt:
		w.assign(n)
	case *ast.GenDecl:
		return n.Tok != token.IMPORT && n.Tok != token.TYPE
	}
	return true
}

// address handles &T{…} and &x.
func (w *kindWalker) address(n *ast.UnaryExpr) {
	if n.Op != token.AND {
		return
	}
	if _, ok := ast.Unparen(n.X).(*ast.CompositeLit); ok {
		w.add(n.OpPos, finding.KindNew)
		return
	}
	w.move(n.X)
}

// move notes the variable behind an expression whose address is taken.
func (w *kindWalker) move(x ast.Expr) {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.Ident:
			if e.Obj != nil && e.Obj.Kind == ast.Var {
				w.kinds.moved[w.line(e.Obj.Pos())] = true
			}
			return
		default:
			return
		}
	}
}

// literal returns what a composite literal without & allocates: a struct or an array is a
// value.
func literal(n *ast.CompositeLit) finding.Kind {
	switch t := n.Type.(type) {
	case *ast.MapType:
		return finding.KindMap
	case *ast.ArrayType:
		if t.Len == nil && len(n.Elts) > 0 {
			return finding.KindNew
		}
	}
	return finding.KindUnknown
}

func (w *kindWalker) call(n *ast.CallExpr) finding.Kind {
	switch fun := ast.Unparen(n.Fun).(type) {
	case *ast.Ident:
		return w.builtin(fun, n.Args)
	case *ast.ArrayType:
		elem, ok := fun.Elt.(*ast.Ident)
		if ok && fun.Len == nil && (elem.Name == "byte" || elem.Name == "rune") {
			return finding.KindConversion
		}
	case *ast.SelectorExpr:
		if boxes(fun) && slices.ContainsFunc(n.Args, variable) {
			return finding.KindBoxing
		}
	}
	return finding.KindUnknown
}

func (w *kindWalker) builtin(fun *ast.Ident, args []ast.Expr) finding.Kind {
	if fun.Obj != nil || len(args) == 0 { // shadowed
		return finding.KindUnknown
	}
	switch fun.Name {
	case "append":
		return finding.KindGrowth
	case "new":
		return finding.KindNew
	case "string":
		if variable(args[0]) {
			return finding.KindConversion
		}
	case "make":
		switch t := args[0].(type) {
		case *ast.ArrayType:
			return finding.KindMake
		case *ast.MapType:
			return finding.KindMap
		case *ast.ChanType:
			return finding.KindChan
		case *ast.Ident:
			return declared(t)
		}
	}
	return finding.KindUnknown
}

// declared returns the kind of make for a type that the same file declares.
func declared(t *ast.Ident) finding.Kind {
	if t.Obj == nil {
		return finding.KindUnknown
	}
	spec, ok := t.Obj.Decl.(*ast.TypeSpec)
	if !ok {
		return finding.KindUnknown
	}
	switch spec.Type.(type) {
	case *ast.ArrayType:
		return finding.KindMake
	case *ast.MapType:
		return finding.KindMap
	case *ast.ChanType:
		return finding.KindChan
	}
	return finding.KindUnknown
}

// boxes reports whether a call is of a standard function that takes its
// arguments as any.
func boxes(fun *ast.SelectorExpr) bool {
	pkg, ok := fun.X.(*ast.Ident)
	if !ok || pkg.Obj != nil {
		return false
	}
	switch pkg.Name {
	case "fmt":
		return fun.Sel.Name != "Sscan"
	case "log", "slog":
		return true
	case "sort":
		return strings.HasPrefix(fun.Sel.Name, "Slice")
	case "json", "xml":
		return strings.HasPrefix(fun.Sel.Name, "Marshal")
	}
	return false
}

// variable reports whether an argument is not a literal.
func variable(x ast.Expr) bool {
	_, literal := ast.Unparen(x).(*ast.BasicLit)
	return !literal
}

// sum handles a + chain, which the compiler places at its last operator.
func (w *kindWalker) sum(n *ast.BinaryExpr) {
	if n.Op != token.ADD || w.inner[n] {
		return
	}
	operands := w.operands(n, nil)
	if slices.ContainsFunc(operands, isString) && slices.ContainsFunc(operands, variable) {
		w.add(n.OpPos, finding.KindConcat)
	}
}

func (w *kindWalker) operands(x ast.Expr, list []ast.Expr) []ast.Expr {
	x = ast.Unparen(x)
	if b, ok := x.(*ast.BinaryExpr); ok && b.Op == token.ADD {
		w.inner[b] = true
		return w.operands(b.Y, w.operands(b.X, list))
	}
	return append(list, x)
}

// isString reports whether the syntax shows that an operand is a string.
func isString(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return x.Kind == token.STRING
	case *ast.CallExpr:
		switch fun := ast.Unparen(x.Fun).(type) {
		case *ast.Ident:
			return fun.Name == "string" && fun.Obj == nil
		case *ast.SelectorExpr:
			return stringCall(fun)
		}
	}
	return false
}

func stringCall(fun *ast.SelectorExpr) bool {
	name := fun.Sel.Name
	if name == "String" || name == "Error" {
		return true
	}
	pkg, ok := fun.X.(*ast.Ident)
	if !ok || pkg.Obj != nil {
		return false
	}
	switch pkg.Name {
	case "fmt":
		return strings.HasPrefix(name, "Sprint")
	case "strconv":
		return name == "Itoa" || strings.HasPrefix(name, "Format") || strings.HasPrefix(name, "Quote")
	}
	return false
}

// assign handles s += "x" and m[k] = v.
func (w *kindWalker) assign(n *ast.AssignStmt) {
	if n.Tok == token.ADD_ASSIGN && len(n.Rhs) == 1 && slices.ContainsFunc(w.operands(n.Rhs[0], nil), isString) {
		w.add(n.TokPos, finding.KindConcat)
		return
	}
	for _, l := range n.Lhs {
		index, ok := ast.Unparen(l).(*ast.IndexExpr)
		if ok && w.maps[nameOf(index.X)] {
			w.add(index.Lbrack, finding.KindMapGrowth)
		}
	}
}

// nameOf returns the last name of x or a.b.x.
func nameOf(x ast.Expr) string {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}

// methodNames returns the methods that the file declares, without the names
// that are fields too: x.name of another kind than a call makes a closure.
func methodNames(file *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
			names[f.Name.Name] = true
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				for _, id := range f.Names {
					delete(names, id.Name)
				}
			}
		}
		return true
	})
	return names
}

// mapNames returns the variables and fields that the file declares as maps and as nothing
// else. Maps of interfaces are excluded: values stored in them may be boxed.
func mapNames(file *ast.File) map[string]bool {
	names := map[string]bool{}
	note := func(id *ast.Ident, isMap bool) {
		have, ok := names[id.Name]
		names[id.Name] = isMap && (!ok || have)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, id := range n.Names {
				note(id, plainMap(n.Type))
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				note(id, plainMap(n.Type) || n.Type == nil && i < len(n.Values) && mapValue(n.Values[i]))
			}
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE || len(n.Lhs) != len(n.Rhs) {
				return true
			}
			for i, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok {
					note(id, mapValue(n.Rhs[i]))
				}
			}
		}
		return true
	})
	return names
}

func plainMap(t ast.Expr) bool {
	m, ok := t.(*ast.MapType)
	if !ok {
		return false
	}
	if id, ok := m.Value.(*ast.Ident); ok && (id.Name == "any" || id.Name == "error") {
		return false
	}
	_, iface := m.Value.(*ast.InterfaceType)
	return !iface
}

// mapValue reports whether an expression makes a map.
func mapValue(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.CompositeLit:
		return plainMap(x.Type)
	case *ast.CallExpr:
		fun, ok := x.Fun.(*ast.Ident)
		return ok && fun.Name == "make" && len(x.Args) > 0 && plainMap(x.Args[0])
	}
	return false
}
