package library

import (
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// TestLibrary holds the table of library calls against the library: every
// entry that names an exported function names one that exists.
func TestLibrary(t *testing.T) {
	patterns := map[string]bool{}
	for _, e := range entries {
		if pkg := packageOfPattern(e.Function); !strings.Contains(pkg, "*") && !foreign(pkg) {
			patterns[pkg] = true
		}
	}
	var list []string
	for p := range patterns {
		list = append(list, p)
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports}, list...)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for _, p := range loaded {
		names[p.PkgPath] = functionsOf(p.Types)
	}
	for _, e := range entries {
		pkg := packageOfPattern(e.Function)
		name := strings.TrimPrefix(e.Function, pkg+".")
		if strings.Contains(pkg, "*") || foreign(pkg) || !exportedName(name) {
			continue
		}
		found := false
		for _, n := range names[pkg] {
			found = found || matchPattern(e.Function, n)
		}
		if !found {
			t.Errorf("%s names no function of %s", e.Function, pkg)
		}
	}
}

// foreign reports whether a package is of another module, which this one does not import.
func foreign(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return strings.Contains(first, ".")
}

func packageOfPattern(p string) string {
	slash := strings.LastIndexByte(p, '/')
	if i := strings.IndexByte(p[slash+1:], '.'); i >= 0 {
		return p[:slash+1+i]
	}
	return p
}

// exportedName reports whether every name of a function is exported, so that
// export data has it.
func exportedName(name string) bool {
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("(*).", r) }) {
		if part[0] < 'A' || part[0] > 'Z' {
			return false
		}
	}
	return true
}

func functionsOf(pkg *types.Package) []string {
	var out []string
	for _, name := range pkg.Scope().Names() {
		switch o := pkg.Scope().Lookup(name).(type) {
		case *types.Func:
			out = append(out, flow.Spelling(o))
		case *types.TypeName:
			named, ok := o.Type().(*types.Named)
			if !ok {
				continue
			}
			for m := range named.Methods() {
				out = append(out, flow.Spelling(m))
			}
		}
	}
	return out
}

func TestMatchPattern(t *testing.T) {
	f := func(pattern, name string, want bool) {
		t.Helper()
		if got := matchPattern(pattern, name); got != want {
			t.Errorf("matchPattern(%q, %q) = %v, want %v", pattern, name, got, want)
		}
	}
	f("strings.Split*", "strings.SplitN", true)
	f("strings.Split*", "bytes.SplitN", false)
	f("bytes.(*Buffer).*", "bytes.(*Buffer).Write", true)
	f("bytes.(*Buffer).*", "bytes.(Reader).Write", false)
	f("regexp.*Compile*", "regexp.MustCompilePOSIX", true)
	f("crypto/*.New*", "crypto/sha256.New", true)
	f("crypto/*.New*", "crypto/sha256.Sum256", false)
	f("time.After", "time.AfterFunc", false)
	f("reflect.*Of", "reflect.SliceOf", true)
}
