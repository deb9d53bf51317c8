package arena_test

import (
	"math"
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

// TestGrowOverflow: a length that no int holds is refused, and not taken for a small one.
func TestGrowOverflow(t *testing.T) {
	for _, reuse := range []bool{false, true} {
		s := arena.MakeSlab[byte](arena.Options{Reuse: reuse})
		v := s.MakeSlice(10, 10)
		for _, n := range []int{math.MaxInt, math.MaxInt - 9} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("reuse %v: a slice of 10 was grown by %d", reuse, n)
					}
				}()
				v = s.Grow(v, n)
			}()
		}
	}
}
