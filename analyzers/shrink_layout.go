package analyzers

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/analyzers/internal/code"
)

// ShrinkLayout reports structs that another order of their fields would bring
// into a smaller size class. The diagnostic stands at the type; the places that
// allocate it are its related information.
var ShrinkLayout = shrinkLayoutRule.analyzer("shrinklayout", shrinkLayout)

var shrinkLayoutRule = Rule{
	Code:  "shrink-layout",
	Title: "order the fields so that the struct fits a smaller size class",
	Why: "A field is aligned to its own size, so small fields between large ones leave gaps; the allocator then rounds up to " +
		"the next size class.",
	Before: "type span struct {\n\topen  bool\n\tstart int64\n\tdone  bool\n\tend   int64\n\tkind  bool\n} // 40 bytes, allocated as 48",
	After:  "type span struct {\n\tstart, end       int64\n\topen, done, kind bool\n} // 24 bytes, allocated as 24",
	Silent: "less than an eighth is saved, the struct holds settings (Config, Options), is never allocated in its own package, has blank fields (padding on purpose), is built without field " +
		"names, has a layout that others rely on (unsafe, cgo, structs.HostLayout, 64-bit atomics in front), or is generic.",
}

// sizeClasses are the sizes that the allocator rounds small objects up to
// (internal/runtime/gc/sizeclasses.go, Go 1.26).
var sizeClasses = [...]int64{
	8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352, 384, 416, 448, 480,
	512,
	576, 640, 704, 768, 896, 1024, 1152, 1280, 1408, 1536, 1792, 2048, 2304, 2688, 3072, 3200, 3456, 4096, 4864, 5376,
	6144,
	6528, 6784, 6912, 8192, 9472, 9728, 10240, 10880, 12288, 13568, 14336, 16384, 18432, 19072, 20480, 21760, 24576,
	27264,
	28672, 32768,
}

// headerAbove is the size above which an object with pointers carries a header
// of eight bytes that says where they are.
const headerAbove = 512

// classOf is what an object of the given size takes in the heap, 0 for one that
// has pages of its own.
func classOf(size int64, pointers bool) int64 {
	if pointers && size > headerAbove {
		size += 8
	}
	i, _ := slices.BinarySearch(sizeClasses[:], size)
	if i == len(sizeClasses) {
		return 0
	}
	return sizeClasses[i]
}

func shrinkLayout(s *source) {
	for _, imp := range s.Pkg.Imports() {
		if imp.Path() == "unsafe" || imp.Path() == "C" || imp.Path() == "syscall" {
			return // layouts may be shared with somebody else
		}
	}
	allocated, positional := s.allocations()
	s.Each(func(c inspector.Cursor) {
		spec := c.Node().(*ast.TypeSpec)
		obj, ok := s.TypesInfo.Defs[spec.Name].(*types.TypeName)
		if !ok || positional[obj] || isSetting(obj.Name()) || len(allocated[obj]) == 0 {
			return
		}
		s.checkLayout(spec, obj, allocated[obj])
	}, (*ast.TypeSpec)(nil))
}

// isSetting reports whether a type of that name holds settings: there are few
// of them, and the order of their fields is written for readers.
func isSetting(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "config") || strings.HasSuffix(name, "options") ||
		strings.HasSuffix(name, "settings")
}

// allocations returns where the package makes values of its struct types behind
// a pointer, and which types it builds without field names.
func (s *source) allocations() (map[*types.TypeName][]ast.Node, map[*types.TypeName]bool) {
	at := make(map[*types.TypeName][]ast.Node)
	positional := make(map[*types.TypeName]bool)
	s.Each(func(c inspector.Cursor) {
		switch n := c.Node().(type) {
		case *ast.CompositeLit:
			obj := s.structName(s.TypesInfo.TypeOf(n))
			if obj == nil {
				return
			}
			if len(n.Elts) > 0 {
				_, keyed := n.Elts[0].(*ast.KeyValueExpr)
				positional[obj] = positional[obj] || !keyed
			}
			if u, ok := c.Parent().Node().(*ast.UnaryExpr); ok && u.Op == token.AND && !s.Cold(c) {
				at[obj] = append(at[obj], u)
			}
		case *ast.CallExpr:
			if call, ok := s.Builtin(n, "new"); ok && s.TypesInfo.Types[call.Args[0]].IsType() && !s.Cold(c) {
				if obj := s.structName(s.TypesInfo.TypeOf(call.Args[0])); obj != nil {
					at[obj] = append(at[obj], call)
				}
			}
		}
	}, (*ast.CompositeLit)(nil), (*ast.CallExpr)(nil))
	return at, positional
}

