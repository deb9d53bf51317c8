package mutate

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// mutators are the kinds of waste that are planted. A third is apart: written with the page
// on the life of a value alone.
var mutators = []Mutator{
	{Name: "slice-without-capacity", Cure: "prealloc", Remote: true, find: sliceWithoutCapacity},
	{Name: "map-without-size", Cure: "prealloc", Remote: true, find: mapWithoutSize},
	{Name: "no-grow", Cure: "prealloc", Remote: true, find: noGrow},
	{Name: "slices-no-grow", Cure: "prealloc", Remote: true, find: slicesNoGrow},
	{Name: "no-headroom", Cure: "prealloc", OK: []string{"reuse-buffer"}, Remote: true, find: noHeadroom},
	{Name: "append-for-index", Cure: "prealloc", find: appendForIndex},
	{Name: "clone-by-append", Cure: "prealloc", OK: []string{"avoid-conversion"}, find: cloneByAppend},
	{Name: "join-by-concat", Cure: "prealloc", OK: []string{"avoid-conversion", "algorithm"}, find: joinByConcat},
	{Name: "concat-for-builder", Cure: "prealloc", OK: []string{"avoid-conversion", "algorithm"}, find: concatForBuilder},
	{Name: "concat-to-write", Cure: "avoid-conversion", OK: []string{"algorithm"}, find: concatToWrite},
	{Name: "made-in-function", Cure: "cache", find: madeInFunction},
	{Name: "literal-in-function", Cure: "cache", OK: []string{"avoid-escape"}, find: literalInFunction},
	{Name: "error-in-function", Cure: "cache", find: errorInFunction},
	{Name: "no-cache", Cure: "cache", OK: []string{"algorithm"}, Remote: true, find: noCache},
	{Name: "no-pool", Cure: "pool", Remote: true, find: noPool},
	{Name: "dropped-put", Cure: "pool", Remote: true, find: droppedPut, also: gets},
	{Name: "no-reset", Cure: "reuse-buffer", Remote: true, find: noReset, also: growths},
	{Name: "no-scratch", Cure: "reuse-buffer", Remote: true, find: noScratch},
	{Name: "remade-for-reset", Cure: "reuse-buffer", OK: []string{"avoid-escape"}, Remote: true, find: remadeForReset},
	{Name: "map-remade", Cure: "reuse-buffer", Remote: true, find: mapRemade},
	{Name: "append-fresh", Cure: "reuse-buffer", OK: []string{"avoid-conversion", "algorithm"}, find: appendFresh},
	{Name: "sprintf-number", Cure: "avoid-conversion", OK: []string{"avoid-escape"}, find: sprintfNumber},
	{Name: "sprintf-concat", Cure: "avoid-conversion", OK: []string{"avoid-escape"}, find: sprintfConcat},
	{Name: "sprintf-verb", Cure: "avoid-conversion", OK: []string{"avoid-escape"}, find: sprintfVerb},
	{Name: "sprint-stringer", Cure: "avoid-conversion", OK: []string{"avoid-escape"}, find: sprintStringer},
	{Name: "append-formatted", Cure: "avoid-conversion", OK: []string{"avoid-escape"}, find: appendFormatted},
	{Name: "copy-bytes", Most: 2, Cure: "avoid-conversion", find: copyBytes},
	{Name: "copy-substring", Cure: "avoid-conversion", find: copySubstring},
	{Name: "copy-subslice", Most: 2, Cure: "avoid-conversion", OK: []string{"algorithm"}, find: copySubslice},
	{Name: "copied-twice", Cure: "avoid-conversion", OK: []string{"algorithm"}, find: copiedTwice},
	{Name: "defensive-copy", Most: 2, Cure: "avoid-conversion", OK: []string{"algorithm"}, find: defensiveCopy},
	{Name: "strings-for-bytes", Cure: "avoid-conversion", find: stringsForBytes},
	{Name: "key-made-first", Cure: "avoid-conversion", OK: []string{"avoid-escape"}, find: keyMadeFirst},
	{Name: "buffer-for-builder", Cure: "avoid-conversion", OK: []string{"prealloc"}, Remote: true, find: bufferForBuilder},
	{Name: "split-for-cut", Cure: "algorithm", OK: []string{"avoid-conversion"}, find: splitForCut},
	{Name: "split-for-seq", Cure: "algorithm", OK: []string{"avoid-conversion"}, find: splitForSeq},
	{Name: "sort-slice", Cure: "avoid-escape", OK: []string{"algorithm"}, find: sortSlice},
	{Name: "sort-interface", Cure: "avoid-escape", OK: []string{"algorithm"}, find: sortInterface},
	{Name: "write-one-byte", Cure: "avoid-conversion", OK: []string{"avoid-escape"}, find: writeOneByte},
	{Name: "heap-for-array", Cure: "avoid-escape", find: heapForArray},
	{Name: "boxed-slice", Cure: "avoid-escape", Remote: true, find: boxedSlice},
	{Name: "pointer-list", Cure: "avoid-escape", OK: []string{"arena/slab"}, Remote: true, find: pointerList},
	{Name: "field-order", Cure: "layout", find: fieldOrder, Remote: true, also: makers},
	{Name: "closure-per-call", Most: 1, Cure: "avoid-escape", OK: []string{"algorithm"}, find: closurePerCall},
	{Name: "labels-per-call", Most: 1, Cure: "cache", OK: []string{"algorithm", "avoid-escape"}, find: labelsPerCall},
	{Name: "span-per-call", Most: 1, Cure: "avoid-escape", OK: []string{"algorithm", "pool"}, find: spanPerCall, Remote: true},
	{Name: "builder-for-concat", Cure: "prealloc", OK: []string{"avoid-conversion", "algorithm"}, find: builderForConcat},

	{Name: "box-write", Cure: "avoid-escape", OK: []string{"avoid-conversion"}, Apart: true, find: boxWrite},
	{Name: "range-over-copy", Most: 2, Cure: "algorithm", OK: []string{"avoid-conversion"}, Apart: true, find: rangeOverCopy},
	{Name: "copy-string", Most: 2, Cure: "avoid-conversion", Apart: true, find: copyString},
	{Name: "format-then-append", Cure: "avoid-conversion", Apart: true, find: formatThenAppend},
	{Name: "fresh-destination", Cure: "reuse-buffer", OK: []string{"avoid-conversion", "algorithm"}, Apart: true,
		find: freshDestination},
	{Name: "lower-to-compare", Cure: "algorithm", OK: []string{"avoid-conversion"}, Apart: true, find: lowerToCompare},
	{Name: "write-converted", Cure: "avoid-conversion", Apart: true, find: writeConverted},
	{Name: "eager-error", Cure: "algorithm", OK: []string{"avoid-conversion", "avoid-escape"}, Apart: true, find: eagerError},
	{Name: "eager-value", Cure: "algorithm", OK: []string{"avoid-conversion", "avoid-escape"}, Apart: true, find: eagerValue},
	{Name: "log-unguarded", Most: 1, Cure: "avoid-escape", OK: []string{"algorithm", "avoid-conversion"}, Apart: true, find: logUnguarded},
	{Name: "context-value", Cure: "algorithm", Apart: true, find: contextValue},
	{Name: "made-again", Cure: "algorithm", OK: []string{"cache", "avoid-conversion"}, Apart: true, Remote: true, find: madeAgain},
	{Name: "no-capacity-check", Cure: "reuse-buffer", OK: []string{"cache", "prealloc"}, Apart: true, find: noCapacityCheck},
	{Name: "keys-first", Cure: "algorithm", OK: []string{"prealloc"}, Apart: true, find: keysFirst},
	{Name: "split-to-ask", Cure: "algorithm", OK: []string{"avoid-conversion"}, Apart: true, find: splitToAsk},
	{Name: "any-key", Cure: "avoid-escape", Apart: true, Remote: true, find: anyKey},
	{Name: "result-by-pointer", Cure: "avoid-escape", Apart: true, Remote: true, find: resultByPointer},
	{Name: "copy-by-read-all", Cure: "algorithm", OK: []string{"reuse-buffer"}, Apart: true, find: copyByReadAll},
	{Name: "by-reflection", Cure: "avoid-conversion", OK: []string{"avoid-escape", "algorithm"}, Apart: true, find: byReflection},
	{Name: "wrapped-stream", Cure: "algorithm", OK: []string{"avoid-escape"}, Apart: true, find: wrappedStream},
	{Name: "compare-text", Cure: "algorithm", OK: []string{"avoid-conversion"}, Apart: true, find: compareText},
	{Name: "range-over-runes", Cure: "avoid-conversion", OK: []string{"algorithm"}, Apart: true, find: rangeOverRunes},
}

