package idiom

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/mapkey"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const program = `package m

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"math/big"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

func paths(path []int, n int) ([]int, []int) {
	a := append(append([]int{}, path...), n)        // grows
	b := append(slices.Clone(path), n)              // grows
	c := append(path[:len(path):len(path)], n)      // fits
	d := append([]int{}, path...)                   // grows
	d = append(d, n)                                // grows
	e := append([]int{1}, path...)                  // fits
	e = append(e, n)                                // fits
	f := slices.Clone(path)
	if n > 0 {
		f = append(f, n) // fits
	}
	return append(a, b...), append(append(c, d...), append(e, f...)...) // fits
}

func replace(s, x string) (string, string, string) {
	a := strings.ReplaceAll(s, "&", "&amp;")
	a = strings.ReplaceAll(a, "<", "&lt;") // 2
	b := strings.ReplaceAll(strings.ReplaceAll(strings.Replace(s, "a", "b", -1), "c", "d"), "e", "f") // 3
	b = strings.ReplaceAll(b, x, "y") // 0
	c := strings.ReplaceAll(strings.ReplaceAll(s, "a", "b"), "b", "c") // 0
	c = strings.Replace(strings.Replace(c, "a", "b", 1), "c", "d", 1) // 0
	c = strings.ReplaceAll(strings.ReplaceAll(c, "ab", ""), "cd", "e") // 0
	x = strings.ReplaceAll(strings.ReplaceAll(x, "a", ""), "c", "")    // 2
	return a, b, strings.ReplaceAll(c, "a", "b") // 1
}

func targets(err error, keep func(**os.PathError)) string {
	var wait interface{ Timeout() bool } // taken
	if errors.As(err, &wait) {
		return "timeout"
	}
	var a *os.PathError // asked
	var b *os.LinkError // asked
	var c *os.PathError // taken
	var d *os.LinkError // taken
	if errors.As(err, &a) || errors.As(err, &b) {
		return a.Path + b.Error()
	}
	if errors.As(err, &c) {
		keep(&c)
	}
	func() { errors.As(err, &d) }()
	return d.Error()
}

func query(u *url.URL, change func(), s string, list []string) string {
	a := u.Query().Get("a") + u.Query().Get("b") // 2 again
	b := u.Query().Get("b")                      // 1 again
	change()
	c := u.Query().Get("c") // 1 once
	u.Path = s
	d := u.Query().Get("d") // 1 once
	q := u.Query() // 1 once
	q.Set("a", s)
	if s != "" {
		b += strings.Join(list, ",") // 1 once
	}
	b += strings.Join(list, ",") // 1 once
	for range list {
		b += strings.Join(list, ",") // 1 once
		list[0] = b
		b += strings.Join(list, ",") // 1 once
	}
	return a + b + c + d
}

func runes(s string, n int) (string, rune, int, []rune) {
	a := []rune(s)[0] // few
	b := string([]rune(s)[:2]) // few
	c := []rune(s)[n] // all
	d := []rune(s) // few
	d[0] = a
	e := []rune(s) // all
	for i := range e {
		e[i]++
	}
	f := []rune(s) // all
	g := []rune(s) // few
	if len(g) > n {
		b += string(g[:n])
	}
	return b + string(d), c, len(f), f
}

func asks(s string, b, c []byte) (n int) {
	if bytes.Contains([]byte(s), []byte("a")) { // strings.Contains
		n++
	}
	n += strings.Index(string(b), "a")       // bytes.Index
	n += strings.Index(string(b), string(c)) // bytes.Index
	n += strings.Index(string(b), s)         // -
	return n + len(bytes.Fields([]byte(s)))  // -
}

func loose(b []byte) (string, int) {
	var m map[string]any
	json.Unmarshal(b, &m) // m
	var all map[string]any
	json.Unmarshal(b, &all) // -
	var set map[string]any
	json.Unmarshal(b, &set) // -
	set["a"] = 1
	id, _ := m["id"].(string)
	return id, len(all)
}

