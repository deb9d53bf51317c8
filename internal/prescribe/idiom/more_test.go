package idiom

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// more is the rest of the program of TestIdioms.
const more = `
type key int

func contexts(ctx context.Context, a, b string) context.Context {
	ctx = context.WithValue(ctx, key(1), a) // 2
	ctx = context.WithValue(ctx, key(2), b) // 2
	return ctx
}

func contextsOf(ctx context.Context, s *http.Server, a string) context.Context {
	ctx = context.WithValue(ctx, http.ServerContextKey, s) // 0
	ctx = context.WithValue(ctx, http.LocalAddrContextKey, a) // 0
	other := context.WithValue(context.Background(), key(3), a) // 1
	_ = other
	ctx = context.WithValue(ctx, key(1), a) // 2
	ctx = context.WithValue(ctx, key(2), a) // 2
	return ctx
}

func context1(ctx context.Context, a string) context.Context {
	other := context.WithValue(context.Background(), key(2), a) // 1
	_ = other
	return context.WithValue(ctx, key(1), a) // 1
}

type settings struct{ n int }
type option func(*settings)

func options(n int, opts ...option) int {
	o := &settings{n: n} // option
	for _, f := range opts {
		f(o)
	}
	p := settings{} // option
	for _, f := range opts {
		f(&p)
	}
	q := &settings{} // -
	kept = q
	for _, f := range opts {
		f(q)
	}
	r := &settings{} // -
	one(r)
	return o.n + p.n + r.n
}

func optionsOf(opts ...option) *settings {
	o := &settings{} // -
	for _, f := range opts {
		f(o)
	}
	return o
}

func (s *settings) start() { kept = s }

func optionsAnd(opts ...option) settings {
	o := settings{} // -
	for _, f := range opts {
		f(&o)
	}
	o.start()
	return o
}

var (
	kept *settings
	one  option
)

type frames struct {
	w    io.Writer
	r    io.Reader
	list []*item
	n    int
}

type item struct{ n int }

func (f *frames) write(n uint32) (err error) {
	var head [4]byte // f.w.Write
	binary.BigEndian.PutUint32(head[:], n)
	_, err = f.w.Write(head[:])
	b := make([]byte, 8) // io.ReadFull
	_, err = io.ReadFull(f.r, b)
	c := make([]byte, n) // io.ReadFull
	_, err = io.ReadFull(f.r, c)
	d := make([]byte, 8) // f.all
	f.all(d)
	e := make([]byte, 8) // -
	go func() { f.r.Read(e) }()
	return err
}

func (f *frames) all(b []byte) {}

func (f *frames) tree() (n int) {
	head := make([]byte, 8) // -
	io.ReadFull(f.r, head)
	for range head[0] {
		n += f.tree()
	}
	return n + int(head[1])
}

func (f frames) copied(w io.Writer) {
	var head [4]byte // -
	f.w.Write(head[:])
}

func (f *frames) elements(n int) (list []*item) {
	for i := 0; i < n; i++ {
		f.list = append(f.list, &item{i}) // f.list
		it := &item{} // list
		it.n = i
		list = append(list, it)
		other := &item{i} // -
		list = append(list, other)
		f.n += other.first(other)
		own := append(list, &item{i}) // -
		_ = own
	}
	return list
}

func (i *item) first(o *item) int { return i.n - o.n }

func mades(x []byte, n int) ([]byte, []byte) {
	a := make([]byte, len(x)) // x
	copy(a, x)
	b := make([]byte, n) // -
	copy(b, x)
	return a, b
}

func bare(n int) (map[string]int, map[string]int, map[string]int) {
	a := map[string]int{}          // bare
	b := make(map[string]int)      // bare
	c := make(map[string]int, n)   // -
	c = map[string]int{"a": len(b)} // -
	return a, b, c
}

func headers(h http.Header, kind string) {
	h.Set("Content-Type", "application/json") // constant
	h.Set("Content-Type", kind)               // -
	h.Add("Vary", "Accept")                   // -
}

func waitsInTurns(ctx context.Context, c chan int) {
	t := time.NewTicker(time.Second) // -
	for {
		select {
		case <-t.C:
		case <-c:
			return
		}
	}
}

func waits(ctx context.Context, c chan int) error {
	select {
	case <-c:
	case <-time.After(time.Second): // waits
	}
	t := time.NewTimer(time.Second) // waits
	select {
	case <-t.C:
	case <-c:
	}
	return nil
}

func waited(c chan int) {
	select {
	case <-c:
		return
	default:
	}
	select {
	case <-c:
	case <-time.After(time.Second): // -
	}
	<-time.After(time.Second) // -
}

// A context that the work has, too, is needed before it is waited for.
func worked(ctx context.Context, work func(context.Context) chan int) error {
	done := work(nil)
	outer := ctx
	ctx, stop := context.WithTimeout(ctx, time.Second) // waits
	defer stop()
	select {
	case <-done:
	case <-ctx.Done():
	}
	within, end := context.WithTimeout(outer, time.Second) // -
	defer end()
	c := work(within)
	select {
	case <-c:
	case <-within.Done():
	}
	return nil
}

func sleeps(ctx context.Context, stop chan struct{}) {
	t := time.NewTimer(time.Second) // -
	select {
	case <-ctx.Done():
	case <-stop:
	case <-t.C:
	}
}

func waitsInside(c chan int) {
	select {
	case <-c:
		t := time.NewTimer(time.Second) // waits
		select {
		case <-t.C:
		case <-c:
		}
	default:
	}
}

func descends(n int, prefix string, all *[]string) {
	if n == 0 {
		*all = append(*all, prefix+"!") // -
		return
	}
	descends(n-1, prefix+"a", all) // prefix
	path := prefix + "/b"          // prefix
	descends(n-1, path, all)
}

func listed(n int, prefix string, all map[string]int) {
	all[prefix] = n
	if n > 0 {
		listed(n-1, prefix+"/a", all) // -
	}
}

type node struct {
	n    int
	next *node
}

func nodes(n int, last *node) *node {
	if n == 0 {
		return &node{n, nil} // -
	}
	return &node{n, last} // node
}

func linked(n int) (all *node) {
	for i := range n {
		all = nodes(i, all) // -
	}
	return all
}

func counted(words []string) int {
	counts := map[string]int{"a": 0, "b": 0} // written
	for _, w := range words {
		counts[w]++
	}
	list := []int{3, 1, 2} // written
	slices.Sort(list)
	fixed := []int{3, 1, 2} // -
	for _, n := range fixed {
		counts["a"] += n
	}
	return counts["a"] + list[0]
}

func (f *frames) snapshots(x []float64) (d float64) {
	old := slices.Clone(x) // snapshot
	x[0] = old[1]
	all := slices.Clone(f.list) // snapshot
	y := []float64{1}
	same := slices.Clone(y) // -
	at := slices.Index(slices.Clone(f.list), nil) // -
	sorted := slices.Compact(slices.Clone(f.list)) // snapshot
	return same[0] + float64(len(all)+at+len(sorted))
}

type bus struct {
	mu   sync.Mutex
	list []int
}

func (b *bus) guarded() (n int) {
	b.mu.Lock()
	all := make([]int, len(b.list)) // b.list
	copy(all, b.list)
	b.mu.Unlock()
	b.mu.Lock()
	again := append([]int(nil), b.list...) // b.list
	b.mu.Unlock()
	more := append([]int(nil), b.list...) // -
	return len(all) + len(again) + len(more)
}

type table struct {
	texts map[string]string
	b     []byte
}

func (t *table) interned(b []byte) string {
	s := string(b) // t.texts
	if had, ok := t.texts[s]; ok {
		return had
	}
	t.texts[s] = s
	u := string(b) // -
	if _, ok := t.texts[u]; ok {
		return u
	}
	w := string(b) // -
	if had, ok := t.texts[w]; ok {
		u = had
	}
	return w
}

func (t *table) copies2(r io.Reader, w io.Writer) {
	buf := make([]byte, 32<<10) // copy
	for {
		n, err := r.Read(buf)
		w.Write(buf[:n])
		if err != nil {
			break
		}
	}
	kept := make([]byte, 32<<10) // -
	for {
		n, err := r.Read(kept)
		w.Write(kept[:n])
		if err != nil {
			break
		}
	}
	t.b = kept
}

func refills(r io.Reader, s string) bool {
	b := make([]byte, 8)
	r.Read(b)
	first := string(b) // refilled
	r.Read(b)
	last := string(b) // -
	c := []byte(s) // refilled
	slices.Reverse(c)
	d := []byte(s) // -
	return first == last && len(c) == len(d)
}

func cutBack(words []string) string {
	path, text := "", ""
	for _, w := range words {
		if w == ".." {
			path = path[:strings.LastIndexByte(path, '/')]
		}
		path += "/" + w // cut
		text += w + "," // -
	}
	return path + text
}

func captures(n int) (s int) {
	for i := range n {
		b := make([]byte, n) // captured
		defer func() { s += int(b[0]) }()
		c := make(chan int, 1) // captured
		c <- i
		close(c)
		d := make([]byte, n) // -
		s += len(d)
	}
	return s
}

func nils(n int) *item {
	if n == 0 {
		return nil
	}
	return &item{n} // nil
}

func ones(n int) (*item, error) {
	if n == 0 {
		return nil, io.EOF
	}
	return &item{n}, nil // -
}

func comparisons(a, b *url.URL, s string) bool {
	one := a.String() == b.String() // both
	two := a.String() == s // -
	return one && two
}

func fronts(at string, parent map[string]string) (all [][]string) {
	var path, other []string
	for at != "" {
		path = append([]string{at}, path...) // read
		other = append([]string{at}, other...) // -
		all = append(all, path)
		at = parent[at]
	}
	return append(all, other)
}

func urls(id string) string {
	u, err := url.Parse("http://host/items") // written
	if err != nil {
		return ""
	}
	u.RawQuery = id
	v, _ := url.Parse("http://host/items") // -
	return u.String() + v.Host
}

func urlOf() (*url.URL, error) {
	return url.Parse("http://host/items") // written
}

func step(v []float64) []float64 { return append([]float64(nil), v...) }

func turns(v []float64, n int) (all [][]float64) {
	for range n {
		next := step(v) // turns
		v = next
	}
	for range n {
		v = step(v) // turns
	}
	for range n {
		v = step(v) // -
		all = append(all, v)
	}
	for range n {
		w := step(v) // -
		_ = w
	}
	v = step(v) // -
	return all
}

func (f *frames) copies() []*item { return slices.Clone(f.list) }
func (f *frames) drop(*item)      {}
func names() []string { return nil }
func (f *frames) count() int { return f.n }
func framesOf() *frames { return nil }

func little(sum func([]string)) (n int) {
	a := names() // the result is only ranged over
	lengths := make([]int, 0, len(a))
	for i := range a {
		lengths = append(lengths, i)
	}
	a2 := names() // -
	if len(a2) != n {
		return n
	}
	for range a2 {
		n++
	}
	b := names() // only the length of the result is used
	n += len(b)
	c := framesOf() // only count of the result is used
	n += c.count()
	d := names() // -
	sum(d)
	o := framesOf()
	g := o.copies() // -
	for _, it := range g {
		o.drop(it)
	}
	h := o.copies() // the result is only ranged over
	for _, it := range h {
		if it.n > 0 {
			o.drop(it)
			break
		}
	}
	e := names() // -
	for range e {
	}
	for range e {
	}
	return n
}

func inBytes(a, b string, w io.Writer) []byte {
	key := a + "/" + b // bytes
	out := []byte(key)
	name := a + b // -
	out = append(out, name...)
	w.Write([]byte(a + ":" + b)) // -
	runes := a + b // -
	for range []rune(runes) {
	}
	return out
}
`

