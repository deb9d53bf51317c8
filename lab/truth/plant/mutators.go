package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// mutators are the kinds of waste that are planted. A third is apart: written with the page
// on the life of a value alone.
var mutators = []mutator{
	{name: "slice-without-capacity", cure: "prealloc", find: sliceWithoutCapacity},
	{name: "map-without-size", cure: "prealloc", find: mapWithoutSize},
	{name: "no-grow", cure: "prealloc", find: noGrow},
	{name: "slices-no-grow", cure: "prealloc", find: slicesNoGrow},
	{name: "made-in-function", cure: "cache", find: madeInFunction},
	{name: "no-pool", cure: "pool", find: noPool},
	{name: "sprintf-number", cure: "avoid-conversion", ok: []string{"avoid-escape"}, find: sprintfNumber},
	{name: "sprintf-concat", cure: "avoid-conversion", ok: []string{"avoid-escape"}, find: sprintfConcat},
	{name: "copy-bytes", cure: "avoid-conversion", find: copyBytes},
	{name: "buffer-for-builder", cure: "avoid-conversion", ok: []string{"prealloc"}, find: bufferForBuilder},
	{name: "split-for-cut", cure: "algorithm", ok: []string{"avoid-conversion"}, find: splitForCut},
	{name: "split-for-seq", cure: "algorithm", ok: []string{"avoid-conversion"}, find: splitForSeq},
	{name: "sort-slice", cure: "avoid-escape", ok: []string{"algorithm"}, find: sortSlice},
	{name: "no-reset", cure: "reuse-buffer", find: noReset},
	{name: "box-write", cure: "avoid-escape", ok: []string{"avoid-conversion"}, apart: true, find: boxWrite},
	{name: "range-over-copy", cure: "algorithm", ok: []string{"avoid-conversion"}, apart: true, find: rangeOverCopy},
	{name: "copy-string", cure: "avoid-conversion", apart: true, find: copyString},
	{name: "format-then-append", cure: "avoid-conversion", apart: true, find: formatThenAppend},
	{name: "fresh-destination", cure: "reuse-buffer", ok: []string{"avoid-conversion", "algorithm"}, apart: true,
		find: freshDestination},
	{name: "lower-to-compare", cure: "algorithm", ok: []string{"avoid-conversion"}, apart: true, find: lowerToCompare},
	{name: "write-converted", cure: "avoid-conversion", apart: true, find: writeConverted},
}

func sliceWithoutCapacity(s *source, n ast.Node) []corpus.Edit {
	args := s.builtin(n, "make")
	if len(args) != 3 {
		return nil
	}
	if v := s.info.Types[args[1]].Value; v == nil || constant.Sign(v) != 0 {
		return nil
	}
	return []corpus.Edit{s.swap(n, "make("+s.of(args[0])+", 0)")}
}

func mapWithoutSize(s *source, n ast.Node) []corpus.Edit {
	args := s.builtin(n, "make")
	if len(args) != 2 {
		return nil
	}
	if _, ok := s.typeOf(args[0]).Underlying().(*types.Map); !ok {
		return nil
	}
	return []corpus.Edit{s.swap(n, "make("+s.of(args[0])+")")}
}

func noGrow(s *source, n ast.Node) []corpus.Edit {
	st, ok := n.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	for _, t := range []string{"strings.Builder", "bytes.Buffer"} {
		if _, args := s.method(st.X, t, "Grow"); len(args) == 1 {
			return []corpus.Edit{s.swap(n, "_ = "+s.of(args[0]))}
		}
	}
	return nil
}

func slicesNoGrow(s *source, n ast.Node) []corpus.Edit {
	args := s.call(n, "slices", "Grow")
	if len(args) != 2 {
		return nil
	}
	return []corpus.Edit{s.swap(n, s.of(args[0]))}
}

