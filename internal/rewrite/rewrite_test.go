package rewrite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// load writes a package and reads it.
func load(t *testing.T, text []byte) (*Program, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "p.go")
	for name, content := range map[string][]byte{at: text, filepath.Join(dir, "go.mod"): []byte("module p\n\ngo 1.26\n")} {
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Load(t.Context(), Request{Dir: dir, Packages: []string{"p"}})
	if err != nil {
		t.Fatal(err)
	}
	if p.find(at) == nil {
		t.Fatalf("%s was not read", at)
	}
	return p, at
}

// section is a file of an archive; nil if it has none of that name.
func section(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// sizesSeen stand for the blocks of a recording.
var sizesSeen = []int64{48, 64}

// TestEdits: the first edit of the kind that a case wants makes the text after it of that before
// it, asks what the case says, and both ends of lines stay as they are.
func TestEdits(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for _, name := range cases {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.TrimSpace(string(section(a, "want")))
		if want == "" {
			continue
		}
		tried[want] = true
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			before, after := section(a, "before.go"), section(a, "after.go")
			p, at := load(t, before)
			line := 1 + strings.Count(string(before[:strings.Index(string(before), "// alloc")]), "\n")
			for _, e := range p.At(Place{File: at, Line: line, Sizes: sizesSeen}) {
				if e.Kind != want {
					continue
				}
				if open := strings.TrimSpace(string(section(a, "open"))); e.Open != open {
					t.Errorf("the question is %q, want %q", e.Open, open)
				}
				for _, crlf := range []bool{false, true} {
					text, result := ends(before, crlf), ends(after, crlf)
					q, at := load(t, text)
					again := q.At(Place{File: at, Line: line, Sizes: sizesSeen})
					for _, e := range again {
						if e.Kind != want {
							continue
						}
						got, err := Apply(text, []Edit{e})
						if err != nil {
							t.Fatal(err)
						}
						if string(got) != string(result) {
							t.Errorf("CRLF %v:\n%s\nwant:\n%s", crlf, got, result)
						}
						break
					}
				}
				return
			}
			t.Errorf("no edit of kind %q", want)
		})
	}
	for _, k := range kinds() {
		if !tried[k.name] {
			t.Errorf("no case of kind %q", k.name)
		}
	}
}

func ends(text []byte, crlf bool) []byte {
	if !crlf {
		return text
	}
	return []byte(strings.ReplaceAll(string(text), "\n", "\r\n"))
}

// TestSilent: where a kind must say nothing it does, for three reasons or more each.
func TestSilent(t *testing.T) {
	a, err := txtar.ParseFile("testdata/silent.txtar")
	if err != nil {
		t.Fatal(err)
	}
	text := section(a, "before.go")
	formattedText, err := finish(text, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, at := load(t, formattedText)
	reasons := map[string]int{}
	number := 0
	for line := range strings.Lines(string(formattedText)) {
		number++
		_, marks, ok := strings.Cut(line, "// silent ")
		if !ok {
			continue
		}
		edits := p.At(Place{File: at, Line: number, Sizes: sizesSeen})
		for mark := range strings.SplitSeq(marks, "; silent ") {
			kind, why, _ := strings.Cut(strings.TrimSpace(mark), ": ")
			reasons[kind]++
			for _, e := range edits {
				if e.Kind == kind {
					t.Errorf("line %d: %s although %s: %+v", number, kind, why, e)
				}
			}
		}
	}
	for _, k := range kinds() {
		if reasons[k.name] < 3 {
			t.Errorf("%d reasons for silence of %q, want 3 or more", reasons[k.name], k.name)
		}
	}
}

// TestApplyTogether: edits that do not overlap are made together, others are refused.
func TestApplyTogether(t *testing.T) {
	text := []byte("package p\n\nvar a, b = 1, 2\n")
	got, err := Apply(text, []Edit{{Changes: []Change{{25, 26, "4"}}}, {Changes: []Change{{22, 23, "3"}}, Imports: nil}})
	if err != nil || string(got) != "package p\n\nvar a, b = 3, 4\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Apply(text, []Edit{{Changes: []Change{{22, 26, "3"}}}, {Changes: []Change{{25, 26, "4"}}}}); err != ErrOverlap {
		t.Errorf("%v, want %v", err, ErrOverlap)
	}
}
