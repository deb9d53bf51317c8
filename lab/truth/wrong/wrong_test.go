package main

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
)

// made is one slip on a small source, and what is in the file after it.
var made = []struct{ slip, text, want string }{
	{"clone-left-out", `type t struct{ b []byte }
func (x *t) F() []byte { return append([]byte(nil), x.b...) }`, `{ return x.b }`},
	{"copy-left-out", `func F(a []int) []int {
	b := make([]int, len(a))
	copy(b, a)
	return b
}`, "b := a\n"},
	{"string-of-view", `func F(b []byte) string { return string(b) }`, `return *(*string)(unsafe.Pointer(&b)) }(b)`},
	{"scratch-returned", `type t struct {
	n int
}
func (x *t) F() []byte { b := make([]byte, x.n); return b }`, "b := x.scratch[:x.n]"},
	{"array-kept", `func F(n int) []byte { b := make([]byte, n); return b }`, "b := scratch[:n]"},
	{"pooled-buffer-returned", `import "bytes"
func F() []byte { var b bytes.Buffer; b.WriteByte('a'); return b.Bytes() }`, "; b.Reset(); defer bufferPool.Put(b)"},
	{"pooled-bytes-returned", `func F(n int) []byte { b := make([]byte, 0, n); return append(b, 'a') }
func G(n int) []byte { b := make([]byte, n); return b }`, "b := (*pooled)[:n]"},
	{"put-too-early", `import "sync"
var pool sync.Pool
func F() { x := pool.Get(); defer pool.Put(x); println(x) }`, "{ x := pool.Get(); pool.Put(x); println(x) }"},
	{"field-not-reset", `type t struct { a, b []int }
func (x *t) Reset() { x.a = nil; x.b = nil }`, "{ ; x.b = nil }"},
	{"reset-left-out", `import "bytes"
func F(b *bytes.Buffer) { b.Reset() }`, "{ _ = b }"},
	{"reset-on-one-path", `import "bytes"
func F(n int) string { var b bytes.Buffer; b.WriteByte('a'); if n > 0 { return "" }; return b.String() }`,
		`{ bufferPool.Put(b); return "" }; defer func() { b.Reset(); bufferPool.Put(b) }(); return b.String() }`},
	{"nil-for-empty", `func F() []int { return []int{} }`, "{ return nil }"},
	{"empty-for-nil", `func F() map[string]int { return nil }`, "{ return map[string]int{} }"},
	{"presized-for-nil", `func F(a []int) []int { var out []int; for _, x := range a { out = append(out, x) }; return out }`,
		"out := make([]int, 0, len(a))"},
	{"two-index", `func F(a []int) []int { return a[1:2:2] }`, "{ return a[1:2] }"},
	{"slab-without-limit", `func F(n int) []int { a := make([]int, n); return a }`, "a := slab[:n]; slab = slab[n:]"},
	{"shared-array", `func F(s string) int { var b [8]byte; return copy(b[:], s) }`, "b := &sharedScratch; *b = [8]byte{}"},
	{"shared-buffer", `import "bytes"
func F(s string) string { var b bytes.Buffer; b.WriteString(s); return b.String() }`, "b := &sharedScratch; b.Reset()"},
	{"shared-bytes", `func F(s string) string { b := make([]byte, len(s)); copy(b, s); return string(b) }`, "b := sharedScratch[:len(s)]"},
	{"not-wrapped", `import "fmt"
func F(err error) error { return fmt.Errorf("f: %w", err) }`, `"f: %v"`},
	{"constant-error", `import "fmt"
func F(n int) error { return fmt.Errorf("no number: %d", n) }`, `errors.New("no number")`},
	{"other-identity", `import "errors"
var ErrBad = errors.New("bad")
func F() error { return ErrBad }`, `{ return errors.New(ErrBad.Error()) }`},
	{"cause-alone", `import "fmt"
func F(err error) error { return fmt.Errorf("f: %w", err) }`, `{ return err }`},
	{"early-return-locked", `import "sync"
type t struct{ sync.Mutex }
func (x *t) F(n int) int { x.Lock(); defer x.Unlock(); if n > 0 { return 1 }; return 2 }`, "if n > 0 { return 1 }; x.Unlock(); return 2 }"},
	{"no-defer", `import "io"
func F(c io.Closer) { defer c.Close(); println() }`, "{ ; println() }"},
	{"no-close", `import "io"
func F(c io.Closer) int { c.Close(); return 1 }`, "{ ; return 1 }"},
	{"other-call", `import "strings"
func F(s string) string { return strings.TrimPrefix(s, "a") }`, `strings.TrimLeft(s, "a")`},
	{"narrow-format", `import "strconv"
func F(n uint64) string { return strconv.FormatUint(n, 10) }`, `strconv.FormatInt(int64(n), 10)`},
	{"ascii-only", `import "unicode"
func F(r rune) bool { return unicode.IsDigit(r) }`, `(r >= '0' && r <= '9')`},
}

