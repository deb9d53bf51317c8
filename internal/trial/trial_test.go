package trial

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// program has a package whose benchmark allocates two objects an operation, one of 16 bytes and
// one of 32, a test of it, a test that always fails, and a package that depends on it.
var program = map[string]string{
	"go.mod": "module example.com/m\n\ngo 1.26\n",
	"a/a.go": "package a\n\nfunc New(n int) []byte { return make([]byte, n) }\n",
	"a/a_test.go": `package a

import (
	"os"
	"testing"
)

var sink []byte

func BenchmarkNew(b *testing.B) {
	b.Run("two", func(b *testing.B) {
		for range b.N {
			sink = New(16)
			sink = New(32)
		}
	})
}

func BenchmarkLoud(b *testing.B) {
	for range b.N {
		os.Stdout.WriteString("\rworking ")
		sink = New(16)
	}
}

func TestNew(t *testing.T) {
	if len(New(3)) != 3 {
		t.Error("wrong length")
	}
}

func TestBroken(t *testing.T) { t.Error("always") }
`,
	"b/b.go":      "package b\n\nimport \"example.com/m/a\"\n\nvar B = a.New(1)\n",
	"c/c.go":      "package c\n",
	"d/d.go":      "package d\n",
	"d/d_test.go": "package d_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/m/b\"\n)\n\nfunc TestD(t *testing.T) { _ = b.B }\n",
}

