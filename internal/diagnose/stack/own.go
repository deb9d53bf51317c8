package stack

import (
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// owner says who can change a frame's source.
type owner int8

const (
	OwnerRuntime    owner = iota // package runtime and its assembly
	OwnerStd                     // the rest of the standard library
	OwnerThirdParty              // another module
	OwnerTest                    // test and benchmark code of the user's
	OwnerUser                    // the user's code
)

// Ownership decides the owner of a frame from its package path: the longest
// matching module prefix wins, so a dependency nested below the main module's
// path is still a dependency.
type Ownership struct {
	prefixes []ownedPrefix // longest first
	anyone   bool          // no module is known: every third-party package is the user's
	Explicit bool          // the prefixes are the user's -own patterns
	modules  []string      // paths of the dependencies
	std      string        // the folder of the standard library's source, with a slash at the end; "" if not known
}

type ownedPrefix struct {
	path string
	own  bool
}

// NewOwnership makes the boundary from the -own patterns where given, else
// from the target's main module and workspace. A pattern is an import path,
// with "/..." for everything below it. The target was built with the standard
// library in goroot; "" if that is not known.
func NewOwnership(t evidence.Target, goroot string, patterns []string) *Ownership {
	o := &Ownership{Explicit: len(patterns) > 0}
	if goroot != "" {
		o.std = filepath.ToSlash(goroot) + "/src/"
	}
	own := patterns
	if len(own) == 0 {
		own = append(own, t.Workspace...)
		if t.Module != "" {
			own = append(own, t.Module)
		}
		// Test binaries of package main carry its real import path.
		own = append(own, t.Packages...)
	}
	for _, p := range own {
		o.prefixes = append(o.prefixes, ownedPrefix{strings.TrimSuffix(p, "/..."), true})
	}
	// After the user's own: of two equal paths the first counts. If the user names their
	// code, only that counts.
	for _, d := range t.Dependencies {
		o.modules = append(o.modules, d)
		if !o.Explicit {
			o.prefixes = append(o.prefixes, ownedPrefix{d, false})
		}
	}
	o.anyone = len(own) == 0
	sort.SliceStable(o.prefixes, func(i, j int) bool { return len(o.prefixes[i].path) > len(o.prefixes[j].path) })
	return o
}

// Of returns the owner of a frame.
func (o *Ownership) Of(f evidence.Frame) owner {
	pkg := PackageOf(f.Function)
	switch {
	case IsRuntime(pkg, f.Function):
		return OwnerRuntime
	// A literal, or the body of a loop over a function, of an inlined function is named after
	// the function that it is inlined into.
	case isLiteral(f.Function) && o.ofDependency(f.File):
		return OwnerThirdParty
	case isLiteral(f.Function) && o.ofStd(f.File, pkg):
		return OwnerStd
	case !o.owns(pkg):
		if strings.Contains(firstElement(pkg), ".") {
			return OwnerThirdParty
		}
		return OwnerStd
	case strings.HasSuffix(f.File, "_test.go") || path.Base(f.File) == "_testmain.go" ||
		strings.HasSuffix(pkg, "_test") || strings.HasSuffix(pkg, ".test"):
		return OwnerTest
	}
	return OwnerUser
}

// isLiteral reports whether a function is a literal or the body of a loop over a function.
func isLiteral(function string) bool {
	return strings.Contains(function, ".func") || strings.Contains(function, "-range")
}

// ofStd reports whether a file, of a function that is said to be of pkg, is of the standard
// library, with or without -trimpath. Other builds name files relative to a root of their own.
func (o *Ownership) ofStd(file, pkg string) bool {
	file = filepath.ToSlash(file)
	if path.IsAbs(file) || filepath.IsAbs(file) {
		return o.std != "" && strings.HasPrefix(file, o.std)
	}
	dir := path.Dir(file)
	return !strings.HasPrefix(dir, ".") && !strings.Contains(firstElement(dir), ".") && !strings.HasSuffix("/"+pkg, "/"+dir) && !o.owns(dir)
}

// ofDependency reports whether a file lies in the module cache, or in a vendor folder, and is not the user's.
func (o *Ownership) ofDependency(file string) bool {
	pkg, cached := cachedPackage(file)
	if _, copied, ok := strings.Cut(filepath.ToSlash(file), "/vendor/"); ok && !cached {
		pkg, cached = path.Dir(copied), true
	}
	return cached && !o.owns(pkg)
}

// cachedPackage is the import path of the package that a file of the module cache belongs to, with or without -trimpath.
func cachedPackage(file string) (pkg string, ok bool) {
	file = filepath.ToSlash(file)
	if _, mod, cached := strings.Cut(file, "/pkg/mod/"); cached {
		file = mod
	}
	module, rest, ok := strings.Cut(file, "@v")
	if !ok || path.IsAbs(module) {
		return "", false
	}
	_, rest, ok = strings.Cut(rest, "/")
	pkg = path.Join(module, path.Dir(rest))
	for i := strings.IndexByte(pkg, '!'); i >= 0 && i+1 < len(pkg); i = strings.IndexByte(pkg, '!') {
		pkg = pkg[:i] + strings.ToUpper(pkg[i+1:i+2]) + pkg[i+2:]
	}
	return pkg, ok
}

// Anyone reports whether no module is known, so that every other module is the user's.
func (o *Ownership) Anyone() bool { return o.anyone }

// RepositoryOf is the part of a function's import path that is most likely its module: three
// elements on hosts of that layout, else two. It is empty for the standard library and main.
func RepositoryOf(function string) string {
	elems := strings.Split(PackageOf(function), "/")
	if !strings.Contains(elems[0], ".") {
		return ""
	}
	n := 2
	if slices.Contains([]string{"github.com", "gitlab.com", "bitbucket.org", "golang.org"}, elems[0]) {
		n = 3
	}
	return strings.Join(elems[:min(n, len(elems))], "/")
}

// Mine reports whether a frame is of the user's own code, tests included.
func (o *Ownership) Mine(f evidence.Frame) bool {
	own := o.Of(f)
	return own == OwnerUser || own == OwnerTest
}

func (o *Ownership) owns(pkg string) bool {
	if pkg == "main" || pkg == "command-line-arguments" {
		return true
	}
	pkg = strings.TrimSuffix(pkg, "_test")
	for _, p := range o.prefixes {
		if rest, ok := strings.CutPrefix(pkg, p.path); ok && (rest == "" || rest[0] == '/') {
			return p.own
		}
	}
	return o.anyone && strings.Contains(firstElement(pkg), ".")
}

// ModuleOf returns the dependency that a function belongs to, or its package
// where the modules are not known.
func (o *Ownership) ModuleOf(function string) string {
	pkg := PackageOf(function)
	best := ""
	for _, m := range o.modules {
		if rest, ok := strings.CutPrefix(pkg, m); ok && (rest == "" || rest[0] == '/') && len(m) > len(best) {
			best = m
		}
	}
	if best == "" {
		return pkg
	}
	return best
}

// PackageOf returns the import path of a function as pprof spells it:
// everything to the first dot after the last slash, unescaped. Slashes inside
// type arguments do not count.
func PackageOf(function string) string {
	name := function
	if i := strings.IndexByte(name, '['); i >= 0 {
		name = name[:i]
	}
	// A method of an instantiated or parenthesised type starts at "(".
	if i := strings.Index(name, ".("); i >= 0 {
		name = name[:i]
	}
	slash := strings.LastIndexByte(name, '/')
	if dot := strings.IndexByte(name[slash+1:], '.'); dot >= 0 {
		name = name[:slash+1+dot]
	} else if !strings.HasPrefix(function[len(name):], ".") {
		return "" // assembly without a package
	}
	// The compiler escapes dots of the last path element.
	return strings.ReplaceAll(name, "%2e", ".")
}

func firstElement(pkg string) string {
	e, _, _ := strings.Cut(pkg, "/")
	return e
}

// IsRuntime reports whether a function is the runtime's: code that is called to
// allocate and that nobody changes.
func IsRuntime(pkg, function string) bool {
	switch {
	case pkg == "":
		return true
	case pkg == "runtime", strings.HasPrefix(pkg, "runtime/internal/"), strings.HasPrefix(pkg, "internal/runtime/"):
		return true
	case function == "internal/abi.NewName": // allocates for reflect, as a package of the library does
		return false
	case pkg == "internal/abi", pkg == "internal/bytealg", pkg == "internal/cpu", pkg == "internal/chacha8rand":
		return true
	}
	return function == "reflect.unsafe_New" || function == "reflect.unsafe_NewArray"
}

// Relative returns file below root where it lies there, with slashes.
func Relative(root, file string) string {
	if root == "" || file == "" {
		return file
	}
	if rel, err := filepath.Rel(root, file); err == nil && rel != ".." &&
		!strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(rel)
	}
	return file
}

// trimmedFile makes a file that was built with -trimpath (import-path form)
// relative to the module root.
func trimmedFile(module, file string) string {
	if module == "" {
		return file
	}
	if rel, ok := strings.CutPrefix(file, module+"/"); ok {
		return rel
	}
	if at := strings.Index(file, "@"); at > 0 && file[:at] == module {
		if _, rel, ok := strings.Cut(file[at:], "/"); ok {
			return path.Clean(rel)
		}
	}
	return file
}
