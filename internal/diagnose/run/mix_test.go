package run

import (
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// TestFirstArrays: eight builders begin with 8 bytes, and five of them go on to 16: the profile has four blocks for the
// first arrays, which share them, and five for the others. A part that does not grow has blocks of one size.
func TestFirstArrays(t *testing.T) {
	for kind, want := range map[finding.Kind][]finding.SizeCount{
		finding.KindString: {{Size: 8, Objects: 8}, {Size: 16, Objects: 5}, {Size: 32, Objects: 1}},
		finding.KindNew:    {{Size: 16, Objects: 9}, {Size: 32, Objects: 1}},
	} {
		m := &MixTally{Objects: 10, Bytes: 176, sizes: map[unit.Bytes]float64{16: 9, 32: 1}, tiny: tinyCount{unknown: 9}}
		site := &Site{Objects: 10, Bytes: 176, Mix: map[MixKey]*MixTally{{Kind: kind}: m}}
		scale := TinyScale{Each: 4.0 / 9}
		if got := site.SizeCounts(scale); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
		if got := site.Mixes(scale); len(got) != 1 || !slices.Equal(got[0].Sizes, want) {
			t.Errorf("%s: parts %v", kind, got)
		}
	}
	if n := len((&MixTally{sizes: map[unit.Bytes]float64{16: 9}}).split(finding.KindString, TinyScale{})); n != 1 {
		t.Errorf("%d sizes where nothing was counted", n)
	}
}

// TestBlockSize: a sample's own figure counts, for its scaled sums are rounded.
func TestBlockSize(t *testing.T) {
	s := labelled(1792)
	s.Labels = append([]evidence.Label{{Key: "bytes", Text: "mine"}}, s.Labels...)
	for _, c := range []struct {
		of   evidence.Sample
		want unit.Bytes
	}{{s, 1792}, {evidence.Sample{}, 1793}, {labelled(-1), 1793}, {labelled(1 << 60), 1793}, {labelled(16), 1793}} {
		var site Site
		site.addMix(MixKey{}, 3, 3*1792+2, blockSize(c.of))
		if got := site.SizeCounts(TinyScale{}); len(got) != 1 || got[0].Size != c.want {
			t.Errorf("%v: %v, want blocks of %v", c.of.Labels, got, c.want)
		}
	}
}

func labelled(size int64) evidence.Sample {
	return evidence.Sample{Labels: []evidence.Label{{Key: "bytes", Number: size, Unit: "bytes"}}}
}
