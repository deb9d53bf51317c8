package watch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// Limits of the text of one value.
const (
	mostNodes   = 1200
	mostEntries = 1 << 16 // of a map
	mostDepth   = 12
	mostText    = 64 << 10
	mostShown   = 400 // of a text, before its hash stands for the rest
)

// printer writes what a caller can see of a value: pointers are followed, capacities and identities
// are left out. Fields that are not exported are shown of the module's own types if inside is set;
// there, what is empty counts as absent.
type printer struct {
	s      *Session
	b      []byte
	nodes  int
	inside bool
	path   []visit
}

// visit is a pointer that is being followed.
type visit struct {
	at  unsafe.Pointer
	typ reflect.Type
}

// text is what is seen of a value. inside shows fields that are not exported, too.
func (s *Session) text(v reflect.Value, inside bool) string {
	p := printer{s: s, inside: inside}
	p.value(addressable(v))
	return short(p.b)
}

// short cuts a text and puts its hash in place of the rest.
func short(b []byte) string {
	if len(b) <= mostShown {
		return string(b)
	}
	return string(b[:mostShown]) + "…" + digest(b)
}

func digest(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:6])
}

var lastStatic int // behind the program's code and constants

// placeless is a text without the places in memory that it names, on the heap of 64-bit processors or in the program:
// where an object lies rests on what was allocated before it, and where code lies on what the program has beside it.
func placeless(text string) string {
	const around = 4 << 20
	from, to := uint64(reflect.ValueOf(placeless).Pointer()&^(around-1)), uint64(uintptr(unsafe.Pointer(&lastStatic)))+around
	return addresses.ReplaceAllStringFunc(text, func(number string) string {
		if at, err := strconv.ParseUint(number[2:], 16, 64); err != nil || (at < from || at >= to) && (at < 0xc000000000 || at >= 0xc100000000) {
			return number
		}
		return "0x" + strings.Repeat("#", len(number)-2)
	})
}

// addressable is v, or a copy of it that has an address, so that all of its fields can be read.
func addressable(v reflect.Value) reflect.Value {
	if !v.IsValid() || v.CanAddr() {
		return v
	}
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}

