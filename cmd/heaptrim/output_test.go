package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestWriteFile(t *testing.T) {
	hello := func(w io.Writer) error { _, err := fmt.Fprint(w, "hello"); return err }
	path := filepath.Join(t.TempDir(), "out")
	if err := writeFile(path, hello); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := writeFile(path, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error %v, want the writer's", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "hello" {
		t.Errorf("after a failed write the file holds %q, want what was there", got)
	}
	if files, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(files) != 1 {
		t.Errorf("files left behind: %v", files)
	}
}

// TestWriteFileKeepsDevices: a device is written to, never replaced by a file.
func TestWriteFileKeepsDevices(t *testing.T) {
	// A link, so that a mistake here cannot cost the machine its null device.
	link := filepath.Join(t.TempDir(), "null")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Skipf("links are not to be had: %v", err)
	}
	if err := writeFile(link, func(w io.Writer) error { _, err := fmt.Fprint(w, "gone"); return err }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link to %s was replaced: %v, %v", os.DevNull, info, err)
	}
}

// TestWriteFileKeepsLinks: what a link leads to is replaced, and keeps its
// permissions; the link stays, also one to a file that is not there yet.
func TestWriteFileKeepsLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("there"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"there", "new"} {
		link := at("to-" + name)
		if err := os.Symlink(name, link); err != nil {
			t.Skipf("links are not to be had: %v", err)
		}
		if err := writeFile(link, func(w io.Writer) error { _, err := fmt.Fprint(w, "hello"); return err }); err != nil {
			t.Fatal(err)
		}
		if to, err := os.Readlink(link); err != nil || to != name {
			t.Errorf("the link leads to %q, %v, want %q", to, err, name)
		}
		if got, err := os.ReadFile(at(name)); string(got) != "hello" {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	if info, err := os.Stat(at("there")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("permissions of a replaced file: %v, %v, want 0600", info.Mode(), err)
	}
}
