package run

import (
	"math"
	"sort"

	"github.com/heaptrim/heaptrim/internal/diagnose/alloc"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// Pointerful is the majority on whether the site's objects hold pointers.
func (t *Site) Pointerful() finding.Tri { return most(t.pointers) }

func most(votes [3]float64) finding.Tri {
	switch {
	case votes[finding.Yes] > votes[finding.No]:
		return finding.Yes
	case votes[finding.No] > 0:
		return finding.No
	}
	return finding.Unknown
}

// maxInitialised is the largest size that initialised counts: a larger value is mostly
// array, and code that reuses it fills only the part it needs.
const maxInitialised = 1 << 10

// Initialised is the share of the site's bytes that the program has to clear wherever they
// are instead of the heap: a small value starts with zero fields on the stack, in a slab and
// in a pool too. A buffer starts empty and is filled.
func (t *Site) Initialised(tiny TinyScale) float64 {
	if t.Bytes <= 0 {
		return 0
	}
	bytes := 0.0
	for k, m := range t.inOrder {
		if k.Kind == finding.KindNew && k.Via == "" && m.Bytes <= maxInitialised*tiny.Objects(m) {
			bytes += m.Bytes
		}
	}
	return math.Min(math.Max(bytes/t.Bytes, 0), 1)
}

// ShareOf is its share of so many bytes allocated; 0 of none.
func (t *Site) ShareOf(all float64) float64 {
	if all <= 0 {
		return 0
	}
	return math.Max(t.Bytes, 0) / all
}

// Site is one site in one run's profiles. CPU is in samples; bytes and objects are totals
// over the window.
type Site struct {
	Key       stack.Key
	CPU       [stack.BucketCount]float64
	Objects   float64
	Bytes     float64
	Events    float64 // heap-profile sampling events behind bytes; +Inf when every allocation was recorded
	InUse     MeanOf  // bytes, over snapshots
	InUseObjs MeanOf
	FirstLive float64 // bytes in use at the first and the last snapshot, for the survival slope
	LastLive  float64
	Via       map[string]float64
	Kinds     map[finding.Kind]float64
	Mix       map[MixKey]*MixTally
	pointers  [3]float64 // votes by Tri
	stacks    []callPath
}

// MeanOf is a running mean.
type MeanOf struct{ Sum, N float64 }

// Add adds a value.
func (m *MeanOf) Add(v float64) { m.Sum += v; m.N++ }

// Mean returns the mean; 0 of none.
func (m MeanOf) Mean() float64 {
	if m.N == 0 {
		return 0
	}
	return m.Sum / m.N
}

// Sites is the sites of one run.
type Sites struct {
	Sites  map[stack.Key]*Site
	sorted []*Site // as Sorted has returned them
	kind   alloc.Kinder
}

// NewSites returns no sites yet.
func NewSites(k alloc.Kinder) *Sites { return &Sites{Sites: map[stack.Key]*Site{}, kind: k} }

// at returns the tally of a site.
func (s *Sites) at(k stack.Key) *Site {
	t := s.Sites[k]
	if t == nil {
		t = &Site{Key: k}
		s.Sites[k] = t
	}
	return t
}

// Sorted returns the tallies in a stable order, which sums of them need to be the same each time. They are the caller's to
// read until another site is seen.
func (s *Sites) Sorted() []*Site {
	if len(s.sorted) == len(s.Sites) {
		return s.sorted
	}
	s.sorted = make([]*Site, 0, len(s.Sites))
	for _, t := range s.Sites {
		s.sorted = append(s.sorted, t)
	}
	sort.Slice(s.sorted, func(i, j int) bool { return s.sorted[i].Key.Less(s.sorted[j].Key) })
	return s.sorted
}

// vote adds to a vote for k.
func vote[K comparable](votes *map[K]float64, k K, v float64) {
	if *votes == nil {
		*votes = map[K]float64{}
	}
	(*votes)[k] += v
}

// Top returns the heaviest key of a vote, ties by name.
func Top[K ~string](votes map[K]float64) K {
	var best K
	w := 0.0
	for k, v := range votes {
		if v > w || v == w && v > 0 && k < best {
			best, w = k, v
		}
	}
	return best
}
