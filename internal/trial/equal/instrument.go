package equal

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Names that are put into the package. Nothing that people write begins so.
const (
	hitName     = "heaptrimHit"
	onName      = "heaptrimOn"
	sessionName = "heaptrimW"
	oldPrefix   = "heaptrimOld_"
)

// instrumented is a version of a package whose blocks count and whose functions are wrapped.
type instrumented struct {
	files    map[string][]byte
	wrappers []string // functions, by the number of their wrapper
	blocks   []block  // by the number of their counter
}

// block is a part of a function that runs as a whole.
type block struct {
	function string
	from, to int // lines
}

// insertion is text to be put in at an offset.
type insertion struct {
	at, to int
	text   string
}

// instrument puts counters and wrappers into the files of a version; counters only if asked.
func instrument(s *source, count bool) *instrumented {
	out := &instrumented{files: map[string][]byte{}}
	for _, f := range s.files {
		if usesC(f.syntax) {
			continue
		}
		var list []insertion
		var tail strings.Builder
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || fn.Name.Name == "_" {
				continue
			}
			if count {
				list = append(list, out.counters(s, fn)...)
			}
			if wrappable(fn) {
				name := nameOf(fn)
				tail.WriteString(wrapper{s, f, fn}.text(name, len(out.wrappers)))
				out.wrappers = append(out.wrappers, name)
				at := s.fset.Position(fn.Name.Pos()).Offset
				list = append(list, insertion{at, at, oldPrefix})
			}
		}
		out.files[f.name] = append(insert(f.text, list), tail.String()...)
	}
	return out
}

func usesC(f *ast.File) bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` })
}

func insert(text []byte, list []insertion) []byte {
	slices.SortStableFunc(list, func(a, b insertion) int { return cmp.Compare(a.at, b.at) })
	var out []byte
	at := 0
	for _, i := range list {
		out = append(append(out, text[at:i.at]...), i.text...)
		at = i.to
	}
	return append(append(out, text[at:]...), '\n')
}

// counters marks the blocks of a function.
func (o *instrumented) counters(s *source, fn *ast.FuncDecl) []insertion {
	if directed(fn) {
		return nil
	}
	var list []insertion
	name := nameOf(fn)
	mark := func(after token.Pos, from, to ast.Node) {
		at := s.fset.Position(after).Offset + 1
		list = append(list, insertion{at, at, fmt.Sprintf("%s[%d]=1;", hitName, len(o.blocks))})
		o.blocks = append(o.blocks, block{name, s.fset.Position(from.Pos()).Line, s.fset.Position(to.End()).Line})
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SwitchStmt:
			clauses(n.Body, mark)
		case *ast.TypeSwitchStmt:
			clauses(n.Body, mark)
		case *ast.SelectStmt:
			clauses(n.Body, mark)
		case *ast.BlockStmt:
			if len(n.List) == 0 || !isClause(n.List[0]) {
				mark(n.Lbrace, n, n)
			}
		}
		return true
	})
	return list
}

func isClause(n ast.Stmt) bool {
	switch n.(type) {
	case *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

func clauses(b *ast.BlockStmt, mark func(after token.Pos, from, to ast.Node)) {
	for _, c := range b.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			mark(c.Colon, c, c)
		case *ast.CommClause:
			mark(c.Colon, c, c)
		}
	}
}

// directed reports whether a comment tells the compiler something about a function that a wrapper
// would not keep to.
func directed(fn *ast.FuncDecl) bool {
	if fn.Doc == nil {
		return false
	}
	return slices.ContainsFunc(fn.Doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:") && c.Text != "//go:noinline" || strings.HasPrefix(c.Text, "//export ")
	})
}

// wrappable reports whether a function does the same when another one calls it in its place.
func wrappable(fn *ast.FuncDecl) bool {
	if directed(fn) || fn.Name.Name == "init" && fn.Recv == nil || fn.Name.Name == "main" && fn.Recv == nil {
		return false
	}
	recovers := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			recovers = recovers || ok && id.Name == "recover"
		}
		return true
	})
	return !recovers
}

// wrapper is a function that notes the calls of another one.
type wrapper struct {
	*source
	*file
	fn *ast.FuncDecl
}

func (w wrapper) source_(n ast.Node) string {
	return string(w.file.text[w.fset.Position(n.Pos()).Offset:w.fset.Position(n.End()).Offset])
}

// text is the wrapper's declaration.
func (w wrapper) text(name string, number int) string {
	var b, params, args, values, results, pointers strings.Builder
	recv, target := "", oldPrefix+w.fn.Name.Name
	if w.fn.Recv != nil {
		recv = "(heaptrimS " + w.source_(w.fn.Recv.List[0].Type) + ") "
		target = "heaptrimS." + target
		values.WriteString(", heaptrimS")
	}
	for i, p := range each(w.fn.Type.Params) {
		fmt.Fprintf(&params, "heaptrimP%d %s, ", i, w.source_(p))
		fmt.Fprintf(&values, ", heaptrimP%d", i)
		fmt.Fprintf(&args, "heaptrimP%d", i)
		if _, dots := p.(*ast.Ellipsis); dots {
			args.WriteString("...")
		}
		args.WriteString(", ")
	}
	for i, r := range each(w.fn.Type.Results) {
		fmt.Fprintf(&results, "heaptrimR%d %s, ", i, w.source_(r))
		fmt.Fprintf(&pointers, "heaptrimR%d, ", i)
	}
	generic, with := "", ""
	if t := w.fn.Type.TypeParams; t != nil {
		generic = w.source_(t)
		var names []string
		for _, f := range t.List {
			for _, n := range f.Names {
				names = append(names, n.Name)
			}
		}
		with = "[" + strings.Join(names, ", ") + "]"
	}
	fmt.Fprintf(&b, "\nfunc %s%s%s(%s) (%s) {\n\tif %s[%d] {\n", recv, w.fn.Name.Name, generic, params.String(), results.String(), onName, number)
	fmt.Fprintf(&b, "\t\tif heaptrimCall := %s.Enter(%q, %d%s); heaptrimCall != nil {\n", sessionName, name, number, values.String())
	fmt.Fprintf(&b, "\t\t\tdefer func() { heaptrimCall.Leave(%s) }()\n\t\t}\n\t}\n\t", pointers.String())
	if results.Len() > 0 {
		b.WriteString("return ")
	}
	fmt.Fprintf(&b, "%s%s(%s)\n}\n", target, with, args.String())
	return b.String()
}

// each is the type of each parameter or result.
func each(list *ast.FieldList) []ast.Expr {
	var out []ast.Expr
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		for range max(1, len(f.Names)) {
			out = append(out, f.Type)
		}
	}
	return out
}

func (s *source) hasType(name string) bool {
	found := false
	s.each(func(_ *ast.GenDecl, spec ast.Spec) {
		t, ok := spec.(*ast.TypeSpec)
		found = found || ok && t.Name.Name == name
	})
	return found
}

func (s *source) hasVar(name string) bool {
	_, ok := s.specs()[name]
	return ok
}
