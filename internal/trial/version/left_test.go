package version

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// leaves is a test that leaves files, and does not end.
const leaves = `package left

import (
	"os"
	"testing"
	"time"
)

func TestLong(t *testing.T) {
	for _, name := range []string{"index.db", "testdata/new", "pkg/sub", ".git/objects", ".idea"} {
		if err := os.MkdirAll(name, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"used.db", "index.db/part", "edited.go", "pkg/sub/p.go", ".git/objects/new", ".idea/w.xml", ".left.swp", "testdata/given", "done"} {
		if err := os.WriteFile(name, []byte("package left\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(time.Hour)
}
`

// TestLeft: what a test that is stopped leaves in its package's folder is moved away, and nothing else is.
func TestLeft(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a package")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/left\n\ngo 1.24\n")
	write("left.go", "package left\n")
	write("testdata/given", "x")
	write(".git/HEAD", "x")
	write("left_test.go", leaves)
	b, err := New(gocmd.Tool{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var left, stays []string
	b.Left = func(_, what, to string, err error) {
		if errors.Is(err, errHeld) {
			stays = append(stays, filepath.ToSlash(what))
			return
		}
		if _, gone := os.Stat(filepath.Join(to, filepath.Base(what))); gone != nil || err != nil {
			t.Errorf("%s is not in %s: %v, %v", what, to, gone, err)
		}
		left = append(left, filepath.ToSlash(what))
	}
	bin, err := b.Test(t.Context(), "example.com/left", nil)
	if err != nil {
		t.Fatal(err)
	}
	var used *os.File
	defer func() { used.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(dir, "done")); err == nil {
				if used, err = os.Open(filepath.Join(dir, "used.db")); err != nil {
					t.Error(err)
				}
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if _, err := b.Run(ctx, bin, Run{Limit: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Fatalf("the run ended with %v", err)
	}
	if runtime.GOOS != "linux" { // which program has a file open is not known
		if slices.Sort(stays); !slices.Equal(stays, []string{"done", "index.db", "testdata/new", "used.db"}) || len(left) > 0 {
			t.Errorf("%q were moved, and not %q", left, stays)
		}
		return
	}
	if slices.Sort(left); !slices.Equal(left, []string{"done", "index.db", "testdata/new"}) || !slices.Equal(stays, []string{"used.db"}) {
		t.Errorf("%q were moved, and not %q", left, stays)
	}
	for name, want := range map[string]bool{"index.db": false, "testdata/new": false, "used.db": true, "edited.go": true, "pkg/sub/p.go": true, ".git/HEAD": true, ".git/objects/new": true, ".idea/w.xml": true, ".left.swp": true,
		"testdata/given": true, "left.go": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
}
