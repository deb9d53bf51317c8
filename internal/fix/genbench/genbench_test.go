package genbench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFor(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"p.go": `package p

func Tested(s string, n int) string { return s }

func plain(b []byte, names ...string) {}

func Other(f func()) {}

type T struct{}

func (T) Method() {}

func Generic[E any](e E) {}
`, "p_test.go": `package p

import "testing"

func TestTested(t *testing.T) {
	x := "no constant"
	Tested(x, 1)
	if Tested("one", -1) != Tested("one", -1) {
		t.Error()
	}
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := func(line int, want string) {
		t.Helper()
		b, ok, err := For(filepath.Join(dir, "p.go"), line)
		if err != nil || ok != (want != "") || !strings.Contains(string(b.Text), want) {
			t.Errorf("line %d: %s, %v, %v, want a call %s", line, b.Text, ok, err, want)
		}
		if ok && !strings.Contains(string(b.Text), "func "+b.Name+"(b *testing.B)") {
			t.Errorf("line %d: %s has no %s", line, b.Text, b.Name)
		}
	}
	f(2, "")
	f(3, "b.Loop() {\n\t\tTested(\"one\", -1)\n\t}")
	f(5, `plain([]byte("a text of six words, no more"), "a text of six words, no more")`)
	f(7, "")
	f(11, "")
	f(13, "")
}
