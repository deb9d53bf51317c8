package analyzers

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/analyzers/internal/code"
)

// ReuseBuffer reports buffers and timers made again where one could serve.
var ReuseBuffer = reuseBufferRule.analyzer("reusebuffer", reuseBuffer)

var reuseBufferRule = Rule{
	Code:  "reuse-buffer",
	Title: "make the buffer once and empty it",
	Why: "A buffer that is made in each iteration grows in each; one made before the loop and emptied by Reset, " +
		"or by " +
		"buf[:0], keeps its capacity. The same holds for a timer made for each event.",
	Before: "for _, r := range records {\n\tvar buf bytes.Buffer\n\tr.encode(&buf)\n\tsend(buf.String())\n}",
	After:  "var buf bytes.Buffer\nfor _, r := range records {\n\tbuf.Reset()\n\tr.encode(&buf)\n\tsend(buf.String())\n}",
	Silent: "the buffer, or a slice of it, may outlive the iteration.",
}

func reuseBuffer(s *source) {
	s.checkLoopBuffers()
	s.checkLoopBufio()
	s.checkReadBuffers()
	s.checkTimeAfter()
	s.checkReadAll()
}

// checkLoopBuffers looks at a bytes.Buffer declared in a loop.
func (s *source) checkLoopBuffers() {
	s.Each(func(c inspector.Cursor) {
		v, stmt := s.declaresBuffer(c.Node())
		if v == nil || s.Cold(c) {
			return
		}
		if loop, ok := code.EnclosingLoop(c); ok && s.Repeats(c, loop) && s.staysInTrip(v, stmt) {
			s.Flag(stmt, "%s is made and grown in each iteration: make it before the loop and Reset it here", v.Name())
		}
	}, (*ast.AssignStmt)(nil), (*ast.DeclStmt)(nil))
}

// declaresBuffer returns the variable that stmt declares as an empty
// bytes.Buffer or a pointer to one.
func (s *source) declaresBuffer(stmt ast.Node) (*types.Var, ast.Node) {
	switch stmt := stmt.(type) {
	case *ast.AssignStmt:
		if stmt.Tok != token.DEFINE || len(stmt.Lhs) != 1 || !s.makesBuffer(stmt.Rhs[0]) {
			return nil, nil
		}
		return s.Object(stmt.Lhs[0]), stmt
	case *ast.DeclStmt:
		decl, ok := stmt.Decl.(*ast.GenDecl)
		if !ok || decl.Tok != token.VAR || len(decl.Specs) != 1 {
			return nil, nil
		}
		spec := decl.Specs[0].(*ast.ValueSpec)
		v := s.Object(spec.Names[0])
		if len(spec.Names) == 1 && len(spec.Values) == 0 && v != nil && code.IsNamed(v.Type(), "bytes", "Buffer") {
			return v, stmt
		}
	}
	return nil, nil
}

func (s *source) makesBuffer(e ast.Expr) bool {
	t := s.TypesInfo.TypeOf(e)
	if t == nil || !code.IsNamed(t, "bytes", "Buffer") && !code.IsPointerTo(t, "bytes", "Buffer") {
		return false
	}
	if call, ok := s.IsCallOf(e, "bytes.NewBuffer"); ok {
		return s.IsNil(call.Args[0]) || s.emptySlice(call.Args[0])
	}
	if _, ok := s.Builtin(e, "new"); ok {
		return true
	}
	return emptyBuilder(e)
}

// staysInTrip reports whether neither the buffer v nor its bytes can be seen
// after the trip: it is written to, and read as a string or into a writer.
func (s *source) staysInTrip(v *types.Var, decl ast.Node) bool {
	read := false
	for _, use := range s.Uses[v] {
		if decl.Pos() <= use.Node().Pos() && use.Node().End() <= decl.End() {
			continue
		}
		if s.inLiteral(use, decl) {
			return false
		}
		if isReceiver(use) {
			name := use.Parent().Node().(*ast.SelectorExpr).Sel.Name
			read = read || name == "String" || name == "WriteTo"
			if name == "Bytes" || name == "Next" || name == "AvailableBuffer" {
				return false
			}
			continue
		}
		if !s.isPrintTarget(use) {
			return false
		}
	}
	return read
}

// isPrintTarget reports whether c, or &c, is the first argument of fmt.Fprint.
func (s *source) isPrintTarget(c inspector.Cursor) bool {
	if c.ParentEdgeKind() == edge.UnaryExpr_X {
		c = c.Parent()
	}
	if c.ParentEdgeKind() != edge.CallExpr_Args || c.ParentEdgeIndex() != 0 {
		return false
	}
	name := s.CalleeName(c.Parent().Node().(*ast.CallExpr))
	return strings.HasPrefix(name, "fmt.Fprint") || name == "io.WriteString" || name == "io.Copy"
}

// checkLoopBufio looks at bufio readers and writers made in a loop.
func (s *source) checkLoopBufio() {
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		loop, ok := code.EnclosingLoop(c)
		if !ok || !s.Repeats(c, loop) || !s.usedHereOnly(c) {
			return
		}
		s.Flag(call, "a buffer of 4 KiB or more is made in each iteration: make it before the loop and Reset it here")
	}, "bufio.NewReader", "bufio.NewReaderSize", "bufio.NewWriter", "bufio.NewWriterSize")
}