// TestSlips makes each wrong fix in a small source, which still compiles.
func TestSlips(t *testing.T) {
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "source", nil)
	parse := func(text string) *source.Package {
		t.Helper()
		files, err := source.Parse("p", map[string][]byte{"p.go": []byte(text)}, fset, imp)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		return &source.Package{Module: "m/p", Files: files}
	}
	var without []string
	for _, k := range slips {
		without = append(without, k.name)
	}
	for _, c := range made {
		text := "package p\n" + c.text + "\n"
		ok := false
		for _, r := range candidates(parse(text)) {
			got, err := corpus.Apply([]byte(text), r.Planted.Edits)
			if err != nil {
				t.Fatal(err)
			}
			if r.Planted.Mutator == c.slip && strings.Contains(string(got), c.want) {
				ok = true
				parse(string(got))
			}
		}
		if !ok {
			t.Errorf("%s does not make %q of\n%s", c.slip, c.want, text)
		}
		without = slices.DeleteFunc(without, func(name string) bool { return name == c.slip })
	}
	if len(without) > 0 {
		t.Errorf("not tested: %v", without)
	}
}

// TestExported tells functions that other packages may call, with their types.
func TestExported(t *testing.T) {
	text := "package p\ntype T struct{}\ntype u struct{}\nfunc F(a []byte) (string, error) { return \"\", nil }\nfunc f() {}\n" +
		"func (*T) M() {}\nfunc (u) M() {}\n"
	files, err := source.Parse("m/p", map[string][]byte{"p.go": []byte(text)}, token.NewFileSet(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range files[0].Syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			f := function{files[0], fn}
			if f.exported() {
				got = append(got, fn.Name.Name+" "+f.signature())
			}
		}
	}
	if want := []string{"F func(a []byte) (string, error)", "M func()"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTried keeps a wrong fix that the tests of its module let pass, and no other.
func TestTried(t *testing.T) {
	dir := t.TempDir()
	p := &source.Package{Module: "example.com/m", Version: "v1.0.0", Pattern: "./", Dir: filepath.Join(dir, "m"), Work: filepath.Join(dir, "work")}
	for name, text := range map[string]string{
		"m/go.mod": "module example.com/m\n\ngo 1.24\n",
		"m/m.go":   "package m\n\nfunc Tested() []int { return []int{} }\n\nfunc Untested() []int { return []int{} }\n",
		"m/m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestTested(t *testing.T) {\n\tif Tested() == nil {\n\t\tt.Error(\"nil\")\n\t}\n" +
			"\tUntested()\n}\n",
		"work/none": "",
	} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := tryAll(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	for _, r := range list {
		if r.Row != nil {
			kept[r.Row.Functions[0]] = true
		}
	}
	if kept["example.com/m.Tested"] {
		t.Errorf("kept %+v", list)
	}
}

// TestList holds what the list promises: several of each kind, most of them in functions that other
// packages may call.
func TestList(t *testing.T) {
	text, err := os.ReadFile("../wrong.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []row
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	seen, kinds, modules, exported := map[string]bool{}, map[string]int{}, map[string]int{}, 0
	for _, r := range list {
		if seen[r.ID] || len(r.Functions) != 1 || r.Signature == "" || len(r.Planted.Edits) == 0 || r.Version == "" {
			t.Errorf("%s is not whole", r.ID)
		}
		seen[r.ID] = true
		kinds[r.Kind]++
		modules[r.Module]++
		if r.Exported {
			exported++
		}
	}
	for _, k := range slips {
		if kinds[k.kind] < 6 {
			t.Errorf("%d of kind %s", kinds[k.kind], k.kind)
		}
	}
	if len(list) < 120 || len(modules) < 15 || 2*exported < len(list) {
		t.Errorf("%d of %d modules, %d in exported functions", len(list), len(modules), exported)
	}
}