// madeInFunction makes what a variable of the package holds in each call of a function that
// uses it.
func madeInFunction(s *source, n ast.Node) []corpus.Edit {
	fn, ok := n.(*ast.FuncDecl)
	if !ok || fn.Name.Name == "init" {
		return nil
	}
	var out []corpus.Edit
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || out != nil {
			return out == nil
		}
		v, ok := s.info.Uses[id].(*types.Var)
		if !ok || v.Parent() != s.pkg.Scope() {
			return true
		}
		if made := s.made(v); made != "" {
			out = []corpus.Edit{s.insert(fn.Body.Lbrace+1, " "+v.Name()+" := "+made+";")}
		}
		return true
	})
	return out
}

// made is how a variable of the file is made, where that is by a constructor that is meant
// to be called once, or by a table.
func (s *source) made(v *types.Var) string {
	for _, d := range s.file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			vs := spec.(*ast.ValueSpec)
			if len(vs.Names) != 1 || len(vs.Values) != 1 || s.info.Defs[vs.Names[0]] != v {
				continue
			}
			e := vs.Values[0]
			once := s.call(e, "regexp", "MustCompile") != nil || s.call(e, "strings", "NewReplacer") != nil
			if lit, ok := e.(*ast.CompositeLit); ok && len(lit.Elts) > 0 {
				_, once = s.typeOf(e).Underlying().(*types.Map)
			}
			if once {
				return s.of(e)
			}
		}
	}
	return ""
}

// noPool makes a new value where one came from a pool, and puts none back.
func noPool(s *source, n ast.Node) []corpus.Edit {
	recv, _ := s.method(n, "sync.Pool", "Get")
	if recv == nil || !plain(recv) {
		return nil
	}
	pool := s.of(recv)
	made := pool + ".New()"
	id, ok := recv.(*ast.Ident)
	if !ok {
		return nil
	}
	v := s.info.Uses[id]
	found := false
	for _, f := range s.files {
		ast.Inspect(f.file, func(n ast.Node) bool {
			vs, ok := n.(*ast.ValueSpec)
			if !ok || len(vs.Names) != 1 || len(vs.Values) != 1 || f.info.Defs[vs.Names[0]] != v {
				return true
			}
			found = strings.Contains(f.of(vs.Values[0]), "New:")
			if e := f.returned(vs.Values[0]); e != "" && f == s {
				made = "any(" + e + ")"
			}
			return false
		})
	}
	if !found {
		return nil
	}
	out := []corpus.Edit{s.swap(n, made)}
	for _, f := range s.files {
		ast.Inspect(f.file, func(n ast.Node) bool {
			var x ast.Expr
			switch n := n.(type) {
			case *ast.ExprStmt:
				x = n.X
			case *ast.DeferStmt:
				x = n.Call
			default:
				return true
			}
			recv, args := f.method(x, "sync.Pool", "Put")
			if id, ok := recv.(*ast.Ident); ok && f.info.Uses[id] == v && len(args) == 1 {
				out = append(out, f.swap(n, "_ = "+f.of(args[0])))
			}
			return true
		})
	}
	return out
}

// returned is the expression that a pool's New returns, where that is all it does.
func (s *source) returned(pool ast.Expr) string {
	out := ""
	ast.Inspect(pool, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok && len(f.Body.List) == 1 {
			if r, ok := f.Body.List[0].(*ast.ReturnStmt); ok && len(r.Results) == 1 {
				out = s.of(r.Results[0])
			}
		}
		return true
	})
	return out
}

func sprintfNumber(s *source, n ast.Node) []corpus.Edit {
	verb, x := "%d", ast.Expr(nil)
	if args := s.call(n, "strconv", "Itoa"); len(args) == 1 {
		x = args[0]
	}
	for _, name := range []string{"FormatInt", "FormatUint"} {
		if args := s.call(n, "strconv", name); len(args) == 2 {
			switch s.of(args[1]) {
			case "10":
				x = args[0]
			case "16":
				verb, x = "%x", args[0]
			}
		}
	}
	if x == nil {
		return nil
	}
	name, add := s.named("fmt")
	return append(add, s.swap(n, name+`.Sprintf("`+verb+`", `+s.of(x)+")"))
}

