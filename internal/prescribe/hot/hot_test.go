package hot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/hot"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// TestAffordable: what many packages import takes all of these with it, and is not read.
func TestAffordable(t *testing.T) {
	pkg := func(path string, imports ...*packages.Package) *packages.Package {
		p := &packages.Package{PkgPath: path, Imports: map[string]*packages.Package{}}
		for _, i := range imports {
			p.Imports[i.PkgPath] = i
		}
		return p
	}
	time, leaf, above := pkg("time"), pkg("leaf"), []*packages.Package{}
	for i := range 150 {
		above = append(above, pkg(fmt.Sprintf("above%03d", i), time))
	}
	own := pkg("own", append(above, leaf, pkg("middle", leaf))...)
	src := &source.Program{Read: []*packages.Package{own}}
	if got := hot.Affordable(src, []string{"time", "middle", "leaf"}); !slices.Equal(got, []string{"middle", "leaf"}) {
		t.Errorf("%v is read, want middle and leaf", got)
	}
	// What is read already, and its importers, costs nothing more.
	src.Read = append(src.Read, time)
	if got := hot.Affordable(src, []string{"time", "leaf"}); !slices.Equal(got, []string{"time", "leaf"}) {
		t.Errorf("%v is read, want time and leaf", got)
	}
}

// TestPackagesOfMain: the functions of a service's command do not carry its import path.
func TestPackagesOfMain(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "cmd", "serve", "main.go")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{"cmd/serve/main.go": {"./cmd/serve"}, file: {"./cmd/serve"}, "other/main.go": {}, filepath.Join(t.TempDir(), "main.go"): {}} {
		d := &finding.Diagnosis{Findings: []finding.Finding{{Site: evidence.Site{Package: "main", File: name}}}}
		d.Target.Kind, d.Target.ModuleDir = evidence.TargetLive, dir
		if got := hot.Packages(d); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
