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

// checkWrites looks at Write and WriteString with an argument that was only
// just converted to fit.
func (s *source) checkWrites() {
	s.Each(func(c inspector.Cursor) {
		call := c.Node().(*ast.CallExpr)
		fn, ok := typeutil.Callee(s.TypesInfo, call).(*types.Func)
		if !ok || s.Cold(c) {
			return
		}
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return
		}
		switch {
		case len(call.Args) == 1 && fn.Signature().Recv() != nil && fn.Name() == "Write":
			s.checkWrite(call, sel)
		case len(call.Args) == 1 && fn.Signature().Recv() != nil && fn.Name() == "WriteString":
			s.checkWriteString(call, sel)
		case fn.FullName() == "io.WriteString":
			if b, ok := s.StringOf(call.Args[1]); ok {
				s.Flag(call, "the bytes are copied to a string to be written: %s.Write(%s)",
					code.Brief(call.Args[0]), code.Brief(b))
			}
		}
	}, (*ast.CallExpr)(nil))
}

// checkWrite looks at w.Write([]byte(text)).
func (s *source) checkWrite(call *ast.CallExpr, sel *ast.SelectorExpr) {
	text, ok := s.BytesOf(call.Args[0])
	if !ok {
		return
	}
	w := s.TypesInfo.TypeOf(sel.X)
	if inner, ok := s.IsCallOf(text, "fmt.Sprintf", "fmt.Sprint", "fmt.Sprintln"); ok {
		s.Flag(call, "the text is made as a string, then copied to bytes: %s to the writer",
			fprint(s.CalleeName(inner)))
		return
	}
	// Where Write can be seen through, the compiler makes no copy.
	opaque := types.IsInterface(w) || code.IsPointerTo(w, "bufio", "Writer")
	if !opaque || code.IsTypeParam(w) {
		return
	}
	switch {
	case code.HasMethod(w, "WriteString"):
		s.Flag(call, "the string is copied to bytes to be written: %s.WriteString", code.Brief(sel.X))
	case s.IsConstant(text) && !isAnyWriter(w):
		s.Flag(call, "a constant is copied to the heap on each call: keep it in a package variable of type []byte")
	case isAnyWriter(w):
		s.Flag(call, "the string is copied to bytes to be written: io.WriteString asks the writer to take it as it is")
	}
}

// isAnyWriter reports whether w says nothing of the writer behind it but that
// it writes. Most such writers take strings too; connections and hashes do not.
func isAnyWriter(w types.Type) bool {
	return code.IsNamed(w, "io", "Writer") || code.IsNamed(w, "io", "WriteCloser") ||
		code.IsNamed(w, "io", "ReadWriter") ||
		code.IsNamed(w, "net/http", "ResponseWriter")
}

// fprint is the function of fmt that writes what the named one returns.
func fprint(sprint string) string { return strings.Replace(sprint, "fmt.S", "fmt.F", 1) }

// checkWriteString looks at w.WriteString(x) where x is made on the spot.
func (s *source) checkWriteString(call *ast.CallExpr, sel *ast.SelectorExpr) {
	w := s.TypesInfo.TypeOf(sel.X)
	if !code.IsWriter(w) {
		return
	}
	name := types.ExprString(sel.X)
	arg := ast.Unparen(call.Args[0])
	if b, ok := s.StringOf(arg); ok {
		s.Flag(call, "the bytes are copied to a string to be written: %s.Write(%s)", name, code.Brief(b))
		return
	}
	if inner, ok := s.IsCallOf(arg, "fmt.Sprintf", "fmt.Sprint", "fmt.Sprintln"); ok {
		s.Flag(call, "the text is made as a string to be written: %s to %s", fprint(s.CalleeName(inner)), name)
		return
	}
	if _, ok := s.IsCallOf(arg, "strings.Join"); ok {
		s.Flag(call, "the joined string is made to be written: write its parts to %s", name)
		return
	}
	if better, ok := s.appender(arg); ok && code.HasMethod(w, "AvailableBuffer") {
		s.Flag(call, "the number is made a string to be written: %s.Write(%s(%s.AvailableBuffer(), …))", name, better,
			name)
	}
}

