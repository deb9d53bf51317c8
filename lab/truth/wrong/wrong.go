package main

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// slip finds places where one kind of wrong fix can be made.
type slip struct {
	name string // of what it does
	kind string // of what is wrong then
	why  string // what a caller sees
	find func(f function, n ast.Node) []corpus.Edit
}

// The kinds of wrong fixes.
const (
	aliased    = "aliased result"
	retained   = "retained pooled buffer"
	unreset    = "missing reset"
	nilEmpty   = "nil and empty"
	capacity   = "visible capacity"
	race       = "data race"
	otherError = "changed error"
	cleanup    = "lost cleanup"
	boundary   = "shifted at a boundary"
)

var slips = []slip{
	{"clone-left-out", aliased, "the result shares memory with what is kept", cloneLeftOut},
	{"copy-left-out", aliased, "the result shares memory with what it was made of", copyLeftOut},
	{"string-of-view", aliased, "the string changes with the bytes that it was made of", stringOfView},
	{"scratch-returned", aliased, "the next call overwrites the result", scratchReturned},
	{"array-kept", aliased, "the next call overwrites the result", scratchOfPackage},
	{"pooled-buffer-returned", retained, "the result is memory of a buffer that is back in its pool", bufferRetained},
	{"pooled-bytes-returned", retained, "the result is memory that is back in its pool", bytesRetained},
	{"put-too-early", retained, "others may take the thing out of its pool while it is used", putEarly},
	{"field-not-reset", unreset, "a reused object keeps what it was", fieldNotReset},
	{"reset-left-out", unreset, "a reused object keeps what it was", resetLeftOut},
	{"reset-on-one-path", unreset, "after an early return the pooled buffer keeps what was written", resetOnOnePath},
	{"nil-for-empty", nilEmpty, "the result is nil where it was empty", nilForEmpty},
	{"empty-for-nil", nilEmpty, "the result is empty where it was nil", emptyForNil},
	{"presized-for-nil", nilEmpty, "the result is empty where it was nil", presizedForNil},
	{"two-index", capacity, "an append to the result overwrites what comes after it", twoIndex},
	{"slab-without-limit", capacity, "an append to the result overwrites the next one", slabWithoutLimit},
	{"shared-array", race, "two goroutines write to one array", sharedArray},
	{"shared-buffer", race, "two goroutines write to one buffer", sharedBuffer},
	{"shared-bytes", race, "two goroutines write to one slice", sharedBytes},
	{"not-wrapped", otherError, "the cause is no longer found by errors.Is and errors.As", notWrapped},
	{"constant-error", otherError, "the text has lost its details", constantError},
	{"other-identity", otherError, "the error no longer equals the variable of the package", otherIdentity},
	{"cause-alone", otherError, "the text has lost what it said before the cause", causeAlone},
	{"early-return-locked", cleanup, "an early return leaves the lock taken", earlyReturnLocked},
	{"no-defer", cleanup, "what was undone at the end stays", noDefer},
	{"no-close", cleanup, "what was released stays", noClose},
	{"other-call", boundary, "another result for some arguments", otherCall},
	{"narrow-format", boundary, "another text for large or negative numbers", narrowFormat},
	{"ascii-only", boundary, "another result for text beyond ASCII", asciiOnly},
}

// function is one that is looked at.
type function struct {
	s  *source.File
	fn *ast.FuncDecl
}

// exported reports whether other packages may call the function.
func (f function) exported() bool {
	if !f.fn.Name.IsExported() || f.s.Pkg.Name() == "main" || strings.Contains(f.s.Pkg.Path(), "internal") {
		return false
	}
	o, _ := f.s.Info.Defs[f.fn.Name].(*types.Func)
	if o == nil {
		return false
	}
	recv := o.Signature().Recv()
	if recv == nil {
		return true
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := t.(*types.Named)
	return ok && n.Obj().Exported()
}

// signature is the type of the function as its package spells it.
func (f function) signature() string {
	o := f.s.Info.Defs[f.fn.Name]
	if o == nil {
		return ""
	}
	return types.TypeString(o.Type(), types.RelativeTo(f.s.Pkg))
}

// root is the variable that an expression of names and selectors begins with.
func (f function) root(e ast.Expr) types.Object {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.Ident:
			return f.s.Object(x)
		default:
			return nil
		}
	}
}

