// Package idiom has the edits for ways of writing that allocate more than another does: the facts are those of
// internal/prescribe/idiom.
package idiom

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

type site struct{ *code.Site }

func (s *site) place(e ast.Expr) idiom.Place { return Place(s.Site, e) }

// Place is an expression at a site, with the nodes around it from the function inwards.
func Place(s *code.Site, e ast.Expr) idiom.Place {
	var path []ast.Node
	for c := range s.Cur.Enclosing() {
		n := c.Node()
		if n != ast.Node(e) {
			path = append(path, n)
		}
		if _, ok := n.(*ast.FuncLit); ok && n != ast.Node(e) {
			break
		}
		if _, ok := n.(*ast.FuncDecl); ok {
			break
		}
	}
	slices.Reverse(path)
	return idiom.Place{Info: s.Info(), Expr: e, Path: path, Line: s.Line}
}

// CopyWithRoom makes a copy of a slice with room for what the next statement appends to it.
func CopyWithRoom(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok {
		return nil
	}
	grows, made := s.place(call).CopyGrows()
	if grows == nil || grows != call || ast.Unparen(grows.Args[0]) == ast.Expr(made) {
		return nil
	}
	src, empty := made.Args[0], false // empty: the copy of nothing is no nil
	if s.Builtin(made, "append") != nil {
		_, empty = ast.Unparen(made.Args[0]).(*ast.CompositeLit)
		src = made.Args[1]
	}
	t := s.Info().TypeOf(made)
	typ := s.TypeText(t)
	if typ == "" || !s.Pure(src) || code.IsString(s.Info().TypeOf(src)) {
		return nil
	}
	e := code.Edit{Text: fmt.Sprintf("make the copy of `%s` with room for what is appended to it", code.Brief(s.Source(src)))}
	size := fmt.Sprintf("len(%s)+%d", s.Source(src), len(grows.Args)-1)
	if grows.Ellipsis.IsValid() {
		more := grows.Args[1]
		if !s.Pure(more) {
			return nil
		}
		if !empty {
			e.Open = "an empty slice takes the place of nil where there are no elements"
		}
		size = fmt.Sprintf("len(%s)+len(%s)", s.Source(src), s.Source(more))
	}
	e.Changes = []code.Change{s.Replace(made, fmt.Sprintf("append(make(%s, 0, %s), %s...)", typ, size, s.Source(src)))}
	return []code.Edit{e}
}

// RoomAtOnce gives a slice that is made full room for what is appended to it.
func RoomAtOnce(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok {
		return nil
	}
	grows, made := s.place(call).FullGrows()
	if grows == nil || !s.Pure(made.Args[1]) {
		return nil
	}
	more := strconv.Itoa(len(grows.Args) - 1)
	if grows.Ellipsis.IsValid() {
		fn, _ := code.Function(s.Cur)
		list := grows.Args[1]
		if !s.Pure(list) || s.DeclaredAfter(list, made.Pos()) || s.Changed(list, fn.Node(), made.Pos(), grows.Pos()) {
			return nil
		}
		more = fmt.Sprintf("len(%s)", s.Source(list))
	}
	size := s.Source(made.Args[1])
	return []code.Edit{{Text: "make it with room for what is appended",
		Changes: []code.Change{s.Insert(s.Offset(made.Args[1].End()), fmt.Sprintf(", %s+%s", size, more))}}}
}

// HandOn hands a value itself to what formats it, in place of its text.
func HandOn(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok {
		return nil
	}
	value, _ := s.place(call).ForFormat()
	if value == "" {
		return nil
	}
	return []code.Edit{{Text: fmt.Sprintf("hand on `%s` itself: what formats it makes the text", code.Brief(value)),
		Open: "what gets it must not look for a string, nor format it when it has changed", Changes: []code.Change{s.Replace(call, s.Source(call.Fun.(*ast.SelectorExpr).X))}}}
}

// OneReplacer replaces several texts by one strings.Replacer of the package.
func OneReplacer(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	fn := code.Declaration(s.Cur)
	if !ok || fn == nil || fn.Recv == nil && fn.Name.Name == "init" {
		return nil
	}
	r := s.place(call).Replacements()
	pkg, imports, used := s.Use("strings", call.Pos())
	if len(r.Calls) < 2 || !used {
		return nil
	}
	last, first := r.Calls[0], r.Calls[len(r.Calls)-1]
	var pairs []string
	for _, c := range slices.Backward(r.Calls) {
		pairs = append(pairs, s.quoted(c.Args[1]), s.quoted(c.Args[2]))
	}
	name := s.FreshDeclared(strings.ToLower(fn.Name.Name[:1])+fn.Name.Name[1:]+"Replacer", fmt.Sprint(first.Pos()))
	start := fn.Pos()
	if fn.Doc != nil {
		start = fn.Doc.Pos()
	}
	e := code.Edit{Text: fmt.Sprintf("replace all %d texts by one strings.Replacer, `%s` of the package", len(r.Calls), name), Imports: imports,
		Changes: []code.Change{s.Insert(s.Offset(start), fmt.Sprintf("var %s = %s.NewReplacer(%s)\n\n", name, pkg, strings.Join(pairs, ", ")))}}
	replaced := fmt.Sprintf("%s.Replace(%s)", name, s.Source(first.Args[0]))
	if len(r.Stmts) < 2 {
		e.Changes = append(e.Changes, s.Replace(last, replaced))
		return []code.Edit{e}
	}
	from, to := r.Stmts[0], r.Stmts[len(r.Stmts)-1]
	if s.commentedBetween(from.Pos(), to.End()) {
		return nil
	}
	e.Changes = append(e.Changes, s.Replace(from.(*ast.AssignStmt).Rhs[0], replaced), code.Change{From: s.Offset(from.End()), To: s.Offset(to.End())})
	return []code.Edit{e}
}

