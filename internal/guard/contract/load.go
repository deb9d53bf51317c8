package contract

import (
	"context"
	"go/types"
	"runtime"

	"golang.org/x/tools/go/packages"
)

// LoadOptions says what to load.
type LoadOptions struct {
	Dir   string
	Env   []string
	Flags []string
}

// Load reads the typed syntax of packages, and their sizes of types.
func Load(ctx context.Context, patterns []string, o LoadOptions) ([]*Source, []*types.Package, types.Sizes, error) {
	list, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Context: ctx, Dir: o.Dir, Env: o.Env, BuildFlags: o.Flags}, patterns...)
	if err != nil {
		return nil, nil, nil, err
	}
	var sources []*Source
	var pkgs []*types.Package
	var sizes types.Sizes
	for _, p := range list {
		if p.Types == nil || p.TypesInfo == nil {
			continue
		}
		sources = append(sources, &Source{Path: p.PkgPath, Fset: p.Fset, Files: p.Syntax, Info: p.TypesInfo})
		pkgs = append(pkgs, p.Types)
		sizes = p.TypesSizes
	}
	return sources, pkgs, sizes, nil
}

// Size is the size of a type and of the size class that an object of it takes; false for what has
// no size of its own, such as a generic type.
func Size(pkg *types.Package, name string, sizes types.Sizes) (size, class int64, ok bool) {
	obj, is := pkg.Scope().Lookup(name).(*types.TypeName)
	if !is {
		return 0, 0, false
	}
	if named, is := obj.Type().(*types.Named); is && named.TypeParams().Len() > 0 {
		return 0, 0, false
	}
	size = sizes.Sizeof(obj.Type())
	return size, classOf(size), true
}

// classOf is the size class of an object, as the runtime that this program was built with has it.
func classOf(size int64) int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	for _, c := range m.BySize {
		if size <= int64(c.Size) {
			return int64(c.Size)
		}
	}
	const page = 8192 // larger objects take whole pages, or nearly
	return (size + page - 1) / page * page
}
