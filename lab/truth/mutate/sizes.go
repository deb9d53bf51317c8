package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// noHeadroom makes a slice without the room that it had.
func noHeadroom(s *source.File, n ast.Node) []corpus.Edit {
	args := s.Builtin(n, "make")
	if len(args) != 3 || s.Zero(args[1]) {
		return nil
	}
	return []corpus.Edit{s.Swap(n, "make("+s.Of(args[0])+", "+s.Of(args[1])+")")}
}

// appendForIndex appends in a loop what was put into a slice of the right length.
func appendForIndex(s *source.File, n ast.Node) []corpus.Edit {
	a, ok := n.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return nil
	}
	args := s.Builtin(a.Rhs[0], "make")
	block, ok := s.Parent(n).(*ast.BlockStmt)
	if !ok || len(args) != 2 {
		return nil
	}
	if _, ok := s.TypeOf(args[0]).Underlying().(*types.Slice); !ok {
		return nil
	}
	o := s.Object(a.Lhs[0])
	for _, st := range block.List {
		r, ok := st.(*ast.RangeStmt)
		if !ok || st.Pos() < n.Pos() || !fills(s, r, o, args[1]) {
			continue
		}
		before := 0
		for _, u := range s.Uses(o) {
			if u.N.Pos() < r.End() {
				before++
			}
		}
		if before != 2 {
			return nil
		}
		for _, st := range r.Body.List {
			if set, ok := st.(*ast.AssignStmt); ok && len(set.Lhs) == 1 && set.Tok == token.ASSIGN {
				if x, ok := set.Lhs[0].(*ast.IndexExpr); ok && s.Object(x.X) == o {
					name := s.Of(x.X)
					return append(unusedKey(s, r), s.Swap(a.Rhs[0], s.Of(args[0])+"{}"), s.Swap(x, name),
						s.Insert(set.Rhs[0].Pos(), "append("+name+", "), s.Insert(set.Rhs[0].End(), ")"))
				}
			}
		}
	}
	return nil
}

// unusedKey takes the key away from a loop that uses it once.
func unusedKey(s *source.File, r *ast.RangeStmt) []corpus.Edit {
	switch {
	case len(s.Uses(s.Object(r.Key))) > 2:
		return nil
	case r.Value != nil:
		return []corpus.Edit{s.Swap(r.Key, "_")}
	}
	return []corpus.Edit{{File: s.Name, Start: s.Offset(r.Key.Pos()), End: s.Offset(r.Range)}}
}

// fills reports whether a loop puts a value at each index of a slice of a length.
func fills(s *source.File, r *ast.RangeStmt, o types.Object, length ast.Expr) bool {
	x := s.Of(r.X)
	if text := s.Of(length); text != "len("+x+")" && text != x || r.Key == nil || r.Tok != token.DEFINE {
		return false
	}
	if _, ok := s.TypeOf(r.X).Underlying().(*types.Map); ok {
		return false
	}
	key := s.Object(r.Key)
	found, leaves := false, false
	ast.Inspect(r.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BranchStmt:
			leaves = true
		case *ast.IndexExpr:
			if s.Object(n.X) == o {
				found = key != nil && s.Object(n.Index) == key
			}
		}
		return true
	})
	return found && !leaves
}

// cloneByAppend appends the elements of a slice one by one to copy it.
func cloneByAppend(s *source.File, n ast.Node) []corpus.Edit {
	x := ast.Expr(nil)
	for _, pkg := range []string{"slices", "bytes"} {
		if args := s.Call(n, pkg, "Clone"); len(args) == 1 {
			x = args[0]
		}
	}
	if args := s.Builtin(n, "append"); len(args) == 2 && n.(*ast.CallExpr).Ellipsis.IsValid() {
		switch d := args[0].(type) {
		case *ast.CompositeLit:
			if len(d.Elts) == 0 {
				x = args[1]
			}
		case *ast.CallExpr:
			if len(d.Args) == 1 && s.Of(d.Args[0]) == "nil" {
				x = args[1]
			}
		}
	}
	if x == nil {
		return nil
	}
	t := s.TypeText(s.TypeOf(n.(ast.Expr)))
	e, ok := s.TypeOf(n.(ast.Expr)).Underlying().(*types.Slice)
	if t == "" || !ok || s.TypeText(e.Elem()) == "" || types.Identical(s.TypeOf(x).Underlying(), types.Typ[types.String]) {
		return nil
	}
	return []corpus.Edit{s.Swap(n, "func(list []"+s.TypeText(e.Elem())+") "+t+" { out := "+t+"{}; for _, x := range list { out = append(out, x) }; return out }("+s.Of(x)+")")}
}

