package main

import (
	"context"
	"go/ast"
	"go/importer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// planted is one mutator on a small source: body is a function's text or a whole file after the
// package clause, want what is in the file after it.
var planted = []struct{ mutator, text, want string }{
	{"slice-without-capacity", `func f(n int) []int { return make([]int, 0, n) }`, `return make([]int, 0) }`},
	{"map-without-size", `func f(n int) map[int]int { return make(map[int]int, n) }`, `return make(map[int]int) }`},
	{"no-grow", `import "strings"
func f(n int) string { var b strings.Builder; b.Grow(n); return b.String() }`, `; _ = n; return`},
	{"slices-no-grow", `import "slices"
func f(a []int) []int { return slices.Grow(a, 3) }`, `import _ "slices"
func f(a []int) []int { return a }`},
	{"made-in-function", `import "regexp"
var re = regexp.MustCompile("a")
func f(s string) bool { return re.MatchString(s) }`, `{ re := regexp.MustCompile("a"); return re.MatchString(s) }`},
	{"made-in-function", `var names = map[int]string{1: "a"}
func f(i int) string { return names[i] }`, `{ names := map[int]string{1: "a"}; return names[i] }`},
	{"no-pool", `import "sync"
var pool = sync.Pool{New: func() any { return new(int) }}
func f() int { p := pool.Get().(*int); defer pool.Put(p); return *p }`,
		`{ p := any(new(int)).(*int); _ = p; return *p }`},
	{"sprintf-number", `import "strconv"
func f(i int) string { return strconv.Itoa(i) }`, `{ return fmt.Sprintf("%d", i) }`},
	{"sprintf-concat", `func f(a, b string) string { return a + b }`, `package p; import "fmt"
func f(a, b string) string { return fmt.Sprintf("%s%s", a, b) }`},
	{"copy-bytes", `import "bytes"
func f(a []byte) int { return bytes.IndexByte(a, 1) }`, `bytes.IndexByte([]byte(string(a)), 1)`},
	{"buffer-for-builder", `import "strings"
func f() string { var b strings.Builder; b.WriteString("a"); return b.String() }`, `var b bytes.Buffer;`},
	{"split-for-cut", `import "strings"
func f(s string) string { a, _, _ := strings.Cut(s, ","); return a }`, `strings.SplitN(s, sep, 2); len(p) == 2`},
	{"split-for-seq", `import "strings"
func f(s string) (n int) { for x := range strings.SplitSeq(s, ",") { n += len(x) }; return n }`,
		`for _, x := range strings.Split(s, ",") {`},
	{"sort-slice", `import ("cmp"; "slices")
func f(a []int) { slices.SortFunc(a, func(x, y int) int { return cmp.Compare(x, y) }) }`,
		`{ sort.Slice(a, func(i, j int) bool { return (func(x, y int) int { return cmp.Compare(x, y) })(a[i], a[j]) < 0 }) }`},
	{"no-reset", `type t struct{ b []byte }
func (x *t) f() { x.b = x.b[:0] }`, `{ x.b = nil }`},
	{"box-write", `import "bytes"
func f(b *bytes.Buffer, s string) { b.WriteString(s) }`, `{ fmt.Fprintf(b, "%s", s) }`},
	{"range-over-copy", `func f(a []int) (n int) { for _, x := range a { n += x }; return n }`,
		`range append([]int(nil), a...) {`},
	{"copy-string", `import "strings"
func f(s string) int { return strings.Index(s, "a") }`, `strings.Index(string([]byte(s)), "a")`},
	{"format-then-append", `import "strconv"
func f(b []byte, i int64) []byte { return strconv.AppendInt(b, i, 10) }`,
		`{ return append(b, strconv.FormatInt(i, 10)...) }`},
	{"fresh-destination", `func f(b []byte, s string) []byte { return append(b, s...) }`,
		`{ return append(append([]byte(nil), b...), s...) }`},
	{"lower-to-compare", `import "strings"
func f(a, b string) bool { return strings.EqualFold(a, b) }`, `{ return (strings.ToUpper(a) == strings.ToUpper(b)) }`},
	{"write-converted", `import "bytes"
func f(b *bytes.Buffer, s string) { b.WriteString(s) }`, `{ b.Write([]byte(s)) }`},
}

// TestMutators plants each waste in a small source, which still is a correct program.
func TestMutators(t *testing.T) {
	var without []string
	for _, m := range mutators {
		without = append(without, m.name)
	}
	for _, c := range planted {
		text := "package p\n" + c.text
		found := mutantsOf(t, text)
		i := slices.IndexFunc(found, func(m mutant) bool { return m.name == c.mutator })
		if i < 0 {
			t.Errorf("%s finds nothing in\n%s", c.mutator, text)
			continue
		}
		got, err := corpus.Apply([]byte(text), found[i].edits)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got), c.want) {
			t.Errorf("%s makes\n%s\nwant in it\n%s", c.mutator, got, c.want)
		}
		mutantsOf(t, string(got)) // fails where it does not compile
		without = slices.DeleteFunc(without, func(name string) bool { return name == c.mutator })
	}
	if len(without) > 0 {
		t.Errorf("not tested: %v", without)
	}
}

