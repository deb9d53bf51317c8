package web

import (
	"math"
	"slices"
	"testing"
)

// TestShed: however many calls a recording has, memory holds a fixed number of them. The
// heavy ones stay, the sums stay, and the share that moved is stated.
func TestShed(t *testing.T) {
	const limit, heavy = 100, 20
	tree := newCallTree(limit)
	tree.bound.most = mostPerNode * limit
	tree.bound.roots = map[string]int32{"run": tree.at(0, tree.own("run"))}
	cpu := weightKey{name: "application", cpu: true}
	frames := make([]int32, 500)
	for i := range frames {
		frames[i] = tree.stepTo(step{frame: tree.intern(frameID{function: string(rune('A' + i))}, "", "")})
	}
	light := 0
	for range 20_000 {
		if len(tree.parent) >= tree.bound.most {
			tree.shed(restPerNode * limit)
		}
		node := tree.bound.roots["run"]
		for _, f := range []int{light % 500, light / 500 % 500, light % 7} {
			node = tree.at(node, frames[f])
		}
		tree.add(cpu, node, 1)
		at := tree.at(tree.bound.roots["run"], frames[light%heavy])
		tree.add(cpu, tree.at(at, frames[0]), 10)
		light++
	}
	if n := len(tree.parent); n > tree.bound.most+4 {
		t.Errorf("%d nodes are held, want at most %d", n, tree.bound.most)
	}
	if sum := tree.weights[cpu].sumAbs(); sum != 11*20_000 {
		t.Errorf("the weights add up to %v, want %v", sum, 11*20_000)
	}
	for i := range heavy {
		at := tree.at(tree.at(tree.bound.roots["run"], frames[i]), frames[0])
		if got, want := tree.weights[cpu].of(at), 10.0*20_000/heavy; math.Abs(got-want) > 50 {
			t.Errorf("heavy call %d weighs %v, want %v", i, got, want)
		}
	}
	_, info := tree.trim()
	if !info.Folded || info.Nodes != tree.bound.most || info.Kept != limit {
		t.Errorf("the page says %+v", info)
	}
	if got := info.Moved["application"]; got <= 0 || got > 0.2 {
		t.Errorf("%v of the weight moved, want that of the light calls, a tenth, at most twice", got)
	}
}

// of is what a node weighs.
func (s *sparse) of(node int32) float64 {
	if i, ok := s.at[node]; ok {
		return s.v[i]
	}
	return 0
}

// TestLargest compares with sorting.
func TestLargest(t *testing.T) {
	for _, x := range [][]float64{{1}, {0, 0, 0}, {3, 1, 2, 2, 0.5, 1e-300, 1e300}, {1, 1.0000001, 1.0000002, 0}} {
		sorted := slices.Sorted(slices.Values(x))
		for n := 1; n <= len(x); n++ {
			if got, want := largest(x, n, make([]float64, len(x))), sorted[len(x)-n]; got != want {
				t.Errorf("largest(%v, %d) = %v, want %v", x, n, got, want)
			}
		}
	}
}
