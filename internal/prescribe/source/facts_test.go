package source

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What an append puts in front of the rest of the slice that it goes into is made for that alone.
func TestSpliced(t *testing.T) {
	_, line := load(t, `package m

func f(list, other []int, i int) []int {
	list = append(list[:i], append([]int{1}, list[i:]...)...) //insert
	list = append(list[:i], append(other, list[i+1:]...)...) //splice
	list = append(list[:i:i], append([]int{1}, list[i:]...)...) //copied
	list = append(list[:i], append([]int{1}, other[i:]...)...) //other
	return append(list[:i], list[i+1:]...) //cut
}
`)
	f := func(name, want string) {
		t.Helper()
		got := ""
		for _, e := range line(name).Exprs {
			if s := line(name).Spliced(e); s != "" {
				got += s
			}
		}
		if got != want {
			t.Errorf("%s: spliced into %q, want %q", name, got, want)
		}
	}
	f("insert", "list")
	f("splice", "list")
	f("copied", "")
	f("other", "")
	f("cut", "")
}

const recursions = `package m

import "maps"

type node struct{ kids []*node; name string }

func all(n *node) (out map[string]int) {
	out = map[string]int{}
	out[n.name]++ //all
	for _, k := range n.kids {
		below := all(k)
		for name, v := range below {
			out[name] = v
		}
	}
	return out
}

func loose(n *node) any {
	out := map[string]any{}
	out[n.name] = 1 //loose
	for _, k := range n.kids {
		for name, v := range loose(k).(map[string]any) {
			out[name] = v
		}
	}
	return out
}

func direct(n *node) map[string]int {
	out := map[string]int{}
	out[n.name] = 1 //direct
	for _, k := range n.kids {
		maps.Copy(out, direct(k))
	}
	return out
}

func list(n *node) []string {
	var out []string
	out = append(out, n.name) //list
	for _, k := range n.kids {
		out = append(out, list(k)...)
	}
	return out
}

func changed(n *node) []string {
	var out []string
	out = append(out, n.name) //changed
	for _, k := range n.kids {
		for _, s := range changed(k) {
			out = append(out, n.name+s)
		}
	}
	return out
}

func asked(n *node) []string {
	var out []string
	out = append(out, n.name) //asked
	for _, k := range n.kids {
		below := asked(k)
		if len(below) > 1 {
			out = append(out, below...)
		}
	}
	return out
}
`

// A recursion whose levels copy what those below made.
func TestMerges(t *testing.T) {
	_, line := load(t, recursions)
	f := func(name string, want bool) {
		t.Helper()
		l := line(name)
		i := slices.IndexFunc(l.Exprs, func(e *Expr) bool { return e.Into != nil })
		if got := l.Merges(l.Exprs[i].Into); got != want {
			t.Errorf("%s: merges %v, want %v", name, got, want)
		}
	}
	f("all", true)
	f("loose", true)
	f("direct", true)
	f("list", true)
	f("changed", false)
	f("asked", false)
}

// How often a loop runs at most, as far as the code says it.
func TestBounds(t *testing.T) {
	_, line := load(t, `package m

import (
	"container/list"
	"maps"
	"slices"
)

func f(s []int, m map[int]int, l *list.List, n int) (out []int) {
	for i := 0; i < n; i++ {
		out = append(out, i) //up
	}
	for i := len(s) - 1; i >= 0; i-- {
		out = append(out, i) //down
	}
	for i := n - n; i >= 0; i-- {
		out = append(out, i) //nothing
	}
	for e := l.Front(); e != nil; e = e.Next() {
		out = append(out, e.Value.(int)) //list
	}
	for k := range maps.Keys(m) {
		out = append(out, k) //keys
	}
	for _, v := range slices.Backward(s) {
		out = append(out, v) //backward
	}
	for range l.Len() {
		out = append(out, 1) //number
	}
	for i := n; i < len(s); i++ {
		out = append(out, s[i]) //between
	}
	for i := n + 1; i < len(s); i++ {
		out = append(out, s[i]) //sum
	}
	for i := 1; i <= n; i++ {
		out = append(out, i) //from one
	}
	for i := 0; i <= n; i++ {
		out = append(out, i) //one more
	}
	for i := 2; i <= n; i++ {
		out = append(out, i) //from two
	}
	return out
}
`)
	f := func(name, want string) {
		t.Helper()
		l := line(name)
		i := slices.IndexFunc(l.Exprs, func(e *Expr) bool { return e.Kind == Append })
		if got := l.Exprs[i].Loops[0].Count; got != want {
			t.Errorf("%s: the loop runs %q times, want %q", name, got, want)
		}
	}
	f("up", "n")
	f("down", "len(s)")
	f("between", "len(s)-n")
	f("sum", "")
	f("from one", "n")
	f("one more", "")
	f("from two", "")
	f("nothing", "")
	f("list", "l.Len()")
	f("keys", "len(m)")
	f("backward", "len(s)")
	f("number", "l.Len()")
}

