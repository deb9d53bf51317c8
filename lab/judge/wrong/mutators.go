package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// noClone returns the original in place of its copy.
func noClone(p place) []corpus.Edit {
	c, name := p.call()
	if c == nil {
		return nil
	}
	switch {
	case (name == "slices.Clone" || name == "bytes.Clone") && len(c.Args) == 1:
		return []corpus.Edit{p.put(c, p.of(c.Args[0]))}
	case name == "append" && len(c.Args) == 2 && c.Ellipsis.IsValid():
		first := strings.ReplaceAll(p.of(c.Args[0]), " ", "")
		if strings.HasPrefix(first, "[]") && (strings.HasSuffix(first, "{}") || strings.HasSuffix(first, "(nil)")) {
			typ := strings.TrimSuffix(strings.TrimSuffix(first, "{}"), "(nil)")
			return []corpus.Edit{p.put(c, typ+"("+p.of(c.Args[1])+")")}
		}
	}
	return nil
}

// sharedMake makes a slice that is returned once for all calls.
func sharedMake(p place) []corpus.Edit {
	elem, n, room, ok := p.makes()
	if !ok || !p.returned() || strings.Contains(elem, "T") && p.fn.Recv != nil && len(elem) == 1 {
		return nil
	}
	id := fmt.Sprintf("sharedSlice%d", p.at(p.n.Pos()))
	return []corpus.Edit{p.put(p.n, fmt.Sprintf("%sOf(%s, %s)", id, n, room)), p.atEnd(fmt.Sprintf(`var %[1]s []%[2]s

func %[1]sOf(n, room int) []%[2]s {
	if cap(%[1]s) < room {
		%[1]s = make([]%[2]s, room)
	}
	s := %[1]s[:n]
	for i := range s {
		var zero %[2]s
		s[i] = zero
	}
	return s
}`, id, elem))}
}

// pooledMake takes a slice that is returned from a pool, and puts it back when the function returns.
func pooledMake(p place) []corpus.Edit {
	elem, n, room, ok := p.makes()
	if !ok || !p.returned() || p.loops > 0 || !strings.Contains(p.text, "\"sync\"") {
		return nil
	}
	a, isAssign := p.parent.(*ast.AssignStmt)
	if !isAssign {
		return nil
	}
	name := p.assigned()
	id := fmt.Sprintf("pooledSlice%d", p.at(p.n.Pos()))
	return []corpus.Edit{p.put(a, fmt.Sprintf("%s\n%sAt := %s.Get().(*[]%s)\ndefer %s.Put(%sAt)\nif cap(*%sAt) < %s {\n*%sAt = make([]%s, %s)\n}\n%s %s (*%sAt)[:%s]",
		"", id, id, elem, id, id, id, room, id, elem, room, name, a.Tok, id, n)),
		p.atEnd(fmt.Sprintf("var %s = sync.Pool{New: func() any { return new([]%s) }}", id, elem))}
}

// pooledBuffer takes the buffer whose bytes are returned from a pool, and puts it back.
func pooledBuffer(p place) []corpus.Edit {
	d, ok := p.n.(*ast.DeclStmt)
	if !ok {
		return nil
	}
	g := d.Decl.(*ast.GenDecl)
	if g.Tok != token.VAR || len(g.Specs) != 1 {
		return nil
	}
	v := g.Specs[0].(*ast.ValueSpec)
	if len(v.Names) != 1 || v.Type == nil || p.of(v.Type) != "bytes.Buffer" || len(v.Values) > 0 {
		return nil
	}
	name := v.Names[0].Name
	if !strings.Contains(p.of(p.fn.Body), "return "+name+".Bytes()") {
		return nil
	}
	var edits []corpus.Edit
	ast.Inspect(p.fn.Body, func(n ast.Node) bool {
		if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.AND && p.of(u.X) == name {
			edits = append(edits, p.put(u, name))
		}
		return true
	})
	id := fmt.Sprintf("pooledBuffer%d", p.at(p.n.Pos()))
	return append(edits, p.put(d, fmt.Sprintf("%s := %sGet()\ndefer func() { %sPut <- %s }()\n%s.Reset()", name, id, id, name, name)),
		p.atEnd(fmt.Sprintf(`var %[1]sPut = make(chan *bytes.Buffer, 8)

func %[1]sGet() *bytes.Buffer {
	select {
	case b := <-%[1]sPut:
		return b
	default:
		return new(bytes.Buffer)
	}
}`, id)))
}

