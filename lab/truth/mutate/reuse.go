package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// noScratch starts with a new slice where one was emptied to be used again.
func noScratch(s *source.File, n ast.Node) []corpus.Edit {
	x, ok := n.(*ast.SliceExpr)
	if !ok || x.Low != nil || x.High == nil || !s.Zero(x.High) || x.Max != nil {
		return nil
	}
	if _, ok := s.TypeOf(x.X).Underlying().(*types.Slice); !ok {
		return nil
	}
	if a, ok := s.Parent(x).(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && s.Of(a.Lhs[0]) == s.Of(x.X) {
		return nil
	}
	t := s.TypeText(s.TypeOf(x.X))
	if t == "" {
		return nil
	}
	return []corpus.Edit{s.Swap(x, t+"{}")}
}

// noReset drops the memory of a slice that was emptied to be used again.
func noReset(s *source.File, n ast.Node) []corpus.Edit {
	a, ok := n.(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return nil
	}
	r, ok := a.Rhs[0].(*ast.SliceExpr)
	if !ok || r.Low != nil || r.High == nil || s.Of(r.High) != "0" || s.Of(r.X) != s.Of(a.Lhs[0]) {
		return nil
	}
	if _, ok := s.TypeOf(a.Lhs[0]).Underlying().(*types.Slice); !ok {
		return nil
	}
	return []corpus.Edit{s.Swap(r, "nil")}
}

// growths are the places where a slice grows that an assignment empties: what a reset saves is
// taken there.
func growths(s *source.File, n ast.Node) []source.Place {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 {
		return nil
	}
	return grownAt(s, s.Object(a.Lhs[0]))
}

// grownAt are the assignments that may give a variable new memory.
func grownAt(s *source.File, o types.Object) []source.Place {
	if o == nil {
		return nil
	}
	var out []source.Place
	for _, u := range s.Uses(o) {
		if a, ok := u.S.Parent(u.N).(*ast.AssignStmt); ok && len(a.Lhs) == 1 && a.Lhs[0] == u.N && len(out) < 6 {
			if c, ok := a.Rhs[0].(*ast.CallExpr); ok {
				out = append(out, source.Place{S: u.S, N: c})
			}
		}
	}
	return out
}

// remakes are the calls that make what a Reset makes as new.
var remakes = map[string]string{
	"*bytes.Buffer":   "new(bytes.Buffer)",
	"bytes.Buffer":    "bytes.Buffer{}",
	"*bytes.Reader":   "bytes.NewReader(ARG)",
	"*strings.Reader": "strings.NewReader(ARG)",
	"*bufio.Reader":   "bufio.NewReaderSize(ARG, SELF.Size())",
	"*bufio.Writer":   "bufio.NewWriterSize(ARG, SELF.Size())",
}

// remadeForReset makes a thing anew in place of its reset.
func remadeForReset(s *source.File, n ast.Node) []corpus.Edit {
	st, ok := n.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	c, ok := st.X.(*ast.CallExpr)
	if !ok || len(c.Args) > 1 {
		return nil
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Reset" || !source.Plain(sel.X) {
		return nil
	}
	o := s.Object(sel.X)
	if v, ok := o.(*types.Var); !ok || !v.IsField() && s.Parameter(v) {
		return nil
	}
	arg := ""
	if len(c.Args) == 1 {
		arg = s.Of(c.Args[0])
	}
	self := s.Of(sel.X)
	made := remakes[types.TypeString(o.Type(), nil)]
	if made == "" {
		if made = constructed(s, o); len(c.Args) > 0 {
			return nil
		}
	}
	if made == "" {
		return nil
	}
	made = strings.ReplaceAll(strings.ReplaceAll(made, "ARG", arg), "SELF", self)
	return []corpus.Edit{s.Swap(st, self+" = "+made)}
}

// constructed is the call without arguments that makes what a variable or field holds.
func constructed(s *source.File, o types.Object) string {
	for _, u := range s.Uses(o) {
		made := ast.Expr(nil)
		switch p := u.S.Parent(u.N).(type) {
		case *ast.AssignStmt:
			if len(p.Lhs) == 1 && len(p.Rhs) == 1 && p.Lhs[0] == u.N {
				made = p.Rhs[0]
			}
		case *ast.KeyValueExpr:
			if p.Key == u.N {
				made = p.Value
			}
		}
		if c, ok := made.(*ast.CallExpr); ok && len(c.Args) == 0 && u.S == s && strings.Contains(s.Of(c.Fun), "ew") {
			return s.Of(c)
		}
	}
	return ""
}

// mapRemade makes a map in place of one that was emptied.
func mapRemade(s *source.File, n ast.Node) []corpus.Edit {
	x := ast.Expr(nil)
	switch n := n.(type) {
	case *ast.ExprStmt:
		if args := s.Builtin(n.X, "clear"); len(args) == 1 {
			x = args[0]
		}
	case *ast.RangeStmt:
		if len(n.Body.List) == 1 && n.Key != nil && n.Value == nil {
			if d, ok := n.Body.List[0].(*ast.ExprStmt); ok {
				if args := s.Builtin(d.X, "delete"); len(args) == 2 && s.Of(args[0]) == s.Of(n.X) && s.Of(args[1]) == s.Of(n.Key) {
					x = n.X
				}
			}
		}
	}
	if x == nil || !source.Plain(x) {
		return nil
	}
	v, ok := s.Object(x).(*types.Var)
	if _, is := s.TypeOf(x).Underlying().(*types.Map); !ok || !is || !v.IsField() && s.Parameter(v) {
		return nil
	}
	t := s.TypeText(s.TypeOf(x))
	if t == "" {
		return nil
	}
	return []corpus.Edit{s.Swap(n, s.Of(x)+" = make("+t+")"+strings.Repeat("\n", strings.Count(s.Of(n), "\n")))}
}

// droppedPut does not put a thing back into its pool.
func droppedPut(s *source.File, n ast.Node) []corpus.Edit {
	var c *ast.CallExpr
	switch n := n.(type) {
	case *ast.ExprStmt:
		c, _ = n.X.(*ast.CallExpr)
	case *ast.DeferStmt:
		c = n.Call
	}
	if c == nil {
		return nil
	}
	if recv, args := s.Method(c, "sync.Pool", "Put"); recv != nil {
		return []corpus.Edit{s.Gone(n, s.Of(args[0]))}
	}
	f := s.Callee(c)
	if f == nil || f.Pkg() != s.Pkg || len(c.Args) > 1 || !putsBack(s, f) {
		return nil
	}
	if len(c.Args) == 1 {
		return []corpus.Edit{s.Gone(n, s.Of(c.Args[0]))}
	}
	if sel, ok := c.Fun.(*ast.SelectorExpr); ok {
		return []corpus.Edit{s.Gone(n, s.Of(sel.X))}
	}
	return nil
}

// putsBack reports whether a short function of the package puts something into a pool.
func putsBack(s *source.File, f *types.Func) bool {
	found := false
	for _, file := range s.Files {
		for _, d := range file.Syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || s.Info.Defs[fn.Name] != f {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if recv, _ := s.Method(n, "sync.Pool", "Put"); recv != nil {
					found = true
				}
				return true
			})
			return found && len(fn.Body.List) <= 8
		}
	}
	return false
}

