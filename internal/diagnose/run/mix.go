package run

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// MixKey identifies a part of what one line allocates.
type MixKey struct {
	Kind finding.Kind
	Via  string
}

// MixTally is one part of what a site allocates.
type MixTally struct {
	Objects, Bytes float64
	sizes          map[unit.Bytes]float64 // objects by block size
	tiny           tinyCount
	pointers       [3]float64 // objects by Tri: whether they hold pointers
}

func (m *MixTally) addTiny(t tinyCount) {
	m.tiny.unknown += t.unknown
	m.tiny.more += t.more
}

// maxSizes bounds the block sizes kept for a part of a site: more sizes than this show no pattern.
const maxSizes = 512

// rounding is by which part the mean of a sample's blocks may differ from the size that the profile names: what is further
// off is not their size.
const rounding = 0.01

// blockSize is the size of a sample's blocks, where the profile says it; else 0.
func blockSize(s evidence.Sample) unit.Bytes {
	for _, l := range s.Labels {
		if l.Key == "bytes" && l.Text == "" {
			return unit.Bytes(l.Number)
		}
	}
	return 0
}

// addMix counts objects of one kind and their block size. Profiles keep a sample for each
// size, so a sample's mean is the size of its blocks, but for rounding.
func (t *Site) addMix(k MixKey, objects, bytes float64, block unit.Bytes) *MixTally {
	m := t.Mix[k]
	if m == nil {
		if t.Mix == nil {
			t.Mix = map[MixKey]*MixTally{}
		}
		m = &MixTally{}
		t.Mix[k] = m
	}
	m.Objects += objects
	m.Bytes += bytes
	if objects == 0 {
		return m
	}
	size := unit.Bytes(math.Round(bytes / objects))
	if off := math.Abs(float64(block) - bytes/objects); block > 0 && off <= 1+rounding*float64(block) {
		size = block
	}
	if _, ok := m.sizes[size]; ok || len(m.sizes) < maxSizes {
		vote(&m.sizes, size, objects)
	}
	return m
}

// inOrder calls yield for the parts, in the order of their keys, so that sums of them are the same each time.
func (t *Site) inOrder(yield func(MixKey, *MixTally) bool) {
	keys := slices.SortedFunc(maps.Keys(t.Mix), func(a, b MixKey) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Via, b.Via))
	})
	for _, k := range keys {
		if !yield(k, t.Mix[k]) {
			return
		}
	}
}

// Mixes returns the parts of what the site allocates, most objects first.
func (t *Site) Mixes(tiny TinyScale) []finding.Mix {
	var out []finding.Mix
	all := tiny.SiteObjects(t)
	for k, m := range t.Mix {
		if objects := tiny.Objects(m); objects > 0 && all > 0 && t.Bytes > 0 {
			out = append(out, finding.Mix{Kind: k.Kind, Via: k.Via, Objects: objects / all, Bytes: m.Bytes / t.Bytes, Sizes: m.sizeCounts(k.Kind, tiny), Pointers: most(m.pointers)})
		}
	}
	slices.SortFunc(out, func(a, b finding.Mix) int {
		return cmp.Or(cmp.Compare(b.Objects, a.Objects), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Via, b.Via))
	})
	return out
}

// SizeCounts returns the block sizes of the site, smallest first. A site with a part of more sizes
// than were kept has none.
func (t *Site) SizeCounts(tiny TinyScale) []finding.SizeCount {
	all := map[unit.Bytes]float64{}
	for k, m := range t.inOrder {
		if len(m.sizes) >= maxSizes {
			return nil
		}
		for size, n := range m.split(k.Kind, tiny) {
			all[size] += n
		}
	}
	return sorted(all)
}

// sizeCounts is the same for one part.
func (m *MixTally) sizeCounts(kind finding.Kind, tiny TinyScale) []finding.SizeCount {
	if len(m.sizes) >= maxSizes {
		return nil
	}
	return sorted(m.split(kind, tiny))
}

// split counts arrays of 8 bytes and of 16, with which what grows begins, where the profile has blocks of 16 alone: of the
// arrays of 8, which share blocks, it counts every second.
func (m *MixTally) split(kind finding.Kind, tiny TinyScale) map[unit.Bytes]float64 {
	blocks := m.sizes[tinyBlock]
	more := min(m.tiny.unknown*tiny.Each, blocks)
	if kind != finding.KindGrowth && kind != finding.KindString || more <= 0 {
		return m.sizes
	}
	sizes := maps.Clone(m.sizes)
	sizes[tinyBlock/2], sizes[tinyBlock] = 2*more, blocks-more
	return sizes
}

func sorted(sizes map[unit.Bytes]float64) []finding.SizeCount {
	var out []finding.SizeCount
	for size, n := range sizes {
		if n > 0 {
			out = append(out, finding.SizeCount{Size: size, Objects: n})
		}
	}
	slices.SortFunc(out, func(a, b finding.SizeCount) int { return cmp.Compare(a.Size, b.Size) })
	return out
}
