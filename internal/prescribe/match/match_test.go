package match_test

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/match"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// TestExpr: of several literals on a line, the one whose size the blocks have is meant, or that makes a map.
func TestExpr(t *testing.T) {
	item := &source.Expr{Kind: source.Literal, Text: "Item{…}", Size: 96}
	list := &source.Expr{Kind: source.Literal, Text: "[]string{…}", Size: 32, Elem: 16}
	entries := &source.Expr{Kind: source.Literal, Text: "map[string]int{}"}
	l := &source.Line{Exprs: []*source.Expr{item, list, entries}}
	f := func(want *source.Expr, sizes ...finding.SizeCount) {
		t.Helper()
		if got := match.Expr(l, match.Memory{Kind: finding.KindNew, Sizes: sizes}); got != want {
			t.Errorf("of %v: %s, want %s", sizes, got.Text, want.Text)
		}
	}
	f(list, finding.SizeCount{Size: 32, Objects: 100})
	f(item, finding.SizeCount{Size: 96, Objects: 100})
	f(item, finding.SizeCount{Size: 32, Objects: 1}, finding.SizeCount{Size: 96, Objects: 100})
	f(item) // sizes are not known
	put := &source.Expr{Kind: source.MapInsert, Text: "m[k] = v", Size: 16}
	if got := match.Expr(&source.Line{Exprs: []*source.Expr{item, put}}, match.Memory{Kind: finding.KindMapGrowth}); got != put {
		t.Errorf("of a map that grows: %s, want %s", got.Text, put.Text)
	}
	if got := match.Expr(l, match.Memory{Kind: finding.KindMap}); got != entries {
		t.Errorf("of a map: %s, want %s", got.Text, entries.Text)
	}
}
