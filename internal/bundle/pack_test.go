package bundle_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// TestPackLeavesOthers checks that packing changes no file but the archive.
func TestPackLeavesOthers(t *testing.T) {
	dir := t.TempDir()
	w, err := bundle.Create(filepath.Join(dir, "b"), evidence.Manifest{Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(dir, "b.tar.zst")
	own := archive + ".partial"
	if err := os.WriteFile(own, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := bundle.Pack(filepath.Join(dir, "b"), archive); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(own); string(got) != "mine" {
		t.Errorf("the user's own file holds %q, %v", got, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 3 {
		t.Errorf("files %v, %v, want the folder, the archive and the user's own", files, err)
	}
}