// foreign reports whether an expression is memory that others hold: a parameter, or a field of
// one or of the receiver.
func (f function) foreign(e ast.Expr) bool {
	o := f.root(e)
	v, ok := o.(*types.Var)
	return ok && source.Plain(e) && v.Parent() != f.s.Pkg.Scope() && f.s.Parameter(v) && f.fn.Pos() <= v.Pos() && v.Pos() <= f.fn.Body.Pos()
}

// returns are the statements that return, those of function literals left out.
func (f function) returns() []*ast.ReturnStmt {
	var out []*ast.ReturnStmt
	ast.Inspect(f.fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			out = append(out, n)
		}
		return true
	})
	return out
}

// returned reports whether a variable, or a slice of it, is a result of the function.
func (f function) returned(o types.Object) bool {
	for _, r := range f.returns() {
		for _, e := range r.Results {
			if f.root(e) == o && o != nil {
				return true
			}
		}
	}
	return false
}

// results are the types of the function's results.
func (f function) results() []types.Type {
	var out []types.Type
	if o, ok := f.s.Info.Defs[f.fn.Name].(*types.Func); ok {
		for v := range o.Signature().Results().Variables() {
			out = append(out, v.Type())
		}
	}
	return out
}

// hands reports whether a result of the function may share memory with what it made.
func (f function) hands() bool {
	for _, t := range f.results() {
		switch t.Underlying().(type) {
		case *types.Basic:
		case *types.Interface:
			if t.String() != "error" {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// generic reports whether the function or its receiver has type parameters.
func (f function) generic() bool {
	o, ok := f.s.Info.Defs[f.fn.Name].(*types.Func)
	return !ok || o.Signature().TypeParams().Len() > 0 || o.Signature().RecvTypeParams().Len() > 0
}

// owner is the struct that the function's pointer receiver points to, with the receiver's name.
func (f function) owner() (string, *source.File, *ast.StructType) {
	if f.fn.Recv == nil || len(f.fn.Recv.List[0].Names) != 1 {
		return "", nil, nil
	}
	star, ok := f.fn.Recv.List[0].Type.(*ast.StarExpr)
	if !ok {
		return "", nil, nil
	}
	id, ok := star.X.(*ast.Ident)
	if !ok {
		return "", nil, nil
	}
	for _, file := range f.s.Files {
		var found *ast.StructType
		ast.Inspect(file.Syntax, func(n ast.Node) bool {
			if t, ok := n.(*ast.TypeSpec); ok && t.TypeParams == nil && f.s.Info.Defs[t.Name] == f.s.Info.Uses[id] {
				found, _ = t.Type.(*ast.StructType)
			}
			return found == nil
		})
		if found != nil {
			return f.fn.Recv.List[0].Names[0].Name, file, found
		}
	}
	return "", nil, nil
}

// made is a local variable that a statement makes with make([]T, n), or with a length of 0.
func (f function) made(n ast.Node) (name string, elem ast.Expr, args []ast.Expr) {
	a, ok := n.(*ast.AssignStmt)
	if !ok || a.Tok.String() != ":=" || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return "", nil, nil
	}
	if _, ok := f.s.Parent(a).(*ast.BlockStmt); !ok {
		return "", nil, nil
	}
	call := f.s.Builtin(a.Rhs[0], "make")
	if len(call) < 2 {
		return "", nil, nil
	}
	t, ok := call[0].(*ast.ArrayType)
	if !ok || t.Len != nil || f.s.Of(a.Lhs[0]) == "_" {
		return "", nil, nil
	}
	return f.s.Of(a.Lhs[0]), t.Elt, call[1:]
}

// declared is a local variable of a type that a statement declares alone.
func (f function) declared(n ast.Node, typ string) *ast.Ident {
	d, ok := n.(*ast.DeclStmt)
	if !ok {
		return nil
	}
	g, ok := d.Decl.(*ast.GenDecl)
	if !ok || len(g.Specs) != 1 {
		return nil
	}
	v, ok := g.Specs[0].(*ast.ValueSpec)
	if !ok || v.Type == nil || len(v.Names) != 1 || len(v.Values) > 0 || types.TypeString(f.s.TypeOf(v.Type), nil) != typ {
		return nil
	}
	return v.Names[0]
}
