// Package copies has the edits that do without a copy of a slice or a text.
package copies

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// site adds to a site what the edits of this package ask of it.
type site struct{ *code.Site }

// NoRoundTrip takes a string or bytes where they are converted to the other and back.
func NoRoundTrip(on *code.Site) []code.Edit {
	s := &site{on}
	x, what := s.roundTrip()
	if x == nil {
		return nil
	}
	if what == immutable {
		return []code.Edit{s.instead(x)}
	}
	if edits := s.lastUse(x); edits != nil {
		return edits
	}
	if edits := s.original(x, what); edits != nil {
		return edits
	}
	return s.lent(x)
}

// handed puts the original in place of a copy that is handed to a function of the package, which only reads it.
func (s *site) handed(x ast.Expr) []code.Edit {
	kind, i := s.Cur.ParentEdge()
	if kind != edge.CallExpr_Args {
		return nil
	}
	call := s.Cur.Parent().Node().(*ast.CallExpr)
	fn, _ := typeutil.Callee(s.Info(), call).(*types.Func)
	file, decl := s.FuncOf(fn)
	if decl == nil || fn.Signature().Variadic() {
		return nil
	}
	c, _ := file.Root.FindNode(decl)
	for n, u := range file.Uses(fn.Signature().Params().At(i), c) {
		if n > 0 && (!code.Within(u, c) || !s.onlyRead(u)) { // first the parameter itself
			return nil
		}
	}
	edit := s.instead(x)
	edit.Open = fmt.Sprintf("`%s` must not change by another name while `%s` runs", s.Source(x), s.Source(call.Fun))
	return []code.Edit{edit}
}

// NoCopy takes the original where a copy of it is only read.
func NoCopy(on *code.Site) []code.Edit {
	s := &site{on}
	x, what := s.copied()
	if x == nil {
		return nil
	}
	if edits := s.lastUse(x); edits != nil && what == mutable {
		return edits
	}
	if edits := s.ownCopy(x); edits != nil {
		return edits
	}
	if edits := s.original(x, what); edits != nil || what != mutable {
		return edits
	}
	return s.lent(x)
}

// ownCopy drops a statement that puts a copy in the place of a variable itself.
func (s *site) ownCopy(x ast.Expr) []code.Edit {
	stmt, listed := code.Statement(s.Cur)
	if !listed {
		return nil
	}
	assign, ok := stmt.Node().(*ast.AssignStmt)
	if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || assign.Rhs[0] != s.Cur.Node() ||
		s.Local(x) == nil || s.Source(assign.Lhs[0]) != s.Source(x) || s.Commented(assign) {
		return nil
	}
	return []code.Edit{{Text: fmt.Sprintf("take `%s` itself instead of a copy", s.Source(x)),
		Open: fmt.Sprintf("`%s` must not be changed, here or by who gave it, while it is in use", s.Source(x)), Changes: []code.Change{s.Replace(assign, "")}}}
}

// AppendInPlace appends to a slice instead of to a copy of it that takes its place.
func AppendInPlace(on *code.Site) []code.Edit {
	s := &site{on}
	x, what := s.copied()
	if x == nil {
		x, what = s.roundTrip()
	}
	if x == nil || what != mutable || s.Cur.ParentEdgeKind() != edge.CallExpr_Args {
		return nil
	}
	outer := s.Cur.Parent()
	call := outer.Node().(*ast.CallExpr)
	if call.Args[0] != s.Cur.Node() || s.Builtin(call, "append") == nil && !s.appends(call) && !s.appendsOwn(call) {
		return nil
	}
	edit := s.instead(x)
	edit.Text = fmt.Sprintf("append to `%s` itself instead of to a copy", code.Brief(s.Source(x)))
	edit.Open = fmt.Sprintf("nothing that shares the memory of `%s` must be read afterwards", s.Source(x))
	switch kind, i := outer.ParentEdge(); {
	case kind == edge.AssignStmt_Rhs:
		assign := outer.Parent().Node().(*ast.AssignStmt)
		if len(assign.Rhs) == 1 && s.Source(assign.Lhs[0]) == s.Source(x) && !s.handsOn(x) {
			return []code.Edit{edit}
		}
	case kind == edge.ReturnStmt_Results && i == 0 && code.Declaration(s.Cur) != nil:
		fn, ok := s.Info().Defs[code.Declaration(s.Cur).Name].(*types.Func)
		if ok && appendStyle(fn) && fn.Signature().Params().At(0) == s.Local(x) {
			return []code.Edit{edit}
		}
	}
	return nil
}

