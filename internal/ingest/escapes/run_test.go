package escapes

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// module writes a module into a fresh directory.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const goMod = "module example.com/m\n\ngo 1.24\n"

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles packages")
	}
	dir := module(t, map[string]string{
		"go.mod":     goMod,
		"main.go":    "package main\n\nimport \"example.com/m/a\"\n\nfunc main() { println(a.F(1)) }\n",
		"a/a.go":     "package a\n\nfunc F(x int) *int {\n\treturn &x\n}\n",
		"a/tag.go":   "//go:build special\n\npackage a\n\nfunc G(n int) []byte {\n\treturn make([]byte, n)\n}\n",
		"bad/bad.go": "package bad\n\nvar x int = \"no\"\n",
		"o/new.go":   "package a\n\nfunc F(x int) *int {\n\n\n\n\treturn &x\n}\n",
	})
	file := filepath.Join(dir, "a", "a.go")
	overlay := filepath.Join(dir, "overlay.json")
	text := `{"Replace": {` + quote(file) + `: ` + quote(filepath.Join(dir, "o", "new.go")) + `}}`
	if err := os.WriteFile(overlay, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	f := func(packages, flags []string, want ...string) {
		t.Helper()
		got, stats, err := Run(t.Context(), RunOptions{Dir: dir, Packages: packages, BuildFlags: flags})
		if err != nil {
			t.Errorf("Run(%q, %q) = %v", packages, flags, err)
		}
		if stats.Unknown != 0 {
			t.Errorf("Run(%q, %q): unknown lines %v", packages, flags, stats.UnknownLines)
		}
		var all strings.Builder
		for _, e := range got {
			all.WriteString(format(e) + "\n")
		}
		for _, w := range want {
			if !strings.Contains(all.String(), filepath.ToSlash(w)) {
				t.Errorf("Run(%q, %q) lacks %q in\n%s", packages, flags, w, all.String())
			}
		}
	}
	f([]string{"example.com/m/a"}, nil, file+":3:8 moved to heap: x in F\n\t~r0 <- &x")
	f([]string{"example.com/m/a"}, []string{"-tags", "special", "-gcflags=-l", "-o=x", "-v"}, file+":3:8 moved to heap: x", "tag.go:6:13 escapes to heap: make([]byte, n)")
	f([]string{"example.com/m/a"}, []string{"-overlay=" + overlay}, "moved to heap: x")
	f([]string{"example.com/m/a", "example.com/m", "strconv"}, nil, "moved to heap: x", "strconv/")
	if left, _ := filepath.Glob(filepath.Join(dir, "x*")); len(left) != 0 {
		t.Errorf("Run left %v", left)
	}

	got, _, err := Run(t.Context(), RunOptions{Dir: dir, Packages: []string{"example.com/m/a", "example.com/m/bad", "example.com/nosuch"}})
	if len(got) == 0 {
		t.Error("a broken package kept the others from being read")
	}
	if err == nil || !strings.Contains(err.Error(), "nosuch") || !strings.Contains(err.Error(), "bad.go:3:13") {
		t.Errorf("two broken packages: error %v, want one that names both", err)
	}
}

func quote(path string) string { return `"` + strings.ReplaceAll(path, `\`, `\\`) + `"` }

// The paths of a -trimpath build become the ones on disk.
func TestRunTrimpath(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles packages")
	}
	dir := module(t, map[string]string{"go.mod": goMod, "a/a.go": "package a\n\nfunc F(x int) *int { return &x }\n"})
	file := filepath.Join(dir, "a", "a.go")
	var keep Filter
	keep.Add(file, 3)
	opts := RunOptions{Dir: dir, Packages: []string{"example.com/m/a", "strconv"}, BuildFlags: []string{"-trimpath"}}
	opts.Scan = Options{Keep: &keep, Paths: Paths{Dir: dir, Roots: []Root{{"example.com/m", dir}, {"", filepath.Join(goroot(t), "src")}}}}
	got, stats, err := Run(t.Context(), opts)
	if err != nil || len(got) != 1 || got[0].File != file || stats.Dropped == 0 {
		t.Errorf("got %+v, stats %+v, error %v; want the one in %s", got, stats, err, file)
	}
}

// Each supported toolchain is read, when it is there.
func TestRunToolchains(t *testing.T) {
	if testing.Short() {
		t.Skip("runs other toolchains")
	}
	dir, err := filepath.Abs("testdata/probe")
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"go1.25.13", "go1.26.8", "go1.27.4"} {
		t.Run(version, func(t *testing.T) {
			env := append(os.Environ(), "GOTOOLCHAIN="+version, "GOFLAGS=")
			probe := exec.Command("go", "version")
			probe.Env, probe.Dir = env, dir
			if out, err := probe.CombinedOutput(); err != nil || !strings.Contains(string(out), version) {
				t.Skipf("no %s here: %s", version, out)
			}
			got, stats, err := Run(t.Context(), RunOptions{Dir: dir, Env: env, Packages: []string{"example.com/probe"}, Scan: Options{Paths: Paths{Dir: "/src/probe"}}})
			if err != nil || stats.Unknown != 0 {
				t.Fatalf("Run = %v, unknown lines %v", err, stats.UnknownLines)
			}
			var b strings.Builder
			for _, e := range got {
				b.WriteString(format(e) + "\n")
			}
			want, err := os.ReadFile("testdata/" + version + "-m2.golden")
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("result differs from the golden file of %s:\n%s", version, b.String())
			}
		})
	}
}

