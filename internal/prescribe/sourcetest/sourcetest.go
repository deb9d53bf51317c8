// Package sourcetest reads the source of one file, for tests.
package sourcetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// Load reads a file of the package example.com/m. It returns the file's name, too.
func Load(t *testing.T, text string) (p *source.Program, file string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "m.go")
	for name, text := range map[string]string{filepath.Join(dir, "go.mod"): "module example.com/m\n\ngo 1.26\n", file: text} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p, problems, err := source.Load(t.Context(), source.Request{Dir: dir, Packages: []string{"example.com/m"}})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return p, file
}
