package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTally(t *testing.T) {
	f := func(name, events string, wantOK bool, wantSummary, wantShown string) {
		t.Helper()
		var shown, summary strings.Builder
		total := newTally(&shown)
		for line := range strings.Lines(events) {
			total.add([]byte(line))
		}
		total.print(&summary)
		if got := total.ok(); got != wantOK {
			t.Errorf("%s: ok = %v, want %v", name, got, wantOK)
		}
		if got := summary.String(); got != wantSummary {
			t.Errorf("%s: summary is\n%swant\n%s", name, got, wantSummary)
		}
		if got := shown.String(); got != wantShown {
			t.Errorf("%s: shown is\n%swant\n%s", name, got, wantShown)
		}
	}
	f("nothing", "", false, "failed: no test ran\n0 passed, 0 failed, 0 skipped\n", "")
	f("pass and skip", `{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: no perf here: not found\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA","Elapsed":0}
{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"pass","Package":"p","Test":"TestB","Elapsed":0}
{"Action":"pass","Package":"p","Elapsed":1.25}
{"Action":"skip","Package":"empty","Elapsed":0}
`, true, "skipped: p TestA: no perf here: not found\n1 passed, 0 failed, 1 skipped\n", "ok    p 1.2s\n")
	f("failed test", `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: got 1, want 2\n"}
{"Action":"fail","Package":"p","Test":"TestA","Elapsed":0}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p","Elapsed":0.5}
`, false, "failed: p TestA\n0 passed, 1 failed, 0 skipped\n", "    a_test.go:7: got 1, want 2\nFAIL  p 0.5s\n")
	f("does not build", `{"ImportPath":"p","Action":"build-output","Output":"a.go:3: undefined: x\n"}
{"Action":"output","Package":"p","Output":"FAIL p [build failed]\n"}
{"Action":"fail","Package":"p","Elapsed":0,"FailedBuild":"p"}
`, false, "failed: p\n0 passed, 1 failed, 0 skipped\n", "a.go:3: undefined: x\nFAIL  p 0.0s\nFAIL p [build failed]\n")
	f("slow ones", `{"Action":"pass","Package":"p","Test":"TestA/x","Elapsed":20}
{"Action":"pass","Package":"p","Test":"TestA/y","Elapsed":6.5}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":26.5}
{"Action":"pass","Package":"p","Test":"TestB","Elapsed":4}
{"Action":"pass","Package":"p","Test":"TestC","Elapsed":30}
`, true, "slow: 30 s p TestC\nslow: 20 s p TestA/x\nslow: 6 s p TestA/y\n5 passed, 0 failed, 0 skipped\n", "")
	f("not an event", "panic: oh\n", false, "failed: no test ran\n0 passed, 0 failed, 0 skipped\n", "panic: oh\n")
}

func TestFindModules(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{".", "rt", "rt/testdata/m", "lab/deep", ".hidden"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, dir, "go.mod"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := findModules(root)
	want := []string{root, filepath.Join(root, "lab", "deep"), filepath.Join(root, "rt")}
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("findModules = %q, %v, want %q", got, err, want)
	}
	if got, err := findModules(filepath.Join(root, "rt", "testdata", "none")); err == nil {
		t.Errorf("findModules of a missing folder = %q, want an error", got)
	}
}

// TestRun tests a module made for it, with all that can happen to a test.
func TestRun(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/m\n\ngo 1.25\n")
	write("m_test.go", "package m\n\nimport \"testing\"\n\nfunc TestGood(*testing.T) {}\nfunc TestSkip(t *testing.T) { t.Skip(\"no moon\") }\n")
	f := func(wantStatus int, wantSummary string) {
		t.Helper()
		var stdout, stderr strings.Builder
		file := filepath.Join(root, "summary")
		if got := run(t.Context(), []string{"-dir", root, "-summary", file}, &stdout, &stderr); got != wantStatus {
			t.Errorf("run = %d, want %d\n%s%s", got, wantStatus, &stdout, &stderr)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != wantSummary || !strings.HasSuffix(stdout.String(), wantSummary) {
			t.Errorf("summary is\n%s%v, want\n%s", got, err, wantSummary)
		}
	}
	f(0, "skipped: example.com/m TestSkip: no moon\n1 passed, 0 failed, 1 skipped\n")
	write("m_test.go", "package m\n\nfunc f() { undefined() }\n")
	f(1, "failed: example.com/m\n0 passed, 1 failed, 0 skipped\n")
}
