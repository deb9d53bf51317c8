package version

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mostEntries is how many files and folders below a package are looked at.
const mostEntries = 20_000

// entries lists what lies below a folder, by paths relative to it; nil if it cannot be read, or there is too much.
func entries(dir string) map[string]bool {
	out := map[string]bool{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case len(out) > mostEntries:
			return fs.ErrInvalid
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		}
		rel, err := filepath.Rel(dir, name)
		out[rel] = true
		return err
	})
	if err != nil {
		return nil
	}
	return out
}

// sweep moves to the user's cache what a program that was stopped has left below its folder: a test that finds it there
// the next time may fail. Go source is not touched: that is somebody's who edits.
func (b *Builder) sweep(pkg, dir string, before map[string]bool) {
	if before == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error { // an error means that it is gone
		rel, _ := filepath.Rel(dir, name)
		if err != nil || before[rel] || strings.HasSuffix(name, ".go") {
			return nil
		}
		to, err := put(name)
		if b.Left != nil {
			b.Left(pkg, rel, to, err)
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// put moves a file or folder to a new folder of the user's cache, and returns that.
func put(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	at := filepath.Join(cache, "heaptrim", "left")
	if err := os.MkdirAll(at, 0o700); err != nil {
		return "", err
	}
	to, err := os.MkdirTemp(at, "")
	if err != nil {
		return "", err
	}
	if err := os.Rename(name, filepath.Join(to, filepath.Base(name))); err != nil {
		_ = os.Remove(to) // the error of Rename says more
		return "", err
	}
	return to, nil
}