func appends(list []int, more [][]int) (a, b, c, d, e []int) {
	var g []int
	var f []int
	a = append(a, 1)
	for _, x := range list {
		a = append(a, x) // 2 +2 exact
		a = append(a, -x)
	}
	a = append(a, 2)
	for _, x := range list {
		if x > 0 {
			b = append(b, x) // 1 +0 exact
		} else {
			b = append(b, -x)
		}
		switch x {
		case 1:
			c = append(c, x, x) // 2 +0
		case 2:
			c = append(c, x)
		}
	}
	for i, x := range list {
		d = append(d, x) // unseen
		d = append(d, more[i]...)
		if x < 0 {
			continue
		}
		e = append(e, x) // 1 +0
	}
	for _, x := range list {
		f = append(f, x) // unseen
	}
	for _, x := range list {
		if x == 1 {
			g = append(g, x) // 1 +0
			continue
		}
		if x == 2 {
			g = append(g, -x) // 1 +0
			continue
		}
	}
	f = more[0]
	return a, b, c, d, append(append(e, f...), g...)
}

func compiles(s string, list map[string]*regexp.Regexp, kept *sync.Map) (*regexp.Regexp, error) {
	a, err := regexp.Compile(s) // cached
	if err != nil {
		return nil, err
	}
	kept.Store(s, a)
	b := regexp.MustCompile(s) // cached
	list[s] = b
	list["a"] = regexp.MustCompile(s) // cached
	c := regexp.MustCompile(s)        // new
	return c, nil
}

// Its other method has keys that are no texts made for it.
type generic[T any] struct {
	m    map[string]T
	last T
}

func (g *generic[T]) boxes(name string, n int) { g.m[name+strconv.Itoa(n)] = g.last } // -
func (g *generic[T]) at(name string) T         { return g.m[name] }

func reads(r io.Reader, w io.Writer, kept *[]byte) error {
	a, err := io.ReadAll(r) // written
	if err != nil {
		return err
	}
	w.Write(a)
	b, err := io.ReadAll(r) // kept
	*kept = b
	w.Write(b)
	return err
}

type tables struct{ byName, byAny map[any]int }

func (t *tables) boxed(s string, n int) int {
	t.byName[s]++ // string
	t.byAny[s]++  // -
	return t.byAny[n] + t.byName["a"]
}

func distance(a, b string, kept *[]int) int {
	prev := make([]int, len(b)+1)
	for i := range a {
		cur := make([]int, len(b)+1) // prev
		for j := range b {
			cur[j+1] = prev[j] + i
		}
		prev = cur
	}
	var last []int
	for range a {
		row := make([]int, len(b)) // -
		*kept = row
		last = row
	}
	var rows []int
	for range a {
		row := make([]int, len(b)) // -
		rows = append(rows, row...)
		rows = row
	}
	return prev[len(b)] + last[0] + rows[0]
}

var all []*big.Int

func numbers(n int64, x *big.Int) *big.Int {
	r := big.NewInt(1)
	s := new(big.Int)
	t := big.NewInt(2)
	f := big.NewFloat(2)
	for i := range n {
		f = new(big.Float).Mul(f, f) // -
		r = new(big.Int).Mul(r, big.NewInt(i)) // r
		s = new(big.Int).Add(x, r) // -
		x = new(big.Int).Add(x, r) // -
		t = new(big.Int).Add(t, r) // -
		all = append(all, t)
	}
	return r.Add(r, s)
}

func cuts(s, sep string) (a, b, c, d string) {
	parts := strings.Split(s, ".")
	a = strings.Join(parts[:2], ".")      // s
	b = strings.Join(parts[len(a):], ".") // s
	c = strings.Join(parts[1:2], ".")     // -
	d = strings.Join(parts[1:], "-")      // -
	changed := strings.Split(s, ".")
	changed[0] = c
	d += strings.Join(changed[1:], ".") // -
	return a, b, c, d
}

func parses(y, m int, s string) (time.Time, error) {
	text := fmt.Sprintf("%d-%02d-01", y, m) // time.Parse
	n, _ := strconv.Atoi(s + "0")          // strconv.Atoi
	kept := strconv.Itoa(n)                // -
	n, _ = strconv.Atoi(kept)
	fmt.Println(kept, n)
	return time.Parse("2006-01-02", text)
}