func sliceWithoutCapacity(s *source.File, n ast.Node) []corpus.Edit {
	args := s.Builtin(n, "make")
	if len(args) != 3 {
		return nil
	}
	if v := s.Info.Types[args[1]].Value; v == nil || constant.Sign(v) != 0 {
		return nil
	}
	return []corpus.Edit{s.Swap(n, "make("+s.Of(args[0])+", 0)")}
}

func mapWithoutSize(s *source.File, n ast.Node) []corpus.Edit {
	args := s.Builtin(n, "make")
	if len(args) != 2 {
		return nil
	}
	if _, ok := s.TypeOf(args[0]).Underlying().(*types.Map); !ok {
		return nil
	}
	return []corpus.Edit{s.Swap(n, "make("+s.Of(args[0])+")")}
}

func noGrow(s *source.File, n ast.Node) []corpus.Edit {
	st, ok := n.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	for _, t := range []string{"strings.Builder", "bytes.Buffer"} {
		if _, args := s.Method(st.X, t, "Grow"); len(args) == 1 {
			return []corpus.Edit{s.Swap(n, "_ = "+s.Of(args[0]))}
		}
	}
	return nil
}

func slicesNoGrow(s *source.File, n ast.Node) []corpus.Edit {
	args := s.Call(n, "slices", "Grow")
	if len(args) != 2 {
		return nil
	}
	return []corpus.Edit{s.Swap(n, s.Of(args[0]))}
}

