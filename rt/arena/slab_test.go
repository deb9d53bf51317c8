package arena_test

import (
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/rt/arena"
)

// TestMakeSlab uses slabs that belong to no arena over several rounds: the values
// of each are zero at first, distinct, and as they were written until it ends.
func TestMakeSlab(t *testing.T) {
	for _, reuse := range []bool{false, true} {
		s := arena.MakeSlab[node](arena.Options{Reuse: reuse})
		for range 3 {
			var all []*node
			for i := range 3000 {
				n := s.New()
				if *n != (node{}) {
					t.Fatalf("reuse %v: New gave %+v, want zero", reuse, *n)
				}
				n.n = i
				all = append(all, n)
			}
			list := s.Append(s.MakeSlice(2, 2), node{n: 5})
			copied := s.AppendSlice(s.Clone(list), list)
			for i, n := range all {
				if n.n != i {
					t.Fatalf("reuse %v: object %d is %+v", reuse, i, *n)
				}
			}
			if want := []node{{}, {}, {n: 5}, {}, {}, {n: 5}}; !slices.Equal(copied, want) {
				t.Errorf("reuse %v: got %+v, want %+v", reuse, copied, want)
			}
			s.Reset()
		}
		s.Free()
		s.Free()
	}
}