// gets are the calls of Get of the pool that a thing is not put back into; of all pools of the
// package, where a function of it puts things back.
func gets(s *source.File, n ast.Node) []source.Place {
	var pool types.Object
	ast.Inspect(n, func(n ast.Node) bool {
		if recv, _ := s.Method(n, "sync.Pool", "Put"); recv != nil {
			pool = s.Object(recv)
		}
		return true
	})
	var out []source.Place
	for _, f := range s.Files {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if recv, _ := f.Method(n, "sync.Pool", "Get"); recv != nil && len(out) < 6 && (pool == nil || f.Object(recv) == pool) {
				out = append(out, source.Place{S: f, N: n})
			}
			return true
		})
	}
	return out
}

// noCache asks no cache.
func noCache(s *source.File, n ast.Node) []corpus.Edit {
	st, ok := n.(*ast.IfStmt)
	if !ok || st.Init == nil || st.Else != nil || len(st.Body.List) == 0 {
		return nil
	}
	a, ok := st.Init.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 2 || len(a.Rhs) != 1 || s.Of(a.Lhs[1]) != s.Of(st.Cond) {
		return nil
	}
	if _, ok := st.Body.List[len(st.Body.List)-1].(*ast.ReturnStmt); !ok {
		return nil
	}
	cache, key := "", ast.Expr(nil)
	if x, ok := a.Rhs[0].(*ast.IndexExpr); ok {
		cache, key = s.Of(x.X), x.Index
	} else if recv, args := s.Method(a.Rhs[0], "sync.Map", "Load"); recv != nil {
		cache, key = s.Of(recv), args[0]
	}
	fn := s.Around(n)
	if cache == "" || fn == nil || !source.Plain(key) {
		return nil
	}
	stored := strings.Contains(s.Of(fn), cache+"["+s.Of(key)+"] =") || strings.Contains(s.Of(fn), cache+".Store(") ||
		strings.Contains(s.Of(fn), cache+".LoadOrStore(")
	if !stored {
		return nil
	}
	return []corpus.Edit{s.Gone(n, s.Of(key))}
}

