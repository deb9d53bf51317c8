package diagnose

import (
	"math"
	"sort"

	"github.com/heaptrim/heaptrim/internal/diagnose/alloc"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// siteTally is what one run's profiles say of one site. CPU is in samples;
// bytes and objects are totals over the window.
type siteTally struct {
	key       stack.Key
	cpu       [stack.BucketCount]float64
	objects   float64
	bytes     float64
	events    float64 // heap-profile sampling events behind bytes; +Inf when every allocation was recorded
	inUse     meanOf  // bytes, over snapshots
	inUseObjs meanOf
	firstLive float64 // bytes in use at the first and the last snapshot, for the survival slope
	lastLive  float64
	via       map[string]float64
	kinds     map[finding.Kind]float64
	mix       map[mixKey]*mixTally
	sizes     map[unit.Bytes]float64 // objects by block size
	pointers  [3]float64             // votes by Tri
	stacks    map[uint64]*stackTally
}

type stackTally struct {
	frames []evidence.Frame
	weight float64
}

// meanOf is a running mean.
type meanOf struct{ sum, n float64 }

func (m *meanOf) add(v float64) { m.sum += v; m.n++ }

func (m meanOf) mean() float64 {
	if m.n == 0 {
		return 0
	}
	return m.sum / m.n
}

// maxStacks bounds the call paths kept for a site, whatever the profile's size.
const maxStacks = 64

// siteSet is the sites of one run.
type siteSet struct {
	sites map[stack.Key]*siteTally
	kind  alloc.Kinder
}

func newSiteSet(k alloc.Kinder) *siteSet { return &siteSet{sites: map[stack.Key]*siteTally{}, kind: k} }

// at returns the tally of the site that a stack allocates at.
func (s *siteSet) at(c *stack.Classifier, locs []*evidence.Location) (*siteTally, stack.Path) {
	p := stack.FindPath(c, locs)
	t := s.sites[p.Key]
	if t == nil {
		t = &siteTally{key: p.Key, via: map[string]float64{}, kinds: map[finding.Kind]float64{}, mix: map[mixKey]*mixTally{}, sizes: map[unit.Bytes]float64{}, stacks: map[uint64]*stackTally{}}
		s.sites[p.Key] = t
	}
	return t, p
}

// sorted returns the tallies in a stable order.
func (s *siteSet) sorted() []*siteTally {
	out := make([]*siteTally, 0, len(s.sites))
	for _, t := range s.sites {
		out = append(out, t)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].key.Less(out[j].key) })
	return out
}

// addStack remembers a call path with its weight; the lightest make room.
func (t *siteTally) addStack(locs []*evidence.Location, w float64) {
	if w <= 0 {
		return
	}
	h := uint64(14695981039346656037)
	for _, l := range locs {
		h = (h ^ uint64(l.Index+1)) * 1099511628211
	}
	if s := t.stacks[h]; s != nil {
		s.weight += w
		return
	}
	if len(t.stacks) >= maxStacks {
		t.dropLightest()
	}
	s := &stackTally{weight: w}
	for _, l := range locs {
		s.frames = append(s.frames, l.Frames...)
	}
	t.stacks[h] = s
}

func (t *siteTally) dropLightest() {
	var at uint64
	low := math.Inf(1)
	for h, s := range t.stacks {
		if s.weight < low || s.weight == low && h < at {
			at, low = h, s.weight
		}
	}
	delete(t.stacks, at)
}

// heaviest returns up to n call paths, heaviest first, with their share.
func (t *siteTally) heaviest(n int) []finding.Stack {
	var all []*stackTally
	total := 0.0
	for _, s := range t.stacks {
		all = append(all, s)
		total += s.weight
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].weight != all[j].weight {
			return all[i].weight > all[j].weight
		}
		return lessFrames(all[i].frames, all[j].frames)
	})
	var out []finding.Stack
	for i, s := range all[:min(n, len(all))] {
		// Stacks that CPU samples alone have seen weigh next to nothing.
		if i > 0 && s.weight < 0.001*total {
			break
		}
		out = append(out, finding.Stack{Frames: s.frames, Share: s.weight / total})
	}
	return out
}

func lessFrames(a, b []evidence.Frame) bool {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i].Function != b[i].Function {
			return a[i].Function < b[i].Function
		}
		if a[i].Line != b[i].Line {
			return a[i].Line < b[i].Line
		}
	}
	return len(a) < len(b)
}

// top returns the heaviest key of a vote, ties by name.
func top[K ~string](votes map[K]float64) K {
	var best K
	w := 0.0
	for k, v := range votes {
		if v > w || v == w && v > 0 && k < best {
			best, w = k, v
		}
	}
	return best
}
