package heaptrim_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// goPackage is what `go list -json` says of a package.
type goPackage struct {
	ImportPath   string
	Dir          string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func TestLayers(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range listPackages(t, goos) {
			folder := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, modulePath), "/")
			if folder == "" {
				continue // the root has tests only
			}
			checkImports(t, folder, p)
		}
	}
}

func checkImports(t *testing.T, folder string, p goPackage) {
	t.Helper()
	i := slices.IndexFunc(layers, func(l layer) bool { return matches(l.folder, folder) })
	if i < 0 {
		t.Errorf("%s has no place in the layers: add it to the policy in layers_test.go, with its reason", folder)
		return
	}
	l := layers[i]
	for _, imp := range p.Imports {
		if isStandard(imp) || l.allows(imp) {
			continue
		}
		t.Errorf("%s imports %s: %s", folder, imp, reason(l, folder, imp))
	}
	for _, imp := range append(p.TestImports, p.XTestImports...) {
		if isStandard(imp) || imp == p.ImportPath || l.allows(imp) || slices.ContainsFunc(testOnly, func(ok string) bool { return covers(ok, imp) }) {
			continue
		}
		t.Errorf("%s imports %s in its tests, which testOnly does not list", folder, imp)
	}
}

func (l layer) allows(imp string) bool {
	if ours, ok := strings.CutPrefix(imp, modulePath+"/"); ok {
		return slices.ContainsFunc(l.ours, func(pattern string) bool { return matches(pattern, ours) })
	}
	return slices.ContainsFunc(l.others, func(other string) bool { return covers(other, imp) })
}

func reason(l layer, folder, imp string) string {
	ours := strings.TrimPrefix(imp, modulePath+"/")
	for _, f := range forbidden {
		if matches(f.from, folder) && matches(f.to, ours) {
			return f.why
		}
	}
	return l.why
}

// TestForbiddenStaysForbidden holds the two tables against each other: an
// import with a reason against it must not be allowed by its layer.
func TestForbiddenStaysForbidden(t *testing.T) {
	for _, f := range forbidden {
		if f.why == "" {
			t.Errorf("%s → %s is forbidden without a reason", f.from, f.to)
		}
		for _, l := range layers {
			if l.why == "" {
				t.Errorf("layer %s has no reason", l.folder)
			}
			if !matches(f.from, strings.TrimSuffix(l.folder, "/*")) {
				continue
			}
			for _, to := range l.ours {
				if strings.HasPrefix(to, strings.TrimSuffix(l.folder, "/*")+"/") {
					continue // a part of its own, or of what it is a part of
				}
				if matches(f.to, strings.TrimSuffix(to, "/*")) {
					t.Errorf("layer %s allows %s, which is forbidden: %s", l.folder, to, f.why)
				}
			}
		}
	}
}

func TestMatches(t *testing.T) {
	f := func(pattern, folder string, want bool) {
		t.Helper()
		if got := matches(pattern, folder); got != want {
			t.Errorf("matches(%q, %q) = %v, want %v", pattern, folder, got, want)
		}
	}
	f("internal/unit", "internal/unit", true)
	f("internal/unit", "internal/units", false)
	f("internal/unit", "internal/unit/x", false)
	f("internal/ingest/*", "internal/ingest/pprof", true)
	f("internal/record/*", "internal/record", true)
	f("internal/record/*", "internal/recorder", false)
}

// matches reports whether folder is pattern, or lies in pattern if that ends
// in /*.
func matches(pattern, folder string) bool {
	if top, ok := strings.CutSuffix(pattern, "/*"); ok {
		return covers(top, folder)
	}
	return pattern == folder
}

// covers reports whether p is top or below it.
func covers(top, p string) bool { return p == top || strings.HasPrefix(p, top+"/") }

func isStandard(imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	return !strings.Contains(first, ".")
}

// listPackages returns the packages of this module as they are on goos.
func listPackages(t *testing.T, goos string) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Imports,TestImports,XTestImports", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var list []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		t.Fatalf("go list names no packages")
	}
	return list
}

// testOnly lists what tests may import of other modules beyond their layer.
var testOnly = []string{
	"github.com/google/pprof/profile", // the yardstick of our profile reader and writer
	"github.com/rogpeppe/go-internal", // scripts of the command line, txtar archives
	"github.com/klauspost/compress",   // makes and damages compressed input
	"golang.org/x/perf/benchmath",     // the yardstick of our statistics
	"golang.org/x/exp/trace",          // reads the traces that a recording makes
	"golang.org/x/tools/go/packages",  // reads the standard library that a table speaks of
	modulePath + "/internal",          // a test may build its input with any stage …
	modulePath + "/examples/gateway",  // … or with the example, but not with a command
}
