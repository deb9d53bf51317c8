package stack

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

func TestPackageOf(t *testing.T) {
	f := func(function, want string) {
		t.Helper()
		if got := PackageOf(function); got != want {
			t.Errorf("packageOf(%q) = %q, want %q", function, got, want)
		}
	}
	f("fmt.Sprintf", "fmt")
	f("encoding/json.(*Decoder).Decode", "encoding/json")
	f("example.com/a/b.F", "example.com/a/b")
	f("example.com/a/b.(*T).M.func1", "example.com/a/b")
	f("gopkg.in/yaml%2ev3.Unmarshal", "gopkg.in/yaml.v3")
	f("example.com/a/b.Map[...].Get", "example.com/a/b")
	f("example.com/a/b.Map[go.shape.string,example.com/x/y.Z].Get", "example.com/a/b")
	f("example.com/a/b.F[go.shape.struct { example.com/c.x int }]", "example.com/a/b")
	f("main.main", "main")
	f("memeqbody", "")
	f("gcWriteBarrier", "")
	f("", "")
}

func TestOwnership(t *testing.T) {
	target := evidence.Target{Module: "example.com/m", Dependencies: []string{"example.com/m/nested", "other.org/lib"}}
	o := NewOwnership(target, "/usr/local/go", nil)
	f := func(function, file string, want owner) {
		t.Helper()
		if got := o.Of(evidence.Frame{Function: function, File: file}); got != want {
			t.Errorf("of(%q, %q) = %v, want %v", function, file, got, want)
		}
	}
	f("example.com/m/pkg.F", "pkg/f.go", OwnerUser)
	f("example.com/m.F", "f.go", OwnerUser)
	f("example.com/m/nested.F", "f.go", OwnerThirdParty)
	f("example.com/m/nestedpkg.F", "f.go", OwnerUser)
	f("example.com/more.F", "f.go", OwnerThirdParty)
	f("example.com/m/pkg.BenchmarkF", "pkg/f_test.go", OwnerTest)
	f("example.com/m/pkg_test.BenchmarkF", "pkg/f_test.go", OwnerTest)
	f("other.org/lib.F", "f.go", OwnerThirdParty)
	// A literal of a function that was inlined into the user's.
	f("example.com/m.F.G.func1", "/go/pkg/mod/other.org/lib@v1.2.3/sub/g.go", OwnerThirdParty)
	f("example.com/m.F.G.func1", "other.org/!lib@v1.2.3/g.go", OwnerThirdParty)
	f("example.com/m.F.G.func1", "/src/m/vendor/other.org/lib/g.go", OwnerThirdParty)
	f("example.com/m.F.func1", "/go/pkg/mod/example.com/m@v1.2.3/f.go", OwnerUser)
	f("example.com/m.F.Keys[...].func1", "/usr/local/go/src/maps/iter.go", OwnerStd)
	f("example.com/m.F.Keys[...].func1", "maps/iter.go", OwnerStd)
	f("example.com/m.F.Collect[...].AppendSeq[...]-range1", "/usr/local/go/src/slices/iter.go", OwnerStd)
	f("example.com/m.F-range1", "/src/slices/m.go", OwnerUser)
	f("example.com/m.F-range1", "example.com/m/m.go", OwnerUser)
	f("example.com/m.F.func1", "grammar.y", OwnerUser)
	f("example.com/m/pkg.F.func1", "pkg/f.go", OwnerUser)
	f("example.com/m.F.func1", "/src/m@v2/f.go", OwnerUser)
	f("net/http.(*conn).serve", "server.go", OwnerStd)
	f("runtime.mallocgc", "malloc.go", OwnerRuntime)
	f("internal/runtime/maps.newTable", "table.go", OwnerRuntime)
	f("main.main", "main.go", OwnerUser)

	none := NewOwnership(evidence.Target{}, "", nil)
	if got := none.Of(evidence.Frame{Function: "other.org/lib.F"}); got != OwnerUser {
		t.Errorf("without a known module a third-party package is %v, want the user's", got)
	}
	if got := NewOwnership(target, "", []string{"other.org/..."}).Of(evidence.Frame{Function: "other.org/lib.F"}); got != OwnerUser {
		t.Errorf("-own other.org/...: got %v, want the user's, whatever the dependencies", got)
	}
	if got := NewOwnership(target, "", []string{"other.org/lib/..."}).Of(evidence.Frame{Function: "other.org/lib/x.F"}); got != OwnerUser {
		t.Errorf("-own other.org/lib/...: got %v, want the user's", got)
	}
}

// TestAllocatesForReflect: what allocates on its own account is no helper of the
// runtime, whatever package it is in.
func TestAllocatesForReflect(t *testing.T) {
	f := func(function string, want bool) {
		t.Helper()
		if got := IsRuntime(PackageOf(function), function); got != want {
			t.Errorf("isRuntime(%s) = %v, want %v", function, got, want)
		}
	}
	f("internal/abi.NewName", false)
	f("internal/abi.(*Type).Len", true)
	f("runtime.makeslice", true)
	f("reflect.unsafe_New", true)
	f("reflect.FuncOf", false)
}

func TestRepositoryOf(t *testing.T) {
	f := func(function, want string) {
		t.Helper()
		if got := RepositoryOf(function); got != want {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
	f("github.com/x/y/v2/api.(*Server).Get", "github.com/x/y")
	f("example.com/shop/svc.Run", "example.com/shop")
	f("example.com/shop.Run", "example.com/shop")
	f("golang.org/x/net/http2.(*Framer).ReadFrame", "golang.org/x/net")
	f("net/http.Serve", "")
	f("main.main", "")
}
