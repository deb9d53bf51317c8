package mutate

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// entered reports whether a statement may be put at the start of a function.
func entered(n ast.Node) (*ast.FuncDecl, bool) {
	fn, ok := n.(*ast.FuncDecl)
	return fn, ok && fn.Name.Name != "init" && fn.Name.Name != "main" && len(fn.Body.List) > 0
}

// closurePerCall hands a closure over what a function is called with to a hook that is off.
func closurePerCall(s *source.File, n ast.Node) []corpus.Edit {
	fn, ok := entered(n)
	if !ok || !s.Free("onCall", "callHook") {
		return nil
	}
	params := s.Params(fn, func(t types.Type) bool {
		switch t.Underlying().(type) {
		case *types.Basic, *types.Slice, *types.Pointer, *types.Map:
			return true
		}
		return false
	})
	if len(params) == 0 {
		return nil
	}
	return []corpus.Edit{s.Insert(fn.Body.Lbrace+1, " onCall(func() interface{} { return "+params[0].Name+" });"),
		s.Tail("var callHook func(what func() interface{})\n\nfunc onCall(what func() interface{}) {\n\tif callHook != nil {\n\t\tcallHook(what)\n\t}\n}")}
}

// labelsPerCall makes the labels of a counter that is off.
func labelsPerCall(s *source.File, n ast.Node) []corpus.Edit {
	fn, ok := entered(n)
	if !ok || !s.Free("countCall", "callCounter") {
		return nil
	}
	return []corpus.Edit{s.Insert(fn.Body.Lbrace+1, ` countCall(map[string]string{"call": "`+fn.Name.Name+`"});`),
		s.Tail("var callCounter func(labels map[string]string)\n\nfunc countCall(labels map[string]string) {\n\tif callCounter != nil {\n\t\tcallCounter(labels)\n\t}\n}")}
}

// spanPerCall begins and ends a span of a tracer that is off.
func spanPerCall(s *source.File, n ast.Node) []corpus.Edit {
	fn, ok := entered(n)
	if !ok || !s.Free("startSpan", "callSpan", "spanEnded") {
		return nil
	}
	return []corpus.Edit{s.Insert(fn.Body.Lbrace+1, ` defer startSpan("`+fn.Name.Name+`").end();`),
		s.Tail("type callSpan struct {\n\tname string\n\tends int\n}\n\nvar spanEnded func(*callSpan)\n\n" +
			"func startSpan(name string) *callSpan {\n\treturn &callSpan{name: name}\n}\n\n" +
			"func (s *callSpan) end() {\n\ts.ends++\n\tif spanEnded != nil {\n\t\tspanEnded(s)\n\t}\n}")}
}

// builderForConcat writes two strings to a builder that has no room for both.
func builderForConcat(s *source.File, n ast.Node) []corpus.Edit {
	b, ok := n.(*ast.BinaryExpr)
	if !ok || b.Op != token.ADD || !s.IsString(b) {
		return nil
	}
	if p, ok := s.Parent(b).(*ast.BinaryExpr); ok && p.Op == token.ADD {
		return nil
	}
	name, add := s.Named("strings")
	return append(add, s.Swap(n, "func(x, y string) string { var b "+name+".Builder; b.WriteString(x); b.WriteString(y); return b.String() }("+
		s.Of(b.X)+", "+s.Of(b.Y)+")"))
}
