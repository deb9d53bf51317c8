package fix

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// whole is a change of which nothing can be taken back in parts.
type whole struct {
	change  trial.Files
	path    string
	dropped string
}

func (w *whole) files(string, int) (trial.Files, error) { return w.change, nil }

func (w *whole) drop(_ string, _ int, o Outcome, why string) bool {
	w.dropped = string(o) + ": " + why
	return false
}

func (w *whole) kept() []Attempt {
	a := Attempt{Outcome: Kept}
	a.Edit.Package = w.path
	return []Attempt{a}
}

// TestDropWorse: of several edits of a package, those go that were kept for a benchmark that is worse.
func TestDropWorse(t *testing.T) {
	r := &Result{}
	for _, bench := range []string{"BenchmarkA", "BenchmarkB", "BenchmarkC", "BenchmarkB", "BenchmarkD"} {
		a := Attempt{Outcome: Kept, Bench: trial.Bench{Package: "example.com/p", Name: bench}}
		a.Edit.Package = "example.com/p"
		r.Attempts = append(r.Attempts, a)
	}
	c := &confirming{subject: edits{r}}
	if c.dropWorse([]string{"example.com/q BenchmarkA"}) {
		t.Error("the benchmark of another package drops an edit")
	}
	if !c.dropWorse([]string{"example.com/p BenchmarkB"}) {
		t.Error("no edit was dropped")
	}
	var left []string
	for _, a := range c.kept() {
		left = append(left, a.Bench.Name)
	}
	if want := []string{"BenchmarkA", "BenchmarkC", "BenchmarkD"}; !slices.Equal(left, want) {
		t.Errorf("kept %v, want %v", left, want)
	}
}

// TestLateTests: tests that have no time left do not break, and are said to be missing.
func TestLateTests(t *testing.T) {
	if testing.Short() {
		t.Skip("builds test binaries")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.26\n",
		"p.go":      "package p\n\nfunc F() int { return 1 }\n",
		"p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif F() != 1 {\n\t\tt.Error(\"not 1\")\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	j, err := trial.New(trial.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	const path = "example.com/m"
	if before, err := j.State(t.Context(), path); err != nil || len(before.Passed) != 1 {
		t.Fatalf("%+v, %v, want a test that passes", before, err)
	}
	confirm := func(body string) (string, Late) {
		t.Helper()
		w := &whole{change: trial.Files{filepath.Join(dir, "p.go"): []byte("package p\n\nfunc F() int { return " + body + " }\n")}, path: path}
		c := &confirming{&Confirmation{}, ConfirmOptions{Progress: func(string, ...any) {}}, j, w, nil}
		if err := c.tests(t.Context()); err != nil {
			t.Fatal(err)
		}
		return w.dropped, c.Late
	}
	if dropped, late := confirm("2"); dropped != "breaks: TestF" || late.Packages != 0 {
		t.Errorf("a wrong change: %q, %+v, want that TestF breaks", dropped, late)
	}
	j.More(time.Nanosecond)
	if dropped, late := confirm("0 + 1"); dropped != "" || late.Packages != 1 {
		t.Errorf("no time: %q, %+v, want one package late and nothing dropped", dropped, late)
	}
}

// TestCulprit: of edits that were kept, the one with which something is wrong is taken back, and no other.
func TestCulprit(t *testing.T) {
	file, before := filepath.Join(t.TempDir(), "p.go"), "package p // "
	if err := os.WriteFile(file, []byte(before+"0123456789"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"a", "e", "j", "ch", "ij", "abcdefghij"} {
		var r Result
		for i := range 10 {
			e := code.Edit{File: file, Package: "p", Changes: []code.Change{{From: len(before) + i, To: len(before) + i + 1, Text: string(rune('a' + i))}}}
			r.Attempts = append(r.Attempts, Attempt{Edit: e, Outcome: Kept})
		}
		c := confirming{Confirmation: &Confirmation{}, subject: edits{&r}}
		looks := 0
		err := c.until("p", Breaks, func(files trial.Files) (string, error) {
			looks++
			text := files[file][len(before):]
			if i := bytes.IndexAny(text, bad); i >= 0 {
				return string(text[i]), nil
			}
			return "", nil
		})
		dropped := ""
		for i, a := range r.Attempts {
			if name := string(rune('a' + i)); a.Outcome == Breaks {
				if dropped += name; a.Why != name {
					t.Errorf("%s: taken back for %s", name, a.Why)
				}
			}
		}
		if err != nil || dropped != bad || looks > 5*len(bad)+1 {
			t.Errorf("%s: took %q back after %d looks, %v", bad, dropped, looks, err)
		}
	}
}