func sprintfConcat(s *source, n ast.Node) []corpus.Edit {
	b, ok := n.(*ast.BinaryExpr)
	if !ok || b.Op != token.ADD || !s.isString(b) {
		return nil
	}
	name, add := s.named("fmt")
	return append(add, s.swap(n, name+`.Sprintf("%s%s", `+s.of(b.X)+", "+s.of(b.Y)+")"))
}

// copyBytes hands a copy of bytes to a function.
func copyBytes(s *source, n ast.Node) []corpus.Edit {
	c, ok := n.(*ast.CallExpr)
	if !ok || s.callee(c) == nil {
		return nil
	}
	for _, a := range c.Args {
		if plain(a) && s.isBytes(a) {
			return []corpus.Edit{s.swap(a, "[]byte(string("+s.of(a)+"))")}
		}
	}
	return nil
}

func bufferForBuilder(s *source, n ast.Node) []corpus.Edit {
	d, ok := n.(*ast.ValueSpec)
	if !ok || d.Type == nil || types.TypeString(s.typeOf(d.Type), nil) != "strings.Builder" {
		return nil
	}
	name, add := s.named("bytes")
	return append(add, s.swap(d.Type, name+".Buffer"))
}

func splitForCut(s *source, n ast.Node) []corpus.Edit {
	for _, of := range []struct{ pkg, typ, none string }{{"strings", "string", `""`}, {"bytes", "[]byte", "nil"}} {
		if args := s.call(n, of.pkg, "Cut"); len(args) == 2 {
			name, _ := s.named(of.pkg)
			return []corpus.Edit{s.swap(n, "func(s, sep "+of.typ+") ("+of.typ+", "+of.typ+", bool) { if p := "+name+
				".SplitN(s, sep, 2); len(p) == 2 { return p[0], p[1], true }; return s, "+of.none+", false }("+
				s.of(args[0])+", "+s.of(args[1])+")")}
		}
	}
	return nil
}

func splitForSeq(s *source, n ast.Node) []corpus.Edit {
	r, ok := n.(*ast.RangeStmt)
	if !ok || r.Key == nil {
		return nil
	}
	for seq, slice := range map[string]string{"SplitSeq": "Split", "FieldsSeq": "Fields"} {
		for _, pkg := range []string{"strings", "bytes"} {
			if s.call(r.X, pkg, seq) != nil {
				sel := r.X.(*ast.CallExpr).Fun.(*ast.SelectorExpr).Sel
				return []corpus.Edit{s.insert(r.Key.Pos(), "_, "), s.swap(sel, slice)}
			}
		}
	}
	return nil
}

func sortSlice(s *source, n ast.Node) []corpus.Edit {
	args := s.call(n, "slices", "SortFunc")
	if len(args) != 2 || !plain(args[0]) {
		return nil
	}
	name, add := s.named("sort")
	x := s.of(args[0])
	return append(add, s.swap(n, name+".Slice("+x+", func(i, j int) bool { return ("+s.of(args[1])+")("+x+"[i], "+x+"[j]) < 0 })"))
}

func noReset(s *source, n ast.Node) []corpus.Edit {
	a, ok := n.(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return nil
	}
	r, ok := a.Rhs[0].(*ast.SliceExpr)
	if !ok || r.Low != nil || r.High == nil || s.of(r.High) != "0" || s.of(r.X) != s.of(a.Lhs[0]) {
		return nil
	}
	if _, ok := s.typeOf(a.Lhs[0]).Underlying().(*types.Slice); !ok {
		return nil
	}
	return []corpus.Edit{s.swap(r, "nil")}
}