var appends = regexp.MustCompile(`^[aA]ppend`)

// appendFresh has an append-like function make a slice of its own and appends that.
func appendFresh(s *source.File, n ast.Node) []corpus.Edit {
	c, ok := n.(*ast.CallExpr)
	if !ok || len(c.Args) == 0 || c.Ellipsis.IsValid() || s.Of(c.Args[0]) == "nil" {
		return nil
	}
	f := s.Callee(c)
	if f == nil || !appends.MatchString(f.Name()) || f.Pkg() != nil && f.Pkg().Path() == "strconv" {
		return nil
	}
	sig := f.Signature()
	if sig.Params().Len() == 0 || sig.Results().Len() != 1 || !source.IsByteSlice(sig.Params().At(0).Type()) ||
		!source.IsByteSlice(sig.Results().At(0).Type()) || !source.Plain(c.Args[0]) {
		return nil
	}
	dst := s.Of(c.Args[0])
	return []corpus.Edit{s.Insert(n.Pos(), "append("+dst+", "), s.Swap(c.Args[0], "nil"), s.Insert(n.End(), "...)")}
}

// copiedTwice copies bytes before they are made a string.
func copiedTwice(s *source.File, n ast.Node) []corpus.Edit {
	c, ok := n.(*ast.CallExpr)
	if !ok || len(c.Args) != 1 || !s.Info.Types[c.Fun].IsType() || !s.IsString(c) || !s.IsBytes(c.Args[0]) || !source.Plain(c.Args[0]) {
		return nil
	}
	return []corpus.Edit{s.Swap(c.Args[0], "append([]byte(nil), "+s.Of(c.Args[0])+"...)")}
}

// defensiveCopy copies a slice that a function only reads.
func defensiveCopy(s *source.File, n ast.Node) []corpus.Edit {
	fn, ok := n.(*ast.FuncDecl)
	if !ok {
		return nil
	}
	for _, id := range s.Params(fn, func(t types.Type) bool { _, ok := t.(*types.Slice); return ok }) {
		o := s.Info.Defs[id]
		read, count := true, 0
		for _, u := range s.Uses(o) {
			if u.N == id {
				continue
			}
			count++
			switch p := s.Parent(u.N).(type) {
			case *ast.RangeStmt:
			case *ast.CallExpr:
				read = read && s.Builtin(p, "len") != nil
			case *ast.IndexExpr:
				_, addr := s.Parent(p).(*ast.UnaryExpr)
				read = read && !addr && p.X == u.N
			default:
				read = false
			}
		}
		if read && count > 0 && !s.Assigns(fn.Body, o) {
			return []corpus.Edit{s.Insert(fn.Body.Lbrace+1, " "+id.Name+" = append("+id.Name+"[:0:0], "+id.Name+"...);")}
		}
	}
	return nil
}
