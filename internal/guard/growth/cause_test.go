package growth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// TestCausePlace: the line that is named is the changed one nearest to the allocation; that of a
// function which is new is named only if no changed line calls it.
func TestCausePlace(t *testing.T) {
	const before = `package m

func Words(text string) []string {
	return cut(text)
}

func cut(text string) []string {
	return strings.Fields(text)
}
`
	f := func(name, after, leaf, caller string, want string) {
		t.Helper()
		roots := [2]string{t.TempDir(), t.TempDir()}
		for i, text := range []string{before, after} {
			if err := os.WriteFile(filepath.Join(roots[i], "m.go"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		lineOf := func(part string) int {
			head, _, ok := strings.Cut(after, part)
			if !ok {
				t.Fatalf("%s: no %q", name, part)
			}
			return strings.Count(head, "\n") + 1
		}
		frames := []evidence.Frame{
			{Function: "m.leaf", File: filepath.Join(roots[1], "m.go"), Line: lineOf(leaf)},
			{Function: "m.Words", File: filepath.Join(roots[1], "m.go"), Line: lineOf(caller)},
		}
		x := &explainer{lines: lineMaps{map[string]lineMap{}, roots[0], roots[1]}, after: Side{Root: roots[1]}, source: map[string]*source{}}
		c := x.cause(Site{Site: evidence.Site{Function: "m.leaf", File: "m.go", Line: lineOf(leaf)}, Frames: frames})
		if c.At.Line != lineOf(want) || !c.Changed {
			t.Errorf("%s: line %d, changed %v; want line %d", name, c.At.Line, c.Changed, lineOf(want))
		}
	}
	const leaf, call = "strings.Fields(text)", "cut(text)"
	f("changed where it allocates", strings.Replace(before, leaf, "strings.Fields(text + text)", 1), "strings.Fields(", call, "strings.Fields(")
	f("changed in the caller", strings.Replace(before, "return cut(text)", "return cut(text + text)", 1), leaf, "cut(text +", "cut(text +")
	f("new function, called by a changed line", strings.Replace(before, "return cut(text)", "return trim(text)", 1)+
		"\nfunc trim(text string) []string {\n\tlist := make([]string, 9)\n\treturn append(list, text)\n}\n", "make(", "trim(text)", "trim(text)")
	f("new function, called by a line that is as before", strings.Replace(before, leaf+"\n}", "nil\n}", 1)+
		"\nfunc trim(text string) []string {\n\treturn make([]string, 9)\n}\n", "make(", call, "make(")
}
