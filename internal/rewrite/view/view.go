// Package view has edits for texts that are made of bytes: the text takes the memory of the bytes instead of a copy.
package view

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// site is a place with questions about bytes.
type site struct{ *code.Site }

// BytesAsText makes a text of bytes without a copy, by unsafe.String, where a function made the bytes for itself and does not
// use them afterwards.
func BytesAsText(on *code.Site) []code.Edit {
	s := &site{on}
	conv, v := s.converted()
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil || !s.Since("go1.20") {
		return nil
	}
	o := &owned{site: s, v: v, fn: fn}
	uses := s.Uses(v, fn)
	if !o.last(uses) || slices.ContainsFunc(uses, func(u inspector.Cursor) bool { return !code.Within(u, fn) || !o.use(u) }) {
		return nil
	}
	length, ok := s.lengthOf(conv.Args[0])
	pkg, imports, free := s.Use("unsafe", conv.Pos())
	if !ok || !free {
		return nil
	}
	bytes := s.Source(ast.Unparen(conv.Args[0]))
	view := fmt.Sprintf("%s.String(%[1]s.SliceData(%[2]s), %[3]s)", pkg, bytes, length)
	if !types.Identical(s.Info().TypeOf(conv), types.Typ[types.String]) {
		view = fmt.Sprintf("%s(%s)", s.Source(conv.Fun), view)
	}
	return []code.Edit{{Text: fmt.Sprintf("let the text take the memory of `%s` instead of a copy, by unsafe.String", code.Brief(bytes)), Imports: imports,
		Open: strings.Join(append(o.open, "unsafe must be allowed"), "; "), Changes: []code.Change{s.Replace(conv, view)}}}
}

// converted returns the conversion to a string that the site is, and the local slice of bytes that it copies, or a part of it.
func (s *site) converted() (*ast.CallExpr, *types.Var) {
	conv, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || len(conv.Args) != 1 || !s.Info().Types[conv.Fun].IsType() || !code.IsString(s.Info().TypeOf(conv)) {
		return nil, nil
	}
	of := ast.Unparen(conv.Args[0])
	if part, ok := of.(*ast.SliceExpr); ok {
		of = part.X
	}
	v := s.Local(of)
	if v == nil || !types.Identical(v.Type().Underlying(), types.NewSlice(types.Typ[types.Byte])) {
		return nil, nil
	}
	return conv, v
}

// lengthOf is the length of a slice of bytes, as source: of a variable, or of a part of one between pure numbers.
func (s *site) lengthOf(e ast.Expr) (string, bool) {
	part, ok := ast.Unparen(e).(*ast.SliceExpr)
	if !ok {
		return fmt.Sprintf("len(%s)", s.Source(ast.Unparen(e))), true
	}
	for _, bound := range []ast.Expr{part.Low, part.High} {
		if bound != nil && (!s.Pure(bound) || !types.Identical(types.Default(s.Info().TypeOf(bound)), types.Typ[types.Int])) {
			return "", false
		}
	}
	length := fmt.Sprintf("len(%s)", s.Source(part.X))
	if part.High != nil {
		length = s.Source(part.High)
	}
	if part.Low != nil {
		length += " - " + s.Source(part.Low)
	}
	return length, true
}

// owned is a slice of bytes that a function makes for itself.
type owned struct {
	*site
	v    *types.Var
	fn   inspector.Cursor
	open []string // what the source does not prove
}

// ask adds a question, once.
func (o *owned) ask(question string) {
	if !slices.Contains(o.open, question) {
		o.open = append(o.open, question)
	}
}