func judge(t *testing.T) (*Judge, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range program {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	j, err := New(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j, dir
}

func changed(dir, text string) Files { return Files{filepath.Join(dir, "a", "a.go"): []byte(text)} }

// near reports whether counts are as expected, but for a few objects of the whole run.
func near(c Counts, allocs, bytes float64) bool {
	return math.Abs(c.Allocs-allocs) < 0.01 && math.Abs(c.Bytes-bytes) < 1
}

func TestCounts(t *testing.T) {
	j, dir := judge(t)
	bench := Bench{Package: "example.com/m/a", Name: "BenchmarkNew/two", NsPerOp: 100}
	before, err := j.Counts(t.Context(), bench, nil)
	if err != nil || !near(before, 2, 48) {
		t.Fatalf("%v, %v, want 2 objects of 48 bytes", before, err)
	}
	one := changed(dir, "package a\n\nvar kept [16]byte\n\nfunc New(n int) []byte {\n\tif n == 16 {\n\t\treturn kept[:]\n\t}\n\treturn make([]byte, n)\n}\n")
	after, err := j.Counts(t.Context(), bench, one)
	if err != nil || !near(after, 1, 32) || !after.Less(before) || before.Less(after) {
		t.Errorf("%v, %v, want 1 object of 32 bytes, which is less", after, err)
	}
	if again, err := j.Again(t.Context(), bench, one, Counts{Allocs: 0.2, Bytes: 3}); err != nil || !near(again, 1, 32) {
		t.Errorf("%v, %v: counted again, want 1 object of 32 bytes", again, err)
	}
	if _, err := j.Counts(t.Context(), bench, changed(dir, "package a\n\nfunc New() {}\n")); !errors.Is(err, ErrBuild) {
		t.Errorf("%v, want %v", err, ErrBuild)
	}
	if _, err := j.Counts(t.Context(), Bench{Package: "example.com/m/a", Name: "BenchmarkNone"}, nil); err == nil {
		t.Error("a benchmark that is not there: no error")
	}
	if loud, err := j.Counts(t.Context(), Bench{Package: "example.com/m/a", Name: "BenchmarkLoud", NsPerOp: 1000}, nil); err != nil || !near(loud, 1, 16) {
		t.Errorf("%v, %v: a benchmark that prints by itself, want 1 object of 16 bytes", loud, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a", "a.go")); err != nil || string(text) != program["a/a.go"] {
		t.Errorf("the user's file is now %q, %v", text, err)
	}
}

func TestLess(t *testing.T) {
	type C = Counts
	for _, c := range []struct {
		after, before Counts
		less          bool
	}{
		{C{Allocs: 3.9, Bytes: 100}, C{Allocs: 4, Bytes: 100, Ops: 1000}, true},
		{C{Allocs: 3.999, Bytes: 100}, C{Allocs: 4, Bytes: 100, Ops: 1000}, false},
		{C{Allocs: 3.9, Bytes: 100}, C{Allocs: 4, Bytes: 100, Ops: 1000, Spread: Spread{Allocs: 0.1}}, false},
		{C{Allocs: 0.2, Bytes: 5}, C{Allocs: 2, Bytes: 100, Ops: 1000, Spread: Spread{Allocs: 3, Bytes: 90}}, true},
		{C{Allocs: 0.3, Bytes: 20}, C{Allocs: 2, Bytes: 100, Ops: 1000, Spread: Spread{Allocs: 3, Bytes: 90}}, false},
		{C{Allocs: 0.2, Bytes: 270}, C{Allocs: 2, Bytes: 100, Ops: 1000, Spread: Spread{Allocs: 3, Bytes: 90}}, true},
		{C{Allocs: 1, Bytes: 100}, C{Allocs: 2, Bytes: 100, Ops: 1000}, true},
		{C{Allocs: 2, Bytes: 100}, C{Allocs: 2, Bytes: 100, Ops: 1000}, false},
		{C{Allocs: 2, Bytes: 90}, C{Allocs: 2, Bytes: 100, Ops: 1000}, true},
		{C{Allocs: 2, Bytes: 99}, C{Allocs: 2, Bytes: 100, Ops: 1000}, false},
		{C{Allocs: 1, Bytes: 110}, C{Allocs: 2, Bytes: 100, Ops: 1000}, false},
		{C{Allocs: 3, Bytes: 50}, C{Allocs: 2, Bytes: 100, Ops: 1000}, false},
	} {
		if got := c.after.Less(c.before); got != c.less {
			t.Errorf("%v less than %v: %v, want %v", c.after, c.before, got, c.less)
		}
	}
}

func TestTests(t *testing.T) {
	j, dir := judge(t)
	before, err := j.Test(t.Context(), "example.com/m/a", nil)
	if err != nil || !slices.Equal(before.Passed, []string{"TestNew"}) || !slices.Equal(before.Failed, []string{"TestBroken"}) {
		t.Fatalf("%+v, %v, want TestNew passed and TestBroken failed", before, err)
	}
	wrong, err := j.Test(t.Context(), "example.com/m/a", changed(dir, "package a\n\nfunc New(n int) []byte { return make([]byte, n+1) }\n"))
	if err != nil || wrong.Breaks(before) != "TestNew" {
		t.Errorf("%+v, %v breaks %q, want TestNew", wrong, err, wrong.Breaks(before))
	}
	if flaky := before.Both(Tests{Failed: []string{"TestNew"}}); flaky.Breaks(before) != "TestNew" || before.Breaks(flaky) != "" {
		t.Errorf("%+v: a test that fails sometimes is held against a change", flaky)
	}
	exits, err := j.Test(t.Context(), "example.com/m/a", changed(dir, "package a\n\nimport \"os\"\n\nfunc New(n int) []byte { os.Exit(3); return nil }\n"))
	if err != nil || exits.Breaks(before) == "" {
		t.Errorf("%+v, %v: the end of the process breaks nothing", exits, err)
	}
	if none, err := j.Test(t.Context(), "example.com/m/c", nil); err != nil || !none.None {
		t.Errorf("%+v, %v, want no tests", none, err)
	}
}

func TestDependants(t *testing.T) {
	j, _ := judge(t)
	got, err := j.Dependants(t.Context(), []string{"example.com/m/a"})
	want := []string{"example.com/m/a", "example.com/m/b", "example.com/m/d"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// TestOrder: tests that pass only behind others are not held against a change, as all versions have one order.
func TestOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("builds test binaries")
	}
	j, dir := judge(t)
	text := "package c\n\nimport \"testing\"\n\nvar n int\n"
	for _, name := range []string{"A", "B", "C", "D", "E", "F"} {
		text += "\nfunc Test" + name + "(t *testing.T) {\n\tn++\n\tif n == 1 {\n\t\tt.Error(\"the first\")\n\t}\n}\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "c", "c_test.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	before, err := j.State(t.Context(), "example.com/m/c")
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Failed) != 2 {
		t.Errorf("in two orders %v fail", before.Failed)
	}
	for i := range 4 {
		after, err := j.Test(t.Context(), "example.com/m/c", Files{filepath.Join(dir, "c", "c.go"): fmt.Appendf(nil, "package c\n\nconst C = %d\n", i)})
		if err != nil {
			t.Fatal(err)
		}
		if name := after.Breaks(before); name != "" {
			t.Errorf("%s breaks", name)
		}
	}
}

// TestJudged: what neither tests nor calls run is asked of the change at hand alone.
func TestJudged(t *testing.T) {
	if testing.Short() {
		t.Skip("builds test binaries")
	}
	j, dir := judge(t)
	at := filepath.Join(dir, "c", "c.go")
	text := func(old, size string) []byte {
		return []byte("package c\n\nimport \"time\"\n\nfunc Name() string {\n\tif time.Now().Year() < 1990 {\n\t\treturn " + old + "\n\t}\n\treturn \"new\"\n}\n\nfunc Numbers() []int { return append([]int(nil)" + size + ") }\n")
	}
	if err := os.WriteFile(at, text(`"old"`, ", 1, 2"), 0o644); err != nil {
		t.Fatal(err)
	}
	q := Question{Files: Files{at: text(`"o" + "ld"`, ", []int{1, 2}...")}, Changed: []string{"example.com/m/c"}}
	if v, err := j.Holds(t.Context(), q); err != nil || v.Fault != Unknown {
		t.Errorf("%+v, %v, want that a part was not run", v, err)
	}
	q.Judged = Files{at: text(`"o" + "ld"`, ", 1, 2")}
	if v, err := j.Holds(t.Context(), q); err != nil || v.Fault != "" || v.Compare.Blocks != 1 {
		t.Errorf("%+v, %v, want that the second change holds", v, err)
	}
}
