package contract

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/heaptrim/heaptrim/internal/diagnose/alloc"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// Source is the typed syntax of a package.
type Source struct {
	Path  string
	Fset  *token.FileSet
	Files []*ast.File
	Info  *types.Info
}

// Static judges functions by their source and by what the compiler says of it.
type Static struct {
	funcs  map[*types.Func]*function
	escape map[string][]evidence.Escape // by file
	rel    func(string) string          // a file relative to the module
}

type function struct {
	decl *ast.FuncDecl
	src  *Source
	seen bool // is being judged: a function that calls itself adds nothing
	done *verdict
}

// verdict is what a function's code says.
type verdict struct {
	broken bool   // a value in it is on the heap
	why    string // what is, or what cannot be known
	at     Place
}

// proven reports that nothing in the function allocates.
func (v verdict) proven() bool { return v.why == "" }

// NewStatic takes packages, and the decisions of the compiler on them.
func NewStatic(sources []*Source, decisions []evidence.Escape, rel func(string) string) *Static {
	s := &Static{funcs: map[*types.Func]*function{}, escape: map[string][]evidence.Escape{}, rel: rel}
	for _, src := range sources {
		for _, f := range src.Files {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if obj, ok := src.Info.Defs[fn.Name].(*types.Func); ok {
					s.funcs[obj] = &function{decl: fn, src: src}
				}
			}
		}
	}
	for _, e := range decisions {
		file := rel(e.File)
		s.escape[file] = append(s.escape[file], e)
	}
	return s
}

// Judge says what is known of a contract on a function without running it. The state is empty if
// that cannot be told from its code.
func (s *Static) Judge(c Contract) Result {
	for obj, f := range s.funcs {
		if f.src.Path != c.Package || Function(f.decl) != c.Name {
			continue
		}
		v := s.judge(obj)
		switch {
		case v.proven():
			return Result{Contract: c, State: Proven}
		case v.broken && c.Directive == "noalloc":
			return Result{Contract: c, State: Broken, Why: v.why, At: v.at}
		}
		return Result{Contract: c, Why: v.why, At: v.at}
	}
	return Result{Contract: c, Why: "the function is not built here"}
}

func (s *Static) judge(obj *types.Func) verdict {
	f := s.funcs[obj]
	switch {
	case f == nil:
		return verdict{why: "the code of " + obj.FullName() + " is not of this module"}
	case f.done != nil:
		return *f.done
	case f.seen:
		return verdict{}
	}
	f.seen = true
	v := s.heap(f)
	if v.proven() {
		v = s.walk(f)
	}
	f.done = &v
	return v
}

func (s *Static) place(src *Source, at token.Pos) Place {
	p := src.Fset.Position(at)
	return Place{s.rel(p.Filename), p.Line}
}

// heap looks for a value that the compiler puts on the heap, in the function or in what is inlined
// there. What is made to panic with is not counted: the function does not return then.
func (s *Static) heap(f *function) verdict {
	first, last := s.place(f.src, f.decl.Pos()), s.place(f.src, f.decl.End())
	dying := s.panics(f)
	for _, e := range s.escape[first.File] {
		if e.Line < first.Line || e.Line > last.Line || dying[e.Line] || alloc.IsConstant(e.Expr) && e.Verb == evidence.EscapesToHeap ||
			alloc.KindOfExpr(e.Expr) == finding.KindGrowth { // it grows only if there is no room
			continue
		}
		text := fmt.Sprintf("`%s` escapes to heap", e.Expr)
		if e.Verb == evidence.MovedToHeap {
			text = fmt.Sprintf("the variable `%s` is moved to the heap", e.Expr)
		}
		return verdict{broken: true, why: text, at: Place{first.File, e.Line}}
	}
	return verdict{}
}

// panics are the lines of calls of panic.
func (s *Static) panics(f *function) map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(f.decl, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "panic" {
				for l := s.place(f.src, call.Pos()).Line; l <= s.place(f.src, call.End()).Line; l++ {
					lines[l] = true
				}
				return false
			}
		}
		return true
	})
	return lines
}

// walk looks for what allocates without a word of the compiler, and at what is called.
func (s *Static) walk(f *function) verdict {
	var found verdict
	if f.decl.Body == nil {
		return verdict{why: "the function has no body in Go", at: s.place(f.src, f.decl.Pos())}
	}
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		if n == nil || !found.proven() {
			return false
		}
		if v := s.node(f, n); !v.proven() {
			if v.at.File == "" || !v.broken {
				v.at = s.place(f.src, n.Pos())
			}
			found = v
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if id, is := ast.Unparen(callee(call, ok)).(*ast.Ident); ok && is && id.Name == "panic" {
			return false
		}
		return true
	})
	return found
}

