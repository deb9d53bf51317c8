package mutate

import (
	"go/importer"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/truth/source"
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
		`{ p := interface{}(new(int)).(*int); _ = p; return *p }`},
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
		without = append(without, m.Name)
	}
	for _, c := range slices.Concat(planted, more) {
		text := "package p\n" + c.text
		found := mutantsOf(t, text)
		i := slices.IndexFunc(found, func(m Mutant) bool { return m.Name == c.mutator })
		if i < 0 {
			t.Errorf("%s finds nothing in\n%s", c.mutator, text)
			continue
		}
		got, err := corpus.Apply([]byte(text), found[i].Edits)
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
		{"append-for-index", `func f(a []int) []int { out := make([]int, len(a)); for i := range a { if i > 1 { continue }; out[i] = i }; return out }`},
		{"append-for-index", `func f(a []int) []int { out := make([]int, len(a)+1); for i := range a { out[i] = i }; return out }`},
		{"concat-for-builder", `import ("fmt"; "strings")
func f(s string) string { var b strings.Builder; fmt.Fprint(&b, s); return b.String() }`},
		{"error-in-function", `import "errors"
var errBad = errors.New("bad")
func g(err error) bool { return err == errBad }
func f() error { return errBad }`},
		{"no-scratch", `func f(b []byte) []byte { b = b[:0]; return b }`},
		{"remade-for-reset", `import "bytes"
func f(b *bytes.Buffer) { b.Reset() }`},
		{"map-remade", `func f(m map[int]bool) { clear(m) }`},
		{"copy-subslice", `func read(b []byte) {}
func f(b []byte) { read(b[1:]) }`},
		{"defensive-copy", `func f(a []int) { a[0] = 1 }`},
		{"boxed-slice", `func f(n int) []int { list := make([]int, 0, n); list = append(list, n); return list }`},
		{"pointer-list", `type t struct{ a int }
func f(x t) *t { var list []t; list = append(list, x); return &list[0] }`},
		{"field-order", `type u struct { p int64; a bool; q int64; b bool }
func f() *u { return &u{} }`},
		{"eager-error", `import "fmt"
func f(a []int) error { if len(a) > 3 { return fmt.Errorf("%d", a[3]) }; return nil }`},
		{"eager-value", `type t struct{ n int }
func g() int { return 1 }
func f(n int) *t { if g() > 0 { return &t{n} }; return nil }`},
		{"made-again", `import "strings"
func f(s string) string { l := strings.ToLower(s); s = "a"; return l + s + l }`},
		{"no-capacity-check", `func f(b []byte, n int) []byte { if cap(b) < n { b = append(b, 1) }; return b }`},
		{"any-key", `type t struct{ m map[string]int }
func f(x *t) int { return len(x.m) }`},
		{"sprint-stringer", `type t struct{}
func (t) String() string { return "t" }
type u struct{ x t }
func (a u) String() string { return a.x.String() }`},
	} {
		for _, m := range mutantsOf(t, "package p\n"+c.text) {
			if m.Name == c.mutator {
				t.Errorf("%s makes %v of\n%s", m.Name, m.Edits, c.text)
			}
		}
	}
}

var (
	fset     = token.NewFileSet()
	standard = importer.ForCompiler(fset, "source", nil) // keeps what it has read
)

func mutantsOf(t *testing.T, text string) []Mutant {
	t.Helper()
	files, err := source.Parse("p", map[string][]byte{"p.go": []byte(text)}, fset, standard)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return All(files[0])
}
