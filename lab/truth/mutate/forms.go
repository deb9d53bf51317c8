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

// sprintfVerb formats by a verb what a function of its own makes text of.
func sprintfVerb(s *source.File, n ast.Node) []corpus.Edit {
	for _, f := range []struct{ pkg, name, verb string }{{"strconv", "FormatBool", "%t"}, {"strconv", "Quote", "%q"},
		{"encoding/hex", "EncodeToString", "%x"}, {"strconv", "FormatFloat", "%g"}} {
		args := s.Call(n, f.pkg, f.name)
		if args == nil || f.name == "FormatFloat" && (s.Of(args[1]) != "'g'" || s.Of(args[2]) != "-1" || s.Of(args[3]) != "64") {
			continue
		}
		name, add := s.Named("fmt")
		return append(add, s.Swap(n, name+`.Sprintf("`+f.verb+`", `+s.Of(args[0])+")"))
	}
	return nil
}

// sprintStringer has fmt call the String method.
func sprintStringer(s *source.File, n ast.Node) []corpus.Edit {
	c, ok := n.(*ast.CallExpr)
	if !ok || len(c.Args) > 0 {
		return nil
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "String" || !s.IsString(c) || s.Info.Types[sel.X].Type == nil {
		return nil
	}
	t := s.TypeOf(sel.X)
	methods := types.NewMethodSet(t)
	if methods.Lookup(nil, "String") == nil || methods.Lookup(nil, "Error") != nil || methods.Lookup(nil, "Format") != nil {
		return nil
	}
	if fn := s.Around(n); fn != nil && slices.Contains([]string{"String", "Error", "Format", "GoString"}, fn.Name.Name) {
		return nil
	}
	if tn := types.TypeString(t, nil); strings.Contains(tn, "strings.Builder") || strings.Contains(tn, "bytes.Buffer") {
		return nil
	}
	name, add := s.Named("fmt")
	return append(add, s.Swap(n, name+".Sprint("+s.Of(sel.X)+")"))
}

// ofStrings are the functions of packages, and methods, on bytes with one on strings.
var ofStrings = map[string]string{
	"bytes.Index": "strings.Index", "bytes.Contains": "strings.Contains", "bytes.HasPrefix": "strings.HasPrefix",
	"bytes.HasSuffix": "strings.HasSuffix", "bytes.Count": "strings.Count", "bytes.LastIndex": "strings.LastIndex",
	"bytes.IndexByte": "strings.IndexByte", "bytes.LastIndexByte": "strings.LastIndexByte", "bytes.IndexAny": "strings.IndexAny",
	"bytes.ContainsAny": "strings.ContainsAny", "bytes.IndexRune": "strings.IndexRune", "bytes.EqualFold": "strings.EqualFold",
	"bytes.Compare": "strings.Compare", "bytes.IndexFunc": "strings.IndexFunc", "bytes.ContainsRune": "strings.ContainsRune",
	"unicode/utf8.DecodeRune": "unicode/utf8.DecodeRuneInString", "unicode/utf8.DecodeLastRune": "unicode/utf8.DecodeLastRuneInString",
	"unicode/utf8.RuneCount": "unicode/utf8.RuneCountInString", "unicode/utf8.Valid": "unicode/utf8.ValidString",
	"unicode/utf8.FullRune": "unicode/utf8.FullRuneInString",
}

// stringsForBytes asks of a string what was asked of bytes.
func stringsForBytes(s *source.File, n ast.Node) []corpus.Edit {
	c, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	f := s.Callee(c)
	if f == nil || f.Pkg() == nil {
		return nil
	}
	name, add, to := "", []corpus.Edit(nil), ""
	if f.Signature().Recv() != nil {
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if !ok || f.Pkg().Path() != "regexp" {
			return nil
		}
		to = map[string]string{"Match": "MatchString", "FindIndex": "FindStringIndex", "FindSubmatchIndex": "FindStringSubmatchIndex",
			"FindAllIndex": "FindAllStringIndex"}[f.Name()]
		name = s.Of(sel.X)
	} else if text := ofStrings[f.Pkg().Path()+"."+f.Name()]; text != "" {
		pkg := text[:strings.LastIndex(text, ".")]
		name, add = s.Named(pkg)
		to = f.Name()
		if pkg != "strings" {
			to = text[len(pkg)+1:]
		}
	}
	if to == "" {
		return nil
	}
	text := name + "." + to + "("
	for i, a := range c.Args {
		if i > 0 {
			text += ", "
		}
		if s.IsBytes(a) {
			text += "string(" + s.Of(a) + ")"
		} else {
			text += s.Of(a)
		}
	}
	return append(add, s.Swap(n, text+")"))
}

// copySubstring copies a part of a string.
func copySubstring(s *source.File, n ast.Node) []corpus.Edit {
	x, ok := n.(*ast.SliceExpr)
	if !ok || !s.IsString(x) || !s.IsString(x.X) {
		return nil
	}
	if a, ok := s.Parent(n).(*ast.AssignStmt); !ok || len(a.Rhs) != 1 {
		if _, ok := s.Parent(n).(*ast.ReturnStmt); !ok {
			return nil
		}
	}
	return []corpus.Edit{s.Swap(n, "string([]byte("+s.Of(n)+"))")}
}

// copySubslice hands a copy of a part of bytes to a function that reads it.
func copySubslice(s *source.File, n ast.Node) []corpus.Edit {
	x, ok := n.(*ast.SliceExpr)
	if !ok || !s.IsBytes(x) || x.High != nil && s.Zero(x.High) {
		return nil
	}
	c, ok := s.Parent(n).(*ast.CallExpr)
	if !ok {
		return nil
	}
	f := s.Callee(c)
	if f == nil || source.Writes.MatchString(f.Name()) {
		return nil
	}
	return []corpus.Edit{s.Swap(n, "append([]byte(nil), "+s.Of(n)+"...)")}
}

// keyMadeFirst makes a string of bytes before it asks a map.
func keyMadeFirst(s *source.File, n ast.Node) []corpus.Edit {
	x, ok := n.(*ast.IndexExpr)
	if !ok {
		return nil
	}
	c, ok := x.Index.(*ast.CallExpr)
	if _, is := s.TypeOf(x.X).Underlying().(*types.Map); !ok || !is || len(c.Args) != 1 || !s.Info.Types[c.Fun].IsType() ||
		!s.IsString(c) || !s.IsBytes(c.Args[0]) {
		return nil
	}
	name, add := s.Named("fmt")
	return append(add, s.Swap(c, name+`.Sprintf("%s", `+s.Of(c.Args[0])+")"))
}

// literalInFunction makes what a variable of the package holds in each call: bytes, a slice, or
// what another constructor makes of constants.
func literalInFunction(s *source.File, n ast.Node) []corpus.Edit {
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
		if !ok || v.Parent() != s.Pkg.Scope() || s.Assigns(fn.Body, v) || types.Implements(v.Type(), errorType) {
			return true
		}
		if made := literalOf(s, v); made != "" {
			out = []corpus.Edit{s.Insert(fn.Body.Lbrace+1, " "+v.Name()+" := "+made+";")}
		}
		return true
	})
	return out
}

