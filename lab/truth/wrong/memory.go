package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strconv"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// cloneLeftOut hands out, or keeps, memory of others in place of a copy of it.
func cloneLeftOut(f function, n ast.Node) []corpus.Edit {
	e, ok := n.(ast.Expr)
	if !ok {
		return nil
	}
	switch f.s.Parent(n).(type) {
	case *ast.ReturnStmt, *ast.AssignStmt, *ast.KeyValueExpr:
	default:
		return nil
	}
	x := ast.Expr(nil)
	for _, pkg := range []string{"bytes", "slices", "maps"} {
		if args := f.s.Call(e, pkg, "Clone"); len(args) == 1 {
			x = args[0]
		}
	}
	if args := f.s.Builtin(e, "append"); len(args) == 2 && e.(*ast.CallExpr).Ellipsis.IsValid() {
		switch d := args[0].(type) {
		case *ast.CompositeLit:
			if len(d.Elts) == 0 {
				x = args[1]
			}
		case *ast.CallExpr:
			if len(d.Args) == 1 && f.s.Of(d.Args[0]) == "nil" {
				x = args[1]
			}
		}
	}
	if x == nil || f.root(x) == nil || !types.Identical(f.s.TypeOf(x), f.s.TypeOf(e)) {
		return nil
	}
	return []corpus.Edit{f.s.Swap(e, f.s.Of(x))}
}

// copyLeftOut hands out what a copy was made of.
func copyLeftOut(f function, n ast.Node) []corpus.Edit {
	name, _, args := f.made(n)
	block, ok := f.s.Parent(n).(*ast.BlockStmt)
	if name == "" || len(args) != 1 || !ok {
		return nil
	}
	for i, st := range block.List {
		if st != n || i+1 == len(block.List) {
			continue
		}
		c, ok := block.List[i+1].(*ast.ExprStmt)
		if !ok {
			return nil
		}
		call := f.s.Builtin(c.X, "copy")
		if len(call) != 2 || f.s.Of(call[0]) != name || f.root(call[1]) == nil || f.s.Of(args[0]) != "len("+f.s.Of(call[1])+")" {
			return nil
		}
		if _, ok := f.s.TypeOf(call[1]).Underlying().(*types.Slice); !ok {
			return nil
		}
		return []corpus.Edit{f.s.Swap(n, name+" := "+f.s.Of(call[1])), f.s.Gone(c, "")}
	}
	return nil
}

// putEarly puts a thing back into its pool while it is still used.
func putEarly(f function, n ast.Node) []corpus.Edit {
	d, ok := n.(*ast.DeferStmt)
	if !ok || f.s.Parent(d) != f.fn.Body {
		return nil
	}
	recv, args := f.s.Method(d.Call, "sync.Pool", "Put")
	callee := f.s.Callee(d.Call)
	if recv == nil && (callee == nil || !puts.MatchString(callee.Name()) || len(d.Call.Args) > 1) {
		return nil
	}
	if recv != nil && len(args) != 1 {
		return nil
	}
	return []corpus.Edit{f.s.Swap(d, f.s.Of(d.Call))}
}

var puts = regexp.MustCompile(`(?i)^(put|release|free|recycle)`)

// stringOfView makes a string that shares the memory of bytes that others hold.
func stringOfView(f function, n ast.Node) []corpus.Edit {
	c, ok := n.(*ast.CallExpr)
	if !ok || len(c.Args) != 1 || !f.s.Info.Types[c.Fun].IsType() || !f.s.IsString(c) || !f.s.IsBytes(c.Args[0]) {
		return nil
	}
	x := c.Args[0]
	if sl, ok := x.(*ast.SliceExpr); ok {
		x = sl.X
	}
	kept := false
	switch p := f.s.Parent(c).(type) {
	case *ast.ReturnStmt:
		kept = true
	case *ast.AssignStmt:
		_, field := p.Lhs[0].(*ast.SelectorExpr)
		kept = field && p.Tok == token.ASSIGN
	}
	if !kept || !f.foreign(x) {
		return nil
	}
	name, add := f.s.Named("unsafe")
	of := f.s.Of(c.Args[0])
	return append(add, f.s.Swap(c, "func(b []byte) string { return *(*string)("+name+".Pointer(&b)) }("+of+")"))
}

// zeroed empties what a slice of an element type holds.
func zeroed(name, of string) string {
	return "for i := range " + name + " { var none " + of + "; " + name + "[i] = none }"
}

