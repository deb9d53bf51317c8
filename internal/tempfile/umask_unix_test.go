//go:build unix

package tempfile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/heaptrim/heaptrim/internal/tempfile"
)

// TestUmask: a new file has what the umask leaves, neither more nor less.
func TestUmask(t *testing.T) {
	dir := t.TempDir()
	for mask, want := range map[int]os.FileMode{0o022: 0o644, 0o077: 0o600, 0o002: 0o664} {
		before := syscall.Umask(mask)
		f, err := tempfile.Beside(filepath.Join(dir, "x"))
		syscall.Umask(before)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("umask %03o: %v, %v, want %v", mask, info.Mode(), err, want)
		}
		f.Close()
	}
	if _, err := tempfile.Beside(filepath.Join(dir, "none", "x")); err == nil {
		t.Error("a folder that is not there: no error")
	}
}
