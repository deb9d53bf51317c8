package watch

import (
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
)

// player plays a scenario: it makes arguments, calls functions and looks at what they return. What
// it decides follows from the scenario alone.
type player struct {
	s      *Session
	genome []byte
	at     int
	seed   uint64
	live   map[reflect.Type][]reflect.Value // objects of this scenario, for later calls
	kept   []kept
	notes  []Note
	prefix string
	quiet  bool // notes are not kept
	making int  // constructors under way
	slow   bool // it was cut short
	brief  bool // notes are summed up alone
	sum    uint64
}

// n is a number below k, from the genome as long as it lasts.
func (p *player) n(k int) int {
	if k <= 1 {
		return 0
	}
	if p.at < len(p.genome) {
		v := int(p.genome[p.at])
		p.at++
		if k > 256 && p.at < len(p.genome) {
			v = v<<8 | int(p.genome[p.at])
			p.at++
		}
		return v % k
	}
	p.seed ^= p.seed << 13
	p.seed ^= p.seed >> 7
	p.seed ^= p.seed << 17
	return int(p.seed>>11) % k
}

// number is an integer, and not a large one where those took too much memory.
func (p *player) number() int64 {
	const large = 1 << 16
	v := p.anyNumber()
	if small := p.s.plan.Small; small > 1 || small == 1 && p.making > 0 {
		v %= large
	}
	return v
}

// anyNumber is an integer: small, at an edge, or from the source of the package.
func (p *player) anyNumber() int64 {
	edges := [...]int64{0, 1, 2, 3, -1, 7, 8, 9, 10, 15, 16, 31, 32, 33, 63, 64, 65, 99, 100, 127, 128, 255, 256, 1000, 1024, 4096, 65535, 65536,
		math.MaxInt32, math.MinInt64, math.MaxInt64, -100}
	switch k := p.n(10); {
	case k < 2 && len(p.s.plan.Near.Numbers) > 0:
		return p.s.plan.Near.Numbers[p.n(len(p.s.plan.Near.Numbers))] + int64(p.n(3)-1)
	case k < 5:
		return int64(p.n(12))
	case k < 7 && len(p.s.plan.Numbers) > 0:
		return p.s.plan.Numbers[p.n(len(p.s.plan.Numbers))]
	case k < 9:
		return edges[p.n(len(edges))]
	}
	if p.n(2) == 0 { // too large for types of fewer bits
		wide := [...]int64{1 << 15, 1 << 16, 1 << 31, 1 << 32, 1 << 53, math.MaxInt64}
		return (wide[p.n(len(wide))] - int64(p.n(3))) * int64(1-2*p.n(2))
	}
	return int64(p.n(60000)) - 20000
}

// unsigned is a number that may be too large for those with a sign.
func (p *player) unsigned() uint64 {
	edges := [...]uint64{1 << 7, 1<<8 - 1, 1 << 15, 1<<16 - 1, 1 << 31, 1<<32 - 1, 1 << 63, 1<<64 - 1}
	if p.n(4) == 0 && p.s.plan.Small == 0 {
		return edges[p.n(len(edges))]
	}
	return uint64(p.number())
}

// text is a string: of words of the package and its tests, of them in pieces, or of single letters.
func (p *player) text() string {
	if p.s.of.web != nil && p.n(4) == 0 {
		return fmt.Sprintf("http://example.com/%d?%s", p.n(1<<12), p.letters())
	}
	switch k := p.n(14); {
	case k == 0:
		return ""
	case k < 5:
		return p.word()
	case k < 9:
		return p.varied(p.word())
	case k < 11:
		var b strings.Builder
		for range 1 + p.n(6) {
			b.WriteString(p.word())
			if p.n(3) != 0 {
				b.WriteString(p.mark())
			}
		}
		return b.String()
	case k == 11:
		return strings.Repeat(p.letters(), 1+p.n(60))
	case k == 12: // the same again and again, as records are
		return strings.Repeat(p.word()+p.mark(), 2+p.n(4))
	}
	return p.letters()
}

// word is a text of the package or its tests, those near the change more often.
func (p *player) word() string {
	words := p.s.plan.Words
	if near := p.s.plan.Near.Words; len(near) > 0 && p.n(5) == 0 {
		words = near
	}
	if len(words) == 0 {
		return p.letters()
	}
	return words[p.n(len(words))]
}

// letters are single characters: of each class that code distinguishes, beyond ASCII, too, and bytes that
// are none.
func (p *player) letters() string {
	const set = "aaabcdxyzABZ0123459 \t\n\r\v.,:;/-_=+*()[]{}<>\"'\\%&#@!?|\x00éÉßİΣ世٣½\u00a0\u0085\u2028\ufeff\U0001f600"
	runes := []rune(set)
	var b strings.Builder
	for range 1 + p.n(12) {
		if r := p.n(len(runes) + 2); r < len(runes) {
			b.WriteRune(runes[r])
		} else {
			b.WriteByte(0xff)
		}
	}
	return b.String()
}

