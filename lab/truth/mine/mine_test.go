package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

func TestScore(t *testing.T) {
	f := func(subject, body string, want int) {
		t.Helper()
		if got := score(subject, body); got != want {
			t.Errorf("score(%q, %q) = %d, want %d", subject, body, got, want)
		}
	}
	f("reduce allocations in Marshal", "", 3)
	f("Use a sync.Pool for encoders", "", 3)
	f("speed up parsing", "10 allocs/op less", 2)
	f("speed up parsing", "", 1)
	f("fix a typo", "", 0)
	f("allocate an address to each host", "", 3) // a reader sees that
}

func TestFall(t *testing.T) {
	f := func(before, after corpus.Amounts, want float64) {
		t.Helper()
		if got := fall(before, after); got != want {
			t.Errorf("fall(%v, %v) = %v, want %v", before, after, got, want)
		}
	}
	f(corpus.Amounts{B: 100, Allocs: 4}, corpus.Amounts{B: 100, Allocs: 3}, 0.25)
	f(corpus.Amounts{B: 100, Allocs: 4}, corpus.Amounts{B: 50, Allocs: 4}, 0.5)
	f(corpus.Amounts{B: 20}, corpus.Amounts{B: 10}, 0) // no more than runs differ by
	f(corpus.Amounts{B: 100, Allocs: 3}, corpus.Amounts{B: 200, Allocs: 4}, 0)
	r := row{Before: [2]corpus.Amounts{{B: 100}, {B: 200}}, After: [2]corpus.Amounts{{B: 50}, {B: 90}}}
	if got := r.least(); got != 0 {
		t.Errorf("least fall is %v; after's second run allocates nearly as much as before's first", got)
	}
}

func TestNearest(t *testing.T) {
	folders := []string{".", "sub", "sub/deep"}
	for dir, want := range map[string]string{".": ".", "other": ".", "subway": ".", "sub": "sub", "sub/deep/er": "sub/deep"} {
		if got := nearest(folders, dir); got != want {
			t.Errorf("%s is nearest to %s, want %s", dir, got, want)
		}
	}
}

// TestOwn charges an allocation of a callee elsewhere to the module's function, with its callers.
func TestOwn(t *testing.T) {
	line := func(name, file string, n int64) *profile.Location {
		return &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name, Filename: file}, Line: n}}}
	}
	prof := &profile.Profile{Sample: []*profile.Sample{
		{Value: []int64{operations, 64 * operations}, Location: []*profile.Location{line("bytes.growSlice", "/go/src/bytes/buffer.go", 9),
			line("m.F", "/w/f.go", 3), line("m.G", "/w/g.go", 5), line("m.BenchmarkG", "/w/g_test.go", 7)}},
		{Value: []int64{operations, 8 * operations}, Location: []*profile.Location{line("m.BenchmarkG", "/w/g_test.go", 8)}},
	}}
	got := own(prof, "m", "/w")
	if len(got) != 1 || got["m.F"] == nil {
		t.Fatalf("charged to %v, want m.F alone", got)
	}
	l := got["m.F"].Lines[0]
	if l.Line != 3 || l.Before != (corpus.Amounts{B: 64, Allocs: 1}) || l.Leaf != "bytes.growSlice" || !slices.Equal(l.From, []string{"m.G:g.go:5"}) {
		t.Errorf("got %+v", l)
	}
}

// TestHistory finds the commit that speaks of allocations and the packages that may show it.
func TestHistory(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
			"GIT_COMMITTER_EMAIL=a@example.com", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	write("go.mod", "module example.com/m\n")
	write("x/x.go", "package x\n")
	write("user/u.go", "package user\n\nimport _ \"example.com/m/x\"\n")
	write("user/u_test.go", "package user\n\nfunc BenchmarkU(b *testing.B) {}\n")
	write("other/o_test.go", "package other\n\nfunc BenchmarkO(b *testing.B) {}\n")
	write("nested/go.mod", "module example.com/m/nested\n")
	write("nested/n_test.go", "package nested\n\nimport _ \"example.com/m/x\"\n\nfunc BenchmarkN(b *testing.B) {}\n")
	git("add", ".")
	git("commit", "-qm", "x: begin")
	git("tag", "v1.0.0")
	write("x/x.go", "package x // changed\n")
	git("commit", "-qam", "x: fewer allocations")
	write("x/x_test.go", "package x\n")
	git("add", ".")
	git("commit", "-qm", "x: test for allocations") // changes no code
	git("tag", "v1.1.0")

	h := &history{git: dir, name: "m/m"}
	p := pair{Module: "example.com/m", Folder: ".", Tags: []string{"v1.0.0", "v1.1.0"}}
	var err error
	if p.Commits, err = h.between(t.Context(), p); err != nil || len(p.Commits) != 1 || p.Commits[0].Subject != "x: fewer allocations" ||
		!slices.Equal(p.Commits[0].Folders, []string{"x"}) {
		t.Fatalf("commits %+v, %v", p.Commits, err)
	}
	if got := h.packages(t.Context(), p); !slices.Equal(got, []string{"user"}) {
		t.Errorf("measured are %v, want user, which imports what was changed", got)
	}
	list := []release{{"v1.0.0", "example.com/m", "v1.0.0"}, {"v1.0.1", "example.com/m", "v1.0.1"}}
	if b, ok := h.before(t.Context(), list, release{"v1.1.0", "example.com/m", "v1.1.0"}); !ok || b.tag != "v1.0.0" {
		t.Errorf("before v1.1.0 is %v, %v; v1.0.1 is not of its history", b, ok)
	}
}

func TestWanted(t *testing.T) {
	s := sides{only: []string{"Hash", "BenchmarkParse"}}
	for name, want := range map[string]bool{"BenchmarkHash": true, "BenchmarkParse": true, "BenchmarkHashes": false, "Benchmark": false} {
		if got := s.wanted(name); got != want {
			t.Errorf("wanted(%q) = %v, want %v", name, got, want)
		}
	}
}
