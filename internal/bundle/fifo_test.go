//go:build unix

package bundle

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipeAsManifest checks that a pipe as manifest is rejected instead of waiting for
// a writer.
func TestPipeAsManifest(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, ManifestName), 0o600); err != nil {
		t.Skip("no pipe can be made here: ", err)
	}
	_, err := Open(dir)
	if err == nil || !strings.Contains(err.Error(), ManifestName+" is not a regular file") {
		t.Errorf("a pipe as manifest: %v", err)
	}
}