// handsOn reports whether a function does more with a slice that it was handed than to read it, append to it and return
// it: who gets it, or keeps it, may rely on memory of its own.
func (s *site) handsOn(x ast.Expr) bool {
	v := s.Local(x)
	fn, _ := code.Function(s.Cur)
	params, _ := code.Signature(fn)
	return v != nil && v.Pos() >= params.Pos() && v.Pos() < params.End() && s.handsOnIn(v, fn)
}

func (s *site) handsOnIn(v *types.Var, fn inspector.Cursor) bool {
	return slices.ContainsFunc(s.Uses(v, fn), func(u inspector.Cursor) bool {
		switch u.ParentEdgeKind() {
		case edge.AssignStmt_Lhs, edge.ReturnStmt_Results, edge.IndexExpr_X, edge.RangeStmt_X, edge.SliceExpr_X:
			return !code.Within(u, fn)
		case edge.CallExpr_Args:
			call := u.Parent().Node().(*ast.CallExpr)
			if (s.Builtin(call, "append") != nil || s.appends(call)) && (call.Args[0] == u.Node() || call.Ellipsis.IsValid()) || s.Builtin(call, "len") != nil || s.Builtin(call, "cap") != nil || s.Builtin(call, "copy") != nil {
				return false
			}
			into, back := u.Parent().Parent().Node().(*ast.AssignStmt)
			return !back || len(into.Rhs) != 1 || s.Local(into.Lhs[0]) != v
		}
		return u.ParentEdgeKind() != edge.Field_Names
	})
}

// appends reports whether a call is to a function of the standard library that appends to its first argument and returns it.
func (s *site) appends(call *ast.CallExpr) bool {
	pkg, name, ok := strings.Cut(s.Callee(call), ".")
	return ok && strings.HasPrefix(name, "Append") && slices.Contains(appending, pkg)
}

// appendsOwn reports whether a call is to another function that appends to its first argument and returns it: one of the package,
// which does no more with it, or one of others, whose name is its contract.
func (s *site) appendsOwn(call *ast.CallExpr) bool {
	fn, _ := typeutil.Callee(s.Info(), call).(*types.Func)
	if fn == nil || !appendStyle(fn) {
		return false
	}
	if fn.Pkg() != s.Pkg.Types {
		return true
	}
	in, decl := s.FuncOf(fn)
	if decl == nil || decl.Body == nil {
		return false
	}
	c, _ := in.Root.FindNode(decl)
	return !(&site{&code.Site{File: in}}).handsOnIn(fn.Signature().Params().At(0), c)
}

// appending are packages whose functions that begin with Append do as append does, by their documentation.
var appending = []string{"strconv", "fmt", "unicode/utf8", "unicode/utf16", "encoding/binary"}

// appendStyle reports whether a function appends to its first parameter, as its name and its results say.
func appendStyle(fn *types.Func) bool {
	in, out := fn.Signature().Params(), fn.Signature().Results()
	return strings.HasPrefix(strings.ToLower(fn.Name()), "append") && in.Len() > 0 && out.Len() > 0 && types.Identical(in.At(0).Type(), out.At(0).Type())
}

// instead puts the original in place of the site.
func (s *site) instead(x ast.Expr) code.Edit {
	return code.Edit{Gone: true, Text: fmt.Sprintf("take `%s` itself instead of a copy", code.Brief(s.Source(x))),
		Changes: []code.Change{s.Replace(s.Cur.Node(), s.Source(x))}}
}