// size is the length that a slice is made with, and its capacity.
func size(f function, args []ast.Expr) (length, most string) {
	length = f.s.Of(args[0])
	most = length
	if len(args) > 1 {
		most = f.s.Of(args[1])
	}
	return length, most
}

// scratchReturned takes memory that is returned from a field of the receiver.
func scratchReturned(f function, n ast.Node) []corpus.Edit {
	name, elem, args := f.made(n)
	recv, file, st := f.owner()
	if name == "" || st == nil || f.generic() || !f.returned(f.s.Object(n.(*ast.AssignStmt).Lhs[0])) {
		return nil
	}
	length, most := size(f, args)
	of := f.s.TypeText(f.s.TypeOf(elem))
	if of == "" || f.s.Pkg.Scope().Lookup("scratch") != nil {
		return nil
	}
	field := recv + ".scratch"
	text := "if cap(" + field + ") < " + most + " { " + field + " = make([]" + of + ", " + most + ") }; " +
		name + " := " + field + "[:" + length + "]; " + zeroed(name, of)
	return []corpus.Edit{f.s.Swap(n, text), file.Insert(st.Fields.Closing, "\nscratch []"+of+"\n")}
}

// scratchOfPackage takes memory that is returned from a variable of the package.
func scratchOfPackage(f function, n ast.Node) []corpus.Edit {
	name, elem, args := f.made(n)
	if name == "" || f.generic() || !f.returned(f.s.Object(n.(*ast.AssignStmt).Lhs[0])) || !f.s.Free("scratch", "scratchLock") {
		return nil
	}
	length, most := size(f, args)
	of := f.s.TypeText(f.s.TypeOf(elem))
	if of == "" {
		return nil
	}
	lock, add := f.s.Named("sync")
	text := "scratchLock.Lock(); if cap(scratch) < " + most + " { scratch = make([]" + of + ", " + most + ") }; " +
		name + " := scratch[:" + length + "]; scratchLock.Unlock(); " + zeroed(name, of)
	return append(add, f.s.Swap(n, text), f.s.Tail("var (\n\tscratch     []"+of+"\n\tscratchLock "+lock+".Mutex\n)"))
}

