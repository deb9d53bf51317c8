package life

// program has cases: a comment "case NAME 0" marks the line of the birth, "case NAME 1" the line
// of the call in its caller, and so on.
const program = `package p

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"
)

type node struct {
	next *node
	name string
	buf  []byte
}

var global *node

var pool = sync.Pool{New: func() any { return new(node) }}

func newNode(name string) *node {
	return &node{name: name} // case result 0, case dies 0, case method 0, case global 0, case named 0, case goes 0
}

func exported() *node { return newNode("a") } // case result 1

func length() int {
	n := newNode("a") // case dies 1
	return len(n.name)
}

// The name comes out of the node, not the node.
func named() string {
	n := newNode("a") // case named 1
	return n.name
}

func (n *node) push() {
	m := newNode("b") // case method 1
	n.next = m
}

func outer() int {
	var root node
	root.push() // case method 2
	return len(root.name)
}

func remember() { global = newNode("c") } // case global 1

func spawn() {
	n := newNode("d") // case goes 1
	go func() { fmt.Println(n.name) }()
}

func (n *node) fill(size int) {
	n.buf = make([]byte, size) // case field 0, case owner 0
}

func (n *node) Reset() { n.fill(10) } // case field 1

func use(w io.Writer) error {
	n := &node{}
	n.fill(100) // case owner 1
	_, err := w.Write(n.buf)
	return err
}

func pooled(size int) {
	n := pool.Get().(*node)
	n.buf = make([]byte, size) // case pooled 0
	pool.Put(n)
}

func text(b []byte) string { return string(b) } // case text 0, case compared 0

func compared(b []byte) bool { return text(b) == "x" } // case compared 1

func trimmed(b []byte) string { return strings.TrimSpace(text(b)) } // case text 1

func opaque(f func([]byte), n int) {
	b := make([]byte, n) // case opaque 0
	f(b)
}

type sink interface{ Take([]byte) }

func given(s sink, n int) {
	b := make([]byte, n) // case iface 0
	s.Take(b)
}

func joined(xs []string) string {
	s := ""
	for _, x := range xs {
		s += x // case concat 0
	}
	return s
}

func collected(n int) []*node {
	var out []*node
	for range n {
		out = append(out, newNode("e")) // case element 0
	}
	return out
}

func counted(n int) int { return len(collected(n)) } // case element 1

func grown(xs []int) int {
	var out []int
	for _, x := range xs {
		out = append(out, x) // case grown 0
	}
	return len(out)
}

func mapped(xs []string) map[string]int {
	m := map[string]int{}
	for _, x := range xs {
		m[x]++ // case table 0
	}
	return m
}

func distinct(xs []string) int { return len(mapped(xs)) } // case table 1

func reader(s string) (n int) {
	sc := bufio.NewReader(strings.NewReader(s)) // case reader 0
	for {
		if _, err := sc.ReadByte(); err != nil {
			return n
		}
		n++
	}
}

func built(xs []string) string {
	var b bytes.Buffer
	for _, x := range xs {
		b.WriteString(x) // case buffer 0
	}
	return b.String()
}

func builder(xs []string) string {
	var b strings.Builder
	for _, x := range xs {
		b.WriteString(x) // case builder 0
	}
	return b.String()
}

// A reader lends parts of a Buffer's memory.
type lender struct{ all []byte }

func (p *lender) first(n int) []byte { return p.all[:n] }

func gather(text string) *lender {
	b := new(bytes.Buffer)
	b.WriteString(text) // case lent 0
	return &lender{b.Bytes()}
}

func Lent(text string) *node {
	p := gather(text) // case lent 1
	return &node{buf: p.first(3)}
}

func bytesOf(xs []string) []byte {
	var b bytes.Buffer
	for _, x := range xs {
		b.WriteString(x) // case bytes 0
	}
	return b.Bytes()
}

func lettered(r rune) int {
	s := string(r) // case rune 0
	return len(s)
}

func failing(n int) error {
	if n < 0 {
		return nil
	}
	return errors.New(fmt.Sprintf("bad %d", n)) // case error 0
}

func sorted(xs []int) {
	ys := make([]int, len(xs)) // case sorted 0
	copy(ys, xs)
	sort.Slice(ys, func(i, j int) bool { return ys[i] < ys[j] })
	xs[0] = ys[0]
}

type shape interface{ area() int }

type square struct{ a, b, c int }

func (s *square) area() int { return s.a }

func boxed(n int) int {
	var s shape = &square{a: n} // case boxed 0
	return measure(s)
}

func measure(s shape) int { return s.area() }

func deferred(n int) int {
	add := func() { n++ } // case closure 0
	defer add()
	return n
}

func twice[T any](v T, n int) []T {
	out := make([]T, 0, n) // case generic 0
	return append(out, v, v)
}

func each(xs []node, f func(n node) bool) {
	for _, x := range xs {
		if !f(x) { // case inner 1
			return
		}
	}
}

func addresses(xs []node) []*node {
	var out []*node
	each(xs, func(n node) bool { // case param 0, case inner 2
		out = append(out, &n) // case literal 0, case inner 0
		return true
	})
	return out
}

func joinedWork(n int) int {
	var wg sync.WaitGroup
	parts := make([]int, n) // case waited 0
	for i := range parts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			parts[i] = i
		}()
	}
	wg.Wait()
	return parts[0]
}

func pairOf(n int) []int { return make([]int, n) } // case pair 0

func sameLength(a, b int) bool { return len(pairOf(a)) == len(pairOf(b)) } // case pair 1

type counter struct{ v uint32 }

func (c *counter) load(key []byte) string {
	_ = atomic.LoadUint32(&c.v)
	return string(key) // case atomic 0
}

func seen(c *counter, m map[string]int, key []byte) int { return m[c.load(key)] } // case atomic 1

func parsed(text string) *big.Int {
	n, _ := new(big.Int).SetString(text, 10) // case chain 0
	return n
}

func digits(b []byte) *big.Int {
	n, _ := new(big.Int).SetString(string(b), 10) // case looked 0
	return n
}

type tree struct{ left, right *tree }

func (t *tree) leaf() *tree {
	for t.left != nil {
		t = t.left
	}
	return t
}

func (t *tree) grow() {
	t.leaf().left = new(tree) // case leaf 0
}

func depth() int {
	var root tree
	root.grow() // case leaf 1
	if root.left != nil {
		return 1
	}
	return 0
}

func four() int { return len(twice(1, 4)) } // case generic 1

// Of a function that its package alone can call, the calls are known.
func fresh(n int) []int { return make([]int, n) } // case lone 0

func lengthOf(n int) int { return len(again(n)) }

func again(n int) []int { return fresh(n) }

func chosen(n int) []int { return make([]int, n) } // case value 0

var choice = chosen

func lengthOfChosen(n int) int { return len(chosen(n)) }

func spread(n int) []int { return make([]int, n) } // case several 0

func lengthOfSpread(n int) int { return len(spread(n)) }

func Spread(n int) []int { return spread(n) }

// A handler may not use the ResponseWriter after it has returned; of the Request nothing is said.
type compressed struct {
	http.ResponseWriter
	w io.Writer
}

func (c *compressed) Write(p []byte) (int, error) { return c.w.Write(p) }

func (c *compressed) Close() {
	if g, ok := c.w.(*gzip.Writer); ok {
		g.Close()
	}
}

func compressing(w http.ResponseWriter) *compressed {
	return &compressed{ResponseWriter: w, w: gzip.NewWriter(w)} // case served 0, case zipped 0
}

type middle struct{ next http.Handler }

var handler http.Handler = &middle{}

func (m *middle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := compressing(w) // case served 1, case zipped 1
	defer c.Close()
	m.next.ServeHTTP(c, r)
}

func (m *middle) copied(w http.ResponseWriter, r *http.Request) {
	again := new(http.Request) // case request 0
	again.URL = r.URL
	m.next.ServeHTTP(w, again)
}

func summed(text []byte) []byte {
	h := sha256.New() // case summed 0
	h.Write(text)
	return h.Sum(nil)
}

func into(text []byte) []byte {
	h := sha256.New()
	h.Write(text)
	sum := make([]byte, 0, 64) // case sum 0
	return h.Sum(sum)
}

func listed(n int) string {
	names := make([]string, n) // case list 0
	return strings.Join(names, ",")
}

func words(low, high big.Word) *big.Int {
	return new(big.Int).SetBits([]big.Word{low, high}) // case words 0
}

func pump(w io.Writer, r io.Reader) error {
	_, err := io.Copy(w, r) // case copier 0
	return err
}

func kept(seen map[string]*node, name string) *node {
	n := &node{name: name} // case ways 0
	if len(name) == 0 {
		seen["empty"] = n
		n.name = "-"
		return nil
	}
	if name == "-" {
		panic(n)
	}
	return n
}

// What function values do with what they are handed, where all of them are seen.
type codec struct {
	decode, keep, shown func([]byte) int
	Any                 func([]byte) int
}

func first(b []byte) int { return int(b[0]) }

func holds(b []byte) int { global.buf = b; return len(b) }

func newCodec(last bool) *codec {
	c := &codec{decode: first, keep: holds, Any: first, shown: first}
	if last {
		c.decode = func(b []byte) int { return int(b[len(b)-1]) }
	}
	set(&c.shown)
	return c
}

func set(f *func([]byte) int) {}

func (c *codec) seen(n int) int {
	b := make([]byte, n) // case seen 0
	return c.decode(b)
}

func (c *codec) holding(n int) int {
	b := make([]byte, n) // case holding 0
	return c.keep(b)
}

func (c *codec) anyone(n int) int {
	b := make([]byte, n) // case anyone 0
	return c.Any(b)
}

func (c *codec) elsewhere(n int) int {
	b := make([]byte, n) // case elsewhere 0
	return c.shown(b)
}

func with(n int, f func([]byte) int) int {
	b := make([]byte, n) // case with 0
	return f(b)
}

func uses() int { return with(3, first) + with(4, func(b []byte) int { return len(b) }) }

type runner interface{ run(n int, f func([]byte) int) int }

func (c *codec) run(n int, f func([]byte) int) int {
	b := make([]byte, n) // case through 0
	return f(b)
}

func runs(c *codec, r runner) int { return c.run(3, first) + r.run(2, holds) }
` + usesProgram