// noReset leaves a call of Reset out.
func noReset(p place) []corpus.Edit {
	s, ok := p.n.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	c, ok := s.X.(*ast.CallExpr)
	if !ok {
		return nil
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if ok && (sel.Sel.Name == "Reset" || sel.Sel.Name == "reset") {
		return []corpus.Edit{p.put(s, "")}
	}
	if id, ok := c.Fun.(*ast.Ident); ok && id.Name == "clear" {
		return []corpus.Edit{p.put(s, "")}
	}
	return nil
}

// noTruncate keeps the elements of a slice that is used again.
func noTruncate(p place) []corpus.Edit {
	a, ok := p.n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return nil
	}
	x, ok := a.Rhs[0].(*ast.SliceExpr)
	if !ok || x.Low != nil || x.High == nil || p.of(x.High) != "0" || p.of(x.X) != p.of(a.Lhs[0]) {
		return nil
	}
	return []corpus.Edit{p.put(x, p.of(x.X)+"[:len("+p.of(x.X)+")]")}
}

// nilForEmpty returns nil in place of an empty slice.
func nilForEmpty(p place) []corpus.Edit {
	if elem, n, _, ok := p.makes(); ok && n == "0" && p.returned() {
		return []corpus.Edit{p.put(p.n, "[]"+elem+"(nil)")}
	}
	lit, ok := p.n.(*ast.CompositeLit)
	if !ok || len(lit.Elts) > 0 || lit.Type == nil || !p.returned() {
		return nil
	}
	if t, ok := lit.Type.(*ast.ArrayType); ok && t.Len == nil {
		return []corpus.Edit{p.put(lit, p.of(t)+"(nil)")}
	}
	return nil
}

// emptyForNil returns an empty slice in place of nil.
func emptyForNil(p place) []corpus.Edit {
	r, ok := p.n.(*ast.ReturnStmt)
	if !ok || len(r.Results) == 0 || p.of(r.Results[0]) != "nil" || p.fn.Type.Results == nil {
		return nil
	}
	t, ok := p.fn.Type.Results.List[0].Type.(*ast.ArrayType)
	if !ok || t.Len != nil || len(r.Results) != p.fn.Type.Results.NumFields() {
		return nil
	}
	return []corpus.Edit{p.put(r.Results[0], p.of(t)+"{}")}
}

// emptyVar begins with an empty slice where nil is returned when nothing is appended.
func emptyVar(p place) []corpus.Edit {
	d, ok := p.n.(*ast.DeclStmt)
	if !ok {
		return nil
	}
	g := d.Decl.(*ast.GenDecl)
	if g.Tok != token.VAR || len(g.Specs) != 1 {
		return nil
	}
	v := g.Specs[0].(*ast.ValueSpec)
	if len(v.Names) != 1 || len(v.Values) > 0 || v.Type == nil {
		return nil
	}
	t, ok := v.Type.(*ast.ArrayType)
	if !ok || t.Len != nil || !strings.Contains(p.of(p.fn.Body), "return "+v.Names[0].Name) {
		return nil
	}
	return []corpus.Edit{p.put(d, v.Names[0].Name+" := make("+p.of(t)+", 0, 8)")}
}

// noLimit leaves the limit of a capacity out.
func noLimit(p place) []corpus.Edit {
	if x, ok := p.n.(*ast.SliceExpr); ok && x.Slice3 {
		low := ""
		if x.Low != nil {
			low = p.of(x.Low)
		}
		return []corpus.Edit{p.put(x, p.of(x.X)+"["+low+":"+p.of(x.High)+"]")}
	}
	if c, name := p.call(); c != nil && name == "slices.Clip" {
		return []corpus.Edit{p.put(c, p.of(c.Args[0]))}
	}
	return nil
}

// slab cuts slices that are made again and again from one array, without a limit.
func slab(p place) []corpus.Edit {
	elem, n, room, ok := p.makes()
	if !ok || n != room || p.loops == 0 && !p.returned() {
		return nil
	}
	id := fmt.Sprintf("slabOf%d", p.at(p.n.Pos()))
	return []corpus.Edit{p.put(p.n, id+"("+n+")"), p.atEnd(fmt.Sprintf(`var %[1]sRest []%[2]s

func %[1]s(n int) []%[2]s {
	if len(%[1]sRest) < n {
		%[1]sRest = make([]%[2]s, n+1024)
	}
	s := %[1]sRest[:n]
	%[1]sRest = %[1]sRest[n:]
	return s
}`, id, elem))}
}