// A file of the module is meant before one of a library whose path ends alike.
func TestFilesOfEqualNames(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":              "module example.com/m\n\ngo 1.24\n",
		"textproto/header.go": "package textproto\n\nfunc f() []int {\n\treturn append([]int(nil), 1)\n}\n",
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	p, problems, err := Load(t.Context(), Request{Dir: dir, Packages: []string{"example.com/m/textproto", "net/textproto"}})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	if l := p.At("textproto/header.go", 4); l == nil || l.Func.Name != "f" {
		t.Errorf("line 4 of the module's file is not in its function f: %+v", l)
	}
}

// Functions without a body keep what they are handed, for all that the compiler knows, unless they promise not to.
func TestBodyless(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "m.s": "", "m.go": `package m

func plain(p *int)

//go:noescape
func promised(p *int)

// go:noescape
func spaced(p *int)

func whole(p *int) {}

func f() {
	plain(new(int))
	promised(new(int))
	spaced(new(int))
	whole(new(int))
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, problems, err := Load(t.Context(), Request{Dir: dir, Packages: []string{"example.com/m"}})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	for line, want := range map[int]int{14: 3, 15: 0, 16: 9, 17: 0} {
		if d, ok := p.At("m.go", line).Bodyless(); d.Line != want || ok != (want > 0) {
			t.Errorf("line %d: %+v, %v, want line %d", line, d, ok, want)
		}
	}
}

// Of several results those are dropped that are no errors.
func TestDropped(t *testing.T) {
	_, line := load(t, `package m

func two() ([]int, error) { return nil, nil }

func three() ([]int, []int, error) { return nil, nil, nil }

func f() error {
	_, err := two() //all
	_, b, err := three() //one
	_ = b
	two() //statement
	return err
}
`)
	f := func(name string, want UseKind) {
		t.Helper()
		l := line(name)
		i := slices.IndexFunc(l.Exprs, func(e *Expr) bool { return e.Kind == Call })
		if got := l.Exprs[i].Use.Kind; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	f("all", UseDropped)
	f("one", UseOther)
	f("statement", UseDropped)
}

// The operand of a conversion may have no other form.
func TestGiven(t *testing.T) {
	_, line := load(t, `package m

var kept []string

func Exported(s string, b []byte, c rune, rest []rune) {
	kept = append(kept, string(b)) //parameter
	kept = append(kept, string(b[1:])) //part
	kept = append(kept, string(append([]rune{c}, rest...))) //put together
	kept = append(kept, string(c)) //character
	own := []byte(s) //text
	kept = append(kept, string(own)) //own
}

func inner(b []byte) {
	kept = append(kept, string(b)) //inner
}
`)
	for name, want := range map[string]bool{"parameter": true, "part": true, "put together": true, "character": true, "text": true, "own": false, "inner": false} {
		l := line(name)
		i := slices.IndexFunc(l.Exprs, func(e *Expr) bool { return l.conversion(e.node) != nil })
		if i < 0 || l.Given(l.Exprs[i]) != want {
			t.Errorf("%s: not %v", name, want)
		}
	}
}

// Slicing a variable again does not make it another's.
func TestSlicedAgain(t *testing.T) {
	_, line := load(t, `package m

func g(n int, add []byte) []byte {
	out := make([]byte, 0, n)
	out = append(out, add...)
	out = out[:len(out)-1]
	out = append(out, add...) //cut
	return out
}
`)
	l := line("cut")
	i := slices.IndexFunc(l.Exprs, func(e *Expr) bool { return e.Kind == Append })
	if d := l.Exprs[i].Into; d.Made != MadeSized {
		t.Errorf("%s is made %q, want %q", d.Name, d.Made, MadeSized)
	}
}

// TestFieldOfNew: slices and maps in fields of a struct that the function makes, and others.
func TestFieldOfNew(t *testing.T) {
	_, line := load(t, `package m

type box struct {
	list []string
	m    map[string]int
}

func fills(names []string, text string, other []string, n int) (*box, *box, *box, *box) {
	a := &box{m: map[string]int{}}
	for _, n := range names {
		a.list = append(a.list, n) //nil
		a.m[n]++ //empty
	}
	b := box{list: other}
	for range text {
		b.list = append(b.list, "") //given
	}
	c := &box{}
	c.list = other
	for range names {
		c.list = append(c.list, "") //set
	}
	d := &box{}
	if n > 3 {
		d = a
	}
	for range names {
		d.list = append(d.list, "") //taken
	}
	var all []rune
	for _, r := range text {
		all = append(all, r) //runes
	}
	switch {
	case n > 1:
		a.list = make([]string, 0, 4)
	case n < 0:
		a.list = append(a.list, "") //else
	}
	return a, &b, c, d
}
`)
	for name, want := range map[string]Dest{
		"nil": {Made: MadeNil, Count: "len(names)"}, "empty": {Made: MadeEmpty, Count: "len(names)"}, "given": {Made: MadeElse}, "set": {Made: MadeElse}, "taken": {Made: MadeElse},
		"runes": {Made: MadeNil, Count: "utf8.RuneCountInString(text)"}, "else": {Made: MadeNil},
	} {
		kind := Append
		if name == "empty" {
			kind = MapInsert
		}
		if d := first(t, line(name), kind).Into; d.Made != want.Made || d.Count != want.Count || name == "empty" && d.Exact {
			t.Errorf("%s: %q, count %q, want %q, %q", name, d.Made, d.Count, want.Made, want.Count)
		}
	}
}

// TestHandedValue: the argument of the only function value that a line calls is that of a literal.
func TestHandedValue(t *testing.T) {
	_, line := load(t, `package m

type cmp struct{ cut func(dst, a []byte) []byte }

func use(c *cmp, f func([]byte) []byte, a []byte) ([]byte, []byte) {
	one := c.cut(nil, a) //one
	return f(one), c.cut(a, f(a)) //several
}
`)
	if d := line("one").Handed("m.init.func1", 0); d == nil || d.Name != "nil" {
		t.Errorf("%+v", d)
	}
	if d := line("one").Handed("m.other", 0); d != nil {
		t.Errorf("of a function by its name: %+v", d)
	}
	if d := line("several").Handed("m.init.func1", 0); d != nil {
		t.Errorf("of several: %+v", d)
	}
}

// TestOtherWays: where a slice is made on other ways through a switch, the line does not append to that.
func TestOtherWays(t *testing.T) {
	_, line := load(t, `package m

func kinds(kind int, list []int) []int {
	var out []int
	switch kind {
	case 1:
		out = make([]int, 0, 2)
	case 2:
		out = make([]int, 0)
		for _, n := range list {
			out = append(out, n) //second
		}
	case 3:
		out = make([]int, 5)
	}
	switch {
	case kind > 3:
		out = make([]int, 0)
	}
	out = append(out, 1) //last
	return out
}

func either(list []int, with func() []int) (out, more []int) {
	got := []int{}
	if with != nil {
		got = with()
	} else {
		for _, n := range list {
			got = append(got, n) //else
		}
	}
	all := []int{}
	for _, n := range list {
		if with != nil {
			all = with()
		} else {
			all = append(all, n) //turns
		}
	}
	short := []int{}
	if with != nil { short = append(short, 1) } else { short = with() } //one line
	return append(got, short...), all
}
`)
	if d := first(t, line("second"), Append).Into; d.Made != MadeEmpty || d.MadeLine != 9 {
		t.Errorf("in a case: %+v", d)
	}
	if d := first(t, line("else"), Append).Into; d.Made != MadeEmpty || d.Count != "len(list)" {
		t.Errorf("in an else: %+v", d)
	}
	if d := first(t, line("one line"), Append).Into; d.Made != MadeElse {
		t.Errorf("on one line: %+v", d)
	}
	if d := first(t, line("turns"), Append).Into; d.Made != MadeElse {
		t.Errorf("in a loop: %+v", d)
	}
	if d := first(t, line("last"), Append).Into; d.MadeLine == 9 {
		t.Errorf("behind the switches: %+v", d)
	}
}

// TestPointers: what grows behind a pointer that a function is handed, and what a caller hands it.
func TestPointers(t *testing.T) {
	_, line := load(t, `package m

type set map[int]bool

func (s *set) add(n int) {
	(*s)[n] = true //added
}

func (s set) put(n int) {
	s[n] = true //put
}

func walk(n int, out *[]int) {
	*out = append(*out, n) //walked
}

func all(list []int) ([]int, set, set) {
	var out []int
	some := make(set)
	other := set{}
	for _, n := range list {
		walk(n, &out) //walks
		some.add(n) //adds
		other.put(n) //puts
	}
	return out, some, other
}
`)
	for name, want := range map[string]int{"walked": 1, "added": 0, "put": 0} {
		l := line(name)
		i := slices.IndexFunc(l.Exprs, func(e *Expr) bool { return e.Into != nil })
		if d := l.Exprs[i].Into; !d.Param || d.Index != want || d.Local {
			t.Errorf("%s: %+v", name, d)
		}
	}
	for _, c := range []struct {
		at, function string
		index        int
		want         string
		made         MadeBy
	}{{"walks", "example.com/m.walk", 1, "out", MadeNil}, {"adds", "example.com/m.(*set).add", 0, "some", MadeEmpty}, {"puts", "example.com/m.set.put", 0, "other", MadeEmpty}} {
		if d := line(c.at).Handed(c.function, c.index); d == nil || !d.Local || d.Name != c.want || d.Made != c.made {
			t.Errorf("%s: %+v", c.at, d)
		}
	}
}

// TestCountLater: a count whose variable is declared behind the place where a slice is made says nothing of that place.
func TestCountLater(t *testing.T) {
	_, line := load(t, `package m

func before(text []string) (out []string) {
	list := text[1:]
	made := []string{}
	for _, s := range list {
		made = append(made, s) //before
	}
	return made
}

func later(text []string) []string {
	made := []string{}
	list := text[1:]
	for _, s := range list {
		made = append(made, s) //later
	}
	return made
}
`)
	for name, want := range map[string]int{"before": 5, "later": 0} {
		if d := first(t, line(name), Append).Into; d.Count != "len(list)" || d.MadeLine != want {
			t.Errorf("%s: made in line %d, count %q", name, d.MadeLine, d.Count)
		}
	}
}

// TestDirectives: a profile names the grammar that a parser was made of, and its lines.
func TestDirectives(t *testing.T) {
	p, _ := load(t, `package m

//line grammar.y:7
func rule(n int) []int {
	return make([]int, n)
}

//line skeleton:30
func parser(n int) []string {
	return make([]string, n)
}
`)
	dir := p.dir
	for _, c := range []struct {
		file     string
		line     int
		function string
		kind     ExprKind
	}{{"grammar.y", 8, "rule", Make}, {"skeleton", 31, "parser", Make}} {
		l := p.At(filepath.Join(dir, c.file), c.line)
		if l == nil || l.Func.Name != c.function || first(t, l, c.kind) == nil {
			t.Fatalf("%s:%d: %+v", c.file, c.line, l)
		}
		fn := p.Function(filepath.Join(dir, c.file), c.line, c.function)
		if fn == nil || fn.Name() != c.function {
			t.Errorf("%s:%d: function %v", c.file, c.line, fn)
		}
	}
	if l := p.At(filepath.Join(dir, "grammar.y"), 100); l != nil {
		t.Errorf("a line that is not there: %+v", l)
	}
	if p.Generated(filepath.Join(dir, "grammar.y")) {
		t.Error("the file does not say that it is generated")
	}
}