// appender returns the function that appends what the call e makes a string of.
func (s *source) appender(e ast.Expr) (string, bool) {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return "", false
	}
	switch name := s.CalleeName(call); name {
	case "strconv.Itoa", "strconv.FormatInt":
		return "strconv.AppendInt", true
	case "strconv.FormatUint", "strconv.FormatFloat":
		return strings.Replace(name, "Format", "Append", 1), true
	case "strconv.Quote", "strconv.QuoteToASCII":
		return strings.Replace(name, "Quote", "AppendQuote", 1), true
	case "(time.Time).Format":
		return types.ExprString(call.Fun.(*ast.SelectorExpr).X) + ".AppendFormat", true
	}
	return "", false
}

// checkSearches looks at functions of package strings that are asked about
// bytes, and at regular expressions asked in the wrong form.
func (s *source) checkSearches() {
	s.EachCall(func(_ inspector.Cursor, call *ast.CallExpr) {
		name := call.Fun.(*ast.SelectorExpr).Sel.Name
		if _, ok := s.StringOf(call.Args[0]); !ok {
			return
		}
		if _, ok := s.StringOf(call.Args[1]); ok || s.IsConstant(call.Args[1]) ||
			!code.IsString(s.TypesInfo.TypeOf(call.Args[1])) {
			s.Flag(call, "the bytes are copied to a string to be searched: bytes.%s takes them as they are", name)
		}
	}, "strings.Contains", "strings.HasPrefix", "strings.HasSuffix", "strings.Index", "strings.IndexByte",
		"strings.LastIndex",
		"strings.Count", "strings.EqualFold", "strings.IndexAny", "strings.ContainsAny", "strings.IndexRune",
		"strings.ContainsRune")
	s.EachCall(func(_ inspector.Cursor, call *ast.CallExpr) {
		name := call.Fun.(*ast.SelectorExpr).Sel.Name
		if _, ok := s.StringOf(call.Args[0]); ok && strings.Contains(name, "String") {
			s.Flag(call, "the bytes are copied to a string to be matched: %s takes them as they are",
				strings.Replace(name, "String", "", 1))
		}
	}, "(*regexp.Regexp).MatchString", "(*regexp.Regexp).FindStringIndex", "(*regexp.Regexp).FindStringSubmatchIndex",
		"unicode/utf8.ValidString", "unicode/utf8.RuneCountInString")
}

// checkReaders looks at readers over a converted copy.
func (s *source) checkReaders() {
	s.EachCall(func(_ inspector.Cursor, call *ast.CallExpr) {
		if text, ok := s.BytesOf(call.Args[0]); ok {
			s.Flag(call, "the string is copied to be read: strings.NewReader(%s) reads it in place", code.Brief(text))
		}
	}, "bytes.NewReader")
	s.EachCall(func(_ inspector.Cursor, call *ast.CallExpr) {
		if b, ok := s.StringOf(call.Args[0]); ok {
			s.Flag(call, "the bytes are copied to be read: bytes.NewReader(%s) reads them in place", code.Brief(b))
		}
	}, "strings.NewReader")
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		if s.handedAsReader(c) {
			s.Flag(call, "the string is copied to be read: strings.NewReader reads it in place")
		}
	}, "bytes.NewBufferString")
}

// handedAsReader reports whether c is an argument whose parameter can only read.
func (s *source) handedAsReader(c inspector.Cursor) bool {
	kind, i := c.ParentEdge()
	if kind != edge.CallExpr_Args {
		return false
	}
	call := c.Parent().Node().(*ast.CallExpr)
	sig, ok := s.TypesInfo.TypeOf(call.Fun).Underlying().(*types.Signature)
	if !ok {
		return false
	}
	return code.IsNamed(code.Param(sig, i), "io", "Reader")
}

