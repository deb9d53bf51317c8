package mutate

// more are mutators on small sources, as planted.
var more = []struct{ mutator, text, want string }{
	{"no-headroom", `func f(n int) []int { return make([]int, n, 2*n) }`, `return make([]int, n) }`},
	{"append-for-index", `func f(a []int) []int { out := make([]int, len(a)); for i, x := range a { out[i] = x + 1 }; return out }`,
		`out := []int{}; for _, x := range a { out = append(out, x + 1) }`},
	{"clone-by-append", `import "slices"
func f(a []int) []int { return slices.Clone(a) }`, `for _, x := range list { out = append(out, x) }`},
	{"join-by-concat", `import "strings"
func f(a []string) string { return strings.Join(a, ",") }`, `if i > 0 { out += sep }; out += x }`},
	{"concat-for-builder", `import "strings"
func f(s string) string { var b strings.Builder; b.WriteString(s); b.WriteByte('x'); return b.String() }`,
		`var b string; b += s; b += string([]byte{'x'}); return b }`},
	{"concat-to-write", `import "bytes"
func f(b *bytes.Buffer, s string) {
	b.WriteString("a")
	b.WriteString(s)
}`, `b.WriteString("a" + s)`},
	{"literal-in-function", `var end = []byte("end")
func f() []byte { return end }`, `{ end := []byte("end"); return end }`},
	{"error-in-function", `import "errors"
var errBad = errors.New("bad")
func f() error { return errBad }`, `{ return errors.New("bad") }`},
	{"no-cache", `var known = map[string]int{}
func f(s string) int {
	if n, ok := known[s]; ok { return n }
	known[s] = len(s)
	return len(s)
}`, `_ = s
	known[s] = len(s)`},
	{"dropped-put", `import "sync"
var pool sync.Pool
func f() { x := pool.Get(); pool.Put(x) }`, `{ x := pool.Get(); _ = x }`},
	{"no-scratch", `type t struct{ b []byte }
func (x *t) f(s string) []byte { return append(x.b[:0], s...) }`, `append([]byte{}, s...)`},
	{"remade-for-reset", `import "bytes"
type t struct{ b *bytes.Buffer }
func (x *t) f() { x.b.Reset() }`, `{ x.b = new(bytes.Buffer) }`},
	{"map-remade", `type t struct{ m map[int]bool }
func (x *t) f() { clear(x.m) }`, `{ x.m = make(map[int]bool) }`},
	{"append-fresh", `func appendX(b []byte, s string) []byte { return append(b, s...) }
func f(b []byte) []byte { return appendX(b, "x") }`, `{ return append(b, appendX(nil, "x")...) }`},
	{"sprintf-verb", `import "strconv"
func f(b bool) string { return strconv.FormatBool(b) }`, `fmt.Sprintf("%t", b)`},
	{"sprint-stringer", `import "time"
func f(d time.Duration) string { return d.String() }`, `{ return fmt.Sprint(d) }`},
	{"append-formatted", `import "strconv"
func f(b []byte, i int64) []byte { return strconv.AppendInt(b, i, 10) }`, `fmt.Appendf(b, "%d", i)`},
	{"copy-substring", `func f(s string) string { return s[1:] }`, `{ return string([]byte(s[1:])) }`},
	{"copy-subslice", `import "bytes"
func f(b []byte) int { return bytes.IndexByte(b[1:], 'a') }`, `bytes.IndexByte(append([]byte(nil), b[1:]...), 'a')`},
	{"copied-twice", `func f(b []byte) string { return string(b) }`, `{ return string(append([]byte(nil), b...)) }`},
	{"defensive-copy", `func f(a []int) (n int) { for _, x := range a { n += x }; return n }`, `{ a = append(a[:0:0], a...); for`},
	{"strings-for-bytes", `import "bytes"
func f(b []byte) bool { return bytes.Contains(b, []byte("a")) }`, `strings.Contains(string(b), string([]byte("a")))`},
	{"key-made-first", `func f(m map[string]int, b []byte) int { return m[string(b)] }`, `m[fmt.Sprintf("%s", b)]`},
	{"sort-interface", `import "slices"
func f(a []string) { slices.Sort(a) }`, `sort.Sort(sort.StringSlice(a))`},
	{"write-one-byte", `import "bufio"
func f(w *bufio.Writer, c byte) { w.WriteByte(c) }`, `{ w.Write([]byte{c}) }`},
	{"heap-for-array", `func f(s string) byte { var b [64]byte; return append(b[:0], s...)[0] }`,
		`b := make([]byte, 64+len(s)); return append(b[:0], s...)[0]`},
	{"boxed-slice", `func f(n int) int { list := make([]int, 0, n); list = append(list, n); return list[0] }`,
		`list := make([]interface{}, 0, n); list = append(list, int(n)); return list[0].(int) }`},
	{"pointer-list", `type t struct{ a int }
func f(x t) int { var list []t; list = append(list, x, t{2}); return list[0].a }`,
		`var list []*t; list = append(list, pointerTo(x), &t{2}); return list[0].a }`},
	{"field-order", `type t struct { a, b int64 }
type u struct {
	p int64
	q int64
	a bool
	b bool
	c int32
}
func f() *u { return &u{} }`, `	a bool
	p int64
	b bool
	q int64`},
	{"closure-per-call", `func f(n int) int { return n }`, `{ onCall(func() interface{} { return n }); return n }`},
	{"labels-per-call", `func f(n int) int { return n }`, `{ countCall(map[string]string{"call": "f"}); return n }`},
	{"span-per-call", `func f(n int) int { return n }`, `{ defer startSpan("f").end(); return n }`},
	{"builder-for-concat", `func f(a, b string) string { return a + b }`, `b.WriteString(x); b.WriteString(y); return b.String() }(a, b)`},
	{"eager-error", `import "fmt"
func f(n int) error { if n < 0 { return fmt.Errorf("%d", n) }; return nil }`,
		`{ if failure := (fmt.Errorf("%d", n)); n < 0 { return failure }`},
	{"eager-value", `type t struct{ n int }
func f(n int) *t { if n > 0 { return &t{n} }; return nil }`, `if value := (&t{n}); n > 0 { return value }`},
	{"log-unguarded", `func f(n int) int { return n }`, `{ debugf("f %v", n); return n }`},
	{"context-value", `import "context"
func f(ctx context.Context) error { return ctx.Err() }`, `ctx = context.WithValue(ctx, callKey{}, "f");`},
	{"made-again", `import "strings"
func f(s string) string { l := strings.ToLower(s); return l + "/" + l }`,
		`{ _ = s; return strings.ToLower(s) + "/" + strings.ToLower(s) }`},
	{"no-capacity-check", `func f(b []byte, n int) []byte { if cap(b) < n { b = make([]byte, n) }; return b }`, `if true { b = make`},
	{"keys-first", `func f(m map[string]int) (n int) { for k, v := range m { n += v + len(k) }; return n }`,
		`for _, k := range func() (keys []string) { for k := range m { keys = append(keys, k) }; return keys }() { v := m[k]; n += v`},
	{"split-to-ask", `import "strings"
func f(s string) int { return strings.Count(s, ",") }`, `(len(strings.Split(s, ",")) - 1)`},
	{"any-key", `func f(a []string) int { m := map[string]int{}; for _, x := range a { m[x]++ }; return len(m) }`, `m := map[interface{}]int{};`},
	{"result-by-pointer", `type t struct{ n int }
func g(n int) t { return t{n} }
func f() int { return g(1).n }`, `func g(n int) *t { return &t{n} }
func f() int { return (*g(1)).n }`},
	{"copy-by-read-all", `import "io"
func f(w io.Writer, r io.Reader) { io.Copy(w, r) }`, `data, err := io.ReadAll(r)`},
	{"by-reflection", `import "encoding/binary"
func f(b []byte, n uint32) { binary.BigEndian.PutUint32(b, n) }`, `binary.Write(bytes.NewBuffer((b)[:0]), binary.BigEndian, uint32(n))`},
	{"wrapped-stream", `import "io"
func f(w io.Writer) { io.WriteString(w, "a") }`, `io.WriteString(io.MultiWriter(w), "a")`},
	{"compare-text", `import "bytes"
func f(a, b []byte) bool { return bytes.Equal(a, b) }`, `return x == y }(string(append([]byte(nil), a...)), string(b))`},
	{"range-over-runes", `func f(s string) (n int) { for _, r := range s { n += int(r) }; return n }`, `range []rune(s)`},
}
