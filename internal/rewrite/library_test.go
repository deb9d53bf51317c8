package rewrite

import (
	"bytes"
	"testing"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// TestLibrary: every kind looks at every line of packages that nobody wrote for it, and what it makes of
// them parses.
func TestLibrary(t *testing.T) {
	p, err := Load(t.Context(), Request{Packages: []string{"net/url", "archive/zip"}})
	if err != nil {
		t.Fatal(err)
	}
	lines, kinds := 0, map[string]int{}
	for _, list := range p.files {
		for _, f := range list {
			for n := range bytes.Count(f.Text, []byte("\n")) {
				lines++
				for _, e := range p.At(code.Place{File: f.Name, Line: n + 1, Sizes: largeSeen, Dies: n%2 == 0}) {
					kinds[e.Kind]++
					if _, err := code.Apply(f.Text, e.Parts()[:1]); err != nil {
						t.Errorf("%s:%d: %s: %v", f.Name, n+1, e.Kind, err)
					}
				}
			}
		}
	}
	t.Logf("%d lines: %v", lines, kinds)
	if len(kinds) == 0 {
		t.Error("no edit in all of the packages")
	}
}
