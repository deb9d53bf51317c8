// Package merge joins pages of a log-structured store: each read merges the
// versions of some keys from four levels. The levels keep some 30 MiB alive;
// the marked site makes the entries of a merged page, dead when the page has
// been summed up.
package merge

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sort"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

const (
	levels = 4
	keys   = 70_000 // of each level
	page   = 64     // entries of a read
)

type entry struct {
	key     string
	value   []byte
	version int
}

// World is the store: each level is sorted by key.
type World struct {
	levels [levels][]entry
}

// New builds the store; it is the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(41, 42))
	w := &World{}
	for l := range w.levels {
		seen := map[int]bool{}
		for len(w.levels[l]) < keys {
			n := r.IntN(4 * keys)
			if seen[n] {
				continue
			}
			seen[n] = true
			v := make([]byte, 16+r.IntN(32))
			for i := range v {
				v[i] = byte(r.Uint32())
			}
			w.levels[l] = append(w.levels[l], entry{fmt.Sprintf("user/%08d", n), v, l})
		}
		sort.Slice(w.levels[l], func(a, b int) bool { return w.levels[l][a].key < w.levels[l][b].key })
	}
	return w
}

// Worker returns the operation: read one page.
func (w *World) Worker(int) drive.Op {
	m := &merger{world: w}
	return func(i int) uint64 { return m.read(i * 7919 % (4 * keys)) }
}

type merger struct {
	world   *World
	scratch []entry
}

// read sums up the page that begins at key n.
func (m *merger) read(n int) uint64 {
	h := fnv.New64a()
	for _, e := range m.merge(fmt.Sprintf("user/%08d", n)) {
		_, _ = h.Write(e.value) // cannot fail
	}
	return h.Sum64()
}

// merge returns the newest versions of the keys from first on. In the version
// without the site they are valid until the next call.
func (m *merger) merge(first string) []entry {
	var at [levels]int
	for l, entries := range m.world.levels {
		at[l] = sort.Search(len(entries), func(i int) bool { return entries[i].key >= first })
	}
	out := m.entries()
	for len(out) < page {
		least := -1
		for l, entries := range m.world.levels {
			if at[l] < len(entries) && (least < 0 || entries[at[l]].key < m.world.levels[least][at[least]].key) {
				least = l
			}
		}
		if least < 0 {
			break
		}
		e := m.world.levels[least][at[least]]
		for l, entries := range m.world.levels {
			if at[l] < len(entries) && entries[at[l]].key == e.key {
				at[l]++
			}
		}
		out = append(out, e)
	}
	if variant.Without {
		m.scratch = out
	}
	return out
}

func (m *merger) entries() []entry {
	if variant.Without {
		if m.scratch == nil {
			m.scratch = make([]entry, 0, page)
		}
		return m.scratch[:0]
	}
	return make([]entry, 0, page) // site
}
