// Package suited knows where the better call of the library's table is one: what it needs of the arguments, of the result and
// of the calls beside it. Each condition is a fact about two functions. Calls without a condition suit everywhere.
package suited

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// condition is what the calls of functions need whose names begin with a text.
type condition struct {
	function string
	suits    func(idiom.Place) bool
}

// conditions; the first that fits a name counts.
var conditions = []condition{
	{"bytes.NewBufferString", readOnly},
	{"bytes.NewBuffer", emptyBytes},
	{"encoding/base32.NewEncoder", encodesOnce},
	{"encoding/base64.NewEncoder", encodesOnce},
	{"encoding/gob.New", ofStream},
	{"encoding/hex.NewEncoder", encodesOnce},
	{"encoding/json.NewDecoder", oneValue},
	{"encoding/json.(*Decoder).Decode", oneValue},
	{"encoding/json.Unmarshal", knownKeys},
	{"github.com/sirupsen/logrus.", chained},
	{"go.uber.org/zap.(*Logger).With", chained},
	{"golang.org/x/crypto/blake2", withoutKey},
	{"image.(*Paletted).", never},
	{"image.(*Uniform).", never},
	{"io/ioutil.ReadDir", namesOnly},
	{"log/slog.(*Logger).With", chained},
	{"net/http.CanonicalHeaderKey", constantFirst},
	{"net/http.Header.", constantFirst},
	{"net/textproto.", constantFirst},
	{"net/url.(*URL).Query", getsConstant},
	{"os.(*File).Readdir", namesOnly},
	{"path/filepath.Walk", walksNames},
	{"reflect.Value.Interface", asserted},
	{"reflect.Value.MapIndex", ofRangedKey},
	{"sort.Reverse", ofSlice},
	{"sort.Sort", ofSlice},
	{"sort.Stable", ofSlice},
	{"time.AfterFunc", capturesNothing},
	{"time.FixedZone", constantFirst},
}

// Conditional reports whether a function's better call needs something of the code around it.
func Conditional(function string) bool {
	return slices.ContainsFunc(conditions, func(c condition) bool { return strings.HasPrefix(function, c.function) })
}

// Call reports whether the better call of a function, which the place calls, does the same there.
func Call(function string, p idiom.Place) bool {
	for _, c := range conditions {
		if strings.HasPrefix(function, c.function) {
			return c.suits(p)
		}
	}
	return true
}

func never(idiom.Place) bool { return false }

// call is the place's call; nil for another expression.
func call(p idiom.Place) *ast.CallExpr {
	c, _ := ast.Unparen(p.Expr).(*ast.CallExpr)
	return c
}

// argument is an argument of the place's call; nil for none.
func argument(p idiom.Place, i int) ast.Expr {
	if c := call(p); c != nil && i < len(c.Args) {
		return ast.Unparen(c.Args[i])
	}
	return nil
}

func constantFirst(p idiom.Place) bool {
	a := argument(p, 0)
	return a != nil && p.Info.Types[a].Value != nil
}

// withoutKey reports whether a hash is made with nil for its key: only then a function sums up at once.
func withoutKey(p idiom.Place) bool {
	c := call(p)
	return c != nil && len(c.Args) == 1 && p.Info.Types[c.Args[0]].IsNil()
}

// emptyBytes reports whether a buffer begins empty: one with content is there to be read.
func emptyBytes(p idiom.Place) bool {
	a := argument(p, 0)
	if a == nil {
		return false
	}
	if m, ok := a.(*ast.CallExpr); ok && len(m.Args) >= 2 {
		id, ok := m.Fun.(*ast.Ident)
		size := p.Info.Types[m.Args[1]].Value
		return ok && p.Info.Uses[id] == types.Universe.Lookup("make") && size != nil && size.ExactString() == "0"
	}
	return p.Info.Types[a].IsNil()
}

// readOnly reports whether the call is an argument for a parameter of type io.Reader.
func readOnly(p idiom.Place) bool {
	if len(p.Path) == 0 {
		return false
	}
	outer, ok := p.Path[len(p.Path)-1].(*ast.CallExpr)
	if !ok {
		return false
	}
	sig, ok := p.Info.TypeOf(outer.Fun).(*types.Signature)
	if !ok {
		return false
	}
	at := slices.Index(outer.Args, p.Expr)
	return at >= 0 && at < sig.Params().Len() && sig.Params().At(at).Type().String() == "io.Reader"
}

// ofStream reports whether an encoder or decoder is for something else than a buffer in memory, whose content is read by itself.
func ofStream(p idiom.Place) bool {
	a := argument(p, 0)
	if a == nil {
		return false
	}
	switch strings.TrimPrefix(p.Info.TypeOf(a).String(), "*") {
	case "bytes.Buffer", "bytes.Reader", "strings.Reader", "strings.Builder":
		return false
	}
	return true
}

// ofSlice reports whether a sort.Interface is a slice: others may swap the elements of several.
func ofSlice(p idiom.Place) bool {
	a := argument(p, 0)
	if a == nil {
		return false
	}
	_, ok := p.Info.TypeOf(a).Underlying().(*types.Slice)
	return ok
}

// capturesNothing reports whether the function that a timer calls is the same each time.
func capturesNothing(p idiom.Place) bool {
	lit, ok := argument(p, 1).(*ast.FuncLit)
	if !ok {
		return argument(p, 1) != nil
	}
	free := true
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return free
		}
		if v, ok := p.Info.Uses[id].(*types.Var); ok && !v.IsField() && v.Parent() != nil && v.Pkg() != nil && v.Parent() != v.Pkg().Scope() && (v.Pos() < lit.Pos() || v.Pos() > lit.End()) {
			free = false
		}
		return free
	})
	return free
}
