package hot_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/hot"
)

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
