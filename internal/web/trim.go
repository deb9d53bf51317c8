package web

import (
	"math"
	"slices"
)

// trimming says what the limit on nodes did to the flame graph.
type trimming struct {
	Nodes  int  `json:"nodes"`  // calls in the recording
	Kept   int  `json:"kept"`   // calls on the page
	Folded bool `json:"folded"` // the recording has more calls than were told apart
	// Moved is, for each column, the share of its sum that counts to a caller
	// instead of the call it belongs to.
	Moved map[string]float64 `json:"moved"`
}

// trim decides which nodes stay: those that weigh most in any column, calls
// included. A caller weighs at least what its calls weigh, so it stays with
// them.
func (t *callTree) trim(limit int) ([]bool, trimming) {
	n := len(t.parent)
	info := trimming{Nodes: n, Kept: n, Folded: t.folded, Moved: map[string]float64{}}
	keep := make([]bool, n)
	if n <= limit {
		for i := range keep {
			keep[i] = true
		}
		return keep, info
	}
	score := t.scores()
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		switch {
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return int(a - b)
	})
	for _, node := range order[:max(limit, 1)] {
		keep[node] = true
	}
	keep[0] = true
	info.Kept = max(limit, 1)
	moved, all := map[string]float64{}, map[string]float64{}
	for k, w := range t.weights {
		if k.base {
			continue
		}
		for node, v := range w {
			all[k.name] += math.Abs(v)
			if !keep[node] {
				moved[k.name] += math.Abs(v)
			}
		}
	}
	for name, sum := range all {
		if sum > 0 {
			info.Moved[name] = moved[name] / sum
		}
	}
	return keep, info
}

// scores is the largest share of any column that each node has, with its calls.
// Buckets of CPU are one column together.
func (t *callTree) scores() []float64 {
	n := len(t.parent)
	score := make([]float64, n)
	sums := map[weightKey][]float64{}
	for k, w := range t.weights {
		if k.name == colAllocN || k.name == colInUseN {
			continue
		}
		group := weightKey{name: k.group(), base: k.base}
		if sums[group] == nil {
			sums[group] = make([]float64, n)
		}
		for node, v := range w {
			sums[group][node] += math.Abs(v)
		}
	}
	for _, total := range sums {
		for i := n - 1; i > 0; i-- {
			total[t.parent[i]] += total[i]
		}
		for i := range total {
			if total[0] > 0 {
				score[i] = max(score[i], total[i]/total[0])
			}
		}
	}
	return score
}

// depthFirst returns the kept nodes, each before its calls and these together,
// and the place of each.
func (t *callTree) depthFirst(keep []bool) ([]int32, map[int32]int32) {
	// Children in the order they came, as linked lists.
	first, next := make([]int32, len(t.parent)), make([]int32, len(t.parent))
	for i := len(t.parent) - 1; i > 0; i-- {
		if keep[i] {
			next[i] = first[t.parent[i]]
			first[t.parent[i]] = int32(i)
		}
	}
	var order []int32
	number := map[int32]int32{}
	stack := []int32{0}
	for len(stack) > 0 {
		node := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		number[node] = int32(len(order))
		order = append(order, node)
		var calls []int32
		for c := first[node]; c != 0; c = next[c] {
			calls = append(calls, c)
		}
		for _, c := range slices.Backward(calls) {
			stack = append(stack, c)
		}
	}
	return order, number
}
