package diagnose

import (
	"cmp"
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// mixKey tells apart what one line allocates.
type mixKey struct {
	kind finding.Kind
	via  string
}

type mixTally struct {
	objects, bytes float64
	tiny           tinyCount
}

func (m *mixTally) addTiny(t tinyCount) {
	m.tiny.unknown += t.unknown
	m.tiny.more += t.more
}

// maxSizes bounds the block sizes kept for a site: what comes in more sizes
// than this has no pattern to be read from them.
const maxSizes = 512

// addMix books objects of one kind and their block size. Profiles keep a
// sample for each size, so a sample's mean is the size of its blocks.
func (t *siteTally) addMix(k mixKey, objects, bytes float64) *mixTally {
	m := t.mix[k]
	if m == nil {
		m = &mixTally{}
		t.mix[k] = m
	}
	m.objects += objects
	m.bytes += bytes
	if objects == 0 {
		return m
	}
	size := unit.Bytes(math.Round(bytes / objects))
	if _, ok := t.sizes[size]; ok || len(t.sizes) < maxSizes {
		t.sizes[size] += objects
	}
	return m
}

// mixes returns the parts of what the site allocates, most objects first.
func (t *siteTally) mixes() []finding.Mix {
	var out []finding.Mix
	for k, m := range t.mix {
		if m.objects > 0 && t.objects > 0 && t.bytes > 0 {
			out = append(out, finding.Mix{Kind: k.kind, Via: k.via, Objects: m.objects / t.objects, Bytes: m.bytes / t.bytes})
		}
	}
	slices.SortFunc(out, func(a, b finding.Mix) int {
		return cmp.Or(cmp.Compare(b.Objects, a.Objects), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Via, b.Via))
	})
	return out
}

// sizeCounts returns the block sizes, smallest first. A site with more sizes
// than were kept has none.
func (t *siteTally) sizeCounts() []finding.SizeCount {
	if len(t.sizes) >= maxSizes {
		return nil
	}
	var out []finding.SizeCount
	for size, n := range t.sizes {
		if n > 0 {
			out = append(out, finding.SizeCount{Size: size, Objects: n})
		}
	}
	slices.SortFunc(out, func(a, b finding.SizeCount) int { return cmp.Compare(a.Size, b.Size) })
	return out
}
