package source

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// load writes a module of one package and reads it. Lines of interest carry a
// comment //name, by which line finds them.
func load(t *testing.T, src string) (*Program, func(name string) *Line) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/m\n\ngo 1.25\n")
	write("p.go", src)
	p, problems, err := Load(context.Background(), Request{Dir: dir, Packages: []string{"example.com/m"}})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return p, func(name string) *Line {
		t.Helper()
		for i, l := range strings.Split(src, "\n") {
			if strings.HasSuffix(l, "//"+name) {
				if got := p.At("p.go", i+1); got != nil {
					return got
				}
				t.Fatalf("line %d (%s) was not found", i+1, name)
			}
		}
		t.Fatalf("no line %s", name)
		return nil
	}
}

// first returns the first expression of a kind on a line.
func first(t *testing.T, l *Line, k ExprKind) *Expr {
	t.Helper()
	for _, e := range l.Exprs {
		if e.Kind == k {
			return e
		}
	}
	t.Fatalf("line %d: no %s among %d expressions", l.Number, k, len(l.Exprs))
	return nil
}

const exprs = `package m

import (
	"fmt"
	"regexp"
	"strings"
)

type pair struct {
	a bool
	s string
	b bool
}

type stack struct{ items []int }

func all(xs []string, m map[string]int, w interface{ Write([]byte) (int, error) }) []string {
	var out []string
	for _, x := range xs {
		out = append(out, x) //append
		if len(x) > 3 {
			out = append(out, x) //branch
		}
	}
	sized := make([]string, 0, len(xs))
	for i := 0; i < len(xs); i++ {
		sized = append(sized, xs[i]) //sized
	}
	seen := map[string]bool{}
	for k := range m {
		seen[k] = true //insert
	}
	host := strings.Split(xs[0], ":")[0] //split
	w.Write([]byte("const")) //bytes
	_ = regexp.MustCompile("a+") //regexp
	p := &pair{s: host} //pair
	text := ""
	for range xs {
		text += p.s + "," //concat
	}
	f := func() string { return text } //func
	fmt.Println(f(), len(sized), len(seen))
	return out
}

func (s *stack) push(v int) {
	s.items = append(s.items, v) //field
}

func shadowed() []int {
	append := func(s []int, v int) []int { return s }
	len := func(int) int { return 0 }
	var xs []int
	for i := range 10 {
		xs = append(xs, len(i)) //shadow
	}
	return xs
}

func some(xs []string) (out []string) {
	kept := []string{}
	for _, x := range xs {
		if x == "" {
			continue
		}
		kept = append(kept, x) //skipped
	}
	return kept
}

func rows(n int, m [][]int) (all [][]int) {
	for range n {
		var row []int
		for range m[0] {
			row = append(row, n) //each
		}
		all = append(all, row)
		if len(all) == n {
			all = nil
		}
	}
	var flat []int
	for _, r := range m {
		flat = append(flat, r...) //spread
	}
	all = append(all, flat)
	for range n {
		all = append(all, nil) //batch
		if len(all) == 3 {
			all = nil
		}
	}
	return all
}
`

