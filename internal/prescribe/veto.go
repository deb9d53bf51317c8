package prescribe

import (
	"slices"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/life"
)

// veto rules cures out by a fact about the object's life.
type veto struct {
	codes  []string
	holds  func(c *candidate, p *allocated) bool
	reason string // completes "no cure of the catalogue fits: "
}

// Groups of cures that take the same liberty with an object.
var (
	// Its memory is used again while somebody may still hold it.
	recycling = []string{"pool-object", "pool-buffer", "reuse-buffer"}
	pooling   = []string{"pool-object", "pool-buffer"}
)

// vetoes lists what rules a cure out whatever else speaks for it. The first that holds
// gives the reason.
var vetoes = []veto{
	{recycling, ends(finding.EndResult), "the memory is part of the result, so it cannot be used again"},
	{recycling, ends(finding.EndShared), "the memory goes to another goroutine, so it cannot be used again here"},
	{pooling, ends(finding.EndStored), "the memory stays in use after the call, so it cannot be used again"},
	{[]string{"reuse-buffer"}, storedElsewhere, "the memory stays in use after the call, so it cannot be used again"},
	{pooling, pooledAlready, "the objects are already those of a pool"},
	{[]string{"keep-on-stack"}, leavesOwnCode, "the value outlives every function of this code that sees it"},
	{[]string{"keep-on-stack"}, usedAsInterface, "the value is used as an interface, which needs it on the heap"},
	{[]string{"avoid-conversion"}, copyIsKept, "the text is kept or returned, so one copy has to be made"},
	{[]string{"skip-work"}, resultIsKept, "the result is kept or returned"},
	{[]string{"unbox-interface"}, boxIsKept, "the interface value is kept, so it needs memory of its own"},
	{[]string{"hoist-closure"}, leavesOwnCode, "the function value is handed out, and has to hold values of its own"},
}

// ends holds for one end of a life.
func ends(e finding.End) func(*candidate, *allocated) bool {
	return func(_ *candidate, p *allocated) bool { return p.Life.End == e }
}

// storedElsewhere reports whether the memory is kept, other than by the receiver, who can
// use it again.
func storedElsewhere(_ *candidate, p *allocated) bool {
	return p.Life.End == finding.EndStored && !p.Life.Receiver
}

func pooledAlready(c *candidate, _ *allocated) bool { return c.below("sync.(*Pool).Get") }

// leavesOwnCode reports whether the user's code hands the object out for good.
func leavesOwnCode(_ *candidate, p *allocated) bool {
	switch p.Life.End {
	case finding.EndResult, finding.EndStored, finding.EndShared:
		return true
	}
	return false
}

func usedAsInterface(_ *candidate, p *allocated) bool {
	return p.Kind == finding.KindNew && p.Life.Boxed
}

// copyIsKept reports whether new text, or a new slice of it, is itself handed out.
func copyIsKept(c *candidate, p *allocated) bool {
	switch p.Kind {
	case finding.KindConversion, finding.KindConcat, finding.KindString, finding.KindMake, finding.KindGrowth:
		return leavesOwnCode(c, p)
	}
	return false
}

// resultIsKept reports whether a library call's result is handed out, so the call is needed.
func resultIsKept(c *candidate, p *allocated) bool { return p.Via != "" && leavesOwnCode(c, p) }

func boxIsKept(_ *candidate, p *allocated) bool {
	return p.Kind == finding.KindBoxing && (p.Life.End == finding.EndStored || p.Life.End == finding.EndShared)
}

// vetoed gives the reason why a cure is ruled out; "" where nothing rules it out.
func (c *candidate) vetoed(code string, p *allocated) string {
	for _, v := range vetoes {
		if slices.Contains(v.codes, code) && v.holds(c, p) {
			return v.reason
		}
	}
	return ""
}

// mostOf is the share of a finding's cost from which stacks with one end decide.
const mostOf = 0.2

// lifeOf follows a part along the finding's stacks, and joins what they say: one end that
// hands the object out decides, then one that is not known.
func (c *candidate) lifeOf(t *life.Tracer, m finding.Mix) finding.Life {
	if t == nil {
		return finding.Life{Unknown: "the source"}
	}
	var all, share float64
	ends := map[finding.End]float64{}
	lives := map[finding.End]finding.Life{}
	for _, st := range c.Finding.Stacks {
		own := c.ownFrames(st)
		if len(own) == 0 {
			continue
		}
		l := t.Trace(life.Birth{Kind: m.Kind, Via: m.Via}, own)
		if had, ok := lives[l.End]; !ok || l.Frame > had.Frame {
			lives[l.End] = l
		}
		ends[l.End] += st.Share
		all += st.Share
	}
	for _, e := range []finding.End{finding.EndShared, finding.EndStored, finding.EndResult, finding.EndUnknown} {
		if share = ends[e]; share > mostOf*all {
			return lives[e]
		}
	}
	return lives[finding.EndFrame]
}

// ownFrames are the user's frames of a stack without a break, from the site outwards.
func (c *candidate) ownFrames(st finding.Stack) []evidence.Frame {
	var own []evidence.Frame
	for _, f := range st.Frames {
		at := f.Function == c.Finding.Site.Function && f.Line == c.Finding.Site.Line
		switch {
		case len(own) == 0 && !at:
		case c.session.Owner(f) != "yours":
			return own
		default:
			own = append(own, f)
		}
	}
	return own
}
