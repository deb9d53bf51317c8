package exectrace

import (
	"cmp"
	"maps"
	"slices"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// chain is an assist that is under way while its goroutine is off the CPU.
type chain struct {
	suspended stamp  // since when
	why       why    // it is
	next      uint64 // number of the goroutine's next leg, 0 where it is not known
}

// stitched is a generation in which each event has found its goroutine.
type stitched struct {
	found
	threads map[uint64]thread // at the end of the generation
	chains  map[uint64]chain
	assists []assistShare

	// Legs of these goroutines may be missing, in these times.
	gaps    map[uint64]bool
	windows []window
}

// assistShare is time to add to a goroutine's assists.
type assistShare struct {
	goroutine       uint64
	ended           int
	onCPU           stamp
	parked, waiting stamp
}

type window struct{ from, to stamp }

// stitch puts the batches of a generation together. It changes nothing of
// what is carried from the generations before, since a generation with gaps is
// stitched twice.
func (s *scanner) stitch(p *parsed) (*stitched, error) {
	g, r := p.generation, p.rules
	s.scratch.reset()
	st := &stitched{found: s.scratch, threads: maps.Clone(s.threads), chains: maps.Clone(s.chains), gaps: map[uint64]bool{}}
	st.assists = s.assists[:0]
	defer func() { s.scratch, s.assists = st.found, st.assists }()
	for i := range g.batches {
		if err := st.batch(g, i, &p.results[i], r); err != nil {
			return nil, err
		}
	}
	for id, t := range st.threads {
		if t.stop.open && t.stop.reason != carried {
			name, ok := r.lookup(t.stop.reason)
			if !ok {
				return nil, missingString(g, t.stop.reason)
			}
			t.stopName, t.stop.reason = name, carried
			st.threads[id] = t
		}
	}
	return st, st.join(g, s.generations == 0)
}

// batch plays the events of a batch that belong to an earlier leg, and then
// takes over what the batch knows by itself.
func (st *stitched) batch(g *generation, i int, r *result, rules *rules) error {
	if r.events == 0 {
		return nil
	}
	b := g.batches[i]
	t := st.threads[b.thread]
	t.sweep.touched, t.stop.touched = false, false
	stops := len(st.stops)
	for k := range r.before {
		o := &r.before[k]
		if err := o.apply(&t, rules, &st.found); err != nil {
			return &Error{Offset: o.offset, Reason: err.Error()}
		}
	}
	st.pieces = append(st.pieces, r.pieces...)
	st.works = append(st.works, r.works...)
	st.sweeps = append(st.sweeps, r.sweeps...)
	st.stops = append(st.stops, r.stops...)
	for k := range st.stops[stops:] {
		stop := &st.stops[stops+k]
		if stop.name = t.stopName; stop.reason == carried {
			continue
		}
		var ok bool
		if stop.name, ok = rules.lookup(stop.reason); !ok {
			return missingString(g, stop.reason)
		}
	}
	if r.known {
		after := r.after
		after.stopName = t.stopName
		if !after.sweep.open {
			after.sweep.open = t.sweep.open && !after.sweep.touched
			after.sweep.start = t.sweep.start
		}
		if !after.stop.open {
			after.stop = span{open: t.stop.open && !after.stop.touched, start: t.stop.start, reason: t.stop.reason}
		}
		t = after
	}
	st.threads[b.thread] = t
	return nil
}

// join makes assists of their pieces, each goroutine's in the order of its
// legs.
func (st *stitched) join(g *generation, first bool) error {
	parts := st.pieces[:0]
	for _, p := range st.pieces {
		if p.kind == pieceWhole {
			st.assists = append(st.assists, assistShare{goroutine: p.goroutine, ended: 1, onCPU: p.end - p.start})
			continue
		}
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b piece) int {
		switch {
		case a.goroutine != b.goroutine:
			return cmp.Compare(a.goroutine, b.goroutine)
		case a.leg != b.leg:
			return cmp.Compare(a.leg, b.leg)
		}
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.start, b.start))
	})
	seen := map[uint64]stamp{} // since when an open assist may lack legs
	for _, p := range parts {
		if err := st.extend(p, first); err != nil {
			return &Error{Offset: g.offset, Reason: err.Error()}
		}
		seen[p.goroutine] = p.end
	}
	for id := range st.chains {
		st.gaps[id] = true
		st.windows = append(st.windows, window{seen[id], farthest + 1<<32})
	}
	return nil
}

// extend goes on with the assist of p's goroutine.
func (st *stitched) extend(p piece, first bool) error {
	c, open := st.chains[p.goroutine]
	switch {
	case p.kind == pieceActive && !open && !first:
		return errAssistUnknown
	case p.kind == pieceActive:
		c.status(p, open)
		st.chains[p.goroutine] = c
		return nil
	case p.kind == pieceHead && open:
		return errAssistTwice
	case p.kind == pieceMiddle && !open && !p.sure:
		return nil // the goroutine was waiting for something else
	case p.kind == pieceTail && !open && !p.sure:
		return errAssistEnded
	}
	share := assistShare{goroutine: p.goroutine, onCPU: p.end - p.start}
	if open {
		if c.next != 0 && c.next != p.leg {
			st.gaps[p.goroutine] = true
			st.windows = append(st.windows, window{c.suspended, p.start})
		}
		share.parked, share.waiting = c.off(p.start)
	}
	if p.kind == pieceTail {
		share.ended = 1
		delete(st.chains, p.goroutine)
	} else {
		st.chains[p.goroutine] = chain{suspended: p.end, why: p.why, next: nextLeg(p)}
	}
	st.assists = append(st.assists, share)
	return nil
}

// status takes note of what the goroutine of an open assist is doing when a
// generation begins. In the first one the assist begins there for us.
func (c *chain) status(p piece, open bool) {
	if !open {
		*c = chain{suspended: p.start, why: whyStopped}
		if p.status == wire.StatusWaiting {
			c.why = whyBlocked
		}
	}
	switch c.next = 0; p.status {
	case wire.StatusWaiting:
		c.next = 2
	case wire.StatusRunnable:
		c.next = 1
	}
}

// off splits the time off the CPU, until at. Clocks of two threads may differ
// by less than it takes to look; such a time is 0.
func (c *chain) off(at stamp) (parked, waiting stamp) {
	switch {
	case at <= c.suspended:
		return 0, 0
	case c.why == whyBlocked:
		return at - c.suspended, 0
	}
	return 0, at - c.suspended
}

// nextLeg is the number of the leg after p's: waking a goroutine counts like
// starting it.
func nextLeg(p piece) uint64 {
	switch p.why {
	case whyBlocked:
		return p.leg + 2
	case whyStopped:
		return p.leg + 1
	}
	return 0
}