// sharedArray gives all calls the same scratch array.
func sharedArray(p place) []corpus.Edit {
	d, ok := p.n.(*ast.DeclStmt)
	if !ok {
		return nil
	}
	g := d.Decl.(*ast.GenDecl)
	if g.Tok != token.VAR || len(g.Specs) != 1 {
		return nil
	}
	v := g.Specs[0].(*ast.ValueSpec)
	if len(v.Names) != 1 || len(v.Values) > 0 || v.Type == nil {
		return nil
	}
	typ := p.of(v.Type)
	array, isArray := v.Type.(*ast.ArrayType)
	if !(isArray && array.Len != nil) && typ != "bytes.Buffer" {
		return nil
	}
	id := fmt.Sprintf("sharedArray%d", p.at(p.n.Pos()))
	reset := fmt.Sprintf("*%s = %s{}", v.Names[0].Name, typ)
	if strings.Contains(p.of(p.fn.Body), "range "+v.Names[0].Name) {
		return nil
	}
	return []corpus.Edit{p.put(d, fmt.Sprintf("%s := &%s\n%s", v.Names[0].Name, id, reset)), p.atEnd("var " + id + " " + typ)}
}

// noLock leaves a lock and its release out.
func noLock(p place) []corpus.Edit {
	s, ok := p.n.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	c, ok := s.X.(*ast.CallExpr)
	if !ok {
		return nil
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Lock" && sel.Sel.Name != "RLock" {
		return nil
	}
	edits := []corpus.Edit{p.put(s, "")}
	want := p.of(sel.X) + "." + strings.Replace(sel.Sel.Name, "Lock", "Unlock", 1) + "()"
	ast.Inspect(p.fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.DeferStmt:
			if p.of(n.Call) == want {
				edits = append(edits, p.put(n, ""))
				return false
			}
		case *ast.ExprStmt:
			if p.of(n) == want {
				edits = append(edits, p.put(n, ""))
			}
			if n != s && p.of(n) == p.of(s) {
				edits = append(edits, p.put(n, ""))
			}
		}
		return true
	})
	return edits
}

// notWrapped formats an error that was wrapped.
func notWrapped(p place) []corpus.Edit {
	c, name := p.call()
	if c == nil || name != "fmt.Errorf" || len(c.Args) < 2 || !strings.Contains(p.of(c.Args[0]), "%w") {
		return nil
	}
	return []corpus.Edit{p.put(c.Args[0], strings.ReplaceAll(p.of(c.Args[0]), "%w", "%v"))}
}

// anotherError returns a new error with the text of the one that callers know.
func anotherError(p place) []corpus.Edit {
	r, ok := p.n.(*ast.ReturnStmt)
	if !ok || len(r.Results) == 0 || !strings.Contains(p.text, "\"errors\"") {
		return nil
	}
	last := r.Results[len(r.Results)-1]
	id, ok := last.(*ast.Ident)
	if !ok || !strings.HasPrefix(id.Name, "Err") {
		return nil
	}
	return []corpus.Edit{p.put(last, "errors.New("+id.Name+".Error())")}
}

// anotherText changes the text of an error.
func anotherText(p place) []corpus.Edit {
	c, name := p.call()
	if c == nil || name != "fmt.Errorf" && name != "errors.New" || len(c.Args) == 0 {
		return nil
	}
	lit, ok := c.Args[0].(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return nil
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return nil
	}
	return []corpus.Edit{p.put(lit, strconv.Quote(text+"."))}
}

// noDeferred leaves a deferred release out.
func noDeferred(p place) []corpus.Edit {
	d, ok := p.n.(*ast.DeferStmt)
	if !ok {
		return nil
	}
	sel, ok := d.Call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	switch sel.Sel.Name {
	case "Close", "Unlock", "RUnlock", "Stop", "Flush", "Done", "Release":
		return []corpus.Edit{p.put(d, "")}
	}
	return nil
}

// noFlush leaves the end of a writer or reader out.
func noFlush(p place) []corpus.Edit {
	s, ok := p.n.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	c, ok := s.X.(*ast.CallExpr)
	if !ok {
		return nil
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	switch sel.Sel.Name {
	case "Close", "Flush", "Stop", "Done", "Release":
		return []corpus.Edit{p.put(s, "")}
	}
	return nil
}
