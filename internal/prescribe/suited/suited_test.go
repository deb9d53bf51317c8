package suited

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const program = `package m

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/ioutil"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"time"
)

var name = "x-request-id"

const fixed = "x-request-id"

func headers(h http.Header) (string, string) {
	a := h.Get(fixed) // suits
	b := h.Get(name)  // -
	return a, b
}

func buffers(data []byte, text string) {
	use(bytes.NewBuffer(nil))                  // suits
	use(bytes.NewBuffer(make([]byte, 0, 100))) // suits
	use(bytes.NewBuffer(data))                 // -
	read(bytes.NewBufferString(text))          // suits
	use(bytes.NewBufferString(text))           // -
}

func encoders(to *bytes.Buffer, out io.Writer, b []byte) {
	whole := base64.NewEncoder(base64.StdEncoding, to) // suits
	whole.Write(b)
	whole.Close()
	stream := base64.NewEncoder(base64.StdEncoding, out) // suits
	defer stream.Close()
	stream.Write(b)
	twice := hex.NewEncoder(to) // -
	twice.Write(b)
	twice.Write(b)
	handed := base64.NewEncoder(base64.StdEncoding, to) // -
	handed.Write(b)
	io.Copy(handed, bytes.NewReader(b))
	turns := hex.NewEncoder(to) // -
	for range b {
		turns.Write(b)
	}
	hex.NewEncoder(to).Write(b) // suits
	io.Copy(hex.NewEncoder(to), bytes.NewReader(b)) // -
}

func use(*bytes.Buffer) {}
func read(io.Reader)    {}

func once(r io.Reader, v any) error {
	d := json.NewDecoder(r) // suits
	return d.Decode(v)      // suits
}

func chained(r io.Reader, v any) error {
	return json.NewDecoder(r).Decode(v) // suits
}

func strict(r io.Reader, v any) error {
	d := json.NewDecoder(r) // -
	d.DisallowUnknownFields()
	return d.Decode(v) // -
}

func stream(r io.Reader, v any) {
	d := json.NewDecoder(r) // -
	for d.Decode(v) == nil { // -
	}
}

func twice(r io.Reader, v any) {
	d := json.NewDecoder(r) // -
	d.Decode(v)             // -
	d.Decode(v)             // -
}

func known(data []byte) (string, error) {
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil { // suits
		return "", err
	}
	name, _ := m["name"].(string)
	return name, nil
}

func allKeys(data []byte, see func(string, any)) error {
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil { // -
		return err
	}
	for k, v := range m {
		see(k, v)
	}
	return nil
}

func typed(data []byte) (n int) {
	var m map[string]int
	json.Unmarshal(data, &m) // -
	return m["n"]
}

func queries(u *url.URL, key string) (string, string, url.Values) {
	a := u.Query().Get("id") // suits
	b := u.Query().Get(key)  // -
	return a, b, u.Query()   // -
}

func logs(l *slog.Logger, n int) *slog.Logger {
	l.With("n", n).Info("done") // suits
	return l.With("n", n)       // -
}

func reflected(v, w reflect.Value, see func(any)) (out []reflect.Value) {
	if s, ok := v.Interface().(string); ok { // suits
		see(s)
	}
	see(v.Interface()) // -
	for _, k := range v.MapKeys() {
		out = append(out, v.MapIndex(k)) // suits
		out = append(out, w.MapIndex(k)) // -
	}
	keys := v.MapKeys()
	for _, k := range keys {
		out = append(out, v.MapIndex(k)) // -
	}
	return out
}

func handed(r io.Reader) *json.Decoder {
	d := json.NewDecoder(r) // -
	return d
}

func encoded(w io.Writer, v any) {
	gob.NewEncoder(w).Encode(v) // suits
	var b bytes.Buffer
	gob.NewEncoder(&b).Encode(v) // -
}

type pair struct{ a, b []int }

func (p pair) Len() int           { return len(p.a) }
func (p pair) Less(i, j int) bool { return p.a[i] < p.a[j] }
func (p pair) Swap(i, j int)      { p.a[i], p.a[j], p.b[i], p.b[j] = p.a[j], p.a[i], p.b[j], p.b[i] }

func sorted(p pair, s sort.StringSlice) {
	sort.Sort(p) // -
	sort.Sort(s) // suits
}

func timers(n int) {
	time.AfterFunc(time.Second, func() { println("x") }) // suits
	time.AfterFunc(time.Second, func() { println(n) })   // -
	time.AfterFunc(time.Second, again)                   // suits
	time.FixedZone("UTC+1", n)                           // suits
	time.FixedZone(name, n)                              // -
}

func again() {}

func names(dir string) (all []string, sum int64) {
	list, _ := ioutil.ReadDir(dir) // suits
	for _, f := range list {
		if !f.IsDir() {
			all = append(all, f.Name())
		}
	}
	sizes, _ := ioutil.ReadDir(dir) // -
	for _, f := range sizes {
		sum += f.Size()
	}
	return all, sum
}

func walks(dir string) (n int, sum int64) {
	filepath.Walk(dir, func(path string, info os.FileInfo, err error) error { // suits
		if info.IsDir() {
			n++
		}
		return err
	})
	filepath.Walk(dir, func(path string, info os.FileInfo, err error) error { // -
		sum += info.Size()
		return err
	})
	return n, sum
}
`

// TestCall holds what a line's calls need against the comment on it.
func TestCall(t *testing.T) {
	p, file := sourcetest.Load(t, program)
	seen := 0
	for i, text := range strings.Split(program, "\n") {
		_, want, found := strings.Cut(text, "// ")
		l := p.At(file, i+1)
		if !found {
			continue
		}
		if l == nil {
			t.Fatalf("%s: not read", text)
		}
		for _, e := range l.Exprs {
			if e.Kind != source.Call || !Conditional(e.Call.Callee) {
				continue
			}
			seen++
			place := idiom.Place{Info: l.Info(), Expr: e.Node().(ast.Expr), Path: e.Path(), Line: l.LineOf}
			if got := Call(e.Call.Callee, place); got != (want == "suits") {
				t.Errorf("%s: %s: %v", text, e.Call.Callee, got)
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d calls were read", seen)
	}
}

// TestNoCondition: most calls need nothing.
func TestNoCondition(t *testing.T) {
	if Conditional("strings.ToLower") || !Call("strings.ToLower", idiom.Place{}) {
		t.Error("strings.ToLower needs something")
	}
}
