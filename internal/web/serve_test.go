package web

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
