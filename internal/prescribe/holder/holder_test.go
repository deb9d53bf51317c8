package holder

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

const program = `package m

type conn struct {
	buf []byte
	Out []byte
}

func (c *conn) Close() error { return nil }

type stream struct{ buf []byte }

func (s *stream) Read(b []byte) (n int, err error) { return 0, nil }

type list struct{ buf []byte }

func (l list) Release(n int) {}

func f(n int) (any, any, any) {
	return &conn{
			buf: make([]byte, n),
			Out: make([]byte, n),
		},
		&stream{
			buf: make([]byte, n),
		},
		&list{
			buf: make([]byte, n),
		}
}
`

// TestEnder: the method after which what holds the memory is not used any more.
func TestEnder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "m.go")
	for name, text := range map[string]string{filepath.Join(dir, "go.mod"): "module example.com/m\n\ngo 1.26\n", file: program} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p, problems, err := source.Load(t.Context(), source.Request{Dir: dir, Packages: []string{"example.com/m"}})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	var got [][2]string
	for line := 1; line < 40; line++ {
		l := p.At(file, line)
		if l == nil {
			continue
		}
		for _, e := range l.Exprs {
			if e.Kind == source.Make {
				got = append(got, [2]string{Of(p, l.Owner(e)).Obj().Name(), Ender(p, l.Owner(e))})
			}
		}
	}
	want := [][2]string{{"conn", "Close of `conn`"}, {"conn", ""}, {"stream", "Read of `stream`, once that returns an error"}, {"list", ""}}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
