package fix

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/rewrite"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
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

// made is a module with the program, a report that has a finding for each outcome, and the outcomes by line.
func made(t *testing.T) (dir string, r *finding.Report, want map[int]Outcome) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module example.com/p\n\ngo 1.26\n", "p.go": program, "p_test.go": programTests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want = map[int]Outcome{}
	r = &finding.Report{Diagnosis: &finding.Diagnosis{Target: evidence.Target{Kind: evidence.TargetPackages, ModuleDir: dir},
		Runs: []finding.RunSummary{{Name: "BenchmarkAll", Package: "example.com/p", Pace: finding.Pace{NsPerOp: 1000}}}},
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
	return dir, r, want
}

// toolsFor are those for a report.
func toolsFor(t *testing.T, dir string, r *finding.Report) Tools {
	t.Helper()
	p, err := rewrite.Load(t.Context(), rewrite.Request{Dir: dir, Packages: Packages(r)})
	if err != nil {
		t.Fatal(err)
	}
	j, err := trial.New(trial.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return Tools{p, j}
}

func TestSearch(t *testing.T) {
	dir, r, want := made(t)
	tools := toolsFor(t, dir, r)
	got, err := Search(t.Context(), r, tools, Options{Tests: true})
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
	c, err := got.Confirm(t.Context(), tools.Judge, ConfirmOptions{Dir: dir})
	if err != nil || c.Passed != 1 {
		t.Errorf("%+v, %v, want one test passed", c, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "p.go")); err != nil || string(text) != program {
		t.Errorf("the user's file was changed: %v", err)
	}
}

// TestAhead: edits to be agreed to come first where they promise more than the proved ones, if they may be kept.
func TestAhead(t *testing.T) {
	dir, r, _ := made(t)
	tools := toolsFor(t, dir, r)
	rows := r.Prescription.Rows
	rows[0], rows[1] = rows[1], rows[0] // that of Positive has a question
	for _, review := range []bool{false, true} {
		var steps []string
		_, err := Search(t.Context(), r, tools, Options{Tests: true, Review: review, Budget: time.Hour,
			Progress: func(format string, _ ...any) { steps = append(steps, format) }})
		if err != nil {
			t.Fatal(err)
		}
		if proved := strings.Contains(steps[0], "to try first"); proved == review {
			t.Errorf("with review %v, the first step is %q", review, steps[0])
		}
	}
}

// TestLittleLast: with a budget, counted edits are judged before others are tried that promise little beside them.
func TestLittleLast(t *testing.T) {
	dir, r, want := made(t)
	tools := toolsFor(t, dir, r)
	r.Diagnosis.Runs[0].AllocsPerOp, r.Diagnosis.Runs[0].Ops = 1000, 1
	var rows []finding.Row
	for _, row := range r.Prescription.Rows {
		switch want[row.Site.Line] {
		case Kept:
			row.Cost.ObjectsPerOp.Value = 500
		case NoGain:
			row.Cost.ObjectsPerOp.Value = 1
		default:
			continue
		}
		rows = append(rows, row)
	}
	r.Prescription.Rows = rows
	var steps []string
	_, err := Search(t.Context(), r, tools, Options{Tests: true, Budget: time.Hour, Progress: func(format string, _ ...any) {
		step, _, _ := strings.Cut(format, " ")
		steps = append(steps, step)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(steps, " "); got != "finding counting judging finding counting" {
		t.Errorf("steps: %s", got)
	}
}

// TestOutOfTime: where the time is up, nothing is started, and each edit is said to have had no time.
func TestOutOfTime(t *testing.T) {
	dir, r, want := made(t)
	tools := toolsFor(t, dir, r)
	over := time.Now().Add(-time.Second)
	ctx, cancel := context.WithDeadline(t.Context(), over)
	defer cancel()
	got, err := Search(ctx, r, tools, Options{Tests: true, Budget: time.Hour})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the search ends with %v", err)
	}
	seen := map[int]bool{}
	for _, a := range got.Attempts {
		if seen[a.Edit.Line] = true; a.Outcome != NoTime || a.Why != noTime || a.Before != (trial.Counts{}) {
			t.Errorf("line %d: %s (%s), counted %v", a.Edit.Line, a.Outcome, a.Why, a.Before)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("attempts on %d lines, want %d", len(seen), len(want))
	}

	// What is kept, and cannot be confirmed any more, is not applied.
	kept := &Result{Attempts: []Attempt{got.Attempts[0]}}
	kept.Attempts[0].Outcome, kept.Attempts[0].Why = Kept, ""
	var steps []string
	_, err = kept.Confirm(t.Context(), tools.Judge, ConfirmOptions{Dir: dir, Until: over, Each: time.Hour, Measure: time.Hour, Race: true,
		Progress: func(format string, _ ...any) { steps = append(steps, format) }})
	if a := kept.Attempts[0]; err != nil || a.Outcome != NoTime || a.Why != "no time left for types and vet" || len(kept.Kept()) > 0 {
		t.Errorf("%s (%s), %v", a.Outcome, a.Why, err)
	}
	if len(steps) > 1 {
		t.Errorf("after its end it went on with %q", steps[1:])
	}
}

// TestDivided: all stages end in time, and each has a part.
func TestDivided(t *testing.T) {
	now := time.Now()
	for _, outside := range []*Outside{nil, {}} {
		o := RunOptions{Until: now.Add(8 * time.Minute), Outside: outside}
		e := o.divide(now)
		if !now.Add(o.Search.Budget).Before(e.searched) || !e.searched.Before(e.confirmed) || e.confirmed.After(o.Until) ||
			(outside != nil) != e.confirmed.Before(o.Until) {
			t.Errorf("searching ends after %v, %v, all after %v", o.Search.Budget, e.searched.Sub(now), e.confirmed.Sub(now))
		}
	}
	if o := (RunOptions{Until: now}); o.divide(now) == (ends{}) || o.Search.Budget <= 0 || o.Confirm.Tests <= 0 {
		t.Errorf("no time left is no limit: %+v", o)
	}
}

// TestFirst: an edit to be agreed to that changes the text of a proved one is tried with it, if it may be kept.
func TestFirst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte("package p\n\nvar a, b = 1, 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	edit := func(open string, from, to int) code.Edit {
		return code.Edit{File: file, Open: open, Changes: []code.Change{{From: from, To: to, Text: "3"}}}
	}
	edits := []code.Edit{edit("may it?", 22, 26), edit("", 22, 23), edit("may this?", 25, 26)}
	for review, want := range map[bool]int{false: 1, true: 2} {
		first, others := (&search{o: Options{Review: review}}).first(edits)
		if len(first) != want || first[0].Open != "" || len(others) != len(edits)-want || others[len(others)-1].Open != "may this?" {
			t.Errorf("with review %v: first %+v, then %+v", review, first, others)
		}
	}
}