// madeInFunction makes what a variable of the package holds in each call of a function that
// Uses it.
func madeInFunction(s *source.File, n ast.Node) []corpus.Edit {
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
		v, ok := s.Info.Uses[id].(*types.Var)
		if !ok || v.Parent() != s.Pkg.Scope() {
			return true
		}
		if made := madeOnce(s, v); made != "" {
			out = []corpus.Edit{s.Insert(fn.Body.Lbrace+1, " "+v.Name()+" := "+made+";")}
		}
		return true
	})
	return out
}

// madeOnce is how a variable of the file is made, where that is by a constructor that is meant
// to be called once, or by a table.
func madeOnce(s *source.File, v *types.Var) string {
	for _, d := range s.Syntax.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			vs := spec.(*ast.ValueSpec)
			if len(vs.Names) != 1 || len(vs.Values) != 1 || s.Info.Defs[vs.Names[0]] != v {
				continue
			}
			e := vs.Values[0]
			once := s.Call(e, "regexp", "MustCompile") != nil || s.Call(e, "strings", "NewReplacer") != nil
			if lit, ok := e.(*ast.CompositeLit); ok && len(lit.Elts) > 0 {
				_, once = s.TypeOf(e).Underlying().(*types.Map)
			}
			if once {
				return s.Of(e)
			}
		}
	}
	return ""
}

// noPool makes a new value where one came from a pool, and puts none back.
func noPool(s *source.File, n ast.Node) []corpus.Edit {
	recv, _ := s.Method(n, "sync.Pool", "Get")
	if recv == nil || !source.Plain(recv) {
		return nil
	}
	pool := s.Of(recv)
	made := pool + ".New()"
	id, ok := recv.(*ast.Ident)
	if !ok {
		return nil
	}
	v := s.Info.Uses[id]
	found := false
	for _, f := range s.Files {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			vs, ok := n.(*ast.ValueSpec)
			if !ok || len(vs.Names) != 1 || len(vs.Values) != 1 || f.Info.Defs[vs.Names[0]] != v {
				return true
			}
			found = strings.Contains(f.Of(vs.Values[0]), "New:")
			if e := returnedBy(f, vs.Values[0]); e != "" && f == s {
				made = "interface{}(" + e + ")"
			}
			return false
		})
	}
	if !found {
		return nil
	}
	out := []corpus.Edit{s.Swap(n, made)}
	for _, f := range s.Files {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			var x ast.Expr
			switch n := n.(type) {
			case *ast.ExprStmt:
				x = n.X
			case *ast.DeferStmt:
				x = n.Call
			default:
				return true
			}
			recv, args := f.Method(x, "sync.Pool", "Put")
			if id, ok := recv.(*ast.Ident); ok && f.Info.Uses[id] == v && len(args) == 1 {
				out = append(out, f.Swap(n, "_ = "+f.Of(args[0])))
			}
			return true
		})
	}
	return out
}

