package diagnose

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/diagnose/escape"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// TestExplainParts: the line's own kind is that of the part with most bytes, which need not be the one with most
// objects: m[string(b)] = v makes many keys, and few tables that are large.
func TestExplainParts(t *testing.T) {
	f := &finding.Finding{Allocation: finding.Allocation{Kind: finding.KindMapGrowth, Mix: []finding.Mix{
		{Kind: finding.KindConversion, Objects: 0.9}, {Kind: finding.KindMapGrowth, Objects: 0.1}}}}
	explainParts(f, finding.KindMapGrowth, nil, escape.NewIndex())
	for i, want := range []finding.Kind{finding.KindConversion, finding.KindMapGrowth} {
		if got := f.Allocation.Mix[i].Kind; got != want {
			t.Errorf("part %d is %q, want %q", i+1, got, want)
		}
	}
}