// literalOf is the one line that makes a variable of the package.
func literalOf(s *source.File, v *types.Var) string {
	for _, f := range s.Files {
		for _, d := range f.Syntax.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				vs := spec.(*ast.ValueSpec)
				if len(vs.Names) != 1 || len(vs.Values) != 1 || s.Info.Defs[vs.Names[0]] != v {
					continue
				}
				if e := vs.Values[0]; !strings.Contains(f.Of(e), "\n") && ofConstants(s, e) {
					return f.Of(e)
				}
			}
		}
	}
	return ""
}

// ofConstants reports whether an expression makes memory of constants alone.
func ofConstants(s *source.File, e ast.Expr) bool {
	all := func(list []ast.Expr) bool {
		return len(list) > 0 && !slices.ContainsFunc(list, func(a ast.Expr) bool {
			if kv, ok := a.(*ast.KeyValueExpr); ok {
				a = kv.Value
			}
			return s.Info.Types[a].Value == nil
		})
	}
	switch e := e.(type) {
	case *ast.CompositeLit:
		_, ok := s.TypeOf(e).Underlying().(*types.Slice)
		return ok && all(e.Elts)
	case *ast.CallExpr:
		return all(e.Args) && s.Builtin(e, "make") == nil && s.Call(e, "regexp", "MustCompile") == nil && s.Call(e, "strings", "NewReplacer") == nil
	}
	return false
}

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// errorInFunction makes an error each time in place of one that the package holds.
func errorInFunction(s *source.File, n ast.Node) []corpus.Edit {
	id, ok := n.(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := s.Info.Uses[id].(*types.Var)
	if !ok || v.Parent() != s.Pkg.Scope() || v.Exported() {
		return nil
	}
	if _, ok := s.Parent(id).(*ast.ReturnStmt); !ok {
		return nil
	}
	made, f := errorOf(s, v)
	if made == "" || f == nil {
		return nil
	}
	for _, u := range s.Uses(v) {
		switch u.S.Parent(u.N).(type) {
		case *ast.BinaryExpr, *ast.CaseClause, *ast.CallExpr:
			return nil
		}
	}
	name, add := s.Named("errors")
	return append(add, s.Swap(id, name+".New("+made+")"))
}

// errorOf is the constant text of an error that the package holds.
func errorOf(s *source.File, v *types.Var) (string, *source.File) {
	for _, u := range s.Uses(v) {
		vs, ok := u.S.Parent(u.N).(*ast.ValueSpec)
		if !ok || len(vs.Names) != 1 || len(vs.Values) != 1 {
			continue
		}
		if args := s.Call(vs.Values[0], "errors", "New"); len(args) == 1 && s.Info.Types[args[0]].Value != nil {
			return u.S.Of(args[0]), u.S
		}
	}
	return "", nil
}

// appendFormatted has fmt append what a function of its own appended.
func appendFormatted(s *source.File, n ast.Node) []corpus.Edit {
	for _, f := range []struct{ name, verb string }{{"AppendInt", "%d"}, {"AppendUint", "%d"}, {"AppendQuote", "%q"}, {"AppendBool", "%t"}} {
		args := s.Call(n, "strconv", f.name)
		if args == nil || len(args) == 3 && s.Of(args[2]) != "10" {
			continue
		}
		name, add := s.Named("fmt")
		return append(add, s.Swap(n, name+".Appendf("+s.Of(args[0])+`, "`+f.verb+`", `+s.Of(args[1])+")"))
	}
	return nil
}

// writeOneByte writes a slice of one byte, and a string as a slice.
func writeOneByte(s *source.File, n ast.Node) []corpus.Edit {
	if recv, x := written1(s, n, "WriteByte"); recv != nil {
		return []corpus.Edit{s.Swap(n, s.Of(recv)+".Write([]byte{"+s.Of(x)+"})")}
	}
	if args := s.Call(n, "io", "WriteString"); len(args) == 2 {
		return []corpus.Edit{s.Swap(n, s.Of(args[0])+".Write([]byte("+s.Of(args[1])+"))")}
	}
	return nil
}
