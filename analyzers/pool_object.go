package analyzers

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/analyzers/internal/code"
)

// PoolObject reports heavy objects made for one use.
var PoolObject = poolObjectRule.analyzer("poolobject", poolObject)

var poolObjectRule = Rule{
	Code:  "pool-object",
	Title: "keep heavy objects in a sync.Pool and reset them",
	Why: "A compressor holds hundreds of kilobytes of tables, a decompressor tens, a JSON decoder its own read buffer: made for " +
		"each message they cost more than the message.",
	Before: "func pack(w http.ResponseWriter, p []byte) {\n\tz := gzip.NewWriter(w)\n\tz.Write(p)\n\tz.Close()\n}",
	After: "var writers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}\n\nfunc pack(w http.ResponseWriter, p []byte) {\n" +
		"\tz := writers.Get().(*gzip.Writer)\n\tdefer writers.Put(z)\n\tz.Reset(w)\n\tz.Write(p)\n\tz.Close()\n}",
	Silent: "the object is kept or passed on, or nothing shows that it is made often: no loop around it, no HTTP " +
		"message, " +
		"no data in memory that it works on.",
}

// heavy lists constructors, with what a call of each makes. The sizes are those
// of Go 1.26 on a 64-bit machine.
func heavy() map[string]string {
	list := make(map[string]string)
	for _, pkg := range []string{"compress/gzip", "compress/zlib", "compress/flate",
		"github.com/klauspost/compress/gzip", "github.com/klauspost/compress/zlib",
		"github.com/klauspost/compress/flate"} {
		list[pkg+".NewWriter"] = "a compressor with tables of several hundred KiB"
		list[pkg+".NewWriterLevel"] = list[pkg+".NewWriter"]
		list[pkg+".NewReader"] = "a decompressor with a window of 32 KiB"
	}
	for _, name := range []string{"NewWriter", "NewReader"} {
		list["github.com/klauspost/compress/zstd."+name] = "a coder with tables of megabytes and goroutines of its own"
	}
	return list
}

func poolObject(s *source) {
	for name, what := range heavy() {
		s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
			if s.madeOften(c, call.Args[0]) && s.endsHere(c) {
				s.Flag(call, "%s is made for one use: keep it in a sync.Pool and Reset it", what)
			}
		}, name)
	}
	s.checkDecoders()
	s.checkSeeds()
	s.checkLargeLocals()
}

// madeOften reports whether the source shows that the call at c, working on
// data, is made again and again.
func (s *source) madeOften(c inspector.Cursor, data ast.Expr) bool {
	if loop, ok := code.EnclosingLoop(c); ok && s.Repeats(c, loop) {
		return true
	}
	return s.inMemory(data) || s.isMessage(data)
}

// inMemory reports whether e reads from, or writes to, bytes in memory.
func (s *source) inMemory(e ast.Expr) bool {
	t := s.TypesInfo.TypeOf(e)
	return t != nil && (code.IsPointerTo(t, "bytes", "Buffer") || code.IsPointerTo(t, "bytes", "Reader") ||
		code.IsPointerTo(t, "strings", "Reader"))
}

// isMessage reports whether e is the body of an HTTP message or what answers one.
func (s *source) isMessage(e ast.Expr) bool {
	if code.IsNamed(s.TypesInfo.TypeOf(e), "net/http", "ResponseWriter") {
		return true
	}
	f := s.Field(e)
	return f != nil && f.Name() == "Body" && f.Pkg() != nil && f.Pkg().Path() == "net/http"
}

// endsHere reports whether the object at c dies in this function: it is used by
// its methods, and handed only to functions of the standard library that copy.
func (s *source) endsHere(c inspector.Cursor) bool {
	if isReceiver(c) || s.isCopyArgument(c) {
		return true
	}
	v, stmt := s.assignedTo(c)
	if v == nil {
		return false
	}
	for _, use := range s.Uses[v] {
		if stmt.Pos() <= use.Node().Pos() && use.Node().End() <= stmt.End() {
			continue
		}
		if !isReceiver(use) && !s.isCopyArgument(use) {
			return false
		}
	}
	return true
}