// quoted is a constant text as the source may have it anywhere in the package.
func (s *site) quoted(e ast.Expr) string {
	if _, literal := ast.Unparen(e).(*ast.BasicLit); literal {
		return s.Source(e)
	}
	return strconv.Quote(constant.StringVal(s.Info().Types[e].Value))
}

func (s *site) commentedBetween(from, to token.Pos) bool {
	return slices.ContainsFunc(s.Syntax.Comments, func(g *ast.CommentGroup) bool { return from <= g.Pos() && g.End() <= to })
}

// AskAsType asks an error for its type without a variable whose address is handed on.
func AskAsType(on *code.Site) []code.Edit {
	s := &site{on}
	id, ok := s.Cur.Node().(*ast.Ident)
	if !ok || s.Cur.ParentEdgeKind() != edge.ValueSpec_Names || !s.Since("go1.26") || !s.place(id).OnlyErrorsAs() {
		return nil
	}
	spec := s.Cur.Parent().Node().(*ast.ValueSpec)
	stmt, listed := code.Statement(s.Cur)
	decl, isDecl := stmt.Node().(*ast.DeclStmt)
	if len(spec.Names) != 1 || len(spec.Values) > 0 || !listed || !isDecl || code.OnlySpec(decl) != spec || s.Commented(decl) {
		return nil
	}
	v := s.Local(id)
	if v == nil {
		return nil
	}
	fn, _ := code.Function(s.Cur)
	asked := s.asked(v, fn.Node())
	if asked == nil {
		return nil
	}
	leftmost := asked.Cond
	for b, ok := leftmost.(*ast.BinaryExpr); ok; b, ok = leftmost.(*ast.BinaryExpr) {
		if b.Op != token.LAND {
			return nil
		}
		leftmost = b.X
	}
	as, ok := leftmost.(*ast.CallExpr)
	if !ok || s.Callee(as) != "errors.As" {
		return nil
	}
	name := "_"
	for _, u := range s.Uses(v, fn) {
		n := u.Node()
		if n.Pos() >= as.End() {
			name = v.Name()
		}
		if n != ast.Node(id) && (n.Pos() < asked.Cond.Pos() || n.Pos() >= asked.Body.End()) {
			return nil
		}
	}
	yes := s.Fresh("ok", as.Pos())
	ask := fmt.Sprintf("%s.AsType[%s](%s)", s.Source(as.Fun.(*ast.SelectorExpr).X), s.Source(spec.Type), s.Source(as.Args[0]))
	return []code.Edit{{Text: fmt.Sprintf("ask for `%s` by errors.AsType", v.Name()), Gone: true, Changes: []code.Change{
		{From: s.Offset(decl.Pos()), To: s.Offset(decl.End())},
		s.Insert(s.Offset(asked.Cond.Pos()), fmt.Sprintf("%s, %s := %s; ", name, yes, ask)),
		s.Replace(as, yes),
	}}}
}

// asked is the one if statement whose condition asks errors.As for a variable; nil for none or several.
func (s *site) asked(v *types.Var, fn ast.Node) (found *ast.IfStmt) {
	several := false
	ast.Inspect(fn, func(n ast.Node) bool {
		n2, ok := n.(*ast.IfStmt)
		if !ok || n2.Init != nil {
			return true
		}
		ast.Inspect(n2.Cond, func(in ast.Node) bool {
			if id, ok := in.(*ast.Ident); ok && s.Local(id) == v && found != n2 {
				several = several || found != nil
				found = n2
			}
			return true
		})
		return true
	})
	if several {
		return nil
	}
	return found
}

// writers are the methods that write a text as Write writes bytes.
var writers = []string{"(*strings.Builder).WriteString", "(*bytes.Buffer).WriteString", "(*bufio.Writer).WriteString", "(*os.File).WriteString"}

