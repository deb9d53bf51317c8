package diagnose

import (
	"path/filepath"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

func TestSiteFile(t *testing.T) {
	ws := t.TempDir()
	d := &finding.Diagnosis{
		Target: evidence.Target{Module: "example.com/app", ModuleDir: filepath.Join(ws, "app"),
			Workspace: []string{"example.com/app", "example.com/lib"}},
		Environment: evidence.Environment{GOROOT: filepath.Join(ws, "go")},
	}
	f := func(function, file, want string) {
		t.Helper()
		if got := rootOf(d).Place(evidence.Frame{Function: function, File: file, Line: 1}).File; got != want {
			t.Errorf("%s in %s: %q, want %q", function, file, got, want)
		}
	}
	at := func(elem ...string) string { return filepath.Join(append([]string{ws}, elem...)...) }
	f("example.com/app.F", at("app", "a.go"), "a.go")
	f("example.com/lib.F", at("lib", "a.go"), "../lib/a.go")
	f("example.com/lib/sub.(*T).F", at("lib", "sub", "a.go"), "../lib/sub/a.go")
	f("example.com/lib_test.BenchmarkF", at("lib", "a_test.go"), "../lib/a_test.go")
	f("example.com/library.F", at("library", "a.go"), at("library", "a.go")) // a replaced module, of no workspace
	f("example.com/lib/v2.F", at("pkg", "mod", "example.com", "lib", "v2@v2.0.1", "a.go"),
		"example.com/lib/v2@v2.0.1/a.go")
	f("strings.Repeat", at("go", "src", "strings", "strings.go"), "strings/strings.go")
	f("example.com/lib.F", "example.com/lib/a.go", "example.com/lib/a.go") // built with -trimpath
	d.Target.Workspace = nil
	f("example.com/lib.F", at("lib", "a.go"), at("lib", "a.go"))
}
