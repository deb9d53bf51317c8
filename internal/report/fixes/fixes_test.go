package fixes

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/fix"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/trial"
)

const file = "/m/a.go"

// sample has an attempt of most outcomes; name is in all that a program may be called.
func sample(name string) *fix.Fixes {
	attempt := func(o fix.Outcome, from, to int, text string) fix.Attempt {
		return fix.Attempt{Outcome: o, Bench: trial.Bench{Name: "Benchmark" + name}, Why: name,
			Before: trial.Counts{Allocs: 5, Bytes: 100}, After: trial.Counts{Allocs: 2.5, Bytes: 50},
			Predicted: finding.Prediction{ObjectsPerOp: stats.Exact(3)},
			Edit: code.Edit{File: file, Line: 3, Text: "do without " + name, Open: "is it " + name + "?",
				Changes: []code.Change{{From: from, To: to, Text: text}}}}
	}
	gains := attempt(fix.NoGain, 22, 23, "6")
	gains.Why = ""
	text := []byte("package a\n\nvar a, b = 1, 2 // " + name + "\n")
	return &fix.Fixes{Module: "/m", Before: trial.Files{file: text}, After: trial.Files{file: bytes.Replace(text, []byte("1"), []byte("3"), 1)},
		Result: &fix.Result{Findings: 4, NoEdit: []finding.Row{{Finding: &finding.Finding{Run: "Benchmark" + name}}, {Finding: &finding.Finding{}}}, Failing: []string{"Test" + name}, Attempts: []fix.Attempt{
			attempt(fix.Kept, 22, 23, "3"), attempt(fix.Review, 25, 26, "4"), attempt(fix.Breaks, 22, 23, "5"), gains}},
		Confirmation: &fix.Confirmation{Packages: []string{"m"}, Passed: 7}}
}

func TestText(t *testing.T) {
	var out bytes.Buffer
	if err := Text(&out, sample("X"), true, term.Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"4 findings looked at, 4 edits tried: 1 applied, 1 to review.", "5 → 2.5", "100 → 50", "−3", "a.go:3",
		"7 tests of 1 package pass with all edits", "? is it X?", "+var a, b = 1, 4", "1 no gain, 1 breaks, 2 findings without a known edit",
		"do without X: breaks (X)", "do without X: no gain (5 → 2.5 allocs/op, 100 → 50 B/op)", "0 of 1 edit compared with the code before, by 0 calls", "without any edit, so no edit is judged by them: TestX"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, &out)
		}
	}
}

// TestHostileNames: what comes from a program cannot steer a terminal.
func TestHostileNames(t *testing.T) {
	var out bytes.Buffer
	if err := Text(&out, sample("\x1b[31m\u202e\u009b"), false, term.Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexAny(out.String(), "\x1b\u202e\u009b"); i >= 0 {
		t.Errorf("%q", out.String()[i:min(i+40, out.Len())])
	}
}

func TestDiff(t *testing.T) {
	want := "--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,3 @@\n package a\n \n-var a, b = 1, 2 // X\n+var a, b = 3, 2 // X\n"
	if got := string(Diff(sample("X"))); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := JSON(&out, sample("X"), true, schema.Meta{Tool: "v"}); err != nil {
		t.Fatal(err)
	}
	doc, err := schema.Read[schema.Fix](out.Bytes(), schema.FixVersion)
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Attempts) != 4 || doc.Attempts[0].Outcome != "kept" || doc.Attempts[0].After.Allocs != 2.5 ||
		!strings.Contains(doc.Attempts[1].Diff, "+var a, b = 1, 4") || doc.Attempts[2].Diff != "" || !doc.Applied {
		t.Errorf("%+v", doc)
	}
}

// TestOtherFormats: table, figures, reasons and diffs are in Markdown and on the page, and names cannot be
// markup of either.
func TestOtherFormats(t *testing.T) {
	for _, name := range []string{"X", "<script>alert(1)</script>|```\x1b[31m"} {
		for format, write := range map[string]func(io.Writer, *fix.Fixes, bool) error{"Markdown": Markdown, "page": Page} {
			var out bytes.Buffer
			if err := write(&out, sample(name), true); err != nil {
				t.Fatal(err)
			}
			text := out.String()
			for _, want := range []string{"1 applied, 1 to review", "5 → 2.5", "100 → 50", "−3", "a.go:3", "breaks"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s lacks %q:\n%s", format, want, text)
				}
			}
			if strings.Contains(text, "\x1b") || format == "page" && strings.Contains(text, "<script>") {
				t.Errorf("%s: a name is markup:\n%s", format, text)
			}
		}
	}
}