// original puts the original in place of a copy that is only read; none if it may be more than read.
func (s *site) original(x ast.Expr, what original) []code.Edit {
	edit := s.instead(x)
	switch {
	case what == part:
		edit.Open = fmt.Sprintf("`%s` may be a small part of a long string, which then stays in memory", s.Source(x))
	case s.onlyRead(s.Cur):
		if loop, ok := s.Cur.Parent().Node().(*ast.RangeStmt); ok && loop.Value != nil {
			if !s.Pure(x) || s.written(x, loop.Body) {
				return nil
			}
			edit.Open = fmt.Sprintf("the loop must not change `%s` by another name", s.Source(x))
		}
	case s.readAfterwards(x):
		edit.Open = fmt.Sprintf("`%s` must not change by another name while the copy is in use", s.Source(x))
	default:
		return nil
	}
	return []code.Edit{edit}
}

// What the original of a copy is.
type original int

const (
	immutable original = iota // a string, copied on the way through bytes
	part                      // a string, copied to let go of the memory around it
	mutable                   // a slice
)

// roundTrip is what the site converts to another type and back; nil for other expressions.
func (s *site) roundTrip() (x ast.Expr, what original) {
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !s.Info().Types[call.Fun].IsType() {
		return nil, 0
	}
	inner, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr)
	if !ok || len(inner.Args) != 1 || !s.Info().Types[inner.Fun].IsType() {
		return nil, 0
	}
	to, from, between := s.Info().TypeOf(call), s.Info().TypeOf(inner.Args[0]), s.Info().TypeOf(inner)
	switch {
	case !types.Identical(from, to):
	case code.IsString(to) && code.IsBytes(between):
		return inner.Args[0], immutable
	case code.IsBytes(to) && code.IsString(between):
		return inner.Args[0], mutable
	}
	return nil, 0
}

// copied is what the site clones; nil for other expressions.
func (s *site) copied() (x ast.Expr, what original) {
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok {
		return nil, 0
	}
	return s.cloneOf(call)
}

func (s *site) cloneOf(call *ast.CallExpr) (x ast.Expr, what original) {
	to := s.Info().TypeOf(call)
	switch s.Callee(call) {
	case "strings.Clone":
		return call.Args[0], part
	case "bytes.Clone", "slices.Clone":
		return s.sameType(call.Args[0], to)
	}
	if s.Builtin(call, "append") != nil && call.Ellipsis.IsValid() && len(call.Args) == 2 && s.EmptySlice(call.Args[0]) {
		return s.sameType(call.Args[1], to)
	}
	return nil, 0
}

func (s *site) sameType(x ast.Expr, to types.Type) (ast.Expr, original) {
	if !types.Identical(s.Info().TypeOf(x), to) {
		return nil, 0
	}
	return x, mutable
}

// readers are functions of the standard library that read the bytes of their arguments, do not
// keep them, and return nothing that refers to them. Of packages the functions that begin so.
var readers = []string{
	"bytes.Equal", "bytes.Compare", "bytes.Contains", "bytes.Count", "bytes.Index", "bytes.LastIndex", "bytes.HasPrefix",
	"bytes.HasSuffix", "bytes.EqualFold", "bytes.ToLower", "bytes.ToUpper", "bytes.Replace", "bytes.Join", "bytes.Repeat",
	"unicode/utf8.", "hash/crc32.Checksum", "hash/adler32.Checksum", "crypto/sha256.Sum", "crypto/sha1.Sum", "crypto/md5.Sum",
	"crypto/sha512.Sum", "encoding/hex.EncodeToString", "(*encoding/base64.Encoding).EncodeToString", "encoding/json.Unmarshal",
	"encoding/json.Valid", "(encoding/binary.littleEndian).Uint", "(encoding/binary.bigEndian).Uint", "(encoding/binary.ByteOrder).Uint", "encoding/binary.Uvarint",
	"encoding/binary.Varint", "(*bytes.Buffer).Write", "(*strings.Builder).Write", "(*bufio.Writer).Write", "(io.Writer).Write",
	"(hash.Hash).Write", "(*os.File).Write", "strings.", "strconv.Parse", "strconv.Quote", "strconv.Append",
}

// printers print the elements of a slice, by their kind alone if they have no methods.
var printers = []string{"fmt.Sprint", "fmt.Print", "fmt.Fprint", "fmt.Errorf"}

