package gocmd

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// TestLocalModule: a folder outside modules has none. A module would make the diagnosis read
// the whole recording as that module's first.
func TestLocalModule(t *testing.T) {
	t.Setenv("GOWORK", "off")
	dir := t.TempDir()
	if got := LocalModule(t.Context(), dir); !reflect.DeepEqual(got, evidence.Target{}) {
		t.Errorf("outside any module: %+v", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := LocalModule(t.Context(), dir); got.Module != "example.com/m" || got.ModuleDir == "" {
		t.Errorf("in a module: %+v", got)
	}
}

// TestNoModule checks that a folder without go.mod gets an error that names go.mod.
func TestNoModule(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte("package x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{".", "./..."} {
		list, err := (Tool{Dir: dir}).Packages(t.Context(), []string{pattern})
		if err == nil {
			err = NotFound(list)
		}
		if !errors.Is(err, errNoModule) {
			t.Errorf("%s: %v, want %v", pattern, err, errNoModule)
		}
	}
}
