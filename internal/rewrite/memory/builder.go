package memory

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// collector is a local strings.Builder or bytes.Buffer, and how it is used.
type collector struct {
	v     *types.Var
	decl  inspector.Cursor // the statement that declares it
	form  string           // var, literal, pointer
	calls []inspector.Cursor
	other []inspector.Cursor // uses that are no method call, but for the declaration
	fn    inspector.Cursor
}

// collectorOf is the collector that the site writes to, declares, or takes the result of; nil
// for none.
func (s *site) collectorOf(types ...string) *collector {
	var c *collector
	for id := range s.Cur.Preorder((*ast.Ident)(nil)) {
		if s.Line(id.Node().Pos()) != s.Place.Line {
			continue
		}
		v := s.Local(id.Node().(*ast.Ident))
		if v == nil || c != nil {
			continue
		}
		for _, t := range types {
			if code.Named(v.Type(), t) {
				c = s.collector(v)
			}
		}
	}
	return c
}

func (s *site) collector(v *types.Var) *collector {
	fn, body := code.Function(s.Cur)
	if body == nil {
		return nil
	}
	for f := range fn.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		if f.Node().Pos() <= v.Pos() && v.Pos() < f.Node().End() {
			fn = f
			break
		}
	}
	c := &collector{v: v, fn: fn}
	for _, u := range s.Uses(v, fn) {
		switch {
		case u.Node().Pos() == v.Pos():
			c.declare(s, u)
		case u.ParentEdgeKind() == edge.SelectorExpr_X && u.Parent().ParentEdgeKind() == edge.CallExpr_Fun:
			c.calls = append(c.calls, u.Parent().Parent())
		default:
			c.other = append(c.other, u)
		}
	}
	if c.form == "" {
		return nil
	}
	return c
}