// joinByConcat joins strings by adding one to the other.
func joinByConcat(s *source.File, n ast.Node) []corpus.Edit {
	args := s.Call(n, "strings", "Join")
	if len(args) != 2 {
		return nil
	}
	return []corpus.Edit{s.Swap(n, "func(list []string, sep string) (out string) { for i, x := range list { if i > 0 { out += sep }; out += x }; return out }("+
		s.Of(args[0])+", "+s.Of(args[1])+")")}
}

// concatForBuilder adds to a string what was written to a builder.
func concatForBuilder(s *source.File, n ast.Node) []corpus.Edit {
	d, ok := n.(*ast.ValueSpec)
	if !ok || d.Type == nil || len(d.Names) != 1 || len(d.Values) > 0 || !s.Local(s.Info.Defs[d.Names[0]]) {
		return nil
	}
	if t := types.TypeString(s.TypeOf(d.Type), nil); t != "strings.Builder" && t != "bytes.Buffer" {
		return nil
	}
	out := []corpus.Edit{s.Swap(d.Type, "string")}
	name := d.Names[0].Name
	for _, u := range s.Uses(s.Info.Defs[d.Names[0]]) {
		if u.N == d.Names[0] {
			continue
		}
		sel, ok := s.Parent(u.N).(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		c, ok := s.Parent(sel).(*ast.CallExpr)
		if !ok {
			return nil
		}
		arg := ""
		if len(c.Args) == 1 {
			arg = s.Of(c.Args[0])
		}
		text := map[string]string{"WriteString": name + " += " + arg, "WriteByte": name + " += string([]byte{" + arg + "})",
			"WriteRune": name + " += string(" + arg + ")", "Write": name + " += string(" + arg + ")", "Grow": "_ = " + arg,
			"Reset": name + ` = ""`}[sel.Sel.Name]
		_, alone := s.Parent(c).(*ast.ExprStmt)
		switch {
		case sel.Sel.Name == "String" && !alone:
			out = append(out, s.Swap(c, name))
		case sel.Sel.Name == "Len" && !alone:
			out = append(out, s.Swap(c, "len("+name+")"))
		case text != "" && alone:
			out = append(out, s.Swap(c, text))
		default:
			return nil
		}
	}
	return out
}

// concatToWrite adds two strings to write them at once.
func concatToWrite(s *source.File, n ast.Node) []corpus.Edit {
	block, ok := s.Parent(n).(*ast.BlockStmt)
	recv, x := written1(s, n, "WriteString")
	if !ok || recv == nil || !source.Plain(recv) {
		return nil
	}
	for i, st := range block.List {
		if st != n || i+1 == len(block.List) {
			continue
		}
		next, y := written1(s, block.List[i+1], "WriteString")
		if next == nil || s.Of(next) != s.Of(recv) || s.Info.Types[x].Value != nil && s.Info.Types[y].Value != nil ||
			strings.Contains(s.Of(y), s.Of(recv)) || strings.Contains(s.Of(block.List[i+1]), "\n") {
			return nil
		}
		return []corpus.Edit{s.Insert(x.End(), " + "+s.Of(y)), s.Gone(block.List[i+1], "")}
	}
	return nil
}

// sortInterface sorts by the interface of package sort.
func sortInterface(s *source.File, n ast.Node) []corpus.Edit {
	args := s.Call(n, "slices", "Sort")
	if len(args) != 1 {
		for _, f := range []string{"Strings", "Ints", "Float64s"} {
			if a := s.Call(n, "sort", f); len(a) == 1 {
				args = a
			}
		}
	}
	if len(args) != 1 {
		return nil
	}
	by := map[string]string{"[]string": "StringSlice", "[]int": "IntSlice", "[]float64": "Float64Slice"}[s.TypeOf(args[0]).String()]
	if by == "" {
		return nil
	}
	name, add := s.Named("sort")
	return append(add, s.Swap(n, name+".Sort("+name+"."+by+"("+s.Of(args[0])+"))"))
}
