package gocmd

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// HashSources returns the SHA-256 of each Go file that packages are built from, tests left out, as far as
// it belongs to the main module or to one of the workspace. Names are relative to dir.
func HashSources(ctx context.Context, tool Tool, packages []string, dir string) (map[string]string, error) {
	list, err := tool.Packages(ctx, packages, "-deps")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, p := range list {
		if p.Standard || p.Module == nil || !p.Module.Main {
			continue
		}
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
			at := filepath.Join(p.Dir, name)
			text, err := os.ReadFile(at)
			if err != nil {
				return nil, err
			}
			rel, err := filepath.Rel(dir, at)
			if err != nil {
				rel = at
			}
			out[filepath.ToSlash(rel)] = fmt.Sprintf("%x", sha256.Sum256(text))
		}
	}
	return out, nil
}