func callee(call *ast.CallExpr, ok bool) ast.Expr {
	if !ok {
		return nil
	}
	return call.Fun
}

// node judges one statement or expression.
func (s *Static) node(f *function, n ast.Node) verdict {
	info := f.src.Info
	switch n := n.(type) {
	case *ast.GoStmt:
		return verdict{broken: true, why: "a go statement starts a goroutine"}
	case *ast.AssignStmt:
		for _, left := range n.Lhs {
			if index, ok := ast.Unparen(left).(*ast.IndexExpr); ok && isMap(info.TypeOf(index.X)) {
				return verdict{why: "a map that is assigned to may grow"}
			}
		}
	case *ast.BinaryExpr:
		if n.Op == token.ADD && isString(info.TypeOf(n)) && info.Types[n].Value == nil {
			return verdict{why: "joined strings that are long need memory"}
		}
	case *ast.CallExpr:
		return s.call(f, n)
	}
	return verdict{}
}

func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// call judges a call: a conversion, a builtin, or what is called.
func (s *Static) call(f *function, call *ast.CallExpr) verdict {
	info := f.src.Info
	if tv := info.Types[call.Fun]; tv.IsType() {
		return conversion(tv.Type, info.TypeOf(call.Args[0]), info.Types[call].Value != nil)
	}
	var id *ast.Ident
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = fun
	case *ast.SelectorExpr:
		id = fun.Sel
	case *ast.IndexExpr:
		if x, ok := fun.X.(*ast.Ident); ok {
			id = x
		}
	}
	if id == nil {
		return verdict{why: "the called function is not known"}
	}
	switch obj := info.Uses[id].(type) {
	case *types.Builtin:
		if obj.Name() == "append" {
			return verdict{why: "append may grow its slice"}
		}
		return verdict{}
	case *types.Func:
		obj = obj.Origin()
		if types.IsInterface(recv(obj)) {
			return verdict{why: "the method " + obj.Name() + " is of an interface"}
		}
		if free(obj) {
			return verdict{}
		}
		v := s.judge(obj)
		if !v.proven() && !strings.Contains(v.why, obj.Name()) {
			v.why = "in " + obj.Name() + ": " + v.why
		}
		return v
	}
	return verdict{why: "the called function " + id.Name + " is a value"}
}

func recv(f *types.Func) types.Type {
	if r := f.Signature().Recv(); r != nil {
		return r.Type()
	}
	return types.Typ[types.Int]
}

// conversion judges T(x): copies between strings and slices need memory if they are long.
func conversion(to, from types.Type, constant bool) verdict {
	_, slice := to.Underlying().(*types.Slice)
	_, ofSlice := from.Underlying().(*types.Slice)
	if !constant && (isString(to) && (ofSlice || !isString(from)) || slice && isString(from)) {
		return verdict{why: "a conversion between string and slice copies"}
	}
	return verdict{}
}

// freePackages have no function that allocates.
var freePackages = map[string]bool{"math": true, "math/bits": true, "sync/atomic": true, "unicode": true, "unicode/utf8": true,
	"unicode/utf16": true, "unsafe": true, "cmp": true}

// freePrefixes begin the functions of other packages that do not allocate.
var freePrefixes = map[string][]string{
	"bytes":           {"Equal", "Compare", "Contains", "Count", "Has", "Index", "LastIndex", "Trim", "Cut"},
	"strings":         {"EqualFold", "Compare", "Contains", "Count", "Has", "Index", "LastIndex", "TrimSpace", "TrimPrefix", "TrimSuffix", "Cut"},
	"slices":          {"Contains", "Index", "Equal", "Compare", "BinarySearch", "Max", "Min", "Reverse", "Sort"},
	"encoding/binary": {"Uint", "PutUint", "PutVarint", "PutUvarint", "Uvarint", "Varint"},
	"sync":            {"Lock", "Unlock", "TryLock", "RLock", "RUnlock"},
	"time":            {"Now", "Since", "Sub", "Add", "Before", "After", "Unix", "UnixNano", "Seconds", "Milliseconds", "Nanoseconds", "IsZero"},
}

func free(f *types.Func) bool {
	if f.Pkg() == nil {
		return true // of the language: error.Error is an interface's and does not come here
	}
	path := f.Pkg().Path()
	if freePackages[path] {
		return true
	}
	for _, p := range freePrefixes[path] {
		if strings.HasPrefix(f.Name(), p) {
			return true
		}
	}
	return false
}