func TestExpressions(t *testing.T) {
	_, line := load(t, exprs)
	a := first(t, line("append"), Append)
	if d := a.Into; !d.Local || d.Made != MadeNil || d.Count != "len(xs)" || !d.Exact || d.MadeLine != 18 {
		t.Errorf("append goes into %+v", d)
	}
	if len(a.Loops) != 1 || a.Loops[0].Over != "xs" || a.Branch {
		t.Errorf("append: loops %+v, branch %v", a.Loops, a.Branch)
	}
	if b := first(t, line("skipped"), Append); b.Branch || b.Into.Exact || b.Into.Count != "len(xs)" {
		t.Errorf("an append behind continue: branch %v, exact %v, count %q", b.Branch, b.Into.Exact, b.Into.Count)
	}
	if d := first(t, line("each"), Append).Into; !d.Exact || d.Count != "len(m[0])" {
		t.Errorf("an append in each turn of an inner loop goes into %+v", d)
	}
	if d := first(t, line("spread"), Append).Into; d.Exact || d.Count != "" {
		t.Errorf("an append of all elements of slices goes into %+v", d)
	}
	if d := first(t, line("batch"), Append).Into; d.Exact || d.Count != "" {
		t.Errorf("an append to what the loop begins anew goes into %+v", d)
	}
	if b := first(t, line("branch"), Append); !b.Branch || b.Into.Exact {
		t.Errorf("an append in a branch: branch %v, exact %v", b.Branch, b.Into.Exact)
	}
	if d := first(t, line("sized"), Append).Into; d.Made != MadeSized || d.Count != "len(xs)" {
		t.Errorf("sized append goes into %+v", d)
	}
	if d := first(t, line("insert"), MapInsert).Into; d.Made != MadeEmpty || d.Count != "len(m)" || !d.Local {
		t.Errorf("insertion goes into %+v", d)
	}
	if e := first(t, line("split"), Call); e.Call.Callee != "strings.Split" || e.Use.Kind != UseElement {
		t.Errorf("split: callee %s, use %+v", e.Call.Callee, e.Use)
	}
	if e := first(t, line("bytes"), Conversion); !e.Call.Consts || e.Elem != 1 {
		t.Errorf("conversion: %+v", e)
	}
	if e := first(t, line("regexp"), Call); e.Call.Callee != "regexp.MustCompile" || !e.Call.Consts {
		t.Errorf("regexp: %+v", e)
	}
	if e := first(t, line("pair"), Literal); e.Size != 32 || e.Packed != 24 || !e.Pointers || e.Use.Name != "p" {
		t.Errorf("literal: size %d packed %d pointers %v use %+v", e.Size, e.Packed, e.Pointers, e.Use)
	}
	if e := first(t, line("concat"), Concat); len(e.Loops) != 1 {
		t.Errorf("concatenation: %+v", e)
	}
	first(t, line("func"), FuncLit)
	if d := first(t, line("field"), Append).Into; !d.Field || !d.Receiver {
		t.Errorf("append to a field goes into %+v", d)
	}
	for _, e := range line("shadow").Exprs {
		if e.Kind == Append {
			t.Error("a function named append was taken for the builtin")
		}
	}
}

const flows = `package m

import (
	"errors"
	"strings"
)

type enc struct{ buf [64]byte }

func newEnc() *enc { return &enc{} }

func choose(level int) *enc {
	e := newEnc() //replaced
	if level != 0 {
		e = other(level) //other
	}
	return e
}

func other(int) *enc { return &enc{} }

func parse(s string) ([]string, error) {
	parts, err := split(s) //checked
	if err != nil {
		return nil, err
	}
	return parts, nil
}

func split(s string) ([]string, error) {
	if s == "" {
		return nil, errors.New("empty")
	}
	return strings.Fields(s), nil
}

func late(s string, skip bool) int {
	parts := strings.Fields(s) //late
	if skip {
		return 0 //early
	}
	return len(parts)
}

func loops(xs []string, key string) int {
	n := 0
	for _, x := range xs {
		if x == strings.ToLower(key) { //fixed
			n++
		}
		if strings.ToLower(x) == key { //varies
			n++
		}
	}
	return n
}
`

func TestFlow(t *testing.T) {
	_, line := load(t, flows)
	flow := func(name string) *Flow {
		t.Helper()
		l := line(name)
		for _, e := range l.Exprs {
			if e.Kind == Call {
				if f := l.FlowOf(e); f != nil {
					return f
				}
			}
		}
		t.Fatalf("%s: no call with a flow", name)
		return nil
	}
	if f := flow("replaced"); !f.Partly || len(f.Unused) == 0 {
		t.Errorf("a result that is replaced on one way: %+v", f)
	}
	if f := flow("checked"); f.Partly {
		t.Errorf("a result that goes unused only when the call fails: %+v", f)
	}
	if f := flow("late"); !f.Partly {
		t.Errorf("a result that an early return does not use: %+v", f)
	}
	if f := flow("fixed"); !f.Fixed || f.FixedLoop == 0 {
		t.Errorf("a call with operands from outside of its loop: %+v", f)
	}
	if f := flow("varies"); f.Fixed {
		t.Errorf("a call of the loop's own variable: %+v", f)
	}
}

// A package that does not compile is named, and the others are still read.
func TestBroken(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":   "module example.com/m\n\ngo 1.25\n",
		"ok.go":    "package m\n\nfunc F() []int { return append([]int(nil), 1) }\n",
		"b/bad.go": "package b\n\nfunc G() int { return undefined }\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, problems, err := Load(context.Background(), Request{Dir: dir, Packages: []string{"example.com/m", "example.com/m/b"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(problems) != 1 || !strings.Contains(problems[0].Error(), "example.com/m/b") {
		t.Errorf("problems %v, want one about example.com/m/b", problems)
	}
	if p.At("ok.go", 3) == nil {
		t.Error("the package that compiles was not read")
	}
	if p.At("b/bad.go", 3) != nil || p.At("none.go", 1) != nil || p.At("ok.go", 1) != nil {
		t.Error("a line was found where there is no function")
	}
}

