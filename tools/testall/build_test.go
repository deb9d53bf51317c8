package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestParseBuild(t *testing.T) {
	f := func(text string, want build) {
		t.Helper()
		want.text = text
		if got, err := parseBuild(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("parseBuild(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	f("rt", build{dir: "rt", packages: []string{"./..."}})
	f("rt -tags=a,b -skip=Slow|Slower ./x ./y", build{dir: "rt", flags: []string{"-tags=a,b", "-skip=Slow|Slower"}, packages: []string{"./x", "./y"}})
	f("rt GOTOOLCHAIN=go1.25.13 GOGC=50", build{dir: "rt", env: []string{"GOTOOLCHAIN=go1.25.13", "GOGC=50"}, packages: []string{"./..."}})
	if got, err := parseBuild(" "); err == nil {
		t.Errorf("parseBuild of nothing = %+v, want an error", got)
	}
}

// TestBuilds tests a module once as it is, once with a tag that has a failing
// test, and once by a release of Go that there is not.
func TestBuilds(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module example.com/m\n\ngo 1.25\n",
		"m_test.go":   "package m\n\nimport \"testing\"\n\nfunc TestGood(*testing.T) {}\n",
		"bad_test.go": "//go:build bad\n\npackage m\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { t.Fail() }\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := func(wantStatus int, want string, builds ...string) {
		t.Helper()
		args := []string{"-dir", root}
		for _, b := range builds {
			args = append(args, "-also", b)
		}
		var stdout, stderr strings.Builder
		if got := run(t.Context(), args, &stdout, &stderr); got != wantStatus || !strings.Contains(stdout.String(), want) {
			t.Errorf("run with %q = %d, want %d and %q\n%s%s", builds, got, wantStatus, want, &stdout, &stderr)
		}
	}
	f(0, "\n1 passed, 0 failed, 0 skipped\n")
	f(0, "\n2 passed, 0 failed, 0 skipped\n", ". -tags=good")
	f(1, "failed: example.com/m TestBad of . -tags=bad\n2 passed, 1 failed, 0 skipped\n", ". -tags=bad")
	f(0, "skipped: . GOPROXY=off GOTOOLCHAIN=go1.25.999: no go1.25.999 here: ", ". GOPROXY=off GOTOOLCHAIN=go1.25.999")
	f(0, "\n1 passed, 0 failed, 1 skipped\n", ". GOPROXY=off GOTOOLCHAIN=go1.25.999")
	f(1, "failed: module ", "none")
	g := func(wantStatus int, want, plain string) {
		t.Helper()
		var stdout, stderr strings.Builder
		got := run(t.Context(), []string{"-dir", root, "-plain", plain}, &stdout, &stderr)
		if text := stdout.String() + stderr.String(); got != wantStatus || !strings.Contains(text, want) {
			t.Errorf("run with %q plain = %d, want %d and %q\n%s", plain, got, wantStatus, want, text)
		}
	}
	// Once, with the flags of the build.
	g(0, "\n1 passed, 0 failed, 0 skipped\n", ". ./...")
	g(1, "failed: example.com/m TestBad\n1 passed, 1 failed, 0 skipped\n", ". -tags=bad .")
	g(1, "testall: go list in "+root+": exit status 1", ". ./none")
}
