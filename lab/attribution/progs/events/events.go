// Package events is a discrete-event simulation of packets that hop through a
// network. Routing tables keep some 20 MiB alive; the marked site makes a
// closure for each scheduled event, dead as soon as the event has fired.
package events

import (
	"math/rand/v2"
	"runtime"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

type router struct {
	id     int
	routes []*router // by destination group
	stats  *traffic
}

type traffic struct{ packets, bytes, delay uint64 }

// World is the network, with one independent simulation per CPU.
type World struct {
	sims []*sim
}

// New builds the network and fills the queues; it is the same on every call.
func New() *World {
	w := &World{}
	for i := range runtime.GOMAXPROCS(0) {
		w.sims = append(w.sims, newSim(uint64(i)))
	}
	return w
}

// Worker returns the operation: fire 64 events.
func (w *World) Worker(worker int) drive.Op {
	s := w.sims[worker%len(w.sims)]
	return func(int) uint64 {
		for range 64 {
			s.step()
		}
		return s.now | s.delivered<<44
	}
}

type packet struct {
	at   *router
	dest int
	size uint64
	hops int
	from *router
	wait uint64
	data [256]byte
	hop  func() // bound once; used by the version without the site
}

type sim struct {
	rand      *rand.Rand
	routers   []*router
	queue     queue
	now       uint64
	delivered uint64
}

func newSim(seed uint64) *sim {
	const routers, groups = 4000, 200
	s := &sim{rand: rand.New(rand.NewPCG(11, seed))}
	for i := range routers {
		s.routers = append(s.routers, &router{id: i, stats: &traffic{}})
	}
	for _, r := range s.routers {
		r.routes = make([]*router, 0, groups)
		for range groups {
			r.routes = append(r.routes, s.routers[s.rand.IntN(routers)])
		}
	}
	for range 500 {
		p := &packet{at: s.routers[s.rand.IntN(routers)]}
		if variant.Without {
			p.hop = func() { s.arrive(p, p.from, p.wait) }
		}
		s.send(p)
	}
	return s
}

// send gives the packet a new destination and puts it on its first hop.
func (s *sim) send(p *packet) {
	p.dest = s.rand.IntN(len(p.at.routes))
	p.size = 64 + s.rand.Uint64N(1400)
	p.hops = 0
	p.data[p.dest] = byte(p.size)
	s.forward(p)
}

func (s *sim) forward(p *packet) {
	from, wait := p.at, p.size/8+s.rand.Uint64N(100)
	p.at = from.routes[p.dest]
	if variant.Without {
		p.from, p.wait = from, wait
		s.queue.push(event{s.now + wait, p.hop})
	} else {
		s.queue.push(event{s.now + wait, func() { s.arrive(p, from, wait) }}) // site
	}
}

func (s *sim) arrive(p *packet, from *router, wait uint64) {
	st := p.at.stats
	st.packets++
	st.bytes += p.size
	st.delay += wait + uint64(p.sum()+uint32(from.id))&1
	p.hops++
	if p.hops < 6 {
		s.forward(p)
		return
	}
	s.delivered++
	s.send(p)
}

// sum is the checksum (FNV-1a) that every router verifies.
func (p *packet) sum() uint32 {
	h := uint32(2166136261)
	for _, b := range &p.data {
		h = (h ^ uint32(b)) * 16777619
	}
	return h
}

func (s *sim) step() {
	e := s.queue.pop()
	s.now = e.at
	e.fire()
}

type event struct {
	at   uint64
	fire func()
}

// queue is a binary heap, earliest event first.
type queue []event

func (q *queue) push(e event) {
	h := append(*q, e)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].at <= e.at {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
	*q = h
}

func (q *queue) pop() event {
	h := *q
	top, last := h[0], h[len(h)-1]
	h[len(h)-1] = event{}
	h = h[:len(h)-1]
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].at < h[child].at {
			child++
		}
		if last.at <= h[child].at {
			break
		}
		h[i] = h[child]
		i = child
	}
	if len(h) > 0 {
		h[i] = last
	}
	*q = h
	return top
}