// varied is a word that is changed once, twice or thrice.
func (p *player) varied(w string) string {
	w = p.changed(w)
	for range 2 {
		if len(w) > mostSized || p.n(3) != 0 {
			break
		}
		w = p.changed(w)
	}
	return w
}

// changed is a word with a piece cut out, doubled, or put in another case, or with a mark where it
// has none.
func (p *player) changed(w string) string {
	if w == "" {
		return p.letters()
	}
	if strings.Contains(w, "\n") && p.n(2) == 0 {
		return p.lined(w)
	}
	switch p.n(6) {
	case 0, 1, 2:
		return p.marked(w)
	case 3:
		return p.sized(w)
	}
	i := p.n(len(w))
	j := i + p.n(len(w)-i+1)
	switch p.n(9) {
	case 8:
		return w + p.letters()
	case 6: // numbers that are too large
		return w[:i] + strings.Repeat("9", 1+p.n(40)) + w[j:]
	case 7:
		return p.digits(w)
	case 0:
		return w[:i]
	case 1:
		return w[:i] + w[j:]
	case 2:
		return w[:j] + w[i:]
	case 3:
		return w[:i] + p.letters() + w[i:]
	case 4:
		return strings.ToUpper(w)
	}
	return w[i:]
}

// digits puts another number in the place of one of those in a word.
func (p *player) digits(w string) string {
	from := strings.IndexAny(w, "0123456789")
	if from < 0 {
		return w
	}
	for range p.n(4) {
		rest := strings.TrimLeft(w[from:], "0123456789")
		next := strings.IndexAny(rest, "0123456789")
		if next < 0 {
			break
		}
		from = len(w) - len(rest) + next
	}
	to := len(w) - len(strings.TrimLeft(w[from:], "0123456789"))
	numbers := [...]string{"", "0", "00", "1", "-1", "10", "255", "256", "65536", "2147483648", "4294967296", "18446744073709551616", "99999999999999999999999", "1e9", "0x1f", "1.5"}
	return w[:from] + numbers[p.n(len(numbers))] + w[to:]
}

func (p *player) bytes() []byte { return []byte(p.text()) }

// mostDeep limits how deep values are made.
const mostDeep = 4

// value makes a value of a type.
func (p *player) value(t reflect.Type, depth int) reflect.Value {
	if v, ok := p.existing(t, depth); ok {
		return v
	}
	if v, ok := p.standard(t); ok {
		return v
	}
	if v, ok := p.built(t, depth); ok {
		return v
	}
	v := reflect.New(t).Elem()
	if depth > mostDeep+2 {
		return v
	}
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(p.n(2) == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(p.number())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(p.unsigned())
	case reflect.Float32, reflect.Float64:
		v.SetFloat(p.float())
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(p.float(), p.float()))
	case reflect.String:
		v.SetString(p.text())
	case reflect.Slice:
		p.fillSlice(v, depth)
	case reflect.Array:
		for i := range min(v.Len(), 64) {
			v.Index(i).Set(p.value(t.Elem(), depth+1))
		}
	case reflect.Map:
		p.fillMap(v, depth)
	case reflect.Struct:
		p.fillStruct(v, depth)
	case reflect.Pointer:
		p.fillPointer(v, depth)
	case reflect.Interface:
		p.fillInterface(v, depth)
	case reflect.Func:
		v.Set(p.function(t))
	case reflect.Chan:
		p.fillChan(v, depth)
	}
	return v
}

func (p *player) float() float64 {
	switch p.n(8) {
	case 0:
		return math.NaN()
	case 1:
		return math.Inf(1 - 2*p.n(2))
	case 2, 3:
		return float64(p.number())
	}
	return float64(p.n(10000)-3000) / 64
}

// existing takes an object that is there: of this scenario, or one that tests used.
func (p *player) existing(t reflect.Type, depth int) (reflect.Value, bool) {
	if list := p.live[t]; len(list) > 0 && p.n(4) != 0 {
		return list[p.n(len(list))], true
	}
	list := p.s.of.pool[t]
	if len(list) == 0 || p.n(2) == 0 {
		return reflect.Value{}, false
	}
	v, ok := clone(list[p.n(len(list))].value)
	if ok && p.n(3) == 0 {
		p.vary(v, 0)
	}
	return v, ok
}

// built makes a value by a function of the package.
func (p *player) built(t reflect.Type, depth int) (reflect.Value, bool) {
	makers := p.s.makers[t]
	if len(makers) == 0 || p.making > 2 || depth > mostDeep {
		return reflect.Value{}, false
	}
	for range 3 {
		f := makers[p.n(len(makers))]
		p.making++
		out, panicked := f.call(p.arguments(f, depth+1))
		p.making--
		if panicked != "" || len(out) == 0 || failed(out) {
			continue
		}
		return out[0], true
	}
	return reflect.Value{}, false
}

// failed reports whether the last of several results is an error, or the first a nil pointer.
func failed(out []reflect.Value) bool {
	last := out[len(out)-1]
	if len(out) > 1 && last.Type() == errorType && !last.IsNil() {
		return true
	}
	return out[0].Kind() == reflect.Pointer && out[0].IsNil()
}

