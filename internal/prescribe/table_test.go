package prescribe

import (
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
)

// TestTable: every rule names a cure of the catalogue, has a name of its own, and uses only words
// that its facts give.
func TestTable(t *testing.T) {
	always := []string{"spread"}
	names := map[string]bool{}
	for _, r := range table {
		if names[r.name] {
			t.Errorf("two rules are named %q", r.name)
		}
		names[r.name] = true
		if _, ok := cures.Find(r.cure); !ok {
			t.Errorf("%s: cure %q is not in the catalogue", r.name, r.cure)
		}
		given := slices.Clone(always)
		for _, f := range r.needs {
			given = append(given, f.gives...)
		}
		for _, w := range wordPattern.FindAllString(r.text, -1) {
			w = strings.Trim(w, "{}")
			if words[w] == nil {
				t.Errorf("%s: no word {%s}", r.name, w)
			}
			if !slices.Contains(given, w) {
				t.Errorf("%s: no fact gives {%s}", r.name, w)
			}
		}
	}
	for _, r := range cures.AllRates() {
		if !names[r.Rule] && !strings.HasPrefix(r.Rule, editRule) {
			t.Errorf("a rate is of %q, which is no rule", r.Rule)
		}
	}
	for _, v := range vetoes {
		for _, code := range v.codes {
			if _, ok := cures.Find(code); !ok {
				t.Errorf("a veto is of %q, which is not in the catalogue", code)
			}
		}
	}
}