// WriteBytes writes bytes as they are, where they are converted to a text to be written.
func WriteBytes(on *code.Site) []code.Edit {
	s := &site{on}
	conv, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || len(conv.Args) != 1 || !s.Info().Types[conv.Fun].IsType() || !code.IsString(s.Info().TypeOf(conv)) || !code.IsBytes(s.Info().TypeOf(conv.Args[0])) ||
		s.Cur.ParentEdgeKind() != edge.CallExpr_Args {
		return nil
	}
	call := s.Cur.Parent().Node().(*ast.CallExpr)
	b := s.Source(conv.Args[0])
	e := code.Edit{Text: fmt.Sprintf("write `%s` as bytes", code.Brief(b)), Gone: true}
	switch name := s.Callee(call); {
	case name == "io.WriteString":
		to := ast.Unparen(call.Args[0])
		if u, ok := to.(*ast.UnaryExpr); ok && u.Op == token.AND {
			to = u.X
		}
		if !s.Pure(to) {
			return nil
		}
		e.Changes = []code.Change{s.Replace(call, fmt.Sprintf("%s.Write(%s)", s.Source(to), b))}
	case slices.Contains(writers, name):
		e.Changes = []code.Change{s.Replace(call.Fun.(*ast.SelectorExpr).Sel, "Write"), s.Replace(conv, b)}
	default:
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok || !s.takesBytes(sel) {
			return nil
		}
		e.Changes = []code.Change{s.Replace(sel.Sel, "Write"), s.Replace(conv, b)}
	}
	return []code.Edit{e}
}

// takesBytes reports whether a method WriteString of the package only hands the bytes of its text to the method Write, and returns
// what that returns.
func (s *site) takesBytes(sel *ast.SelectorExpr) bool {
	method := s.Info().Selections[sel]
	if method == nil || method.Kind() != types.MethodVal || sel.Sel.Name != "WriteString" {
		return false
	}
	in, decl := s.FuncOf(method.Obj().(*types.Func))
	if decl == nil || decl.Body == nil || len(decl.Body.List) != 1 {
		return false
	}
	var e ast.Expr
	switch n := decl.Body.List[0].(type) {
	case *ast.ExprStmt:
		e = n.X
	case *ast.ReturnStmt:
		if len(n.Results) == 1 {
			e = n.Results[0]
		}
	}
	write, ok := e.(*ast.CallExpr)
	if !ok || len(write.Args) != 1 {
		return false
	}
	fn, _ := typeutil.Callee(in.Info(), write).(*types.Func)
	conv, ok := write.Args[0].(*ast.CallExpr)
	if fn == nil || !ok || len(conv.Args) != 1 || !in.Info().Types[conv.Fun].IsType() || fn.Name() != "Write" || fn.Signature().Recv() == nil {
		return false
	}
	if other, _, _ := types.LookupFieldOrMethod(s.Info().TypeOf(sel.X), true, s.Pkg.Types, "Write"); other != types.Object(fn) {
		return false // of a struct that embeds the writer
	}
	on, ok := ast.Unparen(write.Fun).(*ast.SelectorExpr)
	mine := method.Obj().(*types.Func).Signature()
	return ok && in.Local(conv.Args[0]) == mine.Params().At(0) && in.Local(on.X) == mine.Recv() &&
		code.IsBytes(fn.Signature().Params().At(0).Type()) && types.Identical(mine.Results(), fn.Signature().Results())
}

// NumberInPlace lets a method of math/big set the variable that its result replaces.
func NumberInPlace(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok {
		return nil
	}
	name := s.place(call).OwnNumber()
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if name == "" || !ok {
		return nil
	}
	return []code.Edit{{Text: fmt.Sprintf("let %s set `%s` itself", sel.Sel.Name, name), Changes: []code.Change{s.Replace(sel.X, name)}}}
}

// KeepResult keeps the result of a call that the function makes again, with what has not changed.
func KeepResult(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok {
		return nil
	}
	calls, _ := s.place(call).Again()
	if len(calls) < 2 {
		return nil
	}
	fn, _ := code.Function(s.Cur)
	first, ok := fn.FindNode(calls[0])
	if !ok {
		return nil
	}
	stmt, listed := code.Statement(first)
	if !listed || !s.evaluatedFirst(stmt.Node(), calls[0]) {
		return nil
	}
	called := s.Callee(calls[0])
	base := strings.ToLower(called[strings.LastIndexByte(called, '.')+1:])
	if base == "string" {
		base = "text"
	}
	name := s.Fresh(base, calls[0].Pos())
	e := code.Edit{Text: fmt.Sprintf("keep the result of `%s`", code.Brief(s.Source(calls[0]))),
		Changes: []code.Change{s.Before(stmt.Node(), fmt.Sprintf("%s := %s", name, s.Source(calls[0])))}}
	for _, c := range calls {
		e.Changes = append(e.Changes, s.Replace(c, name))
	}
	return []code.Edit{e}
}

// evaluatedFirst reports whether a statement evaluates a call each time, and no other call before it.
func (s *site) evaluatedFirst(stmt ast.Node, call *ast.CallExpr) bool {
	switch n := stmt.(type) {
	case *ast.AssignStmt, *ast.ReturnStmt, *ast.ExprStmt:
	case *ast.IfStmt:
		if n.Init != nil || call.Pos() >= n.Body.Pos() {
			return false
		}
	default:
		return false
	}
	first := true
	ast.Inspect(stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			first = first && (n == call || n.Lparen > call.Lparen || n.Rparen > call.Rparen)
		case *ast.UnaryExpr:
			first = first && (n.Op != token.ARROW || n.Pos() > call.Pos())
		}
		return first
	})
	return first
}
