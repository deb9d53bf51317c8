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

// trim decides which nodes stay, and says what that does to the weights.
func (t *callTree) trim() ([]bool, trimming) {
	n := len(t.parent)
	info := trimming{Nodes: n, Kept: min(n, max(t.bound.limit, 1)), Moved: map[string]float64{}}
	if t.bound.moved != nil {
		info.Folded, info.Nodes = true, t.bound.most
	}
	keep := t.heaviest(info.Kept)
	if info.Kept == n && !info.Folded {
		return keep, info
	}
	moved, all := t.lost(keep), map[string]float64{}
	for k, w := range t.weights {
		if !k.base {
			all[k.name] += w.sumAbs()
		}
	}
	for name, sum := range all {
		if sum > 0 {
			info.Moved[name] = min((moved[name]+t.bound.moved[name])/sum, 1)
		}
	}
	return keep, info
}

// lost is what nodes weigh that do not stay, by column.
func (t *callTree) lost(keep []bool) map[string]float64 {
	moved := map[string]float64{}
	for k, w := range t.weights {
		if k.base {
			continue
		}
		for i, node := range w.nodes {
			if !keep[node] {
				moved[k.name] += math.Abs(w.v[i])
			}
		}
	}
	return moved
}

// heaviest marks the nodes that weigh most in any column, calls included, of equal ones the
// first. A caller weighs at least what its calls weigh, so it stays with them.
func (t *callTree) heaviest(limit int) []bool {
	keep := room(&t.bound.keep, len(t.parent))
	if limit >= len(keep) {
		for i := range keep {
			keep[i] = true
		}
		return keep
	}
	clear(keep)
	score, spare := t.scores()
	least, equal := largest(score, limit, spare), limit
	for _, s := range score {
		if s > least {
			equal--
		}
	}
	for i, s := range score {
		switch {
		case s > least:
			keep[i] = true
		case s == least && equal > 0:
			keep[i] = true
			equal--
		}
	}
	keep[0] = true
	return keep
}

// shed drops the lightest nodes down to a limit, so that memory does not grow with the
// samples. What they weigh counts to their nearest caller that stays.
func (t *callTree) shed(limit int) {
	keep := t.heaviest(limit)
	for _, node := range t.bound.roots {
		keep[node] = true
	}
	if t.bound.moved == nil {
		t.bound.moved = map[string]float64{}
	}
	for name, v := range t.lost(keep) {
		t.bound.moved[name] += v
	}
	number := room(&t.bound.numbers, len(t.parent)) // new, of the node or of its caller that stays
	n := int32(0)
	for i := range t.parent {
		if !keep[i] {
			number[i] = number[t.parent[i]]
			continue
		}
		number[i] = n
		t.parent[n], t.step[n] = number[t.parent[i]], t.step[i]
		n++
	}
	t.parent, t.step = t.parent[:n], t.step[:n]
	for _, w := range t.weights {
		w.move(number)
	}
	for run, node := range t.bound.roots {
		t.bound.roots[run] = number[node]
	}
	t.reindex()
}

// reindex makes the nodes findable after they were renumbered.
func (t *callTree) reindex() {
	t.index(len(t.children.slots))
	if t.alike == nil {
		return
	}
	clear(t.alike)
	for i := 1; i < len(t.parent); i++ {
		same := t.likeness(t.parent[i], t.step[i])
		if _, ok := t.alike[same]; !ok {
			t.alike[same] = int32(i)
		}
	}
}

// largest returns the n-th largest of positive numbers. It may overwrite spare, which is as long.
func largest(x []float64, n int, spare []float64) float64 {
	// Numbers are told apart by the upper bits first, which leaves few to sort.
	const shift = 64 - 14
	var count [1 << 14]int32
	for _, v := range x {
		count[math.Float64bits(v)>>shift]++
	}
	top := len(count) - 1
	for ; int(count[top]) < n; top-- {
		n -= int(count[top])
	}
	few := spare[:0]
	for _, v := range x {
		if math.Float64bits(v)>>shift == uint64(top) {
			few = append(few, v)
		}
	}
	slices.Sort(few)
	return few[len(few)-n]
}

// room returns n elements that buf has room for from now on. They hold what they held.
func room[T any](buf *[]T, n int) []T {
	*buf = slices.Grow((*buf)[:0], n)
	return (*buf)[:n]
}

// scores is the largest share of any column that each node has, with its calls.
// Buckets of CPU are one column together. The second list is as long, and free for use.
func (t *callTree) scores() (score, total []float64) {
	n := len(t.parent)
	score, total = room(&t.bound.scores, n), room(&t.bound.totals, n)
	clear(score)
	groups := map[weightKey][]weightKey{}
	for k := range t.weights {
		if k.name != colAllocN && k.name != colInUseN {
			group := weightKey{name: k.group(), base: k.base}
			groups[group] = append(groups[group], k)
		}
	}
	for _, keys := range groups {
		clear(total)
		for _, k := range keys {
			for i, node := range t.weights[k].nodes {
				total[node] += math.Abs(t.weights[k].v[i])
			}
		}
		for i := n - 1; i > 0; i-- {
			total[t.parent[i]] += total[i]
		}
		if total[0] <= 0 {
			continue
		}
		for i := range total {
			score[i] = max(score[i], total[i]/total[0])
		}
	}
	return score, total
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
