package version

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
		case hidden(d):
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

// hidden reports whether an entry is a folder of git, or of an editor, which write to it when they like.
func hidden(d fs.DirEntry) bool {
	return d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "."
}

// sweep moves to the user's cache what a program that was stopped has left below its folder: a test that finds it there
// the next time may fail. Hidden entries, Go source and folders with such are not touched: they are somebody's who edits.
// Nor are files that a program has open: it may have made them.
func (b *Builder) sweep(pkg, dir string, before map[string]bool) {
	if before == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error { // an error means that it is gone
		rel, _ := filepath.Rel(dir, name)
		switch {
		case err != nil || before[rel]:
			return nil
		case hidden(d), d.IsDir() && hasSource(name):
			return fs.SkipDir
		case strings.HasPrefix(d.Name(), "."), strings.HasSuffix(name, ".go"):
			return nil
		}
		to, err := "", error(errHeld)
		if !held(name) {
			to, err = put(name)
		}
		if b.Left != nil {
			b.Left(pkg, rel, to, err)
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

var errHeld = errors.New("left there, as a program may use it")

// held reports whether a process has a file open there, or whether that is not known: only Linux tells.
func held(name string) bool {
	if runtime.GOOS != "linux" {
		return true
	}
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return true
	}
	open, err := filepath.Glob("/proc/[0-9]*/fd/*")
	return err != nil || slices.ContainsFunc(open, func(fd string) bool {
		to, err := os.Readlink(fd)
		return err == nil && (to == name || strings.HasPrefix(to, name+"/"))
	})
}

// hasSource reports whether a folder has Go source, or cannot be read.
func hasSource(dir string) bool {
	found := false
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		found = found || strings.HasSuffix(name, ".go")
		return err
	})
	return found || err != nil
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