// onlyRead reports whether the place of a slice reads it and forgets it: a loop over its elements, an
// index, a copy, its length, a comparison, or a call that is known to.
func (s *site) onlyRead(at inspector.Cursor) bool {
	for at.ParentEdgeKind() == edge.ParenExpr_X {
		at = at.Parent()
	}
	switch at.ParentEdgeKind() {
	case edge.RangeStmt_X:
		return true
	case edge.IndexExpr_X:
		x := at.Parent()
		return x.ParentEdgeKind() != edge.AssignStmt_Lhs && x.ParentEdgeKind() != edge.IncDecStmt_X && x.ParentEdgeKind() != edge.UnaryExpr_X &&
			code.Basic(s.Info().TypeOf(x.Node().(ast.Expr))) != nil
	case edge.CallExpr_Args:
		call := at.Parent().Node().(*ast.CallExpr)
		switch {
		case s.Builtin(call, "len") != nil, s.Builtin(call, "copy") != nil && call.Args[1] == at.Node(),
			s.Builtin(call, "append") != nil && call.Ellipsis.IsValid() && call.Args[1] == at.Node():
			return true
		case s.Info().Types[call.Fun].IsType():
			return code.IsString(s.Info().TypeOf(call))
		}
		isOne := func(name string) bool { return strings.HasPrefix(s.Callee(call), name) }
		return slices.ContainsFunc(readers, isOne) || slices.ContainsFunc(printers, isOne) && plainElements(s.Info().TypeOf(at.Node().(ast.Expr)))
	}
	return false
}

// plainElements reports whether a type is a slice of values of basic kinds without methods, and has none itself.
func plainElements(t types.Type) bool {
	list, ok := t.Underlying().(*types.Slice)
	return ok && code.Plain(t) && code.Basic(list.Elem()) != nil && code.Plain(list.Elem())
}

// readAfterwards reports whether a copy is kept in a variable that is only read, by the function
// itself, and whether the function does not change the original after that.
func (s *site) readAfterwards(x ast.Expr) bool {
	if s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs || !s.Pure(x) {
		return false
	}
	assign := s.Cur.Parent().Node().(*ast.AssignStmt)
	fn, body := code.Function(s.Cur)
	if body == nil || assign.Tok != token.DEFINE || len(assign.Lhs) != 1 || s.Local(assign.Lhs[0]) == nil {
		return false
	}
	for _, u := range s.Uses(s.Local(assign.Lhs[0]), fn) {
		if u.Node() != assign.Lhs[0] && (!code.Within(u, fn) || !s.onlyRead(u)) {
			return false
		}
	}
	return !s.written(x, body)
}

// written reports whether code may change the elements of a slice, or what its name stands for, once
// the site has copied it: it is assigned to, handed to a call that is not known to read only, or its
// address is taken.
func (s *site) written(x ast.Expr, in ast.Node) bool {
	root := s.RootOf(x)
	if root == nil {
		return true
	}
	found := false
	c, ok := s.Root.FindNode(in)
	if !ok {
		return true
	}
	again := false // the code before the copy may run after it
	for range s.Cur.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.LabeledStmt)(nil)) {
		again = true
	}
	for id := range c.Preorder((*ast.Ident)(nil)) {
		if s.Info().ObjectOf(id.Node().(*ast.Ident)) != root || !again && id.Node().Pos() < s.Cur.Node().Pos() {
			continue
		}
		at := id
		for at.ParentEdgeKind() == edge.SelectorExpr_X {
			at = at.Parent()
		}
		if call, isCopy := at.Parent().Node().(*ast.CallExpr); isCopy {
			if y, _ := s.cloneOf(call); y != nil {
				continue
			}
		}
		if s.besides(at, x) {
			continue
		}
		for at.ParentEdgeKind() == edge.SliceExpr_X {
			at = at.Parent()
		}
		found = found || !s.onlyRead(at)
	}
	return found
}

// besides reports whether a name is of another field than an expression names.
func (s *site) besides(at inspector.Cursor, x ast.Expr) bool {
	sel, ok := at.Node().(*ast.SelectorExpr)
	if !ok {
		return false
	}
	m := s.Info().Selections[sel]
	one, other := s.Source(sel)+".", s.Source(x)+"."
	return m != nil && m.Kind() == types.FieldVal && !strings.HasPrefix(one, other) && !strings.HasPrefix(other, one)
}
