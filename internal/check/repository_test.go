package check

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRepository: the nearest folder with an entry .git is the root, be it a folder or the
// file of a work tree; without one the folder itself is.
func TestRepository(t *testing.T) {
	root := t.TempDir()
	module := filepath.Join(root, "a", "x")
	if err := os.MkdirAll(module, 0o755); err != nil {
		t.Fatal(err)
	}
	f := func(want string) {
		t.Helper()
		if got := Repository(module); got != want {
			t.Errorf("Repository(%s) = %s, want %s", module, got, want)
		}
	}
	f(module)
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	f(root)
	if err := os.WriteFile(filepath.Join(root, "a", ".git"), []byte("gitdir: elsewhere\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f(filepath.Join(root, "a"))
	if got := Repository(""); got != "" {
		t.Errorf("Repository of nothing is %s", got)
	}
}