func converts(from any, to *counts, kept *[]byte) error {
	b, err := json.Marshal(from) // again
	if err != nil {
		return err
	}
	c, _ := json.Marshal(from) // once
	*kept = c
	json.Unmarshal(c, to)
	var into any = to
	d, _ := json.Marshal(from) // once
	json.Unmarshal(d, into)
	return json.Unmarshal(b, to) // again
}

type counts struct {
	byName, byPart, listed, mixed map[string]int
	byIP, types, numbers, slices map[string]int
	Open map[string]int
	byAddr, byBoth map[string]int
}

func (c *counts) find(addr net.Addr, to *net.UDPAddr) int {
	delete(c.byAddr, to.String()) // port
	c.byBoth["all"] = 1
	return c.byAddr[addr.String()] + // port
		c.byBoth[addr.String()] // -
}

func newCounts() *counts { return &counts{byName: map[string]int{}, byIP: make(map[string]int)} }

func (c *counts) add(name string, n int, ip net.IP) (keys []string) {
	c.byName[name+"_"+strconv.Itoa(n)]++ // struct
	c.byIP[ip.String()]++ // netip
	c.byPart[strconv.Itoa(n)] = n // number
	c.listed[fmt.Sprintf("%s:%d", name, n)] = n // -
	c.mixed[name+"."] = n // -
	c.mixed[name] = n
	c.Open[name+"."] = n // -
	c.types[fmt.Sprintf("%T", ip)]++   // reflect.Type
	c.numbers[fmt.Sprintf("%d", n)]++  // value
	c.slices[fmt.Sprintf("%v", keys)]++ // struct
	for k := range c.listed {
		keys = append(keys, k)
	}
	local := map[string]bool{}
	for i := range n {
		local[name+strconv.Itoa(i)] = true // struct
	}
	for _, v := range c.byName {
		n += v
	}
	return append(keys, fmt.Sprint(len(local), n, c.byIP[ip.String()]))
}
`

// TestIdioms holds the answers for the first expression of a kind against the comment on its line.
func TestIdioms(t *testing.T) {
	maps.Copy(checks, moreChecks)
	compare(t, program+more, checks)
}

// compare holds the answers for the first expression of a kind against the comment on its line. The checks are by function.
func compare(t *testing.T, program string, checks map[string]func(*source.Program, *source.Line, *source.Expr) string) {
	t.Helper()
	p, file := sourcetest.Load(t, program)
	function := ""
	for i, text := range strings.Split(program, "\n") {
		if name, ok := strings.CutPrefix(text, "func "); ok {
			if function = name; strings.HasPrefix(name, "(") {
				_, function, _ = strings.Cut(name, ") ")
			}
			function, _, _ = strings.Cut(function, "(")
		}
		_, want, found := strings.Cut(text, "// ")
		l := p.At(file, i+1)
		if !found || l == nil {
			continue
		}
		check, got := checks[function], ""
		for _, e := range l.Exprs {
			if got = check(p, l, e); got != "" {
				break
			}
		}
		if got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func at(l *source.Line, e *source.Expr) Place {
	return Place{Info: l.Info(), Expr: e.Node().(ast.Expr), Path: e.Path(), Line: l.LineOf}
}

// choose is yes where a condition holds, and else no.
func choose(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

var checks = map[string]func(p *source.Program, l *source.Line, e *source.Expr) string{
	"paths": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if e.Kind != source.Append {
			return ""
		}
		return choose(at(l, e).Grows(), "grows", "fits")
	},
	"replace": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if e.Kind != source.Call {
			return ""
		}
		return string('0' + rune(len(at(l, e).Replacements().Calls)))
	},
	"targets": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if e.Kind != source.Variable {
			return ""
		}
		return choose(at(l, e).OnlyErrorsAs(), "asked", "taken")
	},
	"query": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if !strings.HasSuffix(e.Call.Callee, ".Query") && !strings.HasSuffix(e.Call.Callee, ".Join") {
			return ""
		}
		calls, here := at(l, e).Again()
		return string('0'+rune(max(here, 1))) + choose(len(calls) > 1, " again", " once")
	},
	"runes": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if e.Kind != source.Conversion || e.Type != "[]rune" {
			return ""
		}
		return choose(at(l, e).FewRunes(), "few", "all")
	},
	"distance": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if e.Kind != source.Make {
			return ""
		}
		return choose(at(l, e).Swapped() != "", at(l, e).Swapped(), "-")
	},
	"numbers": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if e.Kind != source.New {
			return ""
		}
		return choose(at(l, e).OwnNumber() != "", at(l, e).OwnNumber(), "-")
	},
	"asks": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if e.Kind != source.Conversion {
			return ""
		}
		return choose(at(l, e).OtherPackage() != "", at(l, e).OtherPackage(), "-")
	},
	"loose": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if e.Call.Callee != "encoding/json.Unmarshal" {
			return ""
		}
		return choose(at(l, e).Loose() != "", at(l, e).Loose(), "-")
	},
	"appends": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if e.Kind != source.Append {
			return ""
		}
		a, ok := at(l, e).Added(e.Into.Name, e.Loops[0].First)
		if !ok {
			return "unseen"
		}
		return fmt.Sprintf("%d +%d", a.Each, a.Once) + choose(a.Exact, " exact", "")
	},
	"compiles": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if !strings.HasPrefix(e.Call.Callee, "regexp.") {
			return ""
		}
		return choose(at(l, e).Cached(), "cached", "new")
	},
	"boxes": func(p *source.Program, l *source.Line, e *source.Expr) string {
		if e.Kind != source.Concat {
			return ""
		}
		return choose(mapkey.Text(p.Functions(), p.Function(p.FileOf(e.Place()), l.Number, "m.(*generic[...]).boxes"), e.Node()) != "", "key", "-")
	},
	"reads": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if e.Call.Callee != "io.ReadAll" {
			return ""
		}
		return choose(at(l, e).WrittenOn(), "written", "kept")
	},
	"boxed": func(p *source.Program, l *source.Line, e *source.Expr) string {
		fn := p.Function(p.FileOf(e.Place()), l.Number, "m.(*tables).boxed")
		text := mapkey.Boxed(p.Functions(), fn, func(at token.Pos) bool { return p.LineOf(at) == l.Number })
		return choose(strings.Contains(text, "`string`"), "string", "-")
	},
	"cuts": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if e.Call.Callee != "strings.Join" {
			return ""
		}
		return choose(at(l, e).CutAgain() != "", at(l, e).CutAgain(), "-")
	},
	"parses": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if e.Kind == source.Call && strings.HasPrefix(e.Call.Callee, "strconv.A") || e.Kind == source.Variable {
			return ""
		}
		return choose(at(l, e).ParsedAgain() != "", at(l, e).ParsedAgain(), "-")
	},
	"converts": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if e.Kind != source.Call {
			return ""
		}
		return choose(at(l, e).EncodedAgain(), "again", "once")
	},
	"find": func(p *source.Program, l *source.Line, e *source.Expr) string {
		if e.Kind != source.Call || !strings.HasSuffix(e.Call.Callee, ".String") {
			return ""
		}
		fn := p.Function(p.FileOf(e.Place()), l.Number, "m.(*counts).find")
		return choose(strings.Contains(mapkey.Text(p.Functions(), fn, e.Node()), "netip.AddrPort"), "port", "-")
	},
	"add": func(p *source.Program, l *source.Line, e *source.Expr) string {
		if e.Kind != source.Call && e.Kind != source.Concat {
			return ""
		}
		fn := p.Function(p.FileOf(e.Place()), l.Number, "m.(*counts).add")
		switch text := mapkey.Text(p.Functions(), fn, e.Node()); {
		case strings.Contains(text, "struct"):
			return "struct"
		case strings.Contains(text, "reflect.Type"):
			return "reflect.Type"
		case strings.Contains(text, "value itself"):
			return "value"
		case strings.Contains(text, "netip"):
			return "netip"
		case strings.Contains(text, "number"):
			return "number"
		}
		return "-"
	},
}
