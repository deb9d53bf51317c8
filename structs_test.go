package heaptrim_test

import (
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// maxFields is how many fields a struct may have, those of the structs that it
// embeds included: what has more has parts that deserve a name.
const maxFields = 15

// largeStructs may have more, with the reason.
var largeStructs = map[string]string{
	"internal/evidence.Part":           "stored in the manifest of a bundle, where it is one flat object",
	"internal/evidence.Environment":    "stored in the manifest of a bundle, where it is one flat object",
	"internal/ingest/metrics.MemStats": "the part of runtime.MemStats that is read, under its names",
	"rt/ballast.Stats":                 "figures that a user reads, as flat as runtime.MemStats",
}

// TestStructSizes counts the fields of all structs but those of internal/schema,
// which are as flat as the documents that they stand for. An embedded struct of
// this repository counts with its fields, any other type as one.
func TestStructSizes(t *testing.T) {
	walk(t, func(string) {}) // a cached result is of the files that this process has seen
	large := map[string]bool{}
	for _, dir := range []string{".", "rt"} {
		pkgs, err := packages.Load(&packages.Config{
			Dir:  dir,
			Mode: packages.NeedName | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps,
		}, "./...")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pkgs {
			folder := strings.TrimPrefix(p.PkgPath, modulePath+"/")
			if folder == "internal/schema" {
				continue
			}
			for _, name := range p.Types.Scope().Names() {
				obj, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
				if !ok || obj.IsAlias() {
					continue
				}
				s, ok := obj.Type().Underlying().(*types.Struct)
				if !ok {
					continue
				}
				n := fieldsOf(s)
				full := folder + "." + name
				switch {
				case n <= maxFields:
				case largeStructs[full] != "":
					large[full] = true
				default:
					t.Errorf("%s has %d fields, the limit is %d: name its parts", full, n, maxFields)
				}
			}
		}
	}
	for name := range largeStructs {
		if !large[name] {
			t.Errorf("%s needs no limit of its own", name)
		}
	}
}

// fieldsOf counts fields, with those of embedded structs of this repository.
func fieldsOf(s *types.Struct) int {
	n := 0
	for f := range s.Fields() {
		t := f.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		inner, ok := t.Underlying().(*types.Struct)
		if named, isNamed := t.(*types.Named); f.Embedded() && ok && isNamed && isOurs(named.Obj().Pkg()) {
			n += fieldsOf(inner)
			continue
		}
		n++
	}
	return n
}

func isOurs(p *types.Package) bool {
	return p != nil && strings.HasPrefix(p.Path(), modulePath+"/") && p.Path() != modulePath+"/internal/schema"
}
