package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// keysFirst collects the keys of a map before it walks over them.
func keysFirst(s *source.File, n ast.Node) []corpus.Edit {
	r, ok := n.(*ast.RangeStmt)
	if !ok || r.Key == nil || r.Tok != token.DEFINE || !source.Plain(r.X) {
		return nil
	}
	t, ok := s.TypeOf(r.X).Underlying().(*types.Map)
	if !ok {
		return nil
	}
	key, m := s.Of(r.Key), s.Of(r.X)
	elem := s.TypeText(t.Key())
	if elem == "" {
		return nil
	}
	from, value := r.Key.Pos(), ""
	if key == "_" {
		key = "key"
	}
	if r.Value != nil && s.Of(r.Value) != "_" {
		value = " " + s.Of(r.Value) + " := " + m + "[" + key + "];"
	}
	head := "_, " + key + " := range func() (keys []" + elem + ") { for k := range " + m + " { keys = append(keys, k) }; return keys }()"
	if value == "" && s.Of(r.Key) == "_" {
		return nil
	}
	out := []corpus.Edit{{File: s.Name, Start: s.Offset(from), End: s.Offset(r.X.End()), Text: head}}
	if value != "" {
		out = append(out, s.Insert(r.Body.Lbrace+1, value))
	}
	return out
}

// splitToAsk splits a string to ask how often, or whether, something is in it.
func splitToAsk(s *source.File, n ast.Node) []corpus.Edit {
	for _, pkg := range []string{"strings", "bytes"} {
		name, _ := s.Named(pkg)
		constant := func(args []ast.Expr) bool {
			return s.Info.Types[args[1]].Value != nil && s.Of(args[1]) != `""` || pkg == "bytes"
		}
		if args := s.Call(n, pkg, "Count"); len(args) == 2 && constant(args) {
			return []corpus.Edit{s.Swap(n, "(len("+name+".Split("+s.Of(args[0])+", "+s.Of(args[1])+")) - 1)")}
		}
		if args := s.Call(n, pkg, "Contains"); len(args) == 2 && constant(args) {
			return []corpus.Edit{s.Swap(n, "(len("+name+".SplitN("+s.Of(args[0])+", "+s.Of(args[1])+", 2)) > 1)")}
		}
		if args := s.Call(n, pkg, "ContainsRune"); len(args) == 2 && pkg == "strings" {
			return []corpus.Edit{s.Swap(n, "(len("+name+".SplitN("+s.Of(args[0])+", string("+s.Of(args[1])+"), 2)) > 1)")}
		}
	}
	if args := s.Call(n, "unicode/utf8", "RuneCountInString"); len(args) == 1 {
		name, add := s.Named("strings")
		return append(add, s.Swap(n, "len("+name+".Split("+s.Of(args[0])+`, ""))`))
	}
	return nil
}

// anyKey asks a local map by interfaces.
func anyKey(s *source.File, n ast.Node) []corpus.Edit {
	t, ok := n.(*ast.MapType)
	if !ok {
		return nil
	}
	k, ok := s.TypeOf(t.Key).(*types.Basic)
	if !ok || k.Kind() != types.String && k.Kind() != types.Int {
		return nil
	}
	switch p := s.Parent(t).(type) {
	case *ast.CallExpr:
		if s.Builtin(p, "make") == nil {
			return nil
		}
	case *ast.CompositeLit, *ast.ValueSpec:
	default:
		return nil
	}
	return []corpus.Edit{s.Swap(t.Key, "interface{}")}
}

// resultByPointer has a function return a pointer to the struct that it returned.
func resultByPointer(s *source.File, n ast.Node) []corpus.Edit {
	fn, ok := n.(*ast.FuncDecl)
	if !ok || fn.Name.IsExported() || fn.Type.Results == nil || fn.Type.TypeParams != nil {
		return nil
	}
	results := fn.Type.Results.List
	if len(results) == 0 || len(results) > 2 || len(results[0].Names) > 0 {
		return nil
	}
	if _, ok := s.TypeOf(results[0].Type).Underlying().(*types.Struct); !ok {
		return nil
	}
	out := []corpus.Edit{s.Insert(results[0].Type.Pos(), "*")}
	fits := true
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) != len(results) {
				fits = false
				return false
			}
			switch e := n.Results[0].(type) {
			case *ast.CompositeLit:
				out = append(out, s.Insert(e.Pos(), "&"))
			case *ast.Ident:
				fits = fits && (s.Local(s.Object(e)) || s.Parameter(s.Object(e)))
				out = append(out, s.Insert(e.Pos(), "&"))
			default:
				fits = false
			}
		}
		return fits
	})
	if !fits {
		return nil
	}
	for _, u := range s.Uses(s.Info.Defs[fn.Name]) {
		if u.N == fn.Name {
			continue
		}
		c, ok := u.S.Parent(u.N).(*ast.CallExpr)
		if !ok || c.Fun != u.N {
			return nil
		}
		if _, alone := u.S.Parent(c).(*ast.ExprStmt); !alone && len(results) == 1 {
			out = append(out, u.S.Insert(c.Pos(), "(*"), u.S.Insert(c.End(), ")"))
		}
	}
	return out
}

