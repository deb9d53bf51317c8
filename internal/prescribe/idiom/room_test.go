package idiom

import (
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

const rooms = `package m

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"math/big"
	"net"
)

type logger interface {
	Debugf(format string, args ...any)
	Log(text string, args ...any)
}

type shown struct{ n int }

func (s shown) String() string { return "shown" }

type failing struct{ net.Addr }

func (f *failing) String() string { return "s" }
func (f *failing) Error() string  { return "e" }

func formats(l logger, a net.Addr, s shown, f *failing, err error) {
	l.Debugf("from %s", a.String())           // a
	l.Debugf("from %-20v", a.String())        // a
	l.Debugf("%d %s", 1, err.Error())         // err
	l.Debugf("%q", a.String())                // -
	l.Debugf("%d", a.String())                // -
	l.Debugf("%[1]s", a.String())             // -
	l.Debugf("%*s", 3, a.String())            // -
	l.Debugf("no verb", a.String())           // -
	l.Debugf("%s", s.String())                // -
	l.Debugf("%s", f.String())                // -
	l.Log(a.String())                         // -
	fmt.Println(fmt.Sprintf("%s", a.String())) // -
}

func padded(x *big.Int, size int, to []byte) []byte {
	a := x.Bytes() // padded
	out := make([]byte, size)
	copy(out[size-len(a):], a)
	b := x.Bytes() // -
	copy(out[size-len(b):], b)
	b[0] = 1
	c := x.Bytes() // -
	copy(to, c)
	d := x.Bytes() // -
	copy(out[len(d):], d)
	return out
}

func kinds(v any, n int) string {
	return fmt.Sprintf("%T", v) + // type
		fmt.Sprintf("%v", n) // -
}

func grows(a, b []byte, n int) ([]byte, [][]byte) {
	x := make([]byte, len(a)) // grows
	copy(x, a)
	x = append(x, b...) // grows
	y := make([]byte, n) // grows
	y[0] = 1
	z := append(y, 1, 2) // grows
	u := make([]byte, n) // -
	v := append(u, 1) // -
	u[0] = 2
	w := make([]byte, n) // -
	if n > 3 {
		w = append(w, 3) // -
	}
	r := make([]byte, n) // -
	var all [][]byte
	for i := range n {
		all = append(all, append(r, byte(i))) // -
	}
	s := make([]byte, n, 2*n) // -
	s = append(s, 1) // -
	e := make([]byte, 0) // -
	e = append(e, 1) // -
	return append(append(x, z...), v...), append(all, w, s, e)
}

func forks(a, b []byte, n int) [][]byte {
	x := append(a, 1) // -
	a2 := append(b, 2) // forks
	b[0] = 1
	var all [][]byte
	for i := range n {
		all = append(all, append(x, byte(i))) // -
		y := append(a2, byte(i)) // forks
		all = append(all, y)
	}
	return all
}

func ones(list []string, i int, other []string) [][]string {
	list = []string{list[0]} // list[:1]
	two := []string{other[i]} // -
	other[i] = "changed"
	three := []string{two[i]} // two[i:][:1]
	four := []string{three[0], "b"} // -
	five := []any{four[0]} // -
	_ = five
	return [][]string{list, three, four}
}

func writes(h hash.Hash, w *bufio.Writer, to io.Writer, a, b []byte) []byte {
	x := make([]byte, len(a)+len(b)+8) // h
	n := copy(x, a)
	n += copy(x[n:], b)
	binary.BigEndian.PutUint64(x[n:], 1)
	h.Write(x)
	y := make([]byte, 0, len(a)+len(b)) // w
	y = append(y, a...)
	y = append(y, b...)
	w.Write(y)
	z := make([]byte, 0, len(a)+len(b)) // -
	z = append(z, a...)
	z = append(z, b...)
	to.Write(z)
	u := make([]byte, len(a)+len(b)) // -
	copy(u, a)
	copy(u[len(a):], b)
	h.Write(u)
	v := make([]byte, len(a)) // -
	copy(v, a)
	h.Write(v)
	r := make([]byte, len(a)+len(b)) // -
	copy(r, a)
	copy(r[len(a):], b)
	for range 3 {
		h.Write(r)
	}
	s := make([]byte, len(a)+len(b)) // -
	copy(s, a)
	for i := range b {
		s[i] = b[i] ^ 1
	}
	h.Write(s)
	return bytes.ToUpper(u)
}

func nilSlices(list []string, n int) (named []string, other []string) {
	var a, b, c []string
	d := []string{}
	for _, s := range list {
		if s != "" {
			a = append(a, s) // nil
		}
		b = append(b, s) // nil
		c = append(c, s) // -
		d = append(d, s) // -
		named = append(named, s) // nil
	}
	c = append(c, "last") // -
	var e []string
	for range n {
		e = append(e, "x") // -
	}
	n += len(e)
	if n > 3 {
		return a, b
	}
	return named, append(c, d...)
}

func binaries(r io.Reader, buf *bytes.Buffer, list []int) error {
	var v uint32
	if err := binary.Read(r, binary.BigEndian, &v); err != nil { // one
		return err
	}
	for range list {
		if err := binary.Read(r, binary.BigEndian, &v); err != nil { // -
			return err
		}
	}
	return binary.Read(buf, binary.BigEndian, &v) // -
}

type numbers struct{ in io.Reader }

func (n *numbers) binaryMethod(r io.Reader) (v uint32, err error) {
	if err = binary.Read(n.in, binary.BigEndian, &v); err != nil { // -
		return v, err
	}
	return v, binary.Read(r, binary.BigEndian, &v) // one
}

func derive(secret []byte) []byte { return append([]byte("x"), secret...) }

func keys(key string, secret []byte) {
	own := derive(secret)
	hmac.New(sha256.New, own)            // own
	hmac.New(sha256.New, derive(secret)) // own
	hmac.New(sha256.New, secret)         // -
	text := []byte(key)
	hmac.New(sha256.New, text)        // -
	hmac.New(sha256.New, []byte(key)) // -
}

type lazy struct{ m, other map[string]int }

func (l *lazy) nils() {
	if l.m == nil {
		l.m = map[string]int{} // nil
	}
	if l.other == nil {
		l.m = map[string]int{} // -
	}
	l.m = map[string]int{} // -
	if l.m == nil {
		l.other = nil
	} else {
		l.m = map[string]int{} // -
	}
}
`

// TestRoom: sizes, parts and forms of slices and texts.
func TestRoom(t *testing.T) {
	calls := func(e *source.Expr) bool { return e.Kind == source.Call }
	first := func(e *source.Expr) bool { return e.Kind == source.Make || e.Kind == source.Append }
	compare(t, rooms, map[string]func(*source.Program, *source.Line, *source.Expr) string{
		"formats": worded(func(e *source.Expr) bool {
			return calls(e) && (strings.HasSuffix(e.Call.Callee, ".String") || strings.HasSuffix(e.Call.Callee, ".Error"))
		}, func(p Place) string { v, _ := p.ForFormat(); return v }),
		"padded":       answered("padded", calls, Place.Padded),
		"kinds":        answered("type", calls, Place.IsType),
		"grows":        answered("grows", first, func(p Place) bool { g, _ := p.FullGrows(); return g != nil }),
		"forks":        answered("forks", func(e *source.Expr) bool { return e.Kind == source.Append }, Place.Forks),
		"ones":         worded(func(e *source.Expr) bool { return e.Kind == source.Literal }, Place.OfAnother),
		"writes":       worded(func(e *source.Expr) bool { return e.Kind == source.Make }, Place.ForOneWrite),
		"nilSlices":    answered("nil", func(e *source.Expr) bool { return e.Kind == source.Append }, Place.StaysNil),
		"binaries":     answered("one", func(e *source.Expr) bool { return e.Call.Callee == "encoding/binary.Read" }, Place.ReadsOne),
		"binaryMethod": answered("one", func(e *source.Expr) bool { return e.Call.Callee == "encoding/binary.Read" }, Place.ReadsOne),
		"keys":         answered("own", func(e *source.Expr) bool { return e.Call.Callee == "crypto/hmac.New" }, Place.KeyOfItsOwn),
		"nils":         answered("nil", func(e *source.Expr) bool { return e.Kind == source.Literal || e.Kind == source.Make }, Place.WhereNil),
	})
}
