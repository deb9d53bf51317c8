package check

import (
	"path/filepath"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/vet"
)

func line(file string, n int, cpu, bytes float64) finding.LineCost {
	return finding.LineCost{Site: evidence.Site{File: file, Line: n}, CPU: stats.Exact(cpu), BytesShare: bytes}
}

func TestHotLines(t *testing.T) {
	d := &finding.Diagnosis{Lines: []finding.LineCost{
		line("a.go", 1, 0.5, 0), line("a.go", 2, 0.001, 0.02), line("a.go", 3, 0.009, 0.009), line("", 0, 0.5, 0.5),
	}}
	f := func(share float64, want int) {
		t.Helper()
		if got := hotLines(d, share); len(got) != want {
			t.Errorf("%d lines take %v, want %d", len(got), share, want)
		}
	}
	f(0.01, 2)
	f(0, 3)
	f(1, 0)
}

// TestRuleHits: a diagnostic counts where a hot line of its file lies in its
// range or is one that it acts on; the hottest such line goes with it.
func TestRuleHits(t *testing.T) {
	dir := t.TempDir()
	abs := func(name string) string { return filepath.Join(dir, name) }
	hot := []finding.LineCost{line("a.go", 10, 0.1, 0), line("a.go", 11, 0, 0.3), line("sub/a.go", 10, 0.05, 0)}
	said := []vet.Diagnostic{
		{Code: "first line", File: abs("a.go"), Line: 10},
		{Code: "range", File: abs("a.go"), Line: 9, EndLine: 12},
		{Code: "other file of the name", File: abs("other/a.go"), Line: 10},
		{Code: "before", File: abs("a.go"), Line: 8, EndLine: 9},
		{Code: "acts elsewhere", File: abs("types.go"), Line: 1,
			Related: []vet.Place{{File: abs(filepath.Join("sub", "a.go")), Line: 10}}},
	}
	got := ruleHits(dir, hot, said)
	want := []struct {
		code string
		line int
	}{{"range", 11}, {"first line", 10}, {"acts elsewhere", 10}}
	if len(got) != len(want) {
		t.Fatalf("got %d hits, want %d: %v", len(got), len(want), got)
	}
	for i, w := range want {
		if got[i].Code != w.code || got[i].Cost.Site.Line != w.line {
			t.Errorf("hit %d is %q at line %d, want %q at %d", i, got[i].Code, got[i].Cost.Site.Line, w.code, w.line)
		}
	}
}

func TestFoldersOf(t *testing.T) {
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	got := foldersOf(dir, []finding.LineCost{
		line("check.go", 1, 1, 1), line("check.go", 2, 1, 1), line("check_vet_test.go", 2, 1, 1), line("fmt/print.go",
			1, 1, 1), line("/elsewhere/a.go", 1, 1, 1),
	})
	if len(got) != 1 || got[0] != "./." {
		t.Errorf("got %q, want the folder of check.go alone", got)
	}
}