// returnedBy is the expression that a pool's New returns, where that is all it does.
func returnedBy(s *source.File, pool ast.Expr) string {
	out := ""
	ast.Inspect(pool, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok && len(f.Body.List) == 1 {
			if r, ok := f.Body.List[0].(*ast.ReturnStmt); ok && len(r.Results) == 1 {
				out = s.Of(r.Results[0])
			}
		}
		return true
	})
	return out
}

func sprintfNumber(s *source.File, n ast.Node) []corpus.Edit {
	verb, x := "%d", ast.Expr(nil)
	if args := s.Call(n, "strconv", "Itoa"); len(args) == 1 {
		x = args[0]
	}
	for _, name := range []string{"FormatInt", "FormatUint"} {
		if args := s.Call(n, "strconv", name); len(args) == 2 {
			switch s.Of(args[1]) {
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
	name, add := s.Named("fmt")
	return append(add, s.Swap(n, name+`.Sprintf("`+verb+`", `+s.Of(x)+")"))
}

func sprintfConcat(s *source.File, n ast.Node) []corpus.Edit {
	b, ok := n.(*ast.BinaryExpr)
	if !ok || b.Op != token.ADD || !s.IsString(b) {
		return nil
	}
	name, add := s.Named("fmt")
	return append(add, s.Swap(n, name+`.Sprintf("%s%s", `+s.Of(b.X)+", "+s.Of(b.Y)+")"))
}

// copyBytes hands a copy of bytes to a function.
func copyBytes(s *source.File, n ast.Node) []corpus.Edit {
	c, ok := n.(*ast.CallExpr)
	if !ok || s.Callee(c) == nil {
		return nil
	}
	for _, a := range c.Args {
		if source.Plain(a) && s.IsBytes(a) {
			return []corpus.Edit{s.Swap(a, "[]byte(string("+s.Of(a)+"))")}
		}
	}
	return nil
}

func bufferForBuilder(s *source.File, n ast.Node) []corpus.Edit {
	d, ok := n.(*ast.ValueSpec)
	if !ok || d.Type == nil || types.TypeString(s.TypeOf(d.Type), nil) != "strings.Builder" {
		return nil
	}
	name, add := s.Named("bytes")
	return append(add, s.Swap(d.Type, name+".Buffer"))
}

func splitForCut(s *source.File, n ast.Node) []corpus.Edit {
	for _, of := range []struct{ pkg, typ, none string }{{"strings", "string", `""`}, {"bytes", "[]byte", "nil"}} {
		if args := s.Call(n, of.pkg, "Cut"); len(args) == 2 {
			name, _ := s.Named(of.pkg)
			return []corpus.Edit{s.Swap(n, "func(s, sep "+of.typ+") ("+of.typ+", "+of.typ+", bool) { if p := "+name+
				".SplitN(s, sep, 2); len(p) == 2 { return p[0], p[1], true }; return s, "+of.none+", false }("+
				s.Of(args[0])+", "+s.Of(args[1])+")")}
		}
	}
	return nil
}

func splitForSeq(s *source.File, n ast.Node) []corpus.Edit {
	r, ok := n.(*ast.RangeStmt)
	if !ok || r.Key == nil {
		return nil
	}
	for seq, slice := range map[string]string{"SplitSeq": "Split", "FieldsSeq": "Fields"} {
		for _, pkg := range []string{"strings", "bytes"} {
			if s.Call(r.X, pkg, seq) != nil {
				sel := r.X.(*ast.CallExpr).Fun.(*ast.SelectorExpr).Sel
				return []corpus.Edit{s.Insert(r.Key.Pos(), "_, "), s.Swap(sel, slice)}
			}
		}
	}
	return nil
}

func sortSlice(s *source.File, n ast.Node) []corpus.Edit {
	args := s.Call(n, "slices", "SortFunc")
	if len(args) != 2 || !source.Plain(args[0]) {
		return nil
	}
	name, add := s.Named("sort")
	x := s.Of(args[0])
	return append(add, s.Swap(n, name+".Slice("+x+", func(i, j int) bool { return ("+s.Of(args[1])+")("+x+"[i], "+x+"[j]) < 0 })"))
}