// bufferRetained returns the bytes of a buffer that it puts back into a pool.
func bufferRetained(f function, n ast.Node) []corpus.Edit {
	id := f.declared(n, "bytes.Buffer")
	if id == nil || !f.s.Free("bufferPool") {
		return nil
	}
	o := f.s.Info.Defs[id]
	out := pooledBuffer(f, n, id)
	found := false
	for _, u := range f.s.Uses(o) {
		if u.N == id {
			continue
		}
		if p, ok := f.s.Parent(u.N).(*ast.UnaryExpr); ok && p.Op == token.AND {
			out = append(out, f.s.Swap(p, id.Name))
			continue
		}
		sel, ok := f.s.Parent(u.N).(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		if c, ok := f.s.Parent(sel).(*ast.CallExpr); ok && sel.Sel.Name == "Bytes" {
			_, is := f.s.Parent(c).(*ast.ReturnStmt)
			found = found || is
		}
	}
	if !found {
		return nil
	}
	return append(out, f.s.Insert(n.End(), "; "+id.Name+".Reset(); defer bufferPool.Put("+id.Name+")"))
}

// pooledBuffer takes a buffer from a pool in place of a declaration.
func pooledBuffer(f function, n ast.Node, id *ast.Ident) []corpus.Edit {
	lock, add := f.s.Named("sync")
	bytes, _ := f.s.Named("bytes")
	return append(add, f.s.Swap(n, id.Name+" := bufferPool.Get().(*"+bytes+".Buffer)"),
		f.s.Tail("var bufferPool = "+lock+".Pool{New: func() interface{} { return new("+bytes+".Buffer) }}"))
}

// bytesRetained returns memory that it puts back into a pool.
func bytesRetained(f function, n ast.Node) []corpus.Edit {
	name, elem, args := f.made(n)
	if name == "" || f.generic() || !f.returned(f.s.Object(n.(*ast.AssignStmt).Lhs[0])) || !f.s.Free("slicePool") {
		return nil
	}
	length, most := size(f, args)
	of := f.s.TypeText(f.s.TypeOf(elem))
	if of == "" {
		return nil
	}
	lock, add := f.s.Named("sync")
	text := "pooled := slicePool.Get().(*[]" + of + "); defer slicePool.Put(pooled); if cap(*pooled) < " + most + " { *pooled = make([]" + of + ", " + most + ") }; " +
		name + " := (*pooled)[:" + length + "]; " + zeroed(name, of)
	return append(add, f.s.Swap(n, text), f.s.Tail("var slicePool = "+lock+".Pool{New: func() interface{} { return new([]"+of+") }}"))
}

// twoIndex leaves the limit of a slice's capacity out.
func twoIndex(f function, n ast.Node) []corpus.Edit {
	if x, ok := n.(*ast.SliceExpr); ok && x.Max != nil && x.High != nil && !f.s.Zero(x.Max) {
		return []corpus.Edit{{File: f.s.Name, Start: f.s.Offset(x.High.End()), End: f.s.Offset(x.Max.End())}}
	}
	for _, of := range []string{"slices"} {
		if args := f.s.Call(n, of, "Clip"); len(args) == 1 {
			return []corpus.Edit{f.s.Swap(n, f.s.Of(args[0]))}
		}
	}
	return nil
}

// slabWithoutLimit cuts results out of one array, and leaves their capacity open.
func slabWithoutLimit(f function, n ast.Node) []corpus.Edit {
	name, elem, args := f.made(n)
	if name == "" || f.generic() || len(args) != 1 || !f.returned(f.s.Object(n.(*ast.AssignStmt).Lhs[0])) || !f.s.Free("slab", "slabLock") {
		return nil
	}
	of := f.s.TypeText(f.s.TypeOf(elem))
	if of == "" {
		return nil
	}
	length := f.s.Of(args[0])
	lock, add := f.s.Named("sync")
	text := "slabLock.Lock(); if len(slab) < " + length + " { slab = make([]" + of + ", " + length + "+1024) }; " + name + " := slab[:" + length + "]; slab = slab[" + length + ":]; slabLock.Unlock()"
	return append(add, f.s.Swap(n, text), f.s.Tail("var (\n\tslab     []"+of+"\n\tslabLock "+lock+".Mutex\n)"))
}

// sharedArray keeps an array of a function in the package.
func sharedArray(f function, n ast.Node) []corpus.Edit {
	d, ok := n.(*ast.DeclStmt)
	if !ok || f.hands() || f.generic() || !f.s.Free("sharedScratch") {
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
	t, ok := f.s.TypeOf(v.Type).(*types.Array)
	if !ok || f.s.TypeText(t) == "" {
		return nil
	}
	name := v.Names[0].Name
	return []corpus.Edit{f.s.Swap(n, name+" := &sharedScratch; *"+name+" = ["+strconv.FormatInt(t.Len(), 10)+"]"+f.s.TypeText(t.Elem())+"{}"),
		f.s.Tail("var sharedScratch " + f.s.TypeText(t))}
}

// sharedBuffer keeps a buffer of a function in the package.
func sharedBuffer(f function, n ast.Node) []corpus.Edit {
	id := f.declared(n, "bytes.Buffer")
	if id == nil {
		id = f.declared(n, "strings.Builder")
	}
	if id == nil || f.hands() || !f.s.Free("sharedScratch") {
		return nil
	}
	bytes, add := f.s.Named("bytes")
	out := append(add, f.s.Swap(n, id.Name+" := &sharedScratch; "+id.Name+".Reset()"), f.s.Tail("var sharedScratch "+bytes+".Buffer"))
	for _, u := range f.s.Uses(f.s.Info.Defs[id]) {
		if p, ok := f.s.Parent(u.N).(*ast.UnaryExpr); ok && p.Op == token.AND {
			out = append(out, f.s.Swap(p, id.Name))
		}
	}
	return out
}

// sharedBytes keeps a slice of a function in the package.
func sharedBytes(f function, n ast.Node) []corpus.Edit {
	name, elem, args := f.made(n)
	if name == "" || f.hands() || f.generic() || !f.s.Free("sharedScratch") {
		return nil
	}
	for _, u := range f.s.Uses(f.s.Object(n.(*ast.AssignStmt).Lhs[0])) {
		switch p := f.s.Parent(u.N).(type) {
		case *ast.KeyValueExpr, *ast.CompositeLit:
			return nil
		case *ast.AssignStmt:
			if p.Lhs[0] != u.N {
				return nil
			}
		}
	}
	length, most := size(f, args)
	of := f.s.TypeText(f.s.TypeOf(elem))
	if of == "" {
		return nil
	}
	return []corpus.Edit{f.s.Swap(n, "if cap(sharedScratch) < "+most+" { sharedScratch = make([]"+of+", "+most+") }; "+
		name+" := sharedScratch[:"+length+"]; "+zeroed(name, of)), f.s.Tail("var sharedScratch []" + of)}
}
