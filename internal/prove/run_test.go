package prove_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/ingest/benchlog"
	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
)

// module writes files into a new folder.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const benchText = `package m

import "testing"

var sink []byte

func BenchmarkMake(b *testing.B) {
	for b.Loop() {
		sink = make([]byte, size)
	}
}
`

func modules(t *testing.T) (a, b string) {
	t.Helper()
	with := func(size string) string {
		return module(t, map[string]string{"go.mod": "module example.com/m\n\ngo 1.25\n", "m.go": "package m\n\nconst size = " + size + "\n", "m_test.go": benchText})
	}
	return with("64"), with("128")
}

func options(a, b string) prove.Options {
	return prove.Options{
		Dir: b, Sides: []sides.Side{{Source: sides.Dir, At: a}, {Source: sides.Work}},
		BenchTime: gocmd.BenchTime{Time: time.Millisecond}, Budget: 20 * time.Minute, Rules: prove.Rules{MaxPairs: 4}, Seed: 1,
	}
}

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and measures programs")
	}
	a, b := modules(t)
	r, err := prove.Run(t.Context(), options(a, b))
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict.Outcome != prove.Worse || !r.Verdict.Worse() || len(r.Comparisons) != 1 || r.Partial {
		t.Fatalf("verdict %+v over %d benchmarks, want worse over 1", r.Verdict, len(r.Comparisons))
	}
	c := r.Comparisons[0]
	if c.Name != "BenchmarkMake" || c.Pairs != 4 || len(c.Runs) != 10 {
		t.Errorf("%s, %d pairs, %d runs, want BenchmarkMake, 4, 10", c.Name, c.Pairs, len(c.Runs))
	}
	for _, ch := range c.Changes {
		switch {
		case ch.Unit == "B/op" && (!ch.Exact || ch.A.Value != 64 || ch.B.Value != 128 || ch.Outcome != prove.Worse):
			t.Errorf("B/op: %+v, want exactly 64 and 128, worse", ch)
		case ch.Unit == "allocs/op" && (!ch.Exact || ch.A.Value != 1 || ch.Outcome != prove.Same):
			t.Errorf("allocs/op: %+v, want exactly 1, same", ch)
		case ch.Unit == "peak-RSS-bytes" && runtime.GOOS == "linux" && (ch.A.Value < 1<<20 || ch.A.Value > 1<<28):
			t.Errorf("peak RSS of a small program: %v", ch.A)
		}
	}
	checkBench(t, r)
}

// TestDisturbedProbe has something come between while the length of runs is
// chosen: they must not become short by that.
func TestDisturbedProbe(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and measures programs")
	}
	dir := t.TempDir()
	sleeps := strings.Replace(benchText, "	for b.Loop() {\n", fmt.Sprintf(`	for b.Loop() {
		if !woken {
			f, err := os.OpenFile(%q, os.O_CREATE|os.O_EXCL, 0o600)
			if err == nil {
				f.Close()
				time.Sleep(200 * time.Millisecond)
			}
			woken = true
		}
`, filepath.Join(dir, "slept")), 1)
	sleeps = strings.Replace(sleeps, `import "testing"`, "import (\n\t\"os\"\n\t\"testing\"\n\t\"time\"\n)\n\nvar woken bool", 1)
	with := func(size string) string {
		return module(t, map[string]string{"go.mod": "module example.com/m\n\ngo 1.25\n", "m.go": "package m\n\nconst size = " + size + "\n", "m_test.go": sleeps})
	}
	r, err := prove.Run(t.Context(), options(with("64"), with("128")))
	if err != nil || len(r.Comparisons) != 1 {
		t.Fatalf("%+v, %v, want one comparison", r, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "slept")); err != nil {
		t.Fatalf("no benchmark slept: %v", err)
	}
	if n := r.Comparisons[0].Iterations; n < 100 {
		t.Errorf("runs of %d iterations, want about a millisecond's", n)
	}
}

// checkBench reads what is written for benchstat.
func checkBench(t *testing.T, r *prove.Result) {
	t.Helper()
	for side, bytesPerOp := range []float64{64, 128} {
		var out bytes.Buffer
		if err := prove.WriteBench(&out, r, side); err != nil {
			t.Fatal(err)
		}
		log, err := benchlog.Read("side", &out)
		if err != nil || log.Malformed > 0 || len(log.Results) != 5 {
			t.Fatalf("side %d: %d results, malformed %v, %v, want 5 results", side, len(log.Results), log.Errors, err)
		}
		timed := 0
		for _, l := range log.Results {
			if l.Mem {
				timed++
			}
			if l.Package != "example.com/m" || l.Mem && (l.BytesPerOp != bytesPerOp || l.NsPerOp <= 0) {
				t.Errorf("side %d: %+v", side, l)
			}
		}
		if timed != 4 {
			t.Errorf("side %d: %d runs with time, want 4", side, timed)
		}
	}
}

// TestInterrupt: what is measured when ctx ends is in the result.
func TestInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and measures programs")
	}
	a, b := modules(t)
	f := func(when string) (*prove.Result, error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o := options(a, b)
		o.Rules.MaxPairs = 1000
		o.Progress = func(format string, args ...any) {
			if strings.HasPrefix(format, when) && (when != "measuring" || args[3] == 3) {
				cancel()
			}
		}
		return prove.Run(ctx, o)
	}
	if r, err := f("building"); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted while building: %v, %v, want that error", r, err)
	}
	r, err := f("measuring")
	if err != nil || !r.Partial || r.Comparisons[0].Pairs != 4 || r.Verdict.Outcome != prove.Worse {
		t.Errorf("interrupted while measuring: %+v, %v, want a partial result of four pairs", r, err)
	}
}

// TestTemporaryFolders: nothing stays behind, whatever happens.
func TestTemporaryFolders(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	a, b := modules(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	o := options(a, b)
	o.Bench = "Nothing"
	if _, err := prove.Run(t.Context(), o); !errors.Is(err, prove.ErrNothing) {
		t.Errorf("no benchmark matches: %v, want %v", err, prove.ErrNothing)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 && runtime.GOOS == "linux" {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestRevisions compares revisions of a repository from one of its folders,
// with files that git archive would leave out.
func TestRevisions(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and measures programs")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	root := module(t, map[string]string{
		".gitattributes": "* export-ignore\n", "sub/go.mod": "module example.com/m\n\ngo 1.25\n",
		"sub/m.go": "package m\n\nconst size = 64\n", "sub/m_test.go": benchText,
	})
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=somebody", "-c", "user.email=somebody@example.com"}, args...)...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q", ".")
	git("add", "-A")
	git("commit", "-q", "-m", "one")
	if err := os.WriteFile(filepath.Join(root, "sub", "m.go"), []byte("package m\n\nconst size = 32\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git("add", "sub/m.go") // staged, and to be still so afterwards
	before := git("status", "--porcelain=v2")
	o := options("", filepath.Join(root, "sub"))
	o.Sides[0] = sides.Side{Source: sides.Revision, At: "HEAD"}
	r, err := prove.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict.Outcome != prove.Better || !r.Sides[1].Dirty || r.Sides[0].Commit != r.Sides[1].Commit || len(r.Sides[0].Commit) < 40 {
		t.Errorf("%+v, sides %+v, want better, and B dirty on A's commit", r.Verdict, r.Sides)
	}
	if after := git("status", "--porcelain=v2"); after != before {
		t.Errorf("the index was %q and is %q", before, after)
	}
	// A workspace that is not committed counts for both sides.
	if err := os.WriteFile(filepath.Join(root, "go.work"), []byte("go 1.25\n\nuse ./sub\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOWORK", filepath.Join(root, "go.work"))
	r, err = prove.Run(t.Context(), o)
	if err != nil || r.Verdict.Outcome != prove.Better || len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "go.work") {
		t.Errorf("in a workspace: %+v, %v, want better, and a warning that names go.work", r, err)
	}
}