// copyByReadAll reads all that it copies.
func copyByReadAll(s *source.File, n ast.Node) []corpus.Edit {
	args := s.Call(n, "io", "Copy")
	if len(args) != 2 {
		return nil
	}
	name, _ := s.Named("io")
	return []corpus.Edit{s.Swap(n, "func(w "+name+".Writer, r "+name+".Reader) (int64, error) { data, err := "+name+
		".ReadAll(r); n, werr := w.Write(data); if werr != nil { err = werr }; return int64(n), err }("+s.Of(args[0])+", "+s.Of(args[1])+")")}
}

// byReflection reads and writes numbers by the reflection of encoding/binary.
func byReflection(s *source.File, n ast.Node) []corpus.Edit {
	c, ok := n.(*ast.CallExpr)
	if !ok || len(c.Args) == 0 {
		return nil
	}
	f := s.Callee(c)
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if f == nil || !ok || f.Pkg() == nil || f.Pkg().Path() != "encoding/binary" || f.Signature().Recv() == nil {
		return nil
	}
	order, ok := sel.X.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	name, add := s.Named("bytes")
	binary := s.Of(order.X)
	if kind, ok := strings.CutPrefix(f.Name(), "Put"); ok {
		if _, alone := s.Parent(c).(*ast.ExprStmt); !alone {
			return nil
		}
		kind = strings.ToLower(kind)
		return append(add, s.Swap(c, binary+".Write("+name+".NewBuffer(("+s.Of(c.Args[0])+")[:0]), "+s.Of(order)+", "+kind+"("+s.Of(c.Args[1])+"))"))
	}
	kind := strings.ToLower(f.Name())
	if !slices.Contains([]string{"uint16", "uint32", "uint64"}, kind) {
		return nil
	}
	return append(add, s.Swap(c, "func(b []byte) (x "+kind+") { "+binary+".Read("+name+".NewReader(b), "+s.Of(order)+", &x); return x }("+s.Of(c.Args[0])+")"))
}

// wrappedStream hands a reader or writer that is wrapped for nothing to a function.
func wrappedStream(s *source.File, n ast.Node) []corpus.Edit {
	c, ok := n.(*ast.CallExpr)
	if !ok || s.Callee(c) == nil {
		return nil
	}
	for _, a := range c.Args {
		of := map[string]string{"io.Reader": ".MultiReader(", "io.Writer": ".MultiWriter("}[types.TypeString(s.TypeOf(a), nil)]
		if of != "" && source.Plain(a) {
			name, add := s.Named("io")
			return append(add, s.Swap(a, name+of+s.Of(a)+")"))
		}
	}
	return nil
}

// compareText compares the texts of values.
func compareText(s *source.File, n ast.Node) []corpus.Edit {
	text := func(x, y ast.Expr, op string) []corpus.Edit {
		t, ok := s.TypeOf(x).(*types.Named)
		if !ok || !types.Identical(t, s.TypeOf(y)) || types.NewMethodSet(t).Lookup(nil, "String") == nil || !source.Plain(x) || !source.Plain(y) {
			return nil
		}
		if s.Info.Types[x].Value != nil || s.Info.Types[y].Value != nil {
			return nil
		}
		return []corpus.Edit{s.Swap(n, "("+s.Of(x)+".String() "+op+" "+s.Of(y)+".String())")}
	}
	switch e := n.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.EQL || e.Op == token.NEQ {
			return text(e.X, e.Y, e.Op.String())
		}
	case *ast.CallExpr:
		if args := s.Call(e, "bytes", "Equal"); len(args) == 2 {
			return []corpus.Edit{s.Swap(n, "func(x, y string) bool { return x == y }(string(append([]byte(nil), "+s.Of(args[0])+"...)), string("+s.Of(args[1])+"))")}
		}
		if sel, ok := e.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Equal" && len(e.Args) == 1 {
			return text(sel.X, e.Args[0], "==")
		}
	}
	return nil
}

// rangeOverRunes makes a slice of the runes of a string to walk over them.
func rangeOverRunes(s *source.File, n ast.Node) []corpus.Edit {
	r, ok := n.(*ast.RangeStmt)
	if !ok || r.Value == nil || r.Key == nil || s.Of(r.Key) != "_" || !s.IsString(r.X) {
		return nil
	}
	return []corpus.Edit{s.Swap(r.X, "[]rune("+s.Of(r.X)+")")}
}
