// Package routes plans deliveries on a road network: for each order, the nodes
// that a bounded search from the depot reaches. The network keeps some 12 MiB
// alive; the marked site makes the search's frontier, dead when the order has
// its cost.
package routes

import (
	"math/rand/v2"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

const junctions = 60_000

type road struct {
	to     *junction
	metres uint32
}

type junction struct {
	id    int
	roads []road
	_     [64]byte // its name and place, which a search does not look at
}

type stop struct {
	at   *junction
	cost uint64
}

// World is the network.
type World struct {
	all []*junction
}

// New builds the network; it is the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(31, 32))
	w := &World{}
	for i := range junctions {
		w.all = append(w.all, &junction{id: i})
	}
	for i, j := range w.all {
		for range 3 + r.IntN(3) {
			to := (i + r.IntN(400) - 200 + junctions) % junctions
			j.roads = append(j.roads, road{w.all[to], 50 + r.Uint32N(2000)})
		}
	}
	return w
}

// Worker returns the operation: plan one order.
func (w *World) Worker(int) drive.Op {
	p := &planner{world: w, reach: 120}
	return func(i int) uint64 { return p.order(uint32(i)) }
}

type planner struct {
	world   *World
	reach   int // nodes a search settles
	scratch []stop
}

// order returns the summed cost of what a search from a random depot settles.
func (p *planner) order(i uint32) uint64 {
	from := p.world.all[(i*2654435761)%junctions]
	open := p.frontier()
	open = push(open, stop{from, 0})
	total := uint64(0)
	for settled := 0; settled < p.reach && len(open) > 0; settled++ {
		var s stop
		s, open = pop(open)
		total = drive.Mix(total, s.cost+uint64(s.at.id))
		for _, r := range s.at.roads {
			open = push(open, stop{r.to, s.cost + uint64(r.metres)})
		}
	}
	if variant.Without {
		p.scratch = open
	}
	return total
}

// frontier is empty. In the version without the site it is the one of the
// order before.
func (p *planner) frontier() []stop {
	if variant.Without {
		if p.scratch == nil {
			p.scratch = make([]stop, 0, 6*p.reach)
		}
		return p.scratch[:0]
	}
	return make([]stop, 0, 6*p.reach) // site
}

// push and pop keep a binary heap, cheapest first.
func push(h []stop, s stop) []stop {
	h = append(h, s)
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if h[parent].cost <= h[i].cost {
			break
		}
		h[parent], h[i] = h[i], h[parent]
		i = parent
	}
	return h
}

func pop(h []stop) (stop, []stop) {
	top := h[0]
	h[0] = h[len(h)-1]
	h = h[:len(h)-1]
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			return top, h
		}
		if child+1 < len(h) && h[child+1].cost < h[child].cost {
			child++
		}
		if h[i].cost <= h[child].cost {
			return top, h
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