// worded is the check of an answer that is a text, for some expressions.
func worded(of func(*source.Expr) bool, ask func(Place) string) func(*source.Program, *source.Line, *source.Expr) string {
	return func(_ *source.Program, l *source.Line, e *source.Expr) string {
		if !of(e) {
			return ""
		}
		return cmp.Or(ask(at(l, e)), "-")
	}
}

// answered is the check of an answer that is yes or no, for some expressions.
func answered(yes string, of func(*source.Expr) bool, ask func(Place) bool) func(*source.Program, *source.Line, *source.Expr) string {
	return worded(of, func(p Place) string { return choose(ask(p), yes, "") })
}

func contexts(_ *source.Program, l *source.Line, e *source.Expr) string {
	if e.Call.Callee != "context.WithValue" {
		return ""
	}
	return fmt.Sprint(at(l, e).Contexts())
}

var moreChecks = map[string]func(p *source.Program, l *source.Line, e *source.Expr) string{
	"contexts":   contexts,
	"contextsOf": contexts,
	"context1":   contexts,
	"options":    worded(func(e *source.Expr) bool { return e.Kind != source.Call }, Place.ForFunctions),
	"write": worded(func(e *source.Expr) bool {
		return e.Kind == source.Make || e.Kind == source.Variable && !strings.HasPrefix(e.Type, "[]")
	}, Place.Scratch),
	"optionsOf":    worded(func(e *source.Expr) bool { return e.Kind != source.Call }, Place.ForFunctions),
	"optionsAnd":   worded(func(e *source.Expr) bool { return e.Kind != source.Call }, Place.ForFunctions),
	"tree":         worded(func(e *source.Expr) bool { return e.Kind == source.Make }, Place.Scratch),
	"sleeps":       answered("waits", func(e *source.Expr) bool { return e.Kind == source.Call }, Place.Waits),
	"listed":       worded(func(e *source.Expr) bool { return e.Kind == source.Concat }, Place.Descends),
	"linked":       answered("turns", func(e *source.Expr) bool { return e.Kind == source.Call }, Place.TakesTurns),
	"counted":      answered("written", func(e *source.Expr) bool { return e.Kind == source.Literal }, Place.Overwritten),
	"snapshots":    answered("snapshot", func(e *source.Expr) bool { return e.Kind == source.Call && e.Call.Callee == "slices.Clone" }, Place.Snapshot),
	"nodes":        answered("node", func(e *source.Expr) bool { return e.Kind == source.Literal || e.Kind == source.New }, Place.Links),
	"guarded":      worded(func(e *source.Expr) bool { return e.Kind == source.Make || e.Kind == source.Append }, Place.Guarded),
	"interned":     worded(func(e *source.Expr) bool { return e.Kind == source.Conversion }, Place.KeyFirst),
	"copies2":      answered("copy", func(e *source.Expr) bool { return e.Kind == source.Make }, Place.CopyBuffer),
	"refills":      answered("refilled", func(e *source.Expr) bool { return e.Kind == source.Conversion }, Place.Refilled),
	"cutBack":      answered("cut", func(e *source.Expr) bool { return e.Kind == source.Concat }, Place.Cut),
	"captures":     answered("captured", func(e *source.Expr) bool { return e.Kind == source.Make }, Place.Captured),
	"nils":         answered("nil", func(e *source.Expr) bool { return e.Kind == source.Literal || e.Kind == source.New }, Place.NilElse),
	"ones":         answered("nil", func(e *source.Expr) bool { return e.Kind == source.Literal || e.Kind == source.New }, Place.NilElse),
	"comparisons":  answered("both", func(e *source.Expr) bool { return e.Kind == source.Call }, Place.BothAsText),
	"fronts":       answered("read", func(e *source.Expr) bool { return e.Kind == source.Append }, Place.ReadInLoop),
	"urlOf":        answered("written", func(e *source.Expr) bool { return e.Kind == source.Call }, Place.Overwritten),
	"urls":         answered("written", func(e *source.Expr) bool { return e.Kind == source.Call }, Place.Overwritten),
	"copied":       worded(func(e *source.Expr) bool { return e.Kind == source.Variable }, Place.Scratch),
	"elements":     worded(func(e *source.Expr) bool { return e.Kind == source.Literal }, Place.Element),
	"mades":        worded(func(e *source.Expr) bool { return e.Kind == source.Make }, Place.MadeCopy),
	"bare":         answered("bare", func(e *source.Expr) bool { return e.Kind == source.Make || e.Kind == source.Literal }, Place.IsBareMap),
	"headers":      answered("constant", func(e *source.Expr) bool { return e.Kind == source.Call }, Place.ConstantHeader),
	"waits":        answered("waits", func(e *source.Expr) bool { return e.Kind == source.Call }, Place.Waits),
	"waitsInTurns": answered("waits", func(e *source.Expr) bool { return e.Kind == source.Call }, Place.Waits),
	"waitsInside":  answered("waits", func(e *source.Expr) bool { return e.Kind == source.Call }, Place.Waits),
	"worked":       answered("waits", func(e *source.Expr) bool { return e.Kind == source.Call }, Place.Waits),
	"waited":       answered("waits", func(e *source.Expr) bool { return e.Kind == source.Call }, Place.Waits),
	"turns":        answered("turns", func(e *source.Expr) bool { return e.Kind == source.Call }, Place.TakesTurns),
	"little":       worded(func(e *source.Expr) bool { return e.Kind == source.Call }, Place.LittleUse),
	"descends":     worded(func(e *source.Expr) bool { return e.Kind == source.Concat }, Place.Descends),
	"inBytes": func(_ *source.Program, l *source.Line, e *source.Expr) string {
		switch {
		case e.Kind != source.Concat && e.Kind != source.Conversion:
			return ""
		case at(l, e).OnlyBytes():
			return "bytes"
		case e.Kind == source.Conversion && len(l.Exprs) > 1:
			return "" // of the text in it
		}
		return "-"
	},
}
