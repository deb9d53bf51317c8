package holder

import (
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const program = `package m

import (
	"compress/gzip"
	"io"
)

type response struct {
	w    io.Writer
	body io.Writer
}

func compressed(w io.Writer) *response {
	return &response{w: gzip.NewWriter(w), body: w} // made
}

func (r *response) Write(b []byte) (int, error) {
	return r.w.Write(b) // called
}

func (r *response) plain(b []byte) (int, error) {
	return r.body.Write(b) // handed in
}

type conn struct {
	buf []byte
	Out []byte
}

func (c *conn) Close() error { return nil }

type wire struct {
	*conn
	own []byte
}

func (w *wire) SetReadDeadline(at int) error { return nil }

type stream struct{ buf []byte }

func (s *stream) Read(b []byte) (n int, err error) { return 0, nil }

type list struct{ buf []byte }

func (l *list) begin(n int) { l.buf = make([]byte, 0, n) }

func (l list) Release(n int) {}

type idle struct{ buf []byte }

func (i *idle) clear() { i.buf = make([]byte, 0) }

func f(n int) (any, any, any, any) {
	return &conn{
			buf: make([]byte, n),
			Out: make([]byte, n),
		},
		&stream{
			buf: make([]byte, n),
		},
		&list{
			buf: make([]byte, n),
		},
		&wire{
			own: make([]byte, n),
		}
}
`

// TestEnder: the method after which what holds the memory is not used any more.
func TestEnder(t *testing.T) {
	p, file := sourcetest.Load(t, program)
	at := func(comment string) int {
		return 1 + strings.Count(program[:strings.Index(program, "// "+comment)], "\n")
	}
	for comment, want := range map[string]int{"called": at("made"), "handed in": 0} {
		frame := evidence.Frame{File: file, Line: at(comment), Function: "example.com/m.(*response).Write"}
		m := Maker(p, []evidence.Frame{frame}, "compress/gzip.(*Writer).Write")
		if m.Line != want || want > 0 && m.Function != "example.com/m.compressed" {
			t.Errorf("%s: made at %v, want line %d", comment, m, want)
		}
	}
	var got [][2]string
	for line := 30; line < 90; line++ {
		l := p.At(file, line)
		if l == nil {
			continue
		}
		for _, e := range l.Exprs {
			if e.Kind == source.Make {
				got = append(got, [2]string{Of(p, l.Owner(e)).Obj().Name(), Ender(p, l.Owner(e), nil, e.Node())})
			}
		}
	}
	for name, want := range map[string]bool{"list": true, "idle": false} {
		for _, n := range p.Structs() {
			if field := n.Underlying().(*types.Struct).Field(0); n.Obj().Name() == name && Sized(p, p.PlaceOf(field.Pos())) != want {
				t.Errorf("a function gives %s.%s a size: want %v", name, field.Name(), want)
			}
		}
	}
	want := [][2]string{{"list", ""}, {"idle", ""}, {"conn", "Close of `conn`"}, {"conn", ""}, {"stream", "Read of `stream`, once that returns an error"}, {"list", ""}, {"wire", ""}}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

const archives = `package m

import (
	"bufio"
	"io"
)

type archive struct{ in *bufio.Reader }

func (a *archive) Next() (byte, error) { return a.in.ReadByte() }

type either struct{ in *bufio.Reader }

func (e *either) Next() (byte, error) { return e.in.ReadByte() }

func open(r io.Reader) (*archive, error) {
	in := bufio.NewReader(r) // Next of ` + "`archive`" + `, once that returns an error
	if _, err := in.Peek(1); err != nil {
		return nil, err
	}
	return &archive{in: in}, nil
}

func both(r io.Reader) (*archive, *either) {
	in := bufio.NewReader(r) //
	return &archive{in: in}, &either{in: in}
}

func none(r io.Reader) error {
	in := bufio.NewReader(r) //
	_, err := in.Peek(1)
	return err
}
`

// TestEnderOfVariable: a variable's value is in the only field that it is put into.
func TestEnderOfVariable(t *testing.T) {
	p, file := sourcetest.Load(t, archives)
	seen := 0
	for i, text := range strings.Split(archives, "\n") {
		_, want, found := strings.Cut(text, " //")
		if !found {
			continue
		}
		for fn := range p.Functions() {
			for _, e := range p.At(file, i+1).Exprs {
				if fn.Name() == p.At(file, i+1).Func.Name && e.Call.Callee == "bufio.NewReader" {
					seen++
					if got := Ender(p, "", fn, e.Node()); got != strings.TrimSpace(want) {
						t.Errorf("%s: %q, want %q", fn.Name(), got, want)
					}
				}
			}
		}
	}
	if seen != 3 {
		t.Errorf("%d calls", seen)
	}
}