// open is a field of an addressable struct, exported or not, that can be read as if it was.
func open(f reflect.Value) reflect.Value {
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

func (p *printer) add(text string) {
	if len(p.b) < mostText {
		p.b = append(p.b, text...)
	}
}

func (p *printer) value(v reflect.Value) {
	p.nodes++
	if !v.IsValid() {
		p.add("nil")
		return
	}
	if p.nodes > mostNodes || len(p.path) > mostDepth {
		p.add("…")
		return
	}
	if p.special(v) {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		p.add(strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.b = strconv.AppendInt(p.b, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		p.b = strconv.AppendUint(p.b, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		p.float(v.Float())
	case reflect.Complex64, reflect.Complex128:
		p.float(real(v.Complex()))
		p.float(imag(v.Complex()))
	case reflect.String:
		p.b = strconv.AppendQuote(p.b, placeless(v.String()))
	case reflect.Interface:
		p.value(addressable(v.Elem()))
	case reflect.Pointer:
		p.pointer(v)
	case reflect.Struct:
		p.fields(v)
	case reflect.Slice:
		p.slice(v)
	case reflect.Array:
		p.elements(v)
	case reflect.Map:
		p.entries(v)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		p.opaque(v)
	default: // an address as a number means nothing
	}
}

func (p *printer) float(f float64) { p.b = strconv.AppendFloat(p.b, f, 'g', -1, 64) }

func (p *printer) opaque(v reflect.Value) {
	switch {
	case v.IsNil():
		p.add("nil")
	case v.Kind() == reflect.Chan:
		p.add("chan of " + strconv.Itoa(v.Len()))
	default:
		p.add(v.Kind().String())
	}
}

func (p *printer) pointer(v reflect.Value) {
	if v.IsNil() {
		p.add("nil")
		return
	}
	at := visit{v.UnsafePointer(), v.Type()}
	if slices.Contains(p.path, at) {
		p.add("cycle")
		return
	}
	p.path = append(p.path, at)
	if !p.inside || v.Type().Elem().Kind() != reflect.Struct {
		p.add("&")
	}
	p.value(v.Elem())
	p.path = p.path[:len(p.path)-1]
}

func (p *printer) slice(v reflect.Value) {
	switch {
	case v.IsNil():
		p.add("nil")
	case v.Type().Elem().Kind() == reflect.Uint8:
		p.add("b")
		p.b = strconv.AppendQuote(p.b, string(v.Bytes()))
	default:
		p.elements(v)
	}
}

func (p *printer) elements(v reflect.Value) {
	p.add("[")
	for i := range v.Len() {
		if i > 0 {
			p.add(" ")
		}
		if len(p.b) >= mostText || p.nodes > mostNodes {
			p.add("…")
			break
		}
		p.value(v.Index(i))
	}
	p.add("]")
}

// entries shows a map in the order of its keys' text.
func (p *printer) entries(v reflect.Value) {
	if v.IsNil() {
		p.add("nil")
		return
	}
	type entry struct {
		key   string
		value reflect.Value
	}
	// Where the text is cut must not depend on the order in which a map is ranged over.
	var all []entry
	for it := v.MapRange(); it.Next() && len(all) < mostEntries; {
		key := printer{s: p.s, inside: p.inside, path: p.path}
		key.value(addressable(it.Key()))
		all = append(all, entry{string(key.b), addressable(it.Value())})
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	var list []string
	for _, e := range all {
		if p.nodes >= mostNodes {
			break
		}
		inner := printer{s: p.s, inside: p.inside, nodes: p.nodes, path: p.path}
		inner.value(e.value)
		p.nodes = inner.nodes + 1
		list = append(list, e.key+":"+string(inner.b))
	}
	slices.Sort(list) // keys may have the same text
	p.add("map[" + strings.Join(list, " ") + "]")
}

// fields shows a struct. Those that are not exported are shown without what is empty.
func (p *printer) fields(v reflect.Value) {
	t := v.Type()
	ours := p.s.ours(t)
	if !ours && p.worded(v) {
		return
	}
	ignored := p.s.plan.Ignore[t.String()]
	p.add("{")
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "_" || slices.Contains(ignored, f.Name) || !f.IsExported() && !(ours && p.inside) {
			continue
		}
		start := len(p.b)
		p.add(f.Name + ":")
		head := len(p.b)
		was := p.inside
		p.inside = was && !f.IsExported() || was && ours
		p.value(open(v.Field(i)))
		p.inside = was
		if !f.IsExported() && empty(p.b[head:]) {
			p.b = p.b[:start]
			continue
		}
		p.add(" ")
	}
	p.add("}")
}

// empty reports whether the text of a value is that of nothing.
func empty(text []byte) bool {
	switch string(text) {
	case "", "nil", "[]", "{}", "&{}", `b""`, `""`, "0", "false", "map[]", "func":
		return true
	}
	return false
}

// ours reports whether a type is declared in the module.
func (s *Session) ours(t reflect.Type) bool {
	path := t.PkgPath()
	return path != "" && (path == s.plan.Module || strings.HasPrefix(path, s.plan.Module+"/")) || t.Name() == ""
}

// special shows values whose fields say less than what they stand for.
func (p *printer) special(v reflect.Value) bool {
	t := v.Type()
	if v.Kind() == reflect.Interface && v.IsNil() {
		return false
	}
	if t.Implements(errorType) && v.CanInterface() && !(v.Kind() == reflect.Pointer && v.IsNil()) {
		p.error(v)
		return true
	}
	switch t.PkgPath() {
	case "sync", "sync/atomic":
		return true
	case "bytes", "strings", "time", "math/big", "regexp":
		if v.CanAddr() && t.Kind() == reflect.Struct {
			return p.standard(v.Addr().Interface())
		}
	}
	if v.Kind() == reflect.Struct && v.CanAddr() {
		if own, ok := v.Addr().Interface().(shower); ok {
			p.add(own.shown())
			return true
		}
	}
	return false
}

// shower is a type of this package, or one that embeds such, which shows itself.
type shower interface{ shown() string }

func (p *printer) standard(v any) bool {
	switch x := v.(type) {
	case *time.Time:
		p.add(x.Format(time.RFC3339Nano))
	case *bytes.Buffer, *strings.Builder, *regexp.Regexp:
		p.b = strconv.AppendQuote(p.b, fmt.Sprint(x))
	case *bytes.Reader, *strings.Reader:
		p.add("reader of " + strconv.Itoa(x.(interface{ Len() int }).Len()))
	case *big.Int, *big.Rat, *big.Float:
		p.add(x.(fmt.Stringer).String())
	default:
		return false
	}
	return true
}

// worded shows a value of another module by its own words, if it has any.
func (p *printer) worded(v reflect.Value) (ok bool) {
	if !v.CanAddr() || !v.Addr().CanInterface() {
		return false
	}
	defer func() {
		if recover() != nil {
			ok = true
		}
	}()
	if str, is := v.Addr().Interface().(fmt.Stringer); is {
		p.b = strconv.AppendQuote(p.b, str.String())
		return true
	}
	return false
}

// error shows an error: its text, its type where that can be asked for, and what it is and wraps.
func (p *printer) error(v reflect.Value) {
	err, ok := v.Interface().(error)
	if !ok {
		return
	}
	defer func() {
		if recover() != nil {
			p.add("error that panics")
		}
	}()
	p.add("error ")
	p.b = strconv.AppendQuote(p.b, err.Error())
	for _, k := range p.s.sentinels {
		if *k.at != nil && errors.Is(err, *k.at) {
			p.add(" is " + k.name)
		}
	}
	for _, k := range knownErrors() {
		if errors.Is(err, k) {
			p.add(" is " + k.Error())
		}
	}
	p.chain(err, 0)
}

// chain shows the types and the texts of an error and of those that it wraps.
func (p *printer) chain(err error, depth int) {
	t := reflect.TypeOf(err)
	name := t.String()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n := t.Name(); n != "" && n[0] >= 'A' && n[0] <= 'Z' {
		p.add(" as " + name)
		if t.Kind() == reflect.Struct {
			p.add(exportedOf(p, err))
		}
	}
	if depth > 6 {
		return
	}
	var inner []error
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		inner = []error{x.Unwrap()}
	case interface{ Unwrap() []error }:
		inner = x.Unwrap()
	}
	for _, e := range inner {
		if e != nil {
			p.add(" wraps ")
			p.b = strconv.AppendQuote(p.b, e.Error())
			p.chain(e, depth+1)
		}
	}
}

// exportedOf shows the exported fields of an error's struct that are no errors themselves.
func exportedOf(p *printer, err error) string {
	v := reflect.Indirect(reflect.ValueOf(err))
	if !v.IsValid() {
		return ""
	}
	v = addressable(v)
	var b strings.Builder
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.IsExported() && !f.Type.Implements(errorType) && len(p.path) < 3 {
			inner := printer{s: p.s, nodes: p.nodes, path: append(p.path, visit{typ: v.Type()})}
			inner.value(v.Field(i))
			fmt.Fprintf(&b, " %s:%s", f.Name, inner.b)
		}
	}
	return b.String()
}

func knownErrors() []error {
	return []error{io.EOF, io.ErrUnexpectedEOF, io.ErrShortWrite, io.ErrClosedPipe, io.ErrShortBuffer, io.ErrNoProgress, errGiven, errors.ErrUnsupported}
}

var errorType = reflect.TypeFor[error]()