func (p *player) fillSlice(v reflect.Value, depth int) {
	t := v.Type()
	if t.Elem().Kind() == reflect.Uint8 {
		switch p.n(10) {
		case 0:
			return
		case 1, 2: // with room, as callers pass a buffer
			b := append(make([]byte, 0, 64+p.n(64)), p.text()...)
			v.Set(reflect.ValueOf(b).Convert(t))
			return
		}
		v.Set(reflect.ValueOf(p.bytes()).Convert(t))
		return
	}
	k := p.n(12)
	if k == 0 {
		return
	}
	n := p.n(5)
	if k == 1 && depth < 2 {
		n = 20 + p.n(60)
	}
	room := 0
	if k < 4 {
		room = p.n(6)
	}
	v.Set(reflect.MakeSlice(t, 0, n+room))
	for range n {
		v.Set(reflect.Append(v, p.value(t.Elem(), depth+1)))
	}
}

func (p *player) fillMap(v reflect.Value, depth int) {
	k := p.n(10)
	if k == 0 {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	n := p.n(4)
	if k == 1 && depth < 2 {
		n = 12 + p.n(12)
	}
	for range n {
		key := p.value(v.Type().Key(), depth+1)
		if key.Comparable() {
			v.SetMapIndex(key, p.value(v.Type().Elem(), depth+1))
		}
	}
}

func (p *player) fillStruct(v reflect.Value, depth int) {
	t := v.Type()
	for i := range t.NumField() {
		if t.Field(i).IsExported() && (depth < mostDeep || p.n(2) == 0) {
			v.Field(i).Set(p.value(t.Field(i).Type, depth+1))
		}
	}
}

func (p *player) fillPointer(v reflect.Value, depth int) {
	if p.n(10) == 0 || depth > mostDeep {
		return
	}
	to := reflect.New(v.Type().Elem())
	if p.n(8) != 0 {
		to.Elem().Set(p.value(v.Type().Elem(), depth+1))
	}
	v.Set(to)
}

func (p *player) fillInterface(v reflect.Value, depth int) {
	t := v.Type()
	if p.n(3) == 0 {
		if x, ok := p.fromTests(t); ok {
			v.Set(x)
			return
		}
	}
	if t.NumMethod() == 0 {
		if x := p.plain(depth); x.IsValid() {
			v.Set(x)
		}
		return
	}
	if p.n(12) == 0 {
		return
	}
	var fit []reflect.Value
	for _, h := range p.hands() {
		if h.Type().Implements(t) {
			fit = append(fit, h)
		}
	}
	var own []reflect.Type
	for _, c := range p.s.types {
		if c.Kind() == reflect.Interface || depth > mostDeep {
			continue
		}
		if c.Implements(t) {
			own = append(own, c)
		} else if reflect.PointerTo(c).Implements(t) {
			own = append(own, reflect.PointerTo(c))
		}
	}
	if made, ok := p.stub(t); ok && (len(own)+len(fit) == 0 || p.n(4) == 0) {
		v.Set(made)
		return
	}
	if len(own) > 0 && (len(fit) == 0 || p.n(2) == 0) {
		v.Set(p.value(own[p.n(len(own))], depth+1))
		return
	}
	if len(fit) > 0 {
		v.Set(fit[p.n(len(fit))])
	}
}

func (p *player) fillChan(v reflect.Value, depth int) {
	if v.Type().ChanDir()&reflect.BothDir != reflect.BothDir && v.Type().ChanDir() != reflect.RecvDir {
		return
	}
	both := reflect.ChanOf(reflect.BothDir, v.Type().Elem())
	ch := reflect.MakeChan(both, 8)
	for range p.n(4) {
		ch.Send(p.value(v.Type().Elem(), depth+1))
	}
	ch.Close()
	v.Set(ch.Convert(v.Type()))
}

// function is a function that answers by its arguments, and notes them. One without arguments gives some
// values, and then zero values, as iterators do.
func (p *player) function(t reflect.Type) reflect.Value {
	if p.n(12) == 0 {
		return reflect.Zero(t)
	}
	const mostCalls = 200
	seed, last := byte(p.n(256)), mostCalls
	var calls atomic.Int32
	if t.NumIn() == 0 {
		last = p.n(6)
	}
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		all := []byte{seed}
		for _, a := range args {
			all = append(append(all, p.s.text(a, false)...), ", "...)
		}
		turn := int(calls.Add(1))
		if turn <= 20 {
			p.note("callback", short(all[1:]))
		}
		out := make([]reflect.Value, t.NumOut())
		if t.NumIn() == 0 {
			all = append(all, byte(turn))
		}
		inner := &player{s: p.s, genome: []byte(digest(all)), seed: 1 + uint64(seed), quiet: true, making: 3}
		for i := range out {
			switch {
			case turn <= last:
				out[i] = inner.value(t.Out(i), mostDeep)
			case t.Out(i) == errorType:
				out[i] = reflect.New(errorType).Elem()
				out[i].Set(reflect.ValueOf(io.EOF))
			default:
				out[i] = reflect.Zero(t.Out(i))
			}
		}
		return out
	})
}
