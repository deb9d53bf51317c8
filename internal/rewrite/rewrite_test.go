package rewrite

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
	"github.com/heaptrim/heaptrim/internal/rewrite/text"
)

// load writes packages of a module, each in a folder of its own, and reads all of them. Their files
// are given by the path below the module's root.
func load(t *testing.T, files map[string][]byte) (p *Program, root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if files["go.mod"] == nil {
		files["go.mod"] = []byte("module p\n\ngo 1.26\n")
	}
	for name, content := range files {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p, err = Load(t.Context(), Request{Dir: root, Packages: []string{"./..."}})
	if err != nil {
		t.Fatal(err)
	}
	for name := range files {
		if strings.HasSuffix(name, ".go") && p.find(filepath.Join(root, name)) == nil {
			t.Errorf("%s was not read: it does not compile", name)
		}
	}
	return p, root
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

// example is a case: text before and after the first edit of a kind. Other files of its package
// are in sections of their names, with .after behind it where the edit changes them.
type example struct {
	name, want, open string
	second           bool              // the second edit of the kind is wanted
	through          bool              // the edit is wanted, too, where the line calls what allocates
	files, result    map[string][]byte // by name
	place            code.Place
}

// examples reads the cases.
func examples(t *testing.T) []example {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var out []example
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		x := example{name: strings.TrimSuffix(filepath.Base(name), ".txtar"), want: strings.TrimSpace(string(section(a, "want"))),
			open: strings.TrimSpace(string(section(a, "open"))), second: section(a, "second") != nil,
			through: section(a, "through") != nil, files: map[string][]byte{}, result: map[string][]byte{}}
		if x.want == "" {
			continue
		}
		before := section(a, "before.go")
		x.files["p.go"], x.result["p.go"] = before, section(a, "after.go")
		for _, f := range a.Files {
			of, after := strings.CutSuffix(f.Name, ".after")
			switch {
			case f.Name == "before.go" || f.Name == "after.go" || !strings.HasSuffix(of, ".go"):
			case after:
				x.result[of] = f.Data
			default:
				x.files[of] = f.Data
			}
		}
		x.place = code.Place{Line: 1 + strings.Count(string(before[:strings.Index(string(before), "// alloc")]), "\n"), Sizes: sizesSeen, Grown: true}
		if section(a, "dies") != nil { // in the function, in blocks that a pool is good for
			x.place.Dies, x.place.Sizes = true, largeSeen
		}
		if section(a, "table") != nil { // a map that grew
			x.place.Grown, x.place.Table, x.place.Sizes = false, true, largeSeen
		}
		if section(a, "small") != nil { // in the function, and small
			x.place.Dies = true
		}
		for i, line := range strings.Split(string(before), "\n") {
			if strings.Contains(line, "// held") {
				x.place.Held = append(x.place.Held, i+1)
			}
		}
		if mod := section(a, "go.mod"); mod != nil {
			x.files["go.mod"] = mod
		}
		out = append(out, x)
	}
	return out
}

// edit returns the edit under test.
func (x example) edit(edits []code.Edit) (code.Edit, bool) {
	if i := slices.IndexFunc(edits, func(e code.Edit) bool { return e.Kind == x.want }); x.second {
		edits = edits[i+1:]
	}
	return first(edits, x.want)
}

// folder is where the packages of a case lie in one module for all.
func (x example) folder(crlf bool) string {
	if crlf {
		return x.name + "/crlf"
	}
	return x.name + "/lf"
}

// TestEdits: the first edit of the kind that a case wants makes the text after it of that before
// it, asks what the case says, and both ends of lines stay as they are. The result compiles, and
// the same edit is not made again.
func TestEdits(t *testing.T) {
	all, results := map[string][]byte{}, map[string][]byte{}
	alone := map[string]*Program{}
	roots := map[string]string{}
	cases := examples(t)
	for _, x := range cases {
		for _, crlf := range []bool{false, true} {
			own := map[string][]byte{}
			for name, text := range x.files {
				if name == "go.mod" {
					own[name] = text
					continue
				}
				own[x.folder(crlf)+"/"+name] = ends(text, crlf)
			}
			if own["go.mod"] != nil && !crlf {
				alone[x.name], roots[x.name] = load(t, own)
			} else if own["go.mod"] == nil {
				maps.Copy(all, own)
			}
		}
	}
	together, root := load(t, all)
	tried := map[string]bool{}
	for _, x := range cases {
		tried[x.want] = true
		for _, crlf := range []bool{false, true} {
			p, at := together, root
			if alone[x.name] != nil {
				if p, at = alone[x.name], roots[x.name]; crlf {
					continue
				}
			}
			place := x.place
			place.File = filepath.Join(at, x.folder(crlf), "p.go")
			e, ok := x.edit(p.At(place))
			if !ok {
				t.Errorf("%s: no edit of kind %q", x.name, x.want)
				continue
			}
			if _, also := x.edit(p.Through(place)); x.through && !also {
				t.Errorf("%s: no edit for the line that calls what allocates", x.name)
			}
			young := x.open == "" && e.Open != "" && slices.Contains(unproven, e.Kind)
			if e.Open != x.open && !young {
				t.Errorf("%s: the question is %q, want %q", x.name, e.Open, x.open)
			}
			changed := map[string]bool{}
			for _, part := range e.Parts() {
				name := filepath.Base(part.File)
				changed[name] = true
				got, err := code.Apply(ends(x.files[name], crlf), []code.Part{part})
				if err != nil {
					t.Errorf("%s: %v", x.name, err)
				} else if want := string(ends(x.result[name], crlf)); string(got) != want {
					t.Errorf("%s, CRLF %v: %s:\n%s\nwant:\n%s", x.name, crlf, name, got, want)
				}
			}
			for name := range x.result {
				if !changed[name] {
					t.Errorf("%s: %s is not changed", x.name, name)
				}
			}
		}
		for name, text := range x.files {
			if x.result[name] != nil {
				text = x.result[name]
			}
			if strings.HasSuffix(name, ".go") {
				results[x.name+"/"+name] = text
			}
		}
	}
	for _, k := range kinds() {
		if !tried[k.name] {
			t.Errorf("no case of kind %q", k.name)
		}
	}
	notAgain(t, cases, results)
}

// notAgain: what edits made compiles, and the same edit is not offered for it.
func notAgain(t *testing.T, cases []example, results map[string][]byte) {
	t.Helper()
	after, root := load(t, results)
	for _, x := range cases {
		before, _, ok := strings.Cut(string(x.result["p.go"]), "// alloc")
		if !ok {
			continue // the line is gone
		}
		place := x.place
		place.File, place.Line = filepath.Join(root, x.name, "p.go"), 1+strings.Count(before, "\n")
		if e, again := first(after.At(place), x.want); again && !strings.HasPrefix(x.name, "again-") {
			t.Errorf("%s: %q is offered again: %+v", x.name, x.want, e)
		}
	}
}

// first is the first edit of a kind.
func first(edits []code.Edit, kind string) (code.Edit, bool) {
	i := slices.IndexFunc(edits, func(e code.Edit) bool { return e.Kind == kind })
	if i < 0 {
		return code.Edit{}, false
	}
	return edits[i], true
}

func ends(text []byte, crlf bool) []byte {
	if !crlf {
		return text
	}
	return []byte(strings.ReplaceAll(string(text), "\n", "\r\n"))
}

const togetherBefore = `package p

import "fmt"

type server struct{ names []any }

func (s *server) less(i, j int) bool {
	return fmt.Sprint(s.names[i]) < fmt.Sprint(s.names[j])
}

func one(n int) int {
	list := make([]int, n)
	clear(list)
	return len(list)
}

func two(n int) int {
	list := make([]int, n)
	clear(list)
	return cap(list)
}

type pair struct{ a, b []int }

func newPair() *pair { return &pair{} }

func (p *pair) add(n int) {
	p.a = append(p.a, n)
	p.b = append(p.b, n)
}
`
const togetherAfter = `package p

import "fmt"

type server struct{ names []any }

func (s *server) less(i, j int) bool {
	return textOf(s.names[i]) < textOf(s.names[j])
}

func one(n int) int {
	var listArray [8]int
	var list []int
	if n <= len(listArray) {
		list = listArray[:n:n]
	} else {
		list = make([]int, n)
	}
	clear(list)
	return len(list)
}

func two(n int) int {
	var listArray [8]int
	var list []int
	if n <= len(listArray) {
		list = listArray[:n:n]
	} else {
		list = make([]int, n)
	}
	clear(list)
	return cap(list)
}

type pair struct{ a, b []int }

func newPair() *pair { return &pair{a: make([]int, 0, 8), b: make([]int, 0, 8)} }

func (p *pair) add(n int) {
	p.a = append(p.a, n)
	p.b = append(p.b, n)
}

// textOf is v as fmt prints it, and a string as it is.
func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return fmt.Sprint(v)
}
`

// TestTogether: edits of one file that are made together share what they declare, and variables of two functions
// may have one name.
func TestTogether(t *testing.T) {
	p, root := load(t, map[string][]byte{"together/p.go": []byte(togetherBefore)})
	var parts []code.Part
	for _, line := range []int{8, 12, 18, 28, 29} {
		for _, e := range p.At(code.Place{File: filepath.Join(root, "together", "p.go"), Line: line, Sizes: sizesSeen, Dies: true, Grown: line > 18}) {
			if e.Kind == "string as it is" || e.Kind == "array on the stack" || e.Kind == "field with its size" {
				parts = append(parts, e.Parts()...)
			}
		}
	}
	got, err := code.Apply([]byte(togetherBefore), parts)
	if err != nil || string(got) != togetherAfter {
		t.Errorf("%d parts: %v\n%s\nwant:\n%s", len(parts), err, got, togetherAfter)
	}
}

// TestSilent: where a kind must say nothing it does, for three reasons or more each.
func TestSilent(t *testing.T) {
	names, err := filepath.Glob("testdata/silent*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	together, reasons := map[string][]byte{}, map[string]int{}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files := together
		mod := section(a, "go.mod")
		if mod != nil { // of another version of Go
			files = map[string][]byte{"go.mod": mod}
		}
		for _, f := range a.Files {
			if f.Name == "go.mod" {
				continue
			}
			text, err := code.Finish(f.Data, f.Data, nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			files[strings.TrimSuffix(filepath.Base(name), ".txtar")+"/"+f.Name] = text
		}
		if mod != nil {
			silentIn(t, files, reasons)
		}
	}
	silentIn(t, together, reasons)
	for _, k := range kinds() {
		if reasons[k.name] < 3 {
			t.Errorf("%d reasons for silence of %q, want 3 or more", reasons[k.name], k.name)
		}
	}
}

// silentIn checks all lines of a module and counts their reasons.
func silentIn(t *testing.T, files map[string][]byte, reasons map[string]int) {
	p, root := load(t, files)
	for name, text := range files {
		for i, line := range strings.Split(string(text), "\n") {
			if _, marks, ok := strings.Cut(line, "// silent "); ok {
				silentAt(t, p, code.Place{File: filepath.Join(root, name), Line: i + 1}, marks, reasons)
			}
		}
	}
}

// silentAt checks one line and counts its reasons.
func silentAt(t *testing.T, p *Program, place code.Place, marks string, reasons map[string]int) {
	t.Helper()
	// Blocks too large to reserve without a bound in sight, and for an array where that is
	// what must be ruled out in another way.
	place.Sizes, place.Dies = largeSeen, !strings.Contains(marks, ": it is kept")
	small := func(kind string) bool { return strings.Contains(marks, kind+" on the stack") }
	if (small("array") || small("parts") || small("encoded")) && !strings.Contains(marks, "blocks of that size") {
		place.Sizes, place.Dies = sizesSeen, false
	}
	if strings.Contains(marks, "field with its size") || strings.Contains(marks, "twice the size") && !strings.Contains(marks, "of one size") {
		place.Sizes, place.Grown = sizesSeen, true
	}
	edits := p.At(place)
	for mark := range strings.SplitSeq(marks, "; silent ") {
		kind, why, _ := strings.Cut(strings.TrimSpace(mark), ": ")
		reasons[kind]++
		for _, e := range edits {
			if e.Kind == kind {
				t.Errorf("%s:%d: %s although %s: %+v", filepath.Base(place.File), place.Line, kind, why, e)
			}
		}
	}
}

// TestApplyTogether: edits that do not overlap are made together, others are refused.
func TestApplyTogether(t *testing.T) {
	text := []byte("package p\n\nvar a, b = 1, 2\n")
	got, err := code.Apply(text, []code.Part{{Changes: []code.Change{{From: 25, To: 26, Text: "4"}}}, {Changes: []code.Change{{From: 22, To: 23, Text: "3"}}}})
	if err != nil || string(got) != "package p\n\nvar a, b = 3, 4\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := code.Apply(text, []code.Part{{Changes: []code.Change{{From: 22, To: 26, Text: "3"}}}, {Changes: []code.Change{{From: 25, To: 26, Text: "4"}}}}); err != code.ErrOverlap {
		t.Errorf("%v, want %v", err, code.ErrOverlap)
	}
	// The same edit twice is one; two edits that replace the same and add lines of their own are two ways to do one thing.
	one := code.Part{Changes: []code.Change{{From: 11, To: 11, Text: "var x [2]int\n"}, {From: 22, To: 23, Text: "3"}}}
	if got, err := code.Apply(text, []code.Part{one, one}); err != nil || string(got) != "package p\n\nvar x [2]int\nvar a, b = 3, 2\n" {
		t.Errorf("%q, %v", got, err)
	}
	other := code.Part{Changes: []code.Change{{From: 11, To: 11, Text: "var x [4]int\n"}, {From: 22, To: 23, Text: "3"}}}
	if _, err := code.Apply(text, []code.Part{one, other}); err != code.ErrOverlap {
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
