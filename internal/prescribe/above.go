package prescribe

import (
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/life"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/way"
)

// above is the variable or field of a caller that a function is handed to make grow.
type above struct {
	dest  *source.Dest
	frame evidence.Frame // of the caller
}

// look goes along the heaviest stack of a part to the caller that has what grows.
func (c *candidate) look(p *allocated) {
	if p.Expr == nil || p.Expr.Into == nil || !p.Expr.Into.Param {
		return
	}
	d, own := p.Expr.Into, c.heaviestWay(p)
	for i := 0; d.Param && d.Index >= 0 && i+1 < len(own); i++ {
		l := c.source.At(own[i+1].File, own[i+1].Line)
		if l == nil {
			return
		}
		if d = l.Handed(life.Plain(own[i].Function), d.Index); d == nil {
			return
		}
		p.above = &above{d, own[i+1]}
	}
}

// askedAbove is what the frame in which a part dies uses of it, if that is little; "" for all, or if it
// is not known.
func (c *candidate) askedAbove(p *allocated) string {
	if c.source == nil || p.Life.End != finding.EndFrame || p.Life.Frame == 0 {
		return ""
	}
	own := c.heaviestWay(p)
	if p.Life.Frame >= len(own) || own[p.Life.Frame].Function != p.Life.Function { // it dies on another way
		return ""
	}
	return way.Asked(c.source, own[p.Life.Frame-1:])
}

// dropper is the function that drops the result of the part's expression; "" where none is seen to.
func (c *candidate) dropper(p *allocated) string {
	for _, other := range c.Parts {
		if l := other.Life; other.Expr == p.Expr && l.Passed.Dropped && l.End == finding.EndFrame {
			return l.Function
		}
	}
	return ""
}

// takesTurns reports whether the part is a result of a function whose caller, in a loop, puts each in the place of an operand
// of the next call.
func (c *candidate) takesTurns(p *allocated) bool {
	result := p.Life.End == finding.EndResult || p.Life.End == finding.EndFrame && p.Life.Frame > 0
	own := c.heaviestWay(p)
	return c.source != nil && result && way.TakesTurns(c.source, own)
}

// heaviestWay is the user's frames of the heaviest stack of a part, from the site outwards.
func (c *candidate) heaviestWay(p *allocated) []evidence.Frame {
	var heaviest finding.Stack
	for _, st := range p.stacks(p.bytes()) {
		if st.Share > heaviest.Share || heaviest.Frames == nil {
			heaviest = st
		}
	}
	return c.ownFrames(p.of, heaviest)
}

// dest is the variable or field that grows, in the function or in a caller; nil when not known.
func (p *allocated) dest() *source.Dest {
	switch {
	case p.above != nil:
		return p.above.dest
	case p.Expr == nil:
		return nil
	}
	return p.Expr.Into
}