// structName is the name of t if it is a struct declared in this package and
// not generic.
func (s *source) structName(t types.Type) *types.TypeName {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.TypeParams().Len() > 0 || named.Obj().Pkg() != s.Pkg {
		return nil
	}
	if _, ok := named.Underlying().(*types.Struct); !ok {
		return nil
	}
	return named.Obj()
}

func (s *source) checkLayout(spec *ast.TypeSpec, obj *types.TypeName, sites []ast.Node) {
	str, ok := obj.Type().Underlying().(*types.Struct)
	if !ok || !s.mayReorder(str) {
		return
	}
	now := s.Sizeof(obj.Type())
	best := s.bestSize(str)
	pointers := hasPointers(str)
	class, bestClass := classOf(now, pointers), classOf(best, pointers)
	if best >= now || class == 0 || class-bestClass < class/8 || s.needsAtomicAlignment(str) {
		return
	}
	d := analysis.Diagnostic{
		Pos: spec.Name.Pos(), End: spec.Name.End(),
		Message: obj.Name() + " has gaps: its fields in order of size take " + bytesText(best) + " instead of " +
			bytesText(now) +
			", and each value " + bytesText(bestClass) + " of heap instead of " + bytesText(class),
	}
	for _, site := range sites {
		d.Related = append(d.Related, analysis.RelatedInformation{Pos: site.Pos(), End: site.End(),
			Message: "allocated here"})
	}
	s.Diagnose(d)
}

// mayReorder reports whether nothing in the struct tells of a chosen layout.
func (s *source) mayReorder(str *types.Struct) bool {
	if str.NumFields() < 3 {
		return false
	}
	for i := range str.NumFields() {
		f := str.Field(i)
		if f.Name() == "_" || code.HasTypeParam(f.Type(), 0) || s.Sizeof(f.Type()) == 0 ||
			code.IsNamed(f.Type(), "structs", "HostLayout") {
			return false
		}
	}
	return true
}

// needsAtomicAlignment reports whether str may hold a 64-bit number that is used
// with the functions of sync/atomic: on 32-bit machines its place then matters.
func (s *source) needsAtomicAlignment(str *types.Struct) bool {
	if !slices.ContainsFunc(s.Pkg.Imports(), func(p *types.Package) bool { return p.Path() == "sync/atomic" }) {
		return false
	}
	for name := range s.Calls {
		if !strings.HasPrefix(name, "sync/atomic.") || !strings.HasSuffix(name, "64") {
			continue
		}
		for f := range str.Fields() {
			if b, ok := f.Type().Underlying().(*types.Basic); ok &&
				(b.Kind() == types.Int64 || b.Kind() == types.Uint64) {
				return true
			}
		}
	}
	return false
}

// bestSize is the size of a struct with the fields of str, by falling
// alignment: no gap is left but at the end.
func (s *source) bestSize(str *types.Struct) int64 {
	fields := slices.Collect(str.Fields())
	slices.SortStableFunc(fields, func(a, b *types.Var) int {
		return cmp.Compare(s.TypesSizes.Alignof(b.Type()), s.TypesSizes.Alignof(a.Type()))
	})
	return s.TypesSizes.Sizeof(types.NewStruct(fields, nil))
}

func hasPointers(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Info()&types.IsString != 0 || t.Kind() == types.UnsafePointer
	case *types.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if hasPointers(f.Type()) {
				return true
			}
		}
		return false
	}
	return true
}

func bytesText(n int64) string { return strconv.FormatInt(n, 10) + " bytes" }