// last reports whether no use follows the site, on any way through the function.
func (o *owned) last(uses []inspector.Cursor) bool {
	conv := o.Cur.Node()
	inside := func(u inspector.Cursor) bool { return conv.Pos() <= u.Node().Pos() && u.Node().Pos() < conv.End() }
	for c := range o.Cur.Enclosing((*ast.ReturnStmt)(nil), (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		switch n := c.Node().(type) {
		case *ast.ReturnStmt:
			return !slices.ContainsFunc(uses, func(u inspector.Cursor) bool {
				return n.Pos() <= u.Node().Pos() && u.Node().Pos() < n.End() && !inside(u)
			})
		case *ast.ForStmt:
			if o.v.Pos() < n.Body.Pos() {
				return false
			}
		case *ast.RangeStmt:
			if o.v.Pos() < n.Body.Pos() {
				return false
			}
		}
		break
	}
	return !slices.ContainsFunc(uses, func(u inspector.Cursor) bool { return u.Node().Pos() >= conv.End() })
}

// use reports whether a use leaves the bytes with the function, as far as the source shows.
func (o *owned) use(u inspector.Cursor) bool {
	at, sliced := u, false
	for at.ParentEdgeKind() == edge.SliceExpr_X || at.ParentEdgeKind() == edge.ParenExpr_X {
		at, sliced = at.Parent(), sliced || at.ParentEdgeKind() == edge.SliceExpr_X
	}
	switch at.ParentEdgeKind() {
	case edge.ValueSpec_Names:
		spec := at.Parent().Node().(*ast.ValueSpec)
		return len(spec.Values) == 0 || len(spec.Names) == 1 && o.made(spec.Values[0])
	case edge.AssignStmt_Lhs:
		return !sliced && o.set(at.Parent().Node().(*ast.AssignStmt))
	case edge.AssignStmt_Rhs: // a part of itself
		assign := at.Parent().Node().(*ast.AssignStmt)
		return sliced && len(assign.Lhs) == 1 && o.Local(assign.Lhs[0]) == o.v
	case edge.IndexExpr_X:
		address, is := at.Parent().Parent().Node().(*ast.UnaryExpr)
		return !is || address.Op != token.AND
	case edge.RangeStmt_X, edge.SliceExpr_Low, edge.SliceExpr_High:
		return true
	case edge.BinaryExpr_X, edge.BinaryExpr_Y: // with nil
		return true
	case edge.CallExpr_Args:
		return o.handed(at)
	}
	return false
}

// set reports whether an assignment gives the variable memory of its own.
func (o *owned) set(assign *ast.AssignStmt) bool {
	i := slices.IndexFunc(assign.Lhs, func(e ast.Expr) bool { return o.Local(e) == o.v })
	if len(assign.Rhs) == len(assign.Lhs) {
		return o.made(assign.Rhs[i])
	}
	return i == 0 && o.made(assign.Rhs[0])
}

// made reports whether an expression is memory that nothing else holds, as far as the source shows.
func (o *owned) made(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		return o.Local(e.X) == o.v
	case *ast.CompositeLit:
		return true
	case *ast.Ident:
		return o.Info().Types[e].IsNil()
	case *ast.CallExpr:
		if o.Builtin(e, "make") != nil {
			return true
		}
		if o.Info().Types[e.Fun].IsType() {
			from := o.Info().TypeOf(e.Args[0])
			return code.IsString(from) || o.Info().Types[e.Args[0]].IsNil()
		}
		if o.Builtin(e, "append") != nil {
			return o.RootOf(e.Args[0]) == o.v || o.made(e.Args[0])
		}
		name := o.Callee(e)
		if len(e.Args) > 0 && o.RootOf(e.Args[0]) == o.v && appends(name) || slices.Contains(makers, name) {
			return true
		}
		o.ask(fmt.Sprintf("%s must hand out memory that nothing else holds", code.Brief(o.Source(e.Fun))))
		return true
	}
	return false
}

// makers return bytes that nothing else holds.
var makers = []string{"io.ReadAll", "io/ioutil.ReadAll", "os.ReadFile", "io/ioutil.ReadFile", "encoding/json.Marshal", "encoding/json.MarshalIndent",
	"encoding/xml.Marshal", "encoding/hex.DecodeString", "(*encoding/base64.Encoding).DecodeString", "(*encoding/base32.Encoding).DecodeString",
	"bytes.Repeat", "bytes.ToUpper", "bytes.ToLower", "bytes.Clone"}

// appends reports whether a function of the standard library adds to the slice that it takes first and keeps nothing of it.
func appends(name string) bool {
	return strings.HasPrefix(name[strings.LastIndexByte(name, '.')+1:], "Append") && slices.Contains(adders, packageOf(name))
}

// adders are packages whose functions that begin with Append add to a slice of bytes.
var adders = []string{"strconv", "unicode/utf8", "fmt", "time", "math/big", "net/netip", "encoding/hex", "encoding/base64", "encoding/base32", "encoding/binary"}

// packageOf is the path of the package of a function or method, by its full name.
func packageOf(name string) string {
	of, _, _ := strings.Cut(strings.TrimLeft(name, "(*"), ")")
	dir, base := path.Split(of)
	base, _, _ = strings.Cut(base, ".")
	return dir + base
}

// handed reports whether the call that takes the bytes leaves them with the function, as far as the source shows.
func (o *owned) handed(arg inspector.Cursor) bool {
	call := arg.Parent().Node().(*ast.CallExpr)
	switch arg.Parent().Parent().Node().(type) {
	case *ast.GoStmt, *ast.DeferStmt:
		return false
	}
	if o.Info().Types[call.Fun].IsType() {
		return code.IsString(o.Info().TypeOf(call))
	}
	for _, name := range []string{"len", "cap", "copy", "clear", "min", "max"} {
		if o.Builtin(call, name) != nil {
			return true
		}
	}
	first := arg.Node() == ast.Node(call.Args[0])
	if o.Builtin(call, "append") != nil {
		return !first && call.Ellipsis.IsValid() || first && o.back(arg.Parent())
	}
	name := o.Callee(call)
	if first && appends(name) && o.back(arg.Parent()) || leaves(name) {
		return true
	}
	o.ask(fmt.Sprintf("%s must not keep `%s`, nor hand it on", code.Brief(o.Source(call.Fun)), o.v.Name()))
	return true
}

// back reports whether the result of a call is put back into the variable.
func (o *owned) back(call inspector.Cursor) bool {
	assign, ok := call.Parent().Node().(*ast.AssignStmt)
	return ok && len(assign.Rhs) == 1 && o.Local(assign.Lhs[0]) == o.v
}

// leaves reports whether a function of the standard library keeps nothing of the bytes that it is handed, and returns
// no part of them.
func leaves(name string) bool {
	switch packageOf(name) {
	case "unicode/utf8", "encoding/hex", "encoding/base64", "encoding/base32", "encoding/binary", "hash/crc32", "crypto/sha256", "crypto/md5", "crypto/sha1":
		return true
	}
	return slices.Contains([]string{"io.ReadFull", "io.ReadAtLeast", "crypto/rand.Read", "bytes.Equal", "bytes.Index", "bytes.IndexByte", "bytes.LastIndexByte",
		"bytes.Contains", "bytes.HasPrefix", "bytes.HasSuffix", "bytes.Compare", "bytes.Count"}, name)
}