func (s *source) isCopyArgument(c inspector.Cursor) bool {
	if c.ParentEdgeKind() != edge.CallExpr_Args {
		return false
	}
	switch name := s.CalleeName(c.Parent().Node().(*ast.CallExpr)); {
	case name == "io.Copy", name == "io.CopyN", name == "io.ReadAll", name == "io/ioutil.ReadAll",
		name == "io.ReadFull":
		return true
	default:
		return strings.HasPrefix(name, "fmt.Fprint") || name == "io.WriteString"
	}
}

// checkDecoders looks at JSON decoders for one value.
func (s *source) checkDecoders() {
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		if !isReceiver(c) || c.Parent().Node().(*ast.SelectorExpr).Sel.Name != "Decode" {
			return
		}
		if _, looping := code.EnclosingLoop(c); looping && !s.isMessage(call.Args[0]) && !s.inMemory(call.Args[0]) {
			return
		}
		arg := ast.Unparen(call.Args[0])
		if _, ok := s.IsCallOf(arg, "bytes.NewReader", "bytes.NewBuffer"); ok {
			s.Flag(call, "a decoder copies to a buffer of its own what is in memory already: json.Unmarshal reads "+
				"it in place")
			return
		}
		if f := s.Field(arg); f != nil && s.isMessage(arg) && s.isRequest(arg) {
			s.Flag(call, "a decoder with a read buffer of its own is made for each request: read the body into a "+
				"pooled "+
				"bytes.Buffer and call json.Unmarshal")
		}
	}, "encoding/json.NewDecoder")
}

// isRequest reports whether e is the Body of an http.Request.
func (s *source) isRequest(e ast.Expr) bool {
	t := s.TypesInfo.TypeOf(ast.Unparen(e).(*ast.SelectorExpr).X)
	return code.IsPointerTo(t, "net/http", "Request") || code.IsNamed(t, "net/http", "Request")
}

// checkSeeds looks at generators of math/rand seeded from the clock.
func (s *source) checkSeeds() {
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		seed, ok := s.IsCallOf(call.Args[0], "math/rand.NewSource")
		if !ok || !s.usedHereOnly(c) || s.usedInLoop(c) {
			return
		}
		if _, ok := s.IsCallOf(seed.Args[0], "(time.Time).UnixNano", "(time.Time).Unix", "(time.Time).UnixMilli"); ok {
			s.Flag(call, "a generator with 5 KiB of state is made and seeded on each call: the functions of "+
				"math/rand/v2 need none")
		}
	}, "math/rand.New")
}

// usedInLoop reports whether the variable that the value at c is put into is
// used in a loop that does not make it anew.
func (s *source) usedInLoop(c inspector.Cursor) bool {
	v, _ := s.assignedTo(c)
	for _, use := range s.Uses[v] {
		if loop, ok := code.EnclosingLoop(use); ok && !loop.Contains(c) {
			return true
		}
	}
	return false
}

// maxStackVar is the size above which the compiler puts a declared variable on
// the heap whatever becomes of it (cmd/compile/internal/ir, MaxStackVarSize).
const maxStackVar = 128 << 10

// checkLargeLocals looks at variables that no stack takes.
func (s *source) checkLargeLocals() {
	s.Each(func(c inspector.Cursor) {
		decl := c.Node().(*ast.GenDecl)
		if c.ParentEdgeKind() != edge.DeclStmt_Decl || s.Cold(c) {
			return
		}
		for _, spec := range decl.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for _, name := range value.Names {
				s.checkLargeLocal(name)
			}
		}
	}, (*ast.GenDecl)(nil))
}

// addressKept reports whether the address of v goes anywhere but into a call: a
// constructor makes what its caller may pool.
func (s *source) addressKept(v *types.Var) bool {
	for _, use := range s.Uses[v] {
		if use.ParentEdgeKind() != edge.UnaryExpr_X || use.Parent().Node().(*ast.UnaryExpr).Op != token.AND {
			continue
		}
		if use.Parent().ParentEdgeKind() != edge.CallExpr_Args {
			return true
		}
	}
	return false
}

func (s *source) checkLargeLocal(name *ast.Ident) {
	v, ok := s.TypesInfo.Defs[name].(*types.Var)
	if !ok {
		return
	}
	if size := s.Sizeof(v.Type()); size > maxStackVar && !s.addressKept(v) {
		s.Flag(name, "%s has %d KiB, more than the stack takes: it is allocated and cleared on each call; keep it "+
			"in a sync.Pool",
			name.Name, size>>10)
	}
}