func TestRunCancelled(t *testing.T) {
	dir := module(t, map[string]string{"go.mod": goMod})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Run(ctx, RunOptions{Dir: dir, Packages: []string{"fmt"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("Run with a cancelled context = %v", err)
	}
	if testing.Short() {
		return
	}
	// A fresh -d flag value makes every package compile anew.
	ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	env := append(os.Environ(), "GOCACHE="+t.TempDir())
	_, _, err := Run(ctx, RunOptions{Dir: dir, Env: env, Packages: []string{"net/http"}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Run past its deadline = %v", err)
	}
	if took := time.Since(start); took > 10*time.Minute { // a busy machine may stand still
		t.Errorf("it took %v to stop", took)
	}
}

func TestRunRefuses(t *testing.T) {
	f := func(opts RunOptions, want string) {
		t.Helper()
		if _, _, err := Run(t.Context(), opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Run(%+v) = %v, want %q", opts, err, want)
		}
	}
	f(RunOptions{}, "no packages")
	f(RunOptions{Packages: []string{"-exec=rm"}}, "not an import path")
	f(RunOptions{Packages: []string{"a"}, BuildFlags: []string{"-C", "x"}}, "RunOptions.Dir")
	f(RunOptions{Packages: []string{"a"}, BuildFlags: []string{"-C=x"}}, "RunOptions.Dir")
	f(RunOptions{Packages: []string{"a"}, BuildFlags: []string{"-tags"}}, "no value")
	f(RunOptions{Packages: []string{"a"}, BuildFlags: []string{"race"}}, "dash")
	f(RunOptions{Packages: []string{"a"}, Go: "no-such-command"}, "no-such-command")
}

func TestArguments(t *testing.T) {
	f := func(flags []string, want ...string) {
		t.Helper()
		got, err := arguments(RunOptions{Packages: []string{"example.com/m/a", "fmt"}, BuildFlags: flags})
		if err != nil {
			t.Errorf("arguments(%q) = %v", flags, err)
			return
		}
		head := []string{"list", "-e", "-export", "-f=" + onError}
		want = append(append(head, want...), "--", "example.com/m/a", "fmt")
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("arguments(%q) =\n%q, want\n%q", flags, got, want)
		}
	}
	f(nil, "-gcflags=example.com/m/a=-m=2", "-gcflags=fmt=-m=2")
	f([]string{"--race", "-tags", "x y", "-x", "-o", "out"}, "-race", "-tags=x y", "-gcflags=example.com/m/a=-m=2", "-gcflags=fmt=-m=2")
	f([]string{"-gcflags=-N -l"}, "-gcflags=-N -l", "-gcflags=example.com/m/a=-N -l -m=2", "-gcflags=fmt=-N -l -m=2")
	f([]string{"-gcflags", "example.com/...=-l"}, "-gcflags=example.com/...=-l", "-gcflags=example.com/m/a=-l -m=2", "-gcflags=fmt=-m=2")
	f([]string{"-gcflags=all=-l", "-gcflags=fmt=-N"}, "-gcflags=all=-l", "-gcflags=fmt=-N", "-gcflags=example.com/m/a=-l -m=2", "-gcflags=fmt=-N -m=2")
}

func TestMatchPackage(t *testing.T) {
	f := func(pattern, pkg string, want bool) {
		t.Helper()
		if got := matchPackage(pattern, pkg); got != want {
			t.Errorf("matchPackage(%q, %q) = %v, want %v", pattern, pkg, got, want)
		}
	}
	f("all", "fmt", true)
	f("./...", "example.com/m/a", true)
	f("example.com/m", "example.com/m", true)
	f("example.com/m", "example.com/m/a", false)
	f("example.com/m/...", "example.com/m", true)
	f("example.com/m/...", "example.com/m/a/b", true)
	f("example.com/m/...", "example.com/mx", false)
	f("net/.../x", "net/a/x", true)
	f("...", "fmt", true)
	f("n...t...p", "net/http", true)
	f("n...q...p", "net/http", false)
}

// goroot asks the go command where the standard library's sources are.
func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("go env GOROOT: %v", err)
	}
	return strings.TrimSpace(string(out))
}
