package prescribe

import (
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/stats"
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
		if (r.text == "") == (r.tell == nil && r.call == nil) {
			t.Errorf("%s: one of text, tell and call is needed", r.name)
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

// TestJoinedWhole: the objects of a line that belong to one writer are all that the line costs, when they are joined.
func TestJoinedWhole(t *testing.T) {
	whole := &finding.Finding{Run: "r", Cost: finding.Cost{Objects: stats.Exact(10), Bytes: stats.Exact(1000)},
		Allocation: finding.Allocation{Mix: []finding.Mix{{Kind: finding.KindNew}, {Kind: finding.KindMake}}}}
	part := func(kind finding.Kind, share float64) *candidate {
		p := &allocated{Mix: finding.Mix{Kind: kind}, of: whole, share: amounts{share, share}}
		p.Life.Maker = finding.Maker{Name: "w", At: evidence.Site{File: "f.go", Line: 7}}
		return &candidate{Finding: &finding.Finding{Run: "r", Cost: whole.Cost.Part(share, share)}, Parts: []*allocated{p}}
	}
	joined := joinOwned([]*candidate{part(finding.KindNew, 0.7), part(finding.KindMake, 0.3)})
	if len(joined) != 1 || joined[0].Finding != whole {
		t.Fatalf("%d objects, the first of %+v, want one of the whole line", len(joined), joined[0].Finding.Cost)
	}
	for i, want := range []float64{0.7, 0.3} {
		if p := joined[0].Parts[i]; p.Objects != want || p.Bytes != want {
			t.Errorf("part %d has %v of the objects and %v of the bytes, want %v", i+1, p.Objects, p.Bytes, want)
		}
	}
}