// declare notes how the variable comes to be: as an empty value, or as a pointer to one.
func (c *collector) declare(s *site, at inspector.Cursor) {
	stmt, ok := code.Statement(at)
	if !ok {
		return
	}
	switch n := stmt.Node().(type) {
	case *ast.DeclStmt:
		if spec := code.OnlySpec(n); spec != nil && len(spec.Values) == 0 {
			if _, pointer := c.v.Type().Underlying().(*types.Pointer); !pointer {
				c.decl, c.form = stmt, "var"
			}
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE || len(n.Lhs) != 1 || len(n.Rhs) != 1 {
			return
		}
		switch e := n.Rhs[0].(type) {
		case *ast.CompositeLit:
			if len(e.Elts) == 0 {
				c.decl, c.form = stmt, "literal"
			}
		case *ast.UnaryExpr:
			if lit, ok := e.X.(*ast.CompositeLit); ok && len(lit.Elts) == 0 {
				c.decl, c.form = stmt, "pointer"
			}
		case *ast.CallExpr:
			empty := s.Callee(e) == "bytes.NewBuffer" && len(e.Args) == 1 && (s.Info().Types[e.Args[0]].IsNil() || s.emptySlice(e.Args[0]) != nil)
			if s.Builtin(e, "new") != nil || empty {
				c.decl, c.form = stmt, "pointer"
			}
		}
	}
}

// methods reports whether all calls on the collector are of the given methods.
func (c *collector) methods(names ...string) bool {
	for _, call := range c.calls {
		name := called(call)
		found := false
		for _, n := range names {
			found = found || n == name
		}
		if !found {
			return false
		}
	}
	return true
}

// called is the name of the method that a call on a collector is of.
func called(call inspector.Cursor) string {
	return call.Node().(*ast.CallExpr).Fun.(*ast.SelectorExpr).Sel.Name
}

// BufferToBuilder collects a string in a strings.Builder, whose String does not copy.
func BufferToBuilder(on *code.Site) []code.Edit {
	s := &site{on}
	c := s.collectorOf("bytes.Buffer")
	if c == nil || !s.Since("go1.12") ||
		!c.methods(ofBuilder...) {
		return nil
	}
	results := 0
	for _, call := range c.calls {
		if called(call) == "String" {
			results++
		}
	}
	open := ""
	switch {
	case results == 0:
		return nil
	case !s.asWriter(c):
		if open = s.asInterface(c); open == "" {
			return nil
		}
	}
	return s.retyped(c, retype{"strings", "Builder", "hands its memory on as the string"}, open)
}

// BuilderToBuffer collects texts one after the other in a bytes.Buffer, which keeps its memory when it is reset.
func BuilderToBuffer(on *code.Site) []code.Edit {
	s := &site{on}
	c := s.collectorOf("strings.Builder")
	if c == nil || !c.methods(ofBuilder...) || !s.asWriter(c) ||
		!slices.ContainsFunc(c.calls, func(call inspector.Cursor) bool { return called(call) == "Reset" }) {
		return nil
	}
	return s.retyped(c, retype{"bytes", "Buffer", "keeps its memory when it is reset"}, "")
}

// retype is a type by package and name, and what it is better at.
type retype struct{ pkg, name, why string }

// retyped declares a collector as one of another type, which has the methods that are called, too.
func (s *site) retyped(c *collector, to retype, open string) []code.Edit {
	name, imports, ok := s.Use(to.pkg, c.decl.Node().Pos())
	if !ok {
		return nil
	}
	text := fmt.Sprintf("var %s %s.%s", c.v.Name(), name, to.name)
	if c.form == "pointer" {
		text = fmt.Sprintf("%s := new(%s.%s)", c.v.Name(), name, to.name)
	}
	return []code.Edit{{Text: fmt.Sprintf("make `%s` a %s.%s, which %s", c.v.Name(), to.pkg, to.name, to.why),
		Open: open, Imports: imports, Changes: []code.Change{s.Replace(c.decl.Node(), text)}}}
}

// asInterface is the question that is left where all uses but method calls hand the collector to functions, as an
// interface that a Builder has, too; "" for other uses.
func (s *site) asInterface(c *collector) (open string) {
	for _, u := range c.other {
		if u.ParentEdgeKind() == edge.UnaryExpr_X && u.Parent().Node().(*ast.UnaryExpr).Op == token.AND {
			u = u.Parent()
		}
		if u.ParentEdgeKind() != edge.CallExpr_Args {
			return ""
		}
		call := u.Parent().Node().(*ast.CallExpr)
		sig, ok := s.Info().TypeOf(call.Fun).Underlying().(*types.Signature)
		i := slices.Index(call.Args, u.Node().(ast.Expr))
		if !ok || i >= sig.Params().Len() || sig.Variadic() && i == sig.Params().Len()-1 || !types.IsInterface(sig.Params().At(i).Type()) {
			return ""
		}
		methods := types.NewMethodSet(sig.Params().At(i).Type())
		for m := range methods.Methods() {
			if !slices.Contains(ofBuilder, m.Obj().Name()) {
				return ""
			}
		}
		if methods.Len() == 0 {
			return ""
		}
		open = fmt.Sprintf("%s must not ask whether its writer is a *bytes.Buffer", code.Brief(s.Source(call.Fun)))
	}
	return open
}

// ofBuilder are the methods that a bytes.Buffer and a strings.Builder have alike.
var ofBuilder = []string{"Write", "WriteString", "WriteByte", "WriteRune", "Len", "Grow", "Reset", "String"}

// asWriter reports whether all uses but method calls hand the collector to a function that takes
// an io.Writer of another package: a function that asks for a *bytes.Buffer would not compile.
func (s *site) asWriter(c *collector) bool {
	for _, u := range c.other {
		at := u
		if at.ParentEdgeKind() == edge.UnaryExpr_X && at.Parent().Node().(*ast.UnaryExpr).Op == token.AND {
			at = at.Parent()
		}
		if at.ParentEdgeKind() != edge.CallExpr_Args || !knownWriter[s.Callee(at.Parent().Node().(*ast.CallExpr))] {
			return false
		}
	}
	return true
}

// knownWriter are functions that only write to their io.Writer and do not keep it.
var knownWriter = map[string]bool{
	"fmt.Fprintf": true, "fmt.Fprint": true, "fmt.Fprintln": true, "io.WriteString": true, "io.Copy": true,
	"encoding/binary.Write": true,
}

// PresizeBuilder reserves the memory of a builder or buffer where it is declared: the size that
// the collected text was seen to have, or that of what is read.
func PresizeBuilder(on *code.Site) []code.Edit {
	s := &site{on}
	c := s.collectorOf("strings.Builder", "bytes.Buffer")
	if c == nil {
		return nil
	}
	for _, call := range c.calls {
		if called(call) == "Grow" {
			return nil
		}
	}
	down := len(c.other) > 0 && !s.asWriter(c)
	if down && !s.handedDown(c) {
		return nil
	}
	var out []code.Edit
	if !down {
		if e := s.collects(c); e != nil {
			return e
		}
		out = s.sizedByInput(c)
	}
	if size := s.Seen(code.MostReserved); size > 0 && len(out) == 0 {
		out = append(out, code.Edit{Open: fmt.Sprintf("%d bytes are what the recording needed", size),
			Text:    fmt.Sprintf("reserve %d bytes in `%s`", size, c.v.Name()),
			Changes: []code.Change{s.After(c.decl.Node(), fmt.Sprintf("%s.Grow(%d)", c.v.Name(), size))}})
	}
	return out
}

// GrowMore lets the only Grow of a builder or buffer ask for twice as much, where it asks for the length of something and
// the text outgrows that.
func GrowMore(on *code.Site) []code.Edit {
	s := &site{on}
	c := s.collectorOf("strings.Builder", "bytes.Buffer")
	if c == nil {
		return nil
	}
	var grows []*ast.CallExpr
	for _, call := range c.calls {
		if called(call) == "Grow" {
			grows = append(grows, call.Node().(*ast.CallExpr))
		}
	}
	most := s.Seen(code.MostReserved)
	outgrown := most > 0 && s.Place.Sizes[0] < most // there are blocks of several sizes
	if len(grows) != 1 || !outgrown || s.Builtin(grows[0].Args[0], "len") == nil {
		return nil
	}
	text := s.Source(grows[0].Args[0])
	return []code.Edit{{Open: fmt.Sprintf("the text must usually have more than `%s` bytes", code.Brief(text)),
		Text:    fmt.Sprintf("reserve twice as much in `%s`, which outgrows its Grow", c.v.Name()),
		Changes: []code.Change{s.Replace(grows[0].Args[0], "2*"+text)}}}
}

// handedDown reports whether all uses but method calls take the address of the collector: others then write to it,
// too, and how much is not in sight.
func (s *site) handedDown(c *collector) bool {
	for _, u := range c.other {
		if u.ParentEdgeKind() != edge.UnaryExpr_X || u.Parent().Node().(*ast.UnaryExpr).Op != token.AND {
			return false
		}
	}
	return true
}

// sizedByInput reserves as much as the function was handed.
func (s *site) sizedByInput(c *collector) []code.Edit {
	var out []code.Edit
	for _, size := range s.inputs(c) {
		out = append(out, code.Edit{Open: fmt.Sprintf("the text must usually be about as long as `%s` says", size),
			Text:    fmt.Sprintf("reserve %s bytes in `%s`", size, c.v.Name()),
			Changes: []code.Change{s.After(c.decl.Node(), fmt.Sprintf("%s.Grow(%s)", c.v.Name(), size))}})
	}
	return out
}

// collects reserves what the writes add up to, before the first of them.
func (s *site) collects(c *collector) []code.Edit {
	var grown []code.Growth
	for _, call := range c.calls {
		n := call.Node().(*ast.CallExpr)
		g := code.Growth{At: call}
		switch name := n.Fun.(*ast.SelectorExpr).Sel.Name; {
		case name == "WriteByte" || name == "WriteRune":
			g.Fixed = 1
		case name != "WriteString" && name != "Write":
			continue
		default:
			if text, ok := s.ConstString(n.Args[0]); ok {
				g.Fixed = len(text)
			} else {
				g.Lens = n.Args[:1]
			}
		}
		grown = append(grown, g)
	}
	if len(grown) == 0 {
		return nil
	}
	first := grown[0].At
	for first.Parent() != c.decl.Parent() {
		if _, top := first.Node().(*ast.File); top {
			return nil
		}
		first = first.Parent()
	}
	a := s.Total(grown, first)
	if a.Text == "" {
		return nil
	}
	open := a.Open
	if !a.Full && a.Whole && open == "" {
		open = fmt.Sprintf("`%s` is larger than it must be where little is written", c.v.Name())
	}
	return []code.Edit{{Open: open, Text: fmt.Sprintf("reserve %s bytes in `%s`", code.Brief(a.Text), c.v.Name()),
		Changes: []code.Change{s.Before(first.Node(), append(a.Lines, fmt.Sprintf("%s.Grow(%s)", c.v.Name(), a.Text))...)}}}
}

// inputs are the lengths of the strings and bytes that the function was handed.
func (s *site) inputs(c *collector) []string {
	params, _ := code.Signature(c.fn)
	var out []string
	for _, f := range params.List {
		for _, n := range f.Names {
			v := s.Info().ObjectOf(n)
			if n.Name == "_" || v == nil || !code.IsString(v.Type()) && !code.IsBytes(v.Type()) || s.Lookup(n.Name, c.decl.Node().Pos()) != v {
				continue
			}
			out = append(out, "len("+n.Name+")")
		}
	}
	return out
}
