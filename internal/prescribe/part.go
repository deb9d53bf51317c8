package prescribe

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/holder"
	"github.com/heaptrim/heaptrim/internal/prescribe/life"
	"github.com/heaptrim/heaptrim/internal/prescribe/regrowth"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/way"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// reset is the place that drops what the part's field grew to, if there is one.
func (c *candidate) reset(p *allocated) (source.Reset, bool) {
	if c.source == nil || p.owner() == "" {
		return source.Reset{}, false
	}
	list := c.source.Resets(p.owner())
	if len(list) == 0 {
		return source.Reset{}, false
	}
	return list[0], true
}

// leastMade is the number of owners in an operation from which it works with ones of its own.
const leastMade = 0.5

// makesOwner reports whether each operation makes the struct in whose field the memory is held.
func (c *candidate) makesOwner(p *allocated) bool { return c.ownerMade(p) != nil }

// ownerMade is the row of the struct in whose field the memory is held, where each operation makes one; nil for none.
func (c *candidate) ownerMade(p *allocated) *finding.Finding {
	if c.source == nil {
		return nil
	}
	owner := holder.Of(c.source, p.owner())
	if owner == nil && p.Life.End == finding.EndStored && p.Life.Receiver {
		owner = c.source.At(p.Life.At.File, p.Life.At.Line).Receiver()
	}
	if owner == nil {
		return nil
	}
	for i := range c.diagnosis.Findings {
		f := &c.diagnosis.Findings[i]
		if f.Cost.ObjectsPerOp.Value < leastMade {
			continue
		}
		if l := c.source.At(f.Site.File, f.Site.Line); l != nil && l.Makes(owner) {
			return f
		}
	}
	return nil
}

// ender is the method that ends the use of what holds the memory in an unexported field; "" for others.
func (c *candidate) ender(p *allocated) string {
	if c.source == nil || p.Expr == nil {
		return ""
	}
	return holder.Ender(c.source, p.owner(), way.Function(c.source, p.of.Site), p.Expr.Node())
}

// bodyless is the function without a body to which the compiler says that the value goes; false for none.
func (c *candidate) bodyless() (source.Declared, bool) {
	return way.Bodyless(c.source, c.Finding.Escape)
}

// callee names the function that a part's call calls; "" where that is not known.
func (p *allocated) callee() string {
	if p.Expr != nil && p.Expr.Call.Callee != "" {
		return life.ShortName(p.Expr.Call.Callee)
	}
	if p.Callee != "" {
		return life.ShortName(p.Callee)
	}
	return ""
}

// recursive reports whether the site's function is on the heaviest stack more
// than once, as in a parser of nested things.
func (c *candidate) recursive() bool {
	return len(c.Finding.Stacks) > 0 && way.Recurses(c.Finding.Stacks[0], c.Finding.Site.Function)
}

// grown are the blocks of a slice, builder or map as it grew, without the map's header.
func (c *candidate) grown() regrowth.Blocks {
	var parts []finding.Mix
	for _, p := range c.Parts {
		parts = append(parts, p.Mix)
	}
	return regrowth.Grown(parts, c.Finding.Allocation.Sizes)
}

// packs is the size class of a struct of the user's with its fields in the best order, if that is smaller than the
// one it has; 0 if not.
func (c *candidate) packs(p *allocated) unit.Bytes {
	e := p.Expr
	if e == nil || strings.Contains(e.Type, ".") && c.session.Owner(evidence.Frame{Function: e.Type}) != "yours" {
		return 0
	}
	return regrowth.Packed(unit.Bytes(e.Size), unit.Bytes(e.Packed), c.blockSize())
}
