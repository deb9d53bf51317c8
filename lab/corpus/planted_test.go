package corpus

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAt: the lines of planted text, behind what an earlier edit added.
func TestAt(t *testing.T) {
	dir := t.TempDir()
	release := "package p\n\nfunc f() int {\n\treturn 1\n}\n"
	p := Planted{Edits: []Edit{{File: "p.go", Start: 34, End: 35, Text: "g(\n2)"}, {File: "p.go", Start: 10, End: 10, Text: "\nvar v int\n"}}}
	text, err := Apply([]byte(release), p.Edits)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p.go"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	var got []int
	for line := range 10 {
		if p.At(dir, "p.go", line) {
			got = append(got, line)
		}
	}
	if len(got) != 3 || got[0] != 2 || got[1] != 6 || got[2] != 7 {
		t.Errorf("lines %v of\n%s", got, text)
	}
	if p.At(dir, "q.go", 6) {
		t.Error("a line of another file")
	}
}
