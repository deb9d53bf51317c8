package check

import (
	"os"
	"path/filepath"
)

// Repository returns the root of the repository that dir belongs to: the nearest folder from
// dir upwards with an entry .git, which is a file in work trees and submodules. Outside of
// repositories it is dir itself.
func Repository(dir string) string {
	if dir == "" {
		return ""
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for up := dir; ; {
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
			return up
		}
		next := filepath.Dir(up)
		if next == up {
			return dir
		}
		up = next
	}
}
