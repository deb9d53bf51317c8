package catalogue

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/report/term"
)

var update = flag.Bool("update", false, "rewrite the pages of doc/cures")

// TestCuresAreDocumented: doc/cures has a page for each cure of the catalogue
// and an index, as the catalogue says now, and nothing else. -update rewrites
// them.
func TestCuresAreDocumented(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "doc", "cures")
	pages := map[string][]byte{"README.md": Index(cures.All())}
	for _, c := range cures.All() {
		pages[c.Code+".md"] = Markdown(c)
	}
	if *update {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range pages {
		path := filepath.Join(dir, name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("doc/cures/%s is not what the catalogue says (%v): go test ./internal/report/catalogue -update", name, err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if pages[f.Name()] != nil {
			continue
		}
		if *update {
			if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("doc/cures/%s belongs to no cure of the catalogue", f.Name())
	}
}

// TestCatalogueIsWhole: every entry has all its texts, a code of its own, and a
// safety that is explained.
func TestCatalogueIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range cures.All() {
		if seen[c.Code] {
			t.Errorf("%s stands twice in the catalogue", c.Code)
		}
		seen[c.Code] = true
		for name, text := range map[string]string{
			"code": c.Code, "title": c.Title, "why": c.Why, "before": c.Before, "after": c.After, "needs": c.Needs,
			"not": c.WhenNot, "safety": safeties[c.Safety],
		} {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s has no %s", c.Code, name)
			}
		}
	}
	if !seen["leave-it"] {
		t.Errorf("the catalogue has no %s", "leave-it")
	}
}

// TestCureFits: no line of a cure's help is cut or too wide.
func TestCureFits(t *testing.T) {
	for _, c := range cures.All() {
		for _, width := range []int{80, 100, 120} {
			var out bytes.Buffer
			if err := Entry(&out, c, term.Options{Width: width}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				line = strings.TrimSuffix(line, "\n")
				if term.Cells(line) > width {
					t.Errorf("%s at width %d: line of %d cells: %s", c.Code, width, term.Cells(line), line)
				}
				if width >= 120 && strings.HasSuffix(line, "…") {
					t.Errorf("%s at width %d: a line is cut: %s", c.Code, width, line)
				}
			}
		}
	}
}
