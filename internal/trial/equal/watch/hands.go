package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/url"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"
)

// errGiven is the error that readers and writers of this package fail with.
var errGiven = errors.New("given error")

// reader is a source that is handed to functions. It counts how often it is closed.
type reader struct {
	data   []byte
	off    int
	fail   bool // with errGiven in place of io.EOF
	chunk  int  // most bytes at a time
	closed int
	late   int // reads after it was closed
}

// Read reads at most a chunk.
func (r *reader) Read(p []byte) (int, error) {
	if r.closed > 0 {
		r.late++
	}
	if r.off >= len(r.data) {
		if r.fail {
			return 0, errGiven
		}
		return 0, io.EOF
	}
	n := copy(p, r.data[r.off:min(len(r.data), r.off+r.chunk)])
	r.off += n
	return n, nil
}

// Close counts.
func (r *reader) Close() error { r.closed++; return nil }

func (r *reader) shown() string {
	return fmt.Sprintf("reader at %d of %d, closed %d times, used after that %d times", r.off, len(r.data), r.closed, r.late)
}

// writer keeps what is written, up to a limit.
type writer struct {
	data   []byte
	limit  int
	closed int
	late   int
}

// Write keeps what fits below the limit, and fails beyond.
func (w *writer) Write(p []byte) (int, error) {
	if w.closed > 0 {
		w.late++
	}
	n := min(len(p), max(w.limit-len(w.data), 0))
	w.data = append(w.data, p[:n]...)
	if n < len(p) {
		return n, errGiven
	}
	return n, nil
}

// Close counts.
func (w *writer) Close() error { w.closed++; return nil }

func (w *writer) shown() string {
	return fmt.Sprintf("writer of %q, closed %d times, used after that %d times", short(w.data), w.closed, w.late)
}

// thing stands for a value of a caller's own type.
type thing struct {
	Name string
	N    int
}

// String is its name.
func (t *thing) String() string { return "thing " + t.Name }

// MarshalText is its name.
func (t *thing) MarshalText() ([]byte, error) { return []byte(t.Name), nil }

// UnmarshalText sets its name.
func (t *thing) UnmarshalText(b []byte) error { t.Name = string(b); return nil }

// hands are values of well-known types that may stand for an interface.
func (p *player) hands() []reflect.Value {
	text := p.bytes()
	list := []any{
		&reader{data: text, chunk: 1 + p.n(40), fail: p.n(5) == 0},
		&writer{limit: []int{1 << 20, 0, 7, 60}[p.n(4)]},
		bytes.NewBuffer(append([]byte(nil), text...)), strings.NewReader(string(text)), bytes.NewReader(append([]byte(nil), text...)),
		&strings.Builder{}, errGiven, fmt.Errorf("wrapped: %w", errGiven), io.ErrUnexpectedEOF,
		&thing{Name: string(text), N: p.n(9)}, sort.StringSlice{"b", "a", string(text)}, context.Background(),
	}
	out := make([]reflect.Value, len(list))
	for i, v := range list {
		out[i] = reflect.ValueOf(v)
	}
	return out
}

// plain are values for an interface that wants nothing.
func (p *player) plain(depth int) reflect.Value {
	if asked := p.s.cases; len(asked) > 0 && depth < 3 && p.n(3) == 0 {
		return p.value(asked[p.n(len(asked))], depth+1)
	}
	switch p.n(13) {
	case 12:
		kinds := p.kinds()
		return p.value(kinds[p.n(len(kinds))], depth+1)
	case 0:
		return reflect.ValueOf(int(p.number()))
	case 1:
		return reflect.ValueOf(p.number())
	case 2, 3:
		return reflect.ValueOf(p.text())
	case 4:
		return reflect.ValueOf(p.bytes())
	case 5:
		return reflect.ValueOf(float64(p.number()) / 4)
	case 6:
		return reflect.ValueOf(p.n(2) == 0)
	case 7:
		return reflect.ValueOf([]any{p.text(), int(p.number()), nil}[:p.n(4)])
	case 8:
		return reflect.ValueOf(map[string]any{p.text(): p.text(), "n": float64(p.n(100))})
	case 9:
		return reflect.ValueOf([]string{p.text(), p.text()}[:p.n(3)])
	case 10:
		return reflect.ValueOf(error(errGiven))
	}
	if len(p.s.types) > 0 && depth < 3 {
		return p.value(p.s.types[p.n(len(p.s.types))], depth+1)
	}
	return reflect.Value{}
}

// kinds are the types that Go has by itself.
func (p *player) kinds() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[uint](),
		reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](), reflect.TypeFor[float32](),
		reflect.TypeFor[complex128](), reflect.TypeFor[*string](), reflect.TypeFor[*int](), reflect.TypeFor[map[string]string](),
		reflect.TypeFor[[]int](), reflect.TypeFor[time.Duration](), reflect.TypeFor[[2]string]()}
}

// standard makes values of types of the standard library that have no use as zero values.
func (p *player) standard(t reflect.Type) (reflect.Value, bool) {
	switch t {
	case reflect.TypeFor[time.Time]():
		at := time.Unix(int64(p.n(1<<16))*86400/4, int64(p.n(3))*500_000_000).UTC()
		if p.n(6) == 0 {
			at = time.Time{}
		}
		return reflect.ValueOf(at), true
	case reflect.TypeFor[*time.Location]():
		return reflect.ValueOf(time.UTC), true
	case reflect.TypeFor[*bytes.Buffer]():
		return reflect.ValueOf(bytes.NewBuffer(append([]byte(nil), p.bytes()...))), true
	case reflect.TypeFor[*bytes.Reader]():
		return reflect.ValueOf(bytes.NewReader(p.bytes())), true
	case reflect.TypeFor[*strings.Reader]():
		return reflect.ValueOf(strings.NewReader(p.text())), true
	case reflect.TypeFor[*big.Int]():
		n, ok := new(big.Int).SetString(strings.Repeat(strconv.Itoa(1+p.n(1<<16)), 1+p.n(8)), 10)
		if !ok || p.n(3) == 0 {
			n = big.NewInt(p.number())
		}
		return reflect.ValueOf(n), true
	case reflect.TypeFor[*url.URL]():
		u, err := url.Parse(p.text())
		if err != nil {
			u = &url.URL{Scheme: "http", Host: "example.com", Path: "/a/b"}
		}
		return reflect.ValueOf(u), true
	case reflect.TypeFor[reflect.Type]():
		return reflect.ValueOf(reflect.TypeFor[thing]()), true
	}
	return reflect.Value{}, false
}
