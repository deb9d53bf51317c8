package fix

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/rewrite"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// program has a line for each outcome, named in a comment at its end.
const program = `package p

import "io"

// Doubles is a plain gain.
func Doubles(xs []int) []int {
	var out []int
	for _, x := range xs {
		out = append(out, 2*x) // kept
	}
	return out
}

// Positive is a gain with a question: how many are positive.
func Positive(xs []int) map[int]bool {
	out := map[int]bool{}
	for _, x := range xs {
		if x > 0 {
			out[x] = true // review
		}
	}
	return out
}

// Negative is nil without any, which callers can tell from empty.
func Negative(xs []int) []int {
	var out []int
	for _, x := range xs {
		if x < 90 {
			out = append(out, x) // differs
		}
	}
	return out
}

// None promises nil, which the edit breaks.
func None(xs []int) []int {
	var out []int
	for _, x := range xs {
		if len(xs) > 1 {
			out = append(out, x) // breaks
		}
	}
	return out
}

var out io.Writer = io.Discard

// Sum hands its memory to a call that the compiler does not see through, so that an array would be on the heap, too.
func Sum(n int) int {
	b := make([]byte, n) // no gain
	out.Write(b)
	return len(b)
}
`

const programTests = `package p

import "testing"

var xs = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}

var sink any

func BenchmarkAll(b *testing.B) {
	for range b.N {
		sink = Doubles(xs)
		sink = Positive(xs)
		sink = Negative(xs)
		sink = None(xs)
		sink = Sum(len(xs))
	}
}

func TestNone(t *testing.T) {
	if None([]int{1}) != nil {
		t.Error("not nil")
	}
}
`

func TestSearch(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module example.com/p\n\ngo 1.26\n", "p.go": program, "p_test.go": programTests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := map[int]Outcome{}
	r := &finding.Report{Diagnosis: &finding.Diagnosis{Target: evidence.Target{Kind: evidence.TargetPackages, ModuleDir: dir},
		Runs: []finding.RunSummary{{Name: "BenchmarkAll", Package: "example.com/p", NsPerOp: 1000}}},
		Prescription: &finding.Prescription{}}
	line := 0
	for l := range strings.Lines(program) {
		line++
		if _, outcome, ok := strings.Cut(l, " // "); ok && outcome != "" && strings.HasSuffix(l, outcome) && !strings.HasPrefix(l, "//") {
			want[line] = Outcome(strings.TrimSpace(outcome))
			r.Prescription.Rows = append(r.Prescription.Rows, finding.Row{Finding: &finding.Finding{Run: "BenchmarkAll",
				Site:       evidence.Site{File: "p.go", Line: line, Package: "example.com/p"},
				Allocation: finding.Allocation{Sizes: []finding.SizeCount{{Size: 64, Objects: 1}}}}})
		}
	}
	p, err := rewrite.Load(t.Context(), rewrite.Request{Dir: dir, Packages: Packages(r)})
	if err != nil {
		t.Fatal(err)
	}
	j, err := trial.New(trial.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	got, err := Search(t.Context(), r, Tools{p, j}, Options{Tests: true})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, a := range got.Attempts {
		seen[a.Edit.Line] = true
		if a.Outcome != want[a.Edit.Line] {
			t.Errorf("line %d, %s: %s (%s), want %s", a.Edit.Line, a.Edit.Text, a.Outcome, a.Why, want[a.Edit.Line])
		}
		if a.Outcome == Kept && !a.After.Less(a.Before) {
			t.Errorf("line %d is kept with %v after %v", a.Edit.Line, a.After, a.Before)
		}
	}
	for line := range want {
		if !seen[line] {
			t.Errorf("nothing was tried on line %d", line)
		}
	}
	c, err := got.Confirm(t.Context(), j, ConfirmOptions{Dir: dir})
	if err != nil || c.Passed != 1 {
		t.Errorf("%+v, %v, want one test passed", c, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "p.go")); err != nil || string(text) != program {
		t.Errorf("the user's file was changed: %v", err)
	}
}