// TestLeftAlone names sources in which a mutator must find nothing.
func TestLeftAlone(t *testing.T) {
	for _, c := range []struct{ mutator, text string }{
		{"slice-without-capacity", `func f(n int) []int { return make([]int, n, 2*n) }`},
		{"map-without-size", `func f(n int) []int { return make([]int, n) }`},
		{"made-in-function", `var count = 1
func f() int { return count }`},
		{"no-pool", `import "sync"
var pool sync.Pool
func f() any { return pool.Get() }`},
		{"sprintf-concat", `func f() string { return "a" + "b" }`},
		{"no-reset", `func f(a, b []int) []int { a = b[:0]; return a }`},
	} {
		for _, m := range mutantsOf(t, "package p\n"+c.text) {
			if m.name == c.mutator {
				t.Errorf("%s makes %v of\n%s", m.name, m.edits, c.text)
			}
		}
	}
}

var (
	fset     = token.NewFileSet()
	standard = importer.ForCompiler(fset, "source", nil) // keeps what it has read
)

func mutantsOf(t *testing.T, text string) []mutant {
	t.Helper()
	files, err := check(fset, "p", map[string][]byte{"p.go": []byte(text)}, standard)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return files[0].mutants()
}

// TestSpell names functions as a profile does.
func TestSpell(t *testing.T) {
	fset := token.NewFileSet()
	text := "package p\ntype t struct{}\ntype g[T any] struct{}\nfunc f() {}\nfunc (t) v() {}\nfunc (*t) p() {}\n" +
		"func (*g[T]) q() {}\nfunc h[T any]() {}"
	files, err := check(fset, "m/p", map[string][]byte{"p.go": []byte(text)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range files[0].file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			got = append(got, files[0].spell(fn))
		}
	}
	if want := []string{"m/p.f", "m/p.t.v", "m/p.(*t).p", "m/p.(*g[...]).q", "m/p.h[...]"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestPlant plants in a module of the test's own and finds the benchmark that allocates more.
func TestPlant(t *testing.T) {
	dir := t.TempDir()
	j := &journal{name: filepath.Join(dir, "tried.jsonl")}
	p := &target{module: "example.com/m", version: "v1.0.0", pattern: "./", dir: filepath.Join(dir, "m"), work: dir}
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n",
		"m.go":   "package m\n\nfunc Squares(n int) []int {\n\tout := make([]int, 0, n)\n\tfor i := range n {\n\t\tout = append(out, i*i)\n\t}\n\treturn out\n}\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nvar sink []int\n\nfunc BenchmarkSquares(b *testing.B) {\n" +
			"\tfor range b.N {\n\t\tsink = Squares(100)\n\t}\n}\n",
	} {
		if err := os.MkdirAll(p.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.plant(context.Background(), j); err != nil {
		t.Fatal(err)
	}
	if all, of := j.cases("slice-without-capacity"); all != 1 || of != 1 {
		t.Fatalf("%+v", j.rows)
	}
	c := j.rows[0].Case
	if c.Bench != "^BenchmarkSquares$" || c.Functions[0] != "example.com/m.Squares" || c.Sites[0] != (corpus.Site{File: "m.go", Line: 4}) ||
		c.Measured.After.Allocs != 1 || c.Measured.Before.Allocs <= 1 {
		t.Errorf("case %+v", c)
	}
	again, err := open(j.name)
	if err != nil || len(again.rows) != len(j.rows) {
		t.Fatalf("journal of %d rows read as %d: %v", len(j.rows), len(again.rows), err)
	}
	if err := p.plant(context.Background(), again); err != nil || len(again.rows) != len(j.rows) {
		t.Errorf("tried again: %+v, %v", again.rows, err)
	}
	if err := c.Planted.Plant(p.dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(p.dir, "m.go"))
	if err != nil || !strings.Contains(string(text), "make([]int, 0)\n") {
		t.Errorf("planted %v:\n%s", err, text)
	}
}

// TestAtMost takes no more than one of twenty from a module.
func TestAtMost(t *testing.T) {
	many := make([][]corpus.Case, 30)
	for i := range many {
		many[i] = make([]corpus.Case, 1+i%7)
	}
	with := func(most int) (total int) {
		for _, of := range many {
			total += min(len(of), most)
		}
		return total
	}
	most := 0
	for most < mostOfModule && (most+1)*20 <= with(most+1) {
		most++
	}
	if got := atMost(many); most == 0 || most == mostOfModule || len(got) != with(most) {
		t.Errorf("%d cases, want %d: %d of a module at most", len(got), with(most), most)
	}
}