func TestConditional(t *testing.T) {
	_, line := load(t, "package m\n\nfunc f(n int) int {\n\tx := n //here\n\tif n > 3 {\n\t\tx = -n\n\t} else if n < 0 {\n\t\tx = 1\n\t}\n\tswitch {\n\tcase n == 2:\n\t\tx++\n\t}\n\treturn x\n}\n")
	l := line("here")
	for at, want := range map[int]bool{4: false, 6: true, 8: true, 12: true, 14: false} {
		if got := l.Conditional(at); got != want {
			t.Errorf("line %d: conditional is %v, want %v", at, got, want)
		}
	}
}

// A line that every call comes by is not avoided by an error that ends it
// sooner.
func TestAvoidable(t *testing.T) {
	_, line := load(t, `package m

func next() (int, error) { return 0, nil }

func all() ([]int, error) {
	list := make([]int, 0, 64) //all
	for {
		v, err := next()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if v == 0 {
			return list, nil
		}
	}
}

func some(v int) int {
	x := new(int) //some
	*x = v
	if v > 3 {
		keep(x)
	}
	return *x
}

func each(n int) {
	for i := range n { //each
		x := &i
		if i == 9 {
			keep(x)
			return
		}
	}
}

func keep(*int) {}
`)
	f := func(name string, at int, want bool) {
		t.Helper()
		if got := line(name).Avoidable(at); got != want {
			t.Errorf("%s: line %d avoidable: %v, want %v", name, at, got, want)
		}
	}
	f("all", 14, false)
	f("all", 10, true)
	f("some", 23, true)
	f("some", 25, false)
	f("each", 32, true)
}

// The text of a function literal is its head: its body on one line would be no Go.
func TestFuncLitText(t *testing.T) {
	_, line := load(t, "package m\n\nfunc f(v int) func() int {\n\treturn func() int { //lit\n\t\tw := v\n\t\treturn w\n\t}\n}\n")
	if got, want := first(t, line("lit"), FuncLit).Text, "func() int {…}"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func TestUnboxed(t *testing.T) {
	_, line := load(t, `package m

func runes(string, ...rune) {}
func boxes(...any)          {}
func typed[T any](...T)     {}

func f(s []rune) {
	runes("a", '.', '(') //runes
	runes("a")           //none
	runes("a", s...)     //slice
	boxes(1, 2)          //boxes
	typed(1, 2)          //typed
}
`)
	for name, want := range map[string]bool{"runes": true, "none": false, "slice": false, "boxes": false, "typed": true} {
		if got := first(t, line(name), Call).Call.Unboxed; got != want {
			t.Errorf("%s: unboxed is %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string][2]bool{"runes": {false, true}, "none": {false, false}, "slice": {false, false}, "boxes": {true, true}} {
		if got := first(t, line(name), Call).Call; got.Boxes != want[0] || got.Spread != want[1] {
			t.Errorf("%s: boxes and makes a slice: %v and %v, want %v", name, got.Boxes, got.Spread, want)
		}
	}
}

// TestUnique: values that must not be copied are told from others, also inside of others.
func TestUnique(t *testing.T) {
	_, line := load(t, `package p

import (
	"math/big"
	"strings"
	"sync"
)

type account struct {
	sum   big.Int
	names []string
}

type plain struct{ lock *sync.Mutex }

func made() []any {
	return []any{
		new(big.Int), //number
		&account{}, //inside
		&[2]sync.Mutex{}, //array
		new(strings.Builder), //builder
		&plain{}, //plain
		new(strings.Reader), //reader
	}
}
`)
	for mark, want := range map[string]bool{"number": true, "inside": true, "array": true, "builder": true, "plain": false, "reader": false} {
		l := line(mark)
		if got := l.Unique(l.Exprs[0]); got != want {
			t.Errorf("%s: %v, want %v", mark, got, want)
		}
	}
}

// TestMadeLazily: a field that is made only where there is none is told from one that is made anew.
func TestMadeLazily(t *testing.T) {
	_, line := load(t, `package p

type seen struct{ ids map[int]bool }

func (s *seen) add(n int) {
	if s.ids == nil {
		s.ids = make(map[int]bool)
	}
	s.ids[n] = true //lazy
}

func (s *seen) fill(list []int) {
	s.ids = map[int]bool{}
	for _, n := range list {
		s.ids[n] = true //anew
	}
}
`)
	for mark, want := range map[string]MadeBy{"lazy": MadeLazy, "anew": MadeEmpty} {
		if d := first(t, line(mark), MapInsert).Into; d.Made != want {
			t.Errorf("%s: %q, want %q", mark, d.Made, want)
		}
	}
}
