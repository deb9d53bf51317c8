package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

var resets = regexp.MustCompile(`(?i)^(reset|clear|recycle|reuse|release|free|init|put)`)

// fieldNotReset leaves one field of a reused object as it is.
func fieldNotReset(f function, n ast.Node) []corpus.Edit {
	if !resets.MatchString(f.fn.Name.Name) {
		return nil
	}
	block, ok := f.s.Parent(n).(*ast.BlockStmt)
	if !ok || len(block.List) < 2 {
		return nil
	}
	switch st := n.(type) {
	case *ast.AssignStmt:
		if st.Tok != token.ASSIGN || len(st.Lhs) != 1 || !f.foreign(st.Lhs[0]) {
			return nil
		}
		if _, field := st.Lhs[0].(*ast.SelectorExpr); !field {
			return nil
		}
		if s := f.s.Of(st.Rhs[0]); s != "nil" && s != "0" && s != `""` && s != "false" && !strings.HasSuffix(s, "[:0]") {
			return nil
		}
	case *ast.ExprStmt:
		args := f.s.Builtin(st.X, "clear")
		if len(args) != 1 || !f.foreign(args[0]) {
			return nil
		}
	default:
		return nil
	}
	return []corpus.Edit{f.s.Gone(n, "")}
}

// resetLeftOut leaves a call of Reset out.
func resetLeftOut(f function, n ast.Node) []corpus.Edit {
	st, ok := n.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	c, ok := st.X.(*ast.CallExpr)
	if !ok || len(c.Args) > 0 {
		return nil
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || !strings.EqualFold(sel.Sel.Name, "reset") || !source.Plain(sel.X) {
		return nil
	}
	return []corpus.Edit{f.s.Gone(n, f.s.Of(sel.X))}
}

// resetOnOnePath pools a buffer and empties it at the last return alone.
func resetOnOnePath(f function, n ast.Node) []corpus.Edit {
	id := f.declared(n, "bytes.Buffer")
	if id == nil || !f.s.Free("bufferPool") {
		return nil
	}
	out := pooledBuffer(f, n, id)
	for _, u := range f.s.Uses(f.s.Info.Defs[id]) {
		if u.N == id {
			continue
		}
		if p, ok := f.s.Parent(u.N).(*ast.UnaryExpr); ok && p.Op == token.AND {
			out = append(out, f.s.Swap(p, id.Name))
			continue
		}
		sel, ok := f.s.Parent(u.N).(*ast.SelectorExpr)
		if !ok || sel.Sel.Name == "Bytes" {
			return nil
		}
	}
	var later []*ast.ReturnStmt
	for _, r := range f.returns() {
		if r.Pos() > n.Pos() {
			later = append(later, r)
		}
	}
	if len(later) < 2 || len(f.results()) == 0 {
		return nil
	}
	for i, r := range later {
		if i < len(later)-1 {
			out = append(out, f.s.Insert(r.Pos(), "bufferPool.Put("+id.Name+"); "))
			continue
		}
		out = append(out, f.s.Insert(r.Pos(), "defer func() { "+id.Name+".Reset(); bufferPool.Put("+id.Name+") }(); "))
	}
	return out
}

// list reports whether a result at an index is a slice or map that callers may compare with nil.
func (f function) list(i int) bool {
	t := f.results()
	if i >= len(t) {
		return false
	}
	switch t[i].Underlying().(type) {
	case *types.Slice, *types.Map:
		return true
	}
	return false
}

// empty reports whether an expression makes an empty slice or map.
func (f function) empty(e ast.Expr) bool {
	if l, ok := e.(*ast.CompositeLit); ok {
		return len(l.Elts) == 0
	}
	args := f.s.Builtin(e, "make")
	return len(args) > 0 && (len(args) == 1 || f.s.Zero(args[1]))
}

// nilForEmpty returns nil in place of something empty.
func nilForEmpty(f function, n ast.Node) []corpus.Edit {
	switch n := n.(type) {
	case *ast.ReturnStmt:
		for i, e := range n.Results {
			if f.list(i) && f.empty(e) {
				return []corpus.Edit{f.s.Swap(e, "nil")}
			}
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE || len(n.Lhs) != 1 || len(n.Rhs) != 1 || !f.empty(n.Rhs[0]) {
			return nil
		}
		t, ok := f.s.TypeOf(n.Rhs[0]).Underlying().(*types.Slice)
		if text := f.s.TypeText(f.s.TypeOf(n.Rhs[0])); ok && t != nil && text != "" && f.plainResult(f.s.Object(n.Lhs[0])) {
			return []corpus.Edit{f.s.Swap(n, "var "+f.s.Of(n.Lhs[0])+" "+text)}
		}
	}
	return nil
}

// plainResult reports whether a variable as such is returned.
func (f function) plainResult(o types.Object) bool {
	for _, r := range f.returns() {
		for _, e := range r.Results {
			if id, ok := e.(*ast.Ident); ok && o != nil && f.s.Object(id) == o {
				return true
			}
		}
	}
	return false
}

// emptyForNil returns something empty in place of nil, where no error goes with it.
func emptyForNil(f function, n ast.Node) []corpus.Edit {
	r, ok := n.(*ast.ReturnStmt)
	if !ok {
		return nil
	}
	results := f.results()
	for i, e := range r.Results {
		if !f.list(i) || f.s.Of(e) != "nil" || len(r.Results) > 1 && f.s.Of(r.Results[len(r.Results)-1]) != "nil" {
			continue
		}
		if text := f.s.TypeText(results[i]); text != "" {
			return []corpus.Edit{f.s.Swap(e, text+"{}")}
		}
	}
	return nil
}

// presizedForNil gives a slice that is appended to its capacity, and so makes it not nil.
func presizedForNil(f function, n ast.Node) []corpus.Edit {
	d, ok := n.(*ast.DeclStmt)
	if !ok {
		return nil
	}
	g, ok := d.Decl.(*ast.GenDecl)
	if !ok || len(g.Specs) != 1 {
		return nil
	}
	v, ok := g.Specs[0].(*ast.ValueSpec)
	if !ok || v.Type == nil || len(v.Names) != 1 || len(v.Values) > 0 {
		return nil
	}
	if _, ok := f.s.TypeOf(v.Type).Underlying().(*types.Slice); !ok || !f.plainResult(f.s.Info.Defs[v.Names[0]]) {
		return nil
	}
	bound := "8"
	for _, id := range f.s.Params(f.fn, func(t types.Type) bool { _, ok := t.Underlying().(*types.Slice); return ok }) {
		bound = "len(" + id.Name + ")"
		break
	}
	return []corpus.Edit{f.s.Swap(n, v.Names[0].Name+" := make("+f.s.Of(v.Type)+", 0, "+bound+")")}
}

// notWrapped formats the cause of an error without wrapping it.
func notWrapped(f function, n ast.Node) []corpus.Edit {
	args := f.s.Call(n, "fmt", "Errorf")
	if len(args) < 2 {
		return nil
	}
	if text := f.s.Of(args[0]); strings.Contains(text, "%w") {
		return []corpus.Edit{f.s.Swap(args[0], strings.Replace(text, "%w", "%v", 1))}
	}
	return nil
}

var verbs = regexp.MustCompile(`[ :='"]*%[-+# 0]*[0-9.]*[a-zA-Z]['"]*`)

// constantError returns one error of the package whatever it is about.
func constantError(f function, n ast.Node) []corpus.Edit {
	if _, ok := f.s.Parent(n).(*ast.ReturnStmt); !ok {
		return nil
	}
	args := f.s.Call(n, "fmt", "Errorf")
	if len(args) < 2 || !f.s.Free("errConstant") {
		return nil
	}
	v := f.s.Info.Types[args[0]].Value
	if v == nil || v.Kind() != constant.String || strings.Contains(constant.StringVal(v), "%w") {
		return nil
	}
	text := strings.TrimSpace(verbs.ReplaceAllString(constant.StringVal(v), ""))
	name, add := f.s.Named("errors")
	return append(add, f.s.Swap(n, "errConstant"), f.s.Tail("var errConstant = "+name+".New("+strconv.Quote(text)+")"))
}

// otherIdentity makes an error with the text of one that the package exports.
func otherIdentity(f function, n ast.Node) []corpus.Edit {
	id, ok := n.(*ast.Ident)
	if !ok {
		return nil
	}
	if _, ok := f.s.Parent(id).(*ast.ReturnStmt); !ok {
		return nil
	}
	v, ok := f.s.Info.Uses[id].(*types.Var)
	if !ok || v.Parent() != f.s.Pkg.Scope() || !v.Exported() || types.TypeString(v.Type(), nil) != "error" {
		return nil
	}
	name, add := f.s.Named("errors")
	return append(add, f.s.Swap(id, name+".New("+id.Name+".Error())"))
}

// causeAlone returns the cause of an error as it is.
func causeAlone(f function, n ast.Node) []corpus.Edit {
	if _, ok := f.s.Parent(n).(*ast.ReturnStmt); !ok {
		return nil
	}
	args := f.s.Call(n, "fmt", "Errorf")
	if len(args) < 2 {
		return nil
	}
	last := args[len(args)-1]
	if id, ok := last.(*ast.Ident); ok && types.TypeString(f.s.TypeOf(id), nil) == "error" && strings.Contains(f.s.Of(args[0]), "%") {
		return []corpus.Edit{f.s.Swap(n, id.Name)}
	}
	return nil
}

// earlyReturnLocked unlocks at the last return alone.
func earlyReturnLocked(f function, n ast.Node) []corpus.Edit {
	d, ok := n.(*ast.DeferStmt)
	if !ok || f.s.Parent(d) != f.fn.Body {
		return nil
	}
	sel, ok := d.Call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Unlock" && sel.Sel.Name != "RUnlock" {
		return nil
	}
	rs := f.returns()
	list := f.fn.Body.List
	last, ok := list[len(list)-1].(*ast.ReturnStmt)
	if !ok || len(rs) < 2 {
		return nil
	}
	for _, e := range last.Results {
		if _, name := e.(*ast.Ident); !name && f.s.Info.Types[e].Value == nil {
			return nil
		}
	}
	return []corpus.Edit{f.s.Gone(d, ""), f.s.Insert(last.Pos(), f.s.Of(d.Call)+"; ")}
}

var undoes = []string{"RUnlock", "Unlock", "Close", "Done", "Stop", "Release", "Flush", "Cancel", "cancel", "Remove", "RemoveAll"}

// noDefer leaves out what is undone at the end.
func noDefer(f function, n ast.Node) []corpus.Edit {
	d, ok := n.(*ast.DeferStmt)
	if !ok {
		return nil
	}
	name := ""
	switch fun := d.Call.Fun.(type) {
	case *ast.SelectorExpr:
		name = fun.Sel.Name
	case *ast.Ident:
		name = fun.Name
	}
	if !slices.Contains(undoes, name) {
		return nil
	}
	return []corpus.Edit{f.s.Gone(d, "")}
}

// noClose leaves out a release before a return.
func noClose(f function, n ast.Node) []corpus.Edit {
	st, ok := n.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	c, ok := st.X.(*ast.CallExpr)
	if !ok || len(c.Args) > 0 {
		return nil
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains(undoes, sel.Sel.Name) {
		return nil
	}
	block, ok := f.s.Parent(n).(*ast.BlockStmt)
	if !ok {
		return nil
	}
	for i, s := range block.List {
		if s == n && i+1 < len(block.List) {
			if _, ok := block.List[i+1].(*ast.ReturnStmt); ok {
				return []corpus.Edit{f.s.Gone(n, "")}
			}
		}
	}
	return nil
}

// otherCalls are calls that differ for some arguments.
var otherCalls = []struct{ pkg, name, text string }{
	{"strings", "TrimPrefix", "PKG.TrimLeft(ARG0, ARG1)"},
	{"strings", "TrimSuffix", "PKG.TrimRight(ARG0, ARG1)"},
	{"strings", "TrimSpace", `PKG.Trim(ARG0, " \t\n")`},
	{"strings", "Fields", `PKG.Split(ARG0, " ")`},
	{"strings", "LastIndex", "PKG.Index(ARG0, ARG1)"},
	{"strings", "LastIndexByte", "PKG.IndexByte(ARG0, ARG1)"},
	{"strings", "Split", "PKG.Split(PKG.Trim(ARG0, ARG1), ARG1)"},
	{"strings", "SplitN", "PKG.SplitN(PKG.TrimLeft(ARG0, ARG1), ARG1, ARG2)"},
	{"strings", "EqualFold", "(PKG.ToLower(ARG0) == PKG.ToLower(ARG1))"},
	{"bytes", "TrimPrefix", "PKG.TrimLeft(ARG0, string(ARG1))"},
	{"bytes", "TrimSuffix", "PKG.TrimRight(ARG0, string(ARG1))"},
	{"bytes", "TrimSpace", `PKG.Trim(ARG0, " \t\n")`},
	{"bytes", "LastIndexByte", "PKG.IndexByte(ARG0, ARG1)"},
	{"math", "Floor", "float64(int64(ARG0))"},
	{"math", "Round", "float64(int64(ARG0 + 0.5))"},
}

// otherCall calls another function, which differs at a boundary.
func otherCall(f function, n ast.Node) []corpus.Edit {
	for _, c := range otherCalls {
		args := f.s.Call(n, c.pkg, c.name)
		if args == nil {
			continue
		}
		name, _ := f.s.Named(c.pkg)
		text := strings.ReplaceAll(c.text, "PKG", name)
		for i, a := range args {
			text = strings.ReplaceAll(text, "ARG"+strconv.Itoa(i), f.s.Of(a))
		}
		return []corpus.Edit{f.s.Swap(n, text)}
	}
	return nil
}

var padded = regexp.MustCompile(`^"%0?[2-9]d"$`)

// narrowFormat formats fewer numbers than the call in its place.
func narrowFormat(f function, n ast.Node) []corpus.Edit {
	name, add := f.s.Named("strconv")
	if args := f.s.Call(n, "strconv", "FormatUint"); len(args) == 2 {
		return append(add, f.s.Swap(n, name+".FormatInt(int64("+f.s.Of(args[0])+"), "+f.s.Of(args[1])+")"))
	}
	if args := f.s.Call(n, "strconv", "AppendUint"); len(args) == 3 {
		return append(add, f.s.Swap(n, name+".AppendInt("+f.s.Of(args[0])+", int64("+f.s.Of(args[1])+"), "+f.s.Of(args[2])+")"))
	}
	if args := f.s.Call(n, "strconv", "FormatInt"); len(args) == 2 && f.s.Of(args[1]) == "10" {
		return append(add, f.s.Swap(n, name+".Itoa(int(int32("+f.s.Of(args[0])+")))"))
	}
	if args := f.s.Call(n, "strconv", "AppendInt"); len(args) == 3 {
		return append(add, f.s.Swap(n, name+".AppendUint("+f.s.Of(args[0])+", uint64("+f.s.Of(args[1])+"), "+f.s.Of(args[2])+")"))
	}
	for i, fn := range []string{"FormatFloat", "AppendFloat"} {
		if args := f.s.Call(n, "strconv", fn); len(args) == 4+i && f.s.Of(args[3+i]) == "64" {
			return append(add, f.s.Swap(args[3+i], "32"))
		}
	}
	if args := f.s.Call(n, "fmt", "Sprintf"); len(args) == 2 && padded.MatchString(f.s.Of(args[0])) {
		return append(add, f.s.Swap(n, name+".Itoa(int("+f.s.Of(args[1])+"))"))
	}
	return nil
}

// asciiOnly treats text as bytes.
func asciiOnly(f function, n ast.Node) []corpus.Edit {
	if args := f.s.Call(n, "unicode/utf8", "RuneCountInString"); len(args) == 1 {
		return []corpus.Edit{f.s.Swap(n, "len("+f.s.Of(args[0])+")")}
	}
	for name, text := range map[string]string{"IsSpace": "(X == ' ' || X == '\\t' || X == '\\n' || X == '\\r')",
		"IsDigit": "(X >= '0' && X <= '9')", "IsUpper": "(X >= 'A' && X <= 'Z')", "IsLower": "(X >= 'a' && X <= 'z')",
		"IsLetter": "(X >= 'a' && X <= 'z' || X >= 'A' && X <= 'Z')"} {
		if args := f.s.Call(n, "unicode", name); len(args) == 1 && source.Plain(args[0]) {
			return []corpus.Edit{f.s.Swap(n, strings.ReplaceAll(text, "X", f.s.Of(args[0])))}
		}
	}
	for name, text := range map[string]string{"ToLower": "if r >= 'A' && r <= 'Z' { r += 'a' - 'A' }", "ToUpper": "if r >= 'a' && r <= 'z' { r -= 'a' - 'A' }"} {
		if args := f.s.Call(n, "unicode", name); len(args) == 1 {
			return []corpus.Edit{f.s.Swap(n, "func(r rune) rune { "+text+"; return r }("+f.s.Of(args[0])+")")}
		}
		if args := f.s.Call(n, "strings", name); len(args) == 1 {
			pkg, _ := f.s.Named("strings")
			return []corpus.Edit{f.s.Swap(n, pkg+".Map(func(r rune) rune { "+text+"; return r }, "+f.s.Of(args[0])+")")}
		}
	}
	return nil
}
