package web

import (
	"fmt"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

func TestLabelTable(t *testing.T) {
	var table labelTable
	a := []evidence.Label{{Key: "b", Text: "x"}, {Key: "a", Number: 3}}
	if got := table.of(nil); got != 0 {
		t.Errorf("no labels are set %d", got)
	}
	first := table.of(a)
	if again := table.of([]evidence.Label{a[1], a[0]}); again != first || first != 1 {
		t.Errorf("the same labels in another order are set %d and %d, want 1", first, again)
	}
	if other := table.of([]evidence.Label{{Key: "a", Number: 4}}); other != 2 {
		t.Errorf("other labels are set %d, want 2", other)
	}
	// Texts that would look the same if they were joined.
	if x, y := table.of([]evidence.Label{{Key: "k", Text: `v"`}}), table.of([]evidence.Label{{Key: `k"`, Text: "v"}}); x == y {
		t.Error("different labels have one set")
	}
}

// TestLabelLimits: numbers beyond the limit are gathered in ranges, and texts
// count as not told apart.
func TestLabelLimits(t *testing.T) {
	var table labelTable
	for i := range 3 * maxLabelSets {
		table.of([]evidence.Label{{Key: "bytes", Number: int64(i + 1)}})
	}
	if n := len(table.sets); n > maxLabelSets+64 {
		t.Errorf("%d sets of numbers, want about %d", n, maxLabelSets)
	}
	lost := 0
	for i := range 3 * maxLabelSets {
		if table.of([]evidence.Label{{Key: "request", Text: fmt.Sprint(i)}}) == lostSet {
			lost++
		}
	}
	if n := len(table.sets); n != 2*maxLabelSets || lost == 0 {
		t.Errorf("%d sets, %d requests not told apart, want %d sets", n, lost, 2*maxLabelSets)
	}
}

// TestExportLabels: the heaviest sets keep their weights, the others are said
// to be lost, and nothing is lost from the sum.
func TestExportLabels(t *testing.T) {
	tree := newCallTree(1)
	whole := 0.0
	for i := range 300 {
		set := tree.labels.of([]evidence.Label{{Key: "route", Text: fmt.Sprint("/", i)}})
		tree.add(weightKey{name: colBytes, labels: set}, 0, float64(1000-i))
		whole += float64(1000 - i)
	}
	tree.add(weightKey{name: colBytes}, 0, 7)
	v := tree.exportLabels()
	if len(v.Sets) != keptLabelSets+1 || v.Sets[1][0].Text != "/0" {
		t.Errorf("%d sets, the heaviest %+v", len(v.Sets), v.Sets[1])
	}
	got, told := 0.0, 0.0
	for k, w := range tree.weights {
		got += w.of(0)
		if k.labels > 0 {
			told += w.of(0)
		}
	}
	if got != whole+7 {
		t.Errorf("the weights add up to %v, want %v", got, whole+7)
	}
	if want := 1 - (told+7)/(whole+7); len(v.Lost) != 1 || v.Lost[0].Weight != colBytes || v.Lost[0].Share < want-1e-9 || v.Lost[0].Share > want+1e-9 {
		t.Errorf("lost %+v, want %v of %s", v.Lost, want, colBytes)
	}
}

func TestShownLabel(t *testing.T) {
	f := func(number int64, ranges bool, want string) {
		t.Helper()
		if got := shownLabel(evidence.Label{Key: "bytes", Number: number}, ranges); got.Text != want || got.Unit != "bytes" {
			t.Errorf("shownLabel(%d, %v) = %+v, want %s", number, ranges, got, want)
		}
	}
	f(48, false, "48")
	f(48, true, "32…64")
	f(64, true, "32…64")
	f(65, true, "64…128")
	f(1, true, "0…1")
	f(0, true, "0")
	f(-5, true, "-5")
}