// checkReadBuffers looks at byte slices of constant size made in a loop to
// read into.
func (s *source) checkReadBuffers() {
	s.Each(func(c inspector.Cursor) {
		assign := c.Node().(*ast.AssignStmt)
		if assign.Tok != token.DEFINE || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
			return
		}
		call, ok := s.Builtin(assign.Rhs[0], "make")
		if !ok || len(call.Args) != 2 || !s.IsConstant(call.Args[1]) || !code.IsBytes(s.TypesInfo.TypeOf(call)) {
			return
		}
		v := s.Object(assign.Lhs[0])
		loop, inLoop := code.EnclosingLoop(c)
		if v == nil || !inLoop || s.Cold(c) || !s.Repeats(c, loop) || !s.onlyFilled(v, assign) {
			return
		}
		s.Flag(assign, "%s is made in each iteration to be read into: make it before the loop", v.Name())
	}, (*ast.AssignStmt)(nil))
}

// onlyFilled reports whether the slice v is filled by a reader that the
// compiler cannot see through, and otherwise only looked at.
func (s *source) onlyFilled(v *types.Var, decl ast.Node) bool {
	filled := false
	for _, use := range s.Uses[v] {
		if decl.Pos() <= use.Node().Pos() && use.Node().End() <= decl.End() {
			continue
		}
		if s.inLiteral(use, decl) {
			return false
		}
		c := use
		if c.ParentEdgeKind() == edge.SliceExpr_X {
			c = c.Parent()
		}
		switch c.ParentEdgeKind() {
		case edge.IndexExpr_X:
			if c.Parent().ParentEdgeKind() == edge.UnaryExpr_X {
				return false
			}
		case edge.CallExpr_Args:
			fills, keeps := s.fillOrLook(c)
			filled = filled || fills
			if keeps {
				return false
			}
		default:
			return false
		}
	}
	return filled
}

// fillOrLook says what the call around the argument c does with it: fill it
// from a reader of unknown type, or perhaps keep it.
func (s *source) fillOrLook(c inspector.Cursor) (fills, keeps bool) {
	call := c.Parent().Node().(*ast.CallExpr)
	if _, ok := s.StringOf(call); ok {
		return false, false
	}
	for _, name := range []string{"len", "cap", "copy"} {
		if _, ok := s.Builtin(call, name); ok {
			return false, false
		}
	}
	fn, ok := typeutil.Callee(s.TypesInfo, call).(*types.Func)
	if !ok {
		return false, true
	}
	switch name := fn.FullName(); {
	case name == "io.ReadFull" || name == "io.ReadAtLeast":
		return true, false
	case strings.HasPrefix(name, "(encoding/binary."):
		return false, strings.Contains(name, "Append")
	case fn.Name() == "Read" && len(call.Args) == 1:
		recv := fn.Signature().Recv()
		return recv != nil && types.IsInterface(recv.Type()), false
	}
	return false, true
}

// checkTimeAfter looks at time.After as one of several cases in a loop.
func (s *source) checkTimeAfter() {
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		if c.ParentEdgeKind() != edge.UnaryExpr_X {
			return
		}
		for clause := range c.Enclosing((*ast.CommClause)(nil)) {
			sel := clause.Parent().Parent()
			loop, ok := code.EnclosingLoop(sel)
			cases := clause.Parent().Node().(*ast.BlockStmt).List
			comm := clause.Node().(*ast.CommClause).Comm
			if !ok || !s.Repeats(sel, loop) || comm == nil || call.Pos() > comm.End() || len(cases) < 2 ||
				s.otherCasesLeave(clause, cases) {
				return
			}
			s.Flag(call, "a timer and its channel are made in each iteration: make one with time.NewTimer and Reset it")
			return
		}
	}, "time.After")
}

// otherCasesLeave reports whether all cases but the timer's end the loop: the
// timers then come no faster than they fire.
func (s *source) otherCasesLeave(timer inspector.Cursor, cases []ast.Stmt) bool {
	for _, c := range cases {
		clause := c.(*ast.CommClause)
		if clause == timer.Node() {
			continue
		}
		if len(clause.Body) == 0 {
			return false
		}
		switch n := clause.Body[len(clause.Body)-1].(type) {
		case *ast.ReturnStmt:
		case *ast.BranchStmt:
			if n.Label == nil && n.Tok == token.BREAK || n.Tok == token.CONTINUE {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// checkReadAll looks at bytes read whole only to be decoded.
func (s *source) checkReadAll() {
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		v, stmt := s.assignedTo(c)
		if v == nil {
			return
		}
		decoded := false
		for _, use := range s.Uses[v] {
			if stmt.Pos() <= use.Node().Pos() && use.Node().End() <= stmt.End() {
				continue
			}
			if use.ParentEdgeKind() != edge.CallExpr_Args {
				return
			}
			parent := use.Parent().Node().(*ast.CallExpr)
			_, isLen := s.Builtin(parent, "len")
			_, decodes := s.IsCallOf(parent, "encoding/json.Unmarshal", "encoding/xml.Unmarshal")
			if !isLen && !decodes {
				return
			}
			decoded = decoded || decodes
		}
		if decoded {
			s.Flag(call, "ReadAll grows a new slice only for it to be decoded: read into a buffer that is kept or "+
				"pooled")
		}
	}, "io.ReadAll", "io/ioutil.ReadAll")
}
