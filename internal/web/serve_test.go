package web

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

func testServer(t *testing.T) (*Server, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"bundle/manifest.json": "{}", "bundle/service/cpu.pprof": "profile", "bundle/page.html": "<script>", "secret": "secret"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	listed := []string{"service/cpu.pprof", "page.html", "../secret", "link", "gone"}
	if err := os.Symlink(filepath.Join(dir, "secret"), filepath.Join(dir, "bundle", "link")); err != nil {
		t.Log(err) // needs a right that not every account of Windows has
	}
	root, err := os.OpenRoot(filepath.Join(dir, "bundle"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	s, err := NewServer(ServerOptions{Title: "test", Data: []byte(`{}`), Report: []byte(`{"schema":"heaptrim.report/1"}`), Parts: root.FS(), Listed: listed})
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

func TestServer(t *testing.T) {
	s, _ := testServer(t)
	f := func(method, host, path string, status int, body string) {
		t.Helper()
		r := httptest.NewRequest(method, "http://localhost/", nil)
		r.Host, r.URL.Path = host, path
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != status || !strings.Contains(w.Body.String(), body) {
			t.Errorf("%s %s of %s: %d %.60q, want %d and %q", method, path, host, w.Code, w.Body, status, body)
		}
		if strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s %s of %s shows a file outside of the recording", method, path, host)
		}
		for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy", "Cache-Control"} {
			if w.Header().Get(name) == "" {
				t.Errorf("%s %s: no %s", method, path, name)
			}
		}
	}
	f("GET", "127.0.0.1:8080", "/", 200, "<!DOCTYPE html>")
	f("GET", "localhost", "/", 200, "<!DOCTYPE html>")
	f("GET", "[::1]:80", "/report.json", 200, "heaptrim.report/1")
	f("HEAD", "127.0.0.1", "/", 200, "")
	f("GET", "localhost", "/version.json", 200, `{"version":`)
	f("GET", "evil.example", "/version.json", 421, "loopback")
	f("GET", "localhost:1", "/bundle/service/cpu.pprof", 200, "profile")

	f("GET", "evil.example", "/", 421, "loopback")
	f("GET", "127.0.0.1.evil.example:8080", "/report.json", 421, "loopback")
	f("GET", "", "/", 421, "loopback")
	f("GET", "192.168.0.1:8080", "/", 421, "loopback")
	f("POST", "localhost", "/", 405, "read only")
	f("DELETE", "localhost", "/bundle/service/cpu.pprof", 405, "read only")

	for _, path := range []string{"/bundle/../secret", "/bundle/manifest.json", "/bundle/", "/bundle//service/cpu.pprof", "/bundle/service/../../secret", "/bundle/link", "/bundle/gone", "/bundle/" + `..\secret`, "/etc/passwd", "/x"} {
		f("GET", "localhost", path, 404, "")
	}
}

// TestShow: what is shown changes as a whole, and stays when the next cannot be
// shown. Only a page that is served may ask its server for something.
func TestShow(t *testing.T) {
	s, _ := testServer(t)
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		return w
	}
	if err := s.Show(ServerOptions{Title: "second", Data: []byte(`{"n":2}`), Report: []byte(`{"r":2}`), Version: "v2"}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/": `{"n":2}`, "/report.json": `{"r":2}`, "/version.json": `{"version":"v2"}`} {
		if got := get(path).Body.String(); !strings.Contains(got, want) {
			t.Errorf("%s answers %.80q, want %q", path, got, want)
		}
	}
	if got := get("/bundle/service/cpu.pprof").Code; got != http.StatusNotFound {
		t.Errorf("a file of the first recording is still there: status %d", got)
	}
	if err := s.Show(ServerOptions{Data: []byte("</script>")}); err == nil {
		t.Error("data that are not escaped were shown")
	}
	if got := get("/version.json").Body.String(); got != `{"version":"v2"}` {
		t.Errorf("after a failure the version is %s", got)
	}
	page := get("/")
	for _, policy := range []string{page.Header().Get("Content-Security-Policy"), html.UnescapeString(page.Body.String())} {
		if !strings.Contains(policy, "connect-src 'self'") {
			t.Error("the served page cannot ask for the version")
		}
	}
	var alone bytes.Buffer
	if err := Page(&alone, "alone", []byte(`{}`)); err != nil || strings.Contains(alone.String(), "connect-src") {
		t.Errorf("a page that stands alone may ask for something, or %v", err)
	}
}

// TestMore: a request names a function or a line that the page has by its number,
// and nothing else is ever read.
func TestMore(t *testing.T) {
	var read []string
	v, rest := codeOf(t, Options{Code: func(Binary, []string) ([]evidence.Code, error) { return []evidence.Code{parse()}, nil }, Source: func(file string) ([]byte, error) {
		read = append(read, file)
		return sourceOf(file)
	}})
	s, err := NewServer(ServerOptions{Data: []byte(`{}`), Version: "v1", Rest: rest})
	if err != nil {
		t.Fatal(err)
	}
	f := func(method, host, target string, status int, body string) {
		t.Helper()
		r := httptest.NewRequest(method, "http://localhost"+target, nil)
		r.Host = host
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != status || !strings.Contains(w.Body.String(), body) {
			t.Errorf("%s %s of %s: %d %.80q, want %d and %q", method, target, host, w.Code, w.Body, status, body)
		}
		if w.Code == http.StatusOK && w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s came as %s", target, w.Header().Get("Content-Type"))
		}
	}
	hot := fmt.Sprintf("/code.json?version=v1&function=%d", slices.IndexFunc(v.Code.Functions, func(f codeFunction) bool { return f.Name == "example.com/m/a.Parse" }))
	lines := fmt.Sprintf("/source.json?version=v1&line=20&file=%d", slices.Index(v.Flame.Files, "a/a.go"))
	read = nil
	f("GET", "localhost", hot, 200, `{"code":{"files":["a.go"],"texts":["NOP"]`)
	f("GET", "localhost", lines, 200, `{"part":{"first":3,"lines":[`)
	f("GET", "localhost", "/code.json?version=v0&function=0", 409, "has changed")
	f("GET", "localhost", "/code.json?function=0", 409, "has changed")
	f("GET", "localhost", "/code.json?version=v1&function=99", 404, "")
	f("GET", "localhost", "/code.json?version=v1&function=main.main", 404, "")
	f("GET", "localhost", "/source.json?version=v1&file=/etc/passwd&line=1", 404, "")
	f("GET", "localhost", "/source.json?version=v1&file=a/a.go&line=20", 404, "")
	f("GET", "localhost", strings.Replace(lines, "line=20", "line=2", 1), 404, "")
	f("GET", "evil.example", hot, 421, "loopback")
	f("POST", "localhost", hot, 405, "read only")
	if !slices.Equal(read, []string{"a/a.go"}) {
		t.Errorf("read %q, want the one file that was asked for", read)
	}
	s, _ = testServer(t)
	f("GET", "localhost", hot, 404, "")
}

// TestPartsAreNoPages: a file of a recording is never shown by the browser as
// a page of this origin.
func TestPartsAreNoPages(t *testing.T) {
	s, _ := testServer(t)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/bundle/page.html", nil))
	if kind, how := w.Header().Get("Content-Type"), w.Header().Get("Content-Disposition"); kind != "application/octet-stream" || how != "attachment" {
		t.Errorf("page.html came as %q, %q", kind, how)
	}
}

func TestListen(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:0", "127.0.0.1", "[::]:0"} {
		if l, err := Listen(address); err == nil {
			l.Close()
			t.Errorf("listens on %s", address)
		}
	}
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}
