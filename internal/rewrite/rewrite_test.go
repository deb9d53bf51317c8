package rewrite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/rewrite/text"
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

// sizesSeen and largeSeen stand for the blocks of a recording.
var (
	sizesSeen = []int64{48, 64}
	largeSeen = []int64{4096}
)

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
			place := code.Place{File: at, Line: 1 + strings.Count(string(before[:strings.Index(string(before), "// alloc")]), "\n"),
				Sizes: sizesSeen}
			if section(a, "dies") != nil { // in the function, in blocks that a pool is good for
				place.Dies, place.Sizes = true, largeSeen
			}
			for _, e := range p.At(place) {
				if e.Kind != want {
					continue
				}
				if open := strings.TrimSpace(string(section(a, "open"))); e.Open != open {
					t.Errorf("the question is %q, want %q", e.Open, open)
				}
				for _, crlf := range []bool{false, true} {
					text, result := ends(before, crlf), ends(after, crlf)
					q, at := load(t, text)
					place.File = at
					again := q.At(place)
					for _, e := range again {
						if e.Kind != want {
							continue
						}
						got, err := code.Apply(text, []code.Edit{e})
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
	formattedText, err := code.Finish(text, text, nil)
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
		// Blocks too large to reserve without a bound in sight, and for an array where that is
		// what must be ruled out in another way.
		edits := p.At(code.Place{File: at, Line: number, Sizes: largeSeen, Dies: !strings.Contains(marks, ": it is kept")})
		if strings.Contains(marks, "array on the stack") {
			edits = p.At(code.Place{File: at, Line: number, Sizes: sizesSeen})
		}
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
	got, err := code.Apply(text, []code.Edit{{Changes: []code.Change{{From: 25, To: 26, Text: "4"}}}, {Changes: []code.Change{{From: 22, To: 23, Text: "3"}}, Imports: nil}})
	if err != nil || string(got) != "package p\n\nvar a, b = 3, 4\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := code.Apply(text, []code.Edit{{Changes: []code.Change{{From: 22, To: 26, Text: "3"}}}, {Changes: []code.Change{{From: 25, To: 26, Text: "4"}}}}); err != code.ErrOverlap {
		t.Errorf("%v, want %v", err, code.ErrOverlap)
	}
}

// TestNumbersAsFmt: strconv prints what fmt does, which the edits of formats rest on.
func TestNumbersAsFmt(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		f := math.Float64frombits(random.Uint64())
		n := int64(random.Uint64())
		for _, c := range [][2]string{
			{fmt.Sprintf("%v", f), strconv.FormatFloat(f, 'g', -1, 64)},
			{fmt.Sprintf("%g", f), strconv.FormatFloat(f, 'g', -1, 64)},
			{fmt.Sprintf("%v", float32(f)), strconv.FormatFloat(float64(float32(f)), 'g', -1, 32)},
			{fmt.Sprintf("%.3g", f), strconv.FormatFloat(f, 'g', 3, 64)},
			{fmt.Sprintf("%f", f), strconv.FormatFloat(f, 'f', 6, 64)},
			{fmt.Sprintf("%.2f", f), strconv.FormatFloat(f, 'f', 2, 64)},
			{fmt.Sprintf("%e", f), strconv.FormatFloat(f, 'e', 6, 64)},
			{fmt.Sprintf("%d", n), strconv.FormatInt(n, 10)},
			{fmt.Sprintf("%x", n), strconv.FormatInt(n, 16)},
			{fmt.Sprintf("%x", uint32(n)), strconv.FormatUint(uint64(uint32(n)), 16)},
		} {
			if c[0] != c[1] {
				t.Fatalf("fmt says %q, strconv %q", c[0], c[1])
			}
		}
	}
	for _, f := range []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1e6, 123456789, 1e20, 1e21, 1e-5} {
		if a, b := fmt.Sprintf("%v", f), strconv.FormatFloat(f, 'g', -1, 64); a != b {
			t.Errorf("fmt says %q, strconv %q", a, b)
		}
	}
}

// TestFolds: for every letter that there is, what is said to compare in the same way does.
func TestFolds(t *testing.T) {
	for in, change := range map[string]func(string) string{"strings.ToLower": strings.ToLower, "strings.ToUpper": strings.ToUpper} {
		differs := map[rune]bool{}
		for r := rune(0); r <= unicode.MaxRune; r++ {
			text := string(r)
			same := map[rune]bool{} // ASCII letters that either way of comparing takes for r
			if got := change(text); len(got) == 1 {
				same[rune(got[0])] = true
			}
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				same[f] = true
			}
			for c := range same {
				if c < 0x80 && (change(text) == string(c)) != strings.EqualFold(text, string(c)) {
					differs[c] = true
				}
			}
		}
		for c := rune(0); c < 0x80; c++ {
			if open, ok := text.FoldsAs(string(c), in); ok && differs[c] != (open != "") {
				t.Errorf("%s and %q: differs %v, but the question is %q", in, c, differs[c], open)
			}
		}
	}
}
