package prescribe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/prescribe/fate"
	"github.com/heaptrim/heaptrim/internal/prescribe/rank"
)

// tried takes back the offers whose edits were tried and do not hold, and puts what was measured
// in place of the prediction of those that do. An edit that holds is offered although no matcher
// thought of it.
func (c *candidate) tried(offers []offer) []offer {
	best, failed := finding.Judged(c.trials)
	out := slices.DeleteFunc(slices.Clone(offers), func(o offer) bool {
		t := failed[o.cure.Code]
		if t == nil || best[o.cure.Code] != nil {
			return false
		}
		c.ruledOut = append(c.ruledOut, fate.Against{Why: fmt.Sprintf("%s was tried and does not hold: %s", t.Text, t.Counts())})
		return true
	})
	for _, cure := range cures.All() {
		t := best[cure.Code]
		if t == nil {
			continue
		}
		i := slices.IndexFunc(out, func(o offer) bool { return o.cure.Code == cure.Code })
		if i < 0 {
			out = append(out, offer{cure: cure, best: proposal{Text: t.Text, Why: fate.Text(c.Finding)}})
			i = len(out) - 1
		}
		c.measured(&out[i], t)
	}
	return c.untried(out, failed)
}

// untried adds the edits that there was no time to try, or no benchmark. That an edit is possible says more
// than that a rule fits: the source proves what it needs, but for its question. Without one, an edit that leaves
// nothing to allocate is sure enough, and so is a size where the recording shows growth. An edit with a question yields to a fact.
func (c *candidate) untried(offers []offer, failed map[string]*finding.Trial) []offer {
	for i := range c.trials {
		t := &c.trials[i]
		cure, ok := cures.Find(t.Code)
		if t.Tried || !ok || failed[t.Code] != nil || c.spoils(t.Code) {
			continue
		}
		rule := editRule + t.Kind
		pr := proposal{Rule: rule, Text: t.Text, Why: fate.Text(c.Finding), Fit: cures.HitRate(t.Code, rule)}
		if t.Question == "" && (t.Gone || strings.HasPrefix(t.Code, "presize-") && outgrown.ask(c, nil) == finding.Yes) {
			pr.Fit = max(pr.Fit, leastUntried)
		}
		at := slices.IndexFunc(offers, func(o offer) bool { return o.cure.Code == t.Code })
		switch {
		case at < 0 && t.Question != "" && slices.ContainsFunc(c.ruledOut, func(a fate.Against) bool { return a.Code == t.Code }):
		case at < 0:
			o := offer{cure: cure, best: pr, fit: pr.Fit, objects: 1, bytes: 1, cuts: c.cuts(1, 1, 0)}
			o.saves = rank.Realised(c.diagnosis, c.Finding, c.session.Saving(o.cuts))
			offers = append(offers, o)
		case offers[at].trial == nil && offers[at].fit < pr.Fit && (pr.Fit >= leastUntried || !offers[at].sure()):
			offers[at].best.Rule, offers[at].best.Text, offers[at].fit = rule, t.Text, pr.Fit
		}
	}
	return offers
}

// spoils reports whether facts speak against an edit of a cure that the source alone does not show: what
// is kept for the next operation is in an object of this one, or what is to stay in the frame leaves it.
func (c *candidate) spoils(code string) bool {
	for _, p := range c.Parts {
		switch {
		case code == "reuse-buffer" && c.makesOwner(p):
			return true
		case code == "keep-on-stack" && p.Kind == finding.KindMake:
			return p.Life.End != finding.EndFrame || p.Life.Frame > 0 || len(p.Life.Ways.Lines) > 0
		}
	}
	return false
}

// editRule begins the name of the rule that a kind of edit is.
const editRule = "edit: "

// measured gives an offer what a trial showed.
func (c *candidate) measured(o *offer, t *finding.Trial) {
	o.trial, o.fit, o.best.Text = t, 1, t.Text
	cost := c.Finding.Cost
	o.objects = min(max(share(t.Before.Allocs-t.After.Allocs, cost.ObjectsPerOp.Value), 0), 1)
	o.bytes = min(max(share(t.Before.Bytes-t.After.Bytes, cost.BytesPerOp.Value), 0), 1)
	o.cuts = c.cuts(o.objects, o.bytes, 0)
	o.saves = rank.AtLeastNothing(c.session.Saving(o.cuts))
}
