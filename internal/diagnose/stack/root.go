package stack

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Root makes files relative to the module and says which package a
// function is in.
type Root struct {
	Path, Dir, Goroot string
	Workspace         []string // module paths
}

// Place is a frame as a finding would name it.
func (r Root) Place(f evidence.Frame) evidence.Site {
	return r.Site(Key{Function: f.Function, File: f.File, Line: f.Line})
}

// Site is the site of a key, with its file as reports spell it.
func (r Root) Site(k Key) evidence.Site {
	file := Relative(r.Dir, k.File)
	if file == k.File {
		file = trimmedFile(r.Path, k.File)
	}
	if file == k.File {
		file = outside(r.Goroot, k.File)
	}
	if file == k.File {
		file = r.beside(k)
	}
	return evidence.Site{Function: k.Function, Package: PackageOf(k.Function), File: file, Line: k.Line}
}

// beside makes a file of another module of the workspace relative to the module too, with
// "..": joined to the module's root, as a shell or an editor does, it is the file.
func (r Root) beside(k Key) string {
	pkg := strings.TrimSuffix(PackageOf(k.Function), "_test")
	ours := func(module string) bool { return pkg == module || strings.HasPrefix(pkg, module+"/") }
	if !filepath.IsAbs(r.Dir) || !filepath.IsAbs(k.File) || !slices.ContainsFunc(r.Workspace, ours) {
		return k.File
	}
	if rel, err := filepath.Rel(r.Dir, k.File); err == nil {
		return filepath.ToSlash(rel)
	}
	return k.File
}

// outside shortens a file of the standard library to its import path and one
// of the module cache to path@version.
func outside(goroot, file string) string {
	if goroot != "" {
		if std := Relative(filepath.Join(goroot, "src"), file); std != file {
			return std
		}
	}
	if _, mod, ok := strings.Cut(filepath.ToSlash(file), "/pkg/mod/"); ok {
		return mod
	}
	return file
}
