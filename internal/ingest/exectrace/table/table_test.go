package table

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTable does the same to a table and a map.
func TestTable(t *testing.T) {
	var table Table[int64]
	want := map[int64]*int64{}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		id := random.Int64N(500) - 1
		switch found := table.Find(id); {
		case found != want[id]:
			t.Fatalf("ID %d is found at %p, want %p", id, found, want[id])
		case found == nil:
			thing := &id
			table.Add(id, thing)
			want[id] = thing
		case random.IntN(3) > 0:
			table.Drop(id)
			delete(want, id)
		}
	}
	all := map[int64]*int64{}
	for thing := range table.All() {
		all[*thing] = thing
	}
	if !maps.Equal(all, want) {
		t.Errorf("the table has %v, want %v", slices.Sorted(maps.Keys(all)), slices.Sorted(maps.Keys(want)))
	}
}
