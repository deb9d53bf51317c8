package contract

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
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

// Declared are the types of packages, and how an architecture lays them out.
type Declared struct {
	Packages []*types.Package
	Sizes    types.Sizes
	Fset     *token.FileSet // nil if it is not known where they are declared
}

// File is the file that declares a name of a package; "" if that is not known.
func (d Declared) File(pkg *types.Package, name string) string {
	if obj := pkg.Scope().Lookup(name); obj != nil && d.Fset != nil {
		return d.Fset.Position(obj.Pos()).Filename
	}
	return ""
}

// OtherWord is an architecture whose words have another size than those of arch; "" for one that is not
// known. A compiler lays types out by the size of a word alone.
func OtherWord(arch string) string {
	switch sizes := types.SizesFor("gc", arch); {
	case sizes == nil:
		return ""
	case sizes.Sizeof(types.Typ[types.Uintptr]) == 8:
		return "386"
	}
	return "amd64"
}

// Declare reads the types of packages from the source of all that they import: nothing is compiled, and
// no body of a function is looked at.
func Declare(ctx context.Context, patterns []string, o LoadOptions) (Declared, error) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
		packages.NeedTypes | packages.NeedTypesSizes
	list, err := packages.Load(&packages.Config{Mode: mode, Context: ctx, Dir: o.Dir, Env: o.Env, BuildFlags: o.Flags, ParseFile: declarations}, patterns...)
	var d Declared
	for _, p := range list {
		if p.Types != nil && p.TypesSizes != nil {
			d.Packages, d.Sizes, d.Fset = append(d.Packages, p.Types), p.TypesSizes, p.Fset
		}
	}
	return d, err
}

// declarations parses a file and empties its functions.
func declarations(set *token.FileSet, name string, text []byte) (*ast.File, error) {
	f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if f == nil {
		return nil, err
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			fn.Body.List = nil
		}
	}
	return f, err
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
	if !known(obj.Type(), map[types.Type]bool{}) {
		return 0, 0, false
	}
	size = sizes.Sizeof(obj.Type())
	return size, classOf(size), true
}

// known reports whether all that a type holds itself is declared.
func known(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.Invalid
	case *types.Array:
		return known(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if !known(f.Type(), seen) {
				return false
			}
		}
	}
	return true
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
