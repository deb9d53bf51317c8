package prescribe

import (
	"slices"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/fate"
	"github.com/heaptrim/heaptrim/internal/prescribe/rank"
)

// hold tells each object which others of its function become part of it alone, and can be filled again by its next user.
func hold(all []*candidate) {
	made := map[string]*candidate{}
	for _, c := range all {
		if len(c.Parts) > 0 && c.Parts[0].Kind == finding.KindNew && c.Parts[0].Life.Made != "" {
			made[c.Finding.Run+"|"+c.Parts[0].Life.Made] = c
		}
	}
	for _, c := range all {
		if len(c.Parts) == 0 || !fate.Refilled(c.Parts[0].Kind, c.Parts[0].Via) {
			continue
		}
		if whole := made[c.Finding.Run+"|"+c.Parts[0].Life.PartOf]; whole != nil && whole != c && !whole.within(c) {
			whole.held = append(whole.held, c)
		}
	}
}

// within reports whether the object is part of another, directly or not.
func (c *candidate) within(other *candidate) bool {
	return slices.ContainsFunc(other.held, func(h *candidate) bool { return h == c || c.within(h) })
}

// graph calls yield for the object and all that is part of it.
func (c *candidate) graph(yield func(*candidate)) {
	yield(c)
	for _, h := range c.held {
		h.graph(yield)
	}
}

// graphSize is the number of blocks and bytes of one object with all that is part of it.
func (c *candidate) graphSize() (blocks, bytes float64) {
	one := c.Finding.Cost.Objects.Value
	if one <= 0 {
		return 0, 0
	}
	c.graph(func(h *candidate) {
		blocks += h.Finding.Cost.Objects.Value / one
		bytes += h.Finding.Cost.Bytes.Value / one
	})
	return blocks, bytes
}

// withHeld adds to the offer of a pool what the pooled objects hold.
func (c *candidate) withHeld(o *offer) {
	for _, h := range c.held {
		h.graph(func(h *candidate) {
			for _, cut := range h.cuts(1, 1, 0) {
				o.cuts = rank.AddCut(o.cuts, cut)
			}
		})
	}
}

// absorb makes the row of a pooled object that of all that it holds, and marks that as told.
func (c *candidate) absorb(row *finding.Row) {
	var held []*finding.Finding
	all := offer{cuts: c.cuts(1, 1, 1)}
	for _, h := range c.held {
		h.graph(func(h *candidate) {
			h.told = true
			held = append(held, h.Finding)
		})
	}
	c.withHeld(&all)
	row.Finding = rank.Whole(row.Finding, c.Finding, held, c.session.Saving(all.cuts))
}
