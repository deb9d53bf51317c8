package web

import "math"

// sparse is a column of weights. Its nodes stand in the order they came, so that sums do not
// depend on the order of a map.
type sparse struct {
	at    map[int32]int32 // of each node, index into both
	nodes []int32
	v     []float64
}

func newSparse() *sparse { return &sparse{at: map[int32]int32{}} }

func (s *sparse) add(node int32, v float64) {
	i, ok := s.at[node]
	if ok {
		s.v[i] += v
		return
	}
	s.at[node] = int32(len(s.nodes))
	s.nodes, s.v = append(s.nodes, node), append(s.v, v)
}

// move counts what each node weighs to the one that number has for it.
func (s *sparse) move(number []int32) {
	nodes, v := s.nodes, s.v
	s.nodes, s.v = nodes[:0], v[:0] // what is added was read before
	clear(s.at)
	for i, node := range nodes {
		s.add(number[node], v[i])
	}
}

func (s *sparse) sumAbs() float64 {
	sum := 0.0
	for _, x := range s.v {
		sum += math.Abs(x)
	}
	return sum
}
