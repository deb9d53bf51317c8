package bundle

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// PartNames are the names of all parts.
func (b *Bundle) PartNames() []string {
	var names []string
	for _, run := range b.Manifest.Runs {
		for _, part := range run.Parts {
			names = append(names, part.Path)
		}
	}
	return names
}

// Parts opens the directory of the parts, out of which no name and no symbolic link leads. It is nil
// for a bundle without parts.
func (b *Bundle) Parts() (fs.FS, func() error, error) {
	first := slices.IndexFunc(b.Manifest.Runs, func(run evidence.Run) bool { return len(run.Parts) > 0 })
	if first < 0 {
		return nil, func() error { return nil }, nil
	}
	part := b.Manifest.Runs[first].Parts[0]
	dir := strings.TrimSuffix(filepath.ToSlash(b.Path(part)), "/"+part.Path)
	root, err := os.OpenRoot(filepath.FromSlash(dir))
	if err != nil {
		return nil, nil, err
	}
	return root.FS(), root.Close, nil
}
