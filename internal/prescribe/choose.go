package prescribe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/prescribe/fate"
	"github.com/heaptrim/heaptrim/internal/prescribe/rank"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// addedCost is CPU time that a cure spends on each object it removes, in seconds.
type addedCost = stats.Interval

// Costs of the cures' own work, with their source.
var (
	// A Get and a Put of a pool with the reset of the object between them:
	// lab/libraries/pool measures 9 ns for a sync.Pool of pointers and 13 ns for
	// rt/pool.Bytes above the same loop without a pool; a cold or contended pool
	// takes several times that.
	poolPair = addedCost{Value: 15e-9, Low: 8e-9, High: 40e-9}
	// Cutting a slice to length zero or clearing a small struct.
	reuseCost = addedCost{Value: 2e-9, Low: 1e-9, High: 5e-9}
)

// offer is one cure for a finding, over all parts that it fits.
type offer struct {
	cure cures.Cure
	best proposal // of the heaviest part
	cuts []finding.Cut
	// objects and bytes are the shares of the finding's that the cure takes away.
	objects, bytes float64
	fit            float64
	saves          finding.Prediction
	more           int            // other allocations of the line, which the cure does not touch
	trial          *finding.Trial // an edit of the cure that holds; nil if none was tried
}

// leastMore is the part of a line's objects and bytes from which another allocation is told.
const leastMore = 0.05

// proposals tries every rule on every part, and gathers them by cure.
func (c *candidate) proposals() []offer {
	var out []offer
	for _, cure := range cures.All() {
		o, weight := offer{cure: cure, more: c.notable()}, 0.0
		for _, p := range c.Parts {
			pr, ok := c.best(cure.Code, p)
			if !ok {
				continue
			}
			if p.notable() {
				o.more--
			}
			w := (p.Objects + p.Bytes) / 2
			if weight == 0 {
				o.best = pr
			}
			weight += w
			o.fit += w * pr.Fit
			o.objects += p.Objects * pr.Objects
			o.bytes += p.Bytes * pr.Bytes
			o.cuts = rank.AddCut(o.cuts, p.cut(pr))
		}
		if weight == 0 {
			continue
		}
		o.fit /= weight
		if slices.Contains(pooling, cure.Code) {
			c.withHeld(&o)
		}
		o.saves = rank.Realised(c.diagnosis, c.Finding, c.session.Saving(o.cuts))
		out = append(out, o)
	}
	return out
}

// best is the proposal of the surest rule of a cure for a part; false if no rule applies, or a fact
// rules the cure out.
func (c *candidate) best(code string, p *allocated) (best proposal, ok bool) {
	for i := range table {
		r := &table[i]
		if r.cure != code || ok && cures.HitRate(code, r.name) <= best.Fit || !c.applies(r, p) {
			continue
		}
		if why := c.vetoed(r, p); why != "" {
			c.ruledOut = append(c.ruledOut, fate.Against{Code: code, Why: why})
			continue
		}
		if pr, takes := c.proposed(r, p); takes {
			best, ok = pr, true
		}
	}
	return best, ok
}

// cut is what a proposal takes of the part's finding.
func (p *allocated) cut(pr proposal) finding.Cut {
	of := p.of
	return finding.Cut{Finding: of, Objects: p.share.objects * pr.Objects, Bytes: p.share.bytes * pr.Bytes, Live: p.share.bytes * pr.Live, Added: pr.Cost}
}

// notable counts the line's allocations that are worth a word.
func (c *candidate) notable() int {
	n := 0
	for _, p := range c.Parts {
		if p.notable() {
			n++
		}
	}
	return n
}

func (p *allocated) notable() bool { return (p.Objects+p.Bytes)/2 >= leastMore }

// score is what offers are compared by: the predicted saving, as often as the rule is right.
// Without CPU samples the bytes and objects it takes away stand in.
func (o offer) score(f *finding.Finding) float64 {
	if f.Cost.CPU.Value > 0 {
		return o.fit * max(o.saves.CPU.Value, 0)
	}
	return o.fit * (o.objects + o.bytes) / 2
}

// remedy is the offer as the finding's remedy.
func (o offer) remedy() finding.Remedy {
	p := o.best
	p.Fit = o.fit
	switch {
	case o.more == 1:
		p.Text += " (another allocation of the line stays)"
	case o.more > 1:
		p.Text += fmt.Sprintf(" (%d other allocations of the line stay)", o.more)
	}
	if o.trial != nil {
		p.Text += fmt.Sprintf(" (verified: %s)", o.trial.Proof())
	}
	r := remedyOf(o.cure, p, o.saves)
	r.Trial = o.trial
	return r
}

// A cure is named where advice by its rules was right at least this often (heaptrim explain CODE says how often);
// below, it is told as another way, and above leastRate only. An edit that was not tried could be: it has to be surer.
const (
	leastNamed   = 0.5
	leastUntried = 0.75
	leastRate    = 0.1
)

// sure reports whether an offer may be named: it was tried, or such advice is right often enough.
func (o offer) sure() bool {
	if strings.HasPrefix(o.best.Rule, editRule) {
		return o.trial != nil || o.fit >= leastUntried
	}
	return o.trial != nil || o.fit >= leastNamed
}

// choose makes the finding's row, with the best offer as its remedy and the others as alternatives.
func (c *candidate) choose(offers []offer) finding.Row {
	f := c.Finding
	offers = c.tried(offers)
	slices.SortStableFunc(offers, func(a, b offer) int {
		switch {
		case (a.trial != nil) != (b.trial != nil): // what was measured comes before what is thought
			if a.trial != nil {
				return -1
			}
			return 1
		case a.sure() != b.sure():
			if a.sure() {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.score(f), a.score(f))
	})
	if len(offers) == 0 || !pays(f, offers[0]) || rank.Idle(c.diagnosis, f) {
		return c.leave(offers)
	}
	best := offers[0]
	if !best.sure() || c.Line == nil && best.trial == nil {
		return c.unsure(offers)
	}
	row := finding.Row{Finding: rank.PlacedAt(f, best.best.At), Remedy: best.remedy(), Cuts: best.cuts}
	if at := row.Finding.Site; c.source != nil && c.source.Generated(at.File) {
		return c.leftAlone("the file is generated, so its generator would have to change")
	}
	if slices.Contains(pooling, best.cure.Code) && len(c.held) > 0 {
		c.absorb(&row)
	}
	row.Others = others(f, offers[1:])
	return row
}

// others are offers as other ways, the best first.
func others(f *finding.Finding, offers []offer) []finding.Remedy {
	var out []finding.Remedy
	for _, o := range offers {
		if len(out) < 3 && o.fit >= leastRate && o.score(f) > 0 {
			out = append(out, o.remedy())
		}
	}
	return out
}
