package prescribe

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/prescribe/library"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestVetoes: where an object's life ends decides which cures are ruled out, and what is not
// known rules nothing out.
func TestVetoes(t *testing.T) {
	part := func(kind finding.Kind, via string, l finding.Life) *allocated {
		return &allocated{Mix: finding.Mix{Kind: kind, Via: via}, Life: l}
	}
	dies, result := finding.Life{End: finding.EndFrame}, finding.Life{End: finding.EndResult}
	shared, stored := finding.Life{End: finding.EndShared}, finding.Life{End: finding.EndStored}
	receiver := finding.Life{End: finding.EndStored, Receiver: true}
	up := finding.Life{End: finding.EndResult, Frame: 1}
	boxed := finding.Life{End: finding.EndFrame, Passed: finding.Passed{Box: finding.Box{Made: true}}}
	large := finding.Cost{Objects: stats.Exact(1), Bytes: stats.Exact(8 << 10)}
	unreadText := part(finding.KindConversion, "strconv.FormatUint", finding.Life{})
	unreadText.Library = library.Find("strconv.FormatUint", "")
	for _, c := range []struct {
		code string
		part *allocated
		out  bool
	}{
		{"pool-object", part(finding.KindNew, "", dies), false},
		{"pool-object", part(finding.KindNew, "", finding.Life{}), true},
		{"pool-object", part(finding.KindNew, "compress/gzip.(*Writer).Write", finding.Life{}), false},
		{"pool-object", part(finding.KindNew, "", result), true},
		{"pool-buffer", part(finding.KindMake, "", shared), true},
		{"pool-buffer", part(finding.KindGrowth, "io.ReadAll", result), true},
		{"pool-buffer", part(finding.KindMake, "", receiver), true},
		{"reuse-buffer", part(finding.KindMake, "", receiver), false},
		{"reuse-buffer", part(finding.KindMake, "", stored), true},
		{"reuse-buffer", part(finding.KindMake, "", result), true},
		{"keep-on-stack", part(finding.KindNew, "", dies), false},
		{"keep-on-stack", part(finding.KindNew, "", boxed), true},
		{"keep-on-stack", part(finding.KindNew, "", up), true},
		{"avoid-conversion", part(finding.KindConversion, "", dies), false},
		{"avoid-conversion", part(finding.KindConversion, "", finding.Life{}), true},
		{"avoid-conversion", part(finding.KindConversion, "", result), true},
		{"avoid-conversion", part(finding.KindConcat, "", stored), true},
		{"avoid-conversion", part(finding.KindString, "strings.ToLower", result), true},
		{"avoid-conversion", unreadText, true},
		{"avoid-conversion", part(finding.KindBoxing, "", dies), false},
		{"unbox-interface", part(finding.KindBoxing, "", stored), true},
		{"unbox-interface", part(finding.KindBoxing, "", dies), false},
		{"hoist-closure", part(finding.KindClosure, "", result), true},
		{"hoist-closure", part(finding.KindClosure, "", dies), false},
		{"hoist-closure", part(finding.KindClosure, "", finding.Life{}), true},
		{"skip-work", part(finding.KindNew, "fmt.Errorf", result), true},
		{"presize-slice", part(finding.KindGrowth, "", result), false},
	} {
		f := &candidate{Finding: &finding.Finding{Cost: large}, Parts: []*allocated{c.part}}
		if why := f.vetoed(&rule{cure: c.code}, c.part); (why != "") != c.out {
			t.Errorf("%s of %+v %+v: %q, want it ruled out %v", c.code, c.part.Mix, c.part.Life, why, c.out)
		}
	}
}

// TestVetoesNameCures: a veto of a cure that does not exist rules nothing out.
func TestVetoesNameCures(t *testing.T) {
	for _, v := range vetoes {
		for _, code := range v.codes {
			if _, ok := cures.Find(code); !ok {
				t.Errorf("a veto names %s, which is not in the catalogue", code)
			}
		}
	}
}