// checkRunes looks at conversions to []rune to see one rune after the other.
func (s *source) checkRunes() {
	s.Each(func(c inspector.Cursor) {
		text, ok := s.Conversion(c.Node().(*ast.CallExpr), code.IsRunes, code.IsString)
		if !ok || s.IsConstant(text) || s.Cold(c) {
			return
		}
		switch c.ParentEdgeKind() {
		case edge.RangeStmt_X:
			loop := c.Parent().Node().(*ast.RangeStmt)
			if loop.Key == nil || isBlank(loop.Key) {
				s.Flag(c.Node(), "the string is copied to runes to be walked through: range over %s itself",
					code.Brief(text))
			}
		case edge.IndexExpr_X:
			if s.IsInt(c.Parent().Node().(*ast.IndexExpr).Index, 0) {
				s.Flag(c.Node(), "the string is copied to runes to see the first: utf8.DecodeRuneInString(%s)",
					code.Brief(text))
			}
		}
	}, (*ast.CallExpr)(nil))
}

// checkRoundTrips looks at conversions there and back.
func (s *source) checkRoundTrips() {
	s.Each(func(c inspector.Cursor) {
		call := c.Node().(*ast.CallExpr)
		text, ok := s.BytesOf(call)
		if !ok || s.IsConstant(text) || s.Cold(c) {
			return
		}
		if _, ok := s.StringOf(text); ok {
			s.Flag(call, "the bytes are copied twice: bytes.Clone copies once")
			return
		}
		if inner, ok := s.IsCallOf(text, "(*bytes.Buffer).String"); ok {
			buf := code.Brief(inner.Fun.(*ast.SelectorExpr).X)
			s.Flag(call, "the buffer is copied to a string and back: %s.Bytes(), or bytes.Clone of it where the "+
				"buffer lives on", buf)
			return
		}
		if _, ok := s.IsCallOf(text, "fmt.Sprintf"); ok && !s.isWriteArgument(c) && s.Since(c, "go1.19") {
			s.Flag(call, "the text is made as a string, then copied to bytes: fmt.Appendf makes bytes")
		}
	}, (*ast.CallExpr)(nil))
}

// isWriteArgument reports whether c is what a Write gets, which checkWrites
// has a better word on.
func (s *source) isWriteArgument(c inspector.Cursor) bool {
	if c.ParentEdgeKind() != edge.CallExpr_Args {
		return false
	}
	sel, ok := c.Parent().Node().(*ast.CallExpr).Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Write"
}

// checkFoldedCompare looks at comparisons of lower-cased copies.
func (s *source) checkFoldedCompare() {
	s.Each(func(c inspector.Cursor) {
		b := c.Node().(*ast.BinaryExpr)
		if b.Op != token.EQL && b.Op != token.NEQ || s.Cold(c) {
			return
		}
		for _, fold := range []string{"strings.ToLower", "strings.ToUpper"} {
			_, left := s.IsCallOf(b.X, fold)
			_, right := s.IsCallOf(b.Y, fold)
			if left && right || left && s.isFolded(b.Y, fold) || right && s.isFolded(b.X, fold) {
				s.Flag(b, "%s makes a copy to be compared: strings.EqualFold compares in place", fold)
			}
		}
	}, (*ast.BinaryExpr)(nil))
}

// isFolded reports whether e is a constant that fold would not change, of
// letters that only fold to each other.
func (s *source) isFolded(e ast.Expr, fold string) bool {
	text, ok := s.ConstantString(e)
	if !ok {
		return false
	}
	folded := strings.ToLower(text)
	if fold == "strings.ToUpper" {
		folded = strings.ToUpper(text)
	}
	return text == folded && text != "" && strings.IndexFunc(text, func(r rune) bool { return r > 127 }) < 0
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}
