package prescribe

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/prescribe/fate"
	"github.com/heaptrim/heaptrim/internal/prescribe/life"
	"github.com/heaptrim/heaptrim/internal/prescribe/rank"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// pays reports whether an offer is worth making. Where no CPU sample fell on what a cure takes away, it saves no CPU
// time that was measured; it costs more only if it adds some of its own.
func pays(f *finding.Finding, o offer) bool {
	adds := slices.ContainsFunc(o.cuts, func(c finding.Cut) bool { return c.Added.Value > 0 })
	return f.Cost.CPU.Value <= 0 || o.saves.CPU.Value > 0 || o.objects+o.bytes > 0 && !adds
}

// leave names leave-it, with the reason.
func (c *candidate) leave(offers []offer) finding.Row {
	f := c.Finding
	text := "no cure of the catalogue fits: " + c.whyNot()
	switch {
	case (f.Cost.Objects.Value <= 0 || rank.Idle(c.diagnosis, f)) && f.Cost.InUse.Value > 0:
		text = fmt.Sprintf("leave it: little or nothing is allocated here for an operation, but it keeps %s alive", unit.Bytes(math.Round(f.Cost.InUse.Value)))
	case rank.Idle(c.diagnosis, f):
		text = "leave it: nothing is allocated here in the time of an operation, or the smaller part of it"
	case c.blockSize() == 0: // CPU samples alone show the line
		text = "leave it: what it costs could as well be chance, for no allocation was counted here"
	case len(offers) > 0:
		o := offers[0]
		text = fmt.Sprintf("leave it: %s would cost as much as it saves: %s of %s each", o.cure.Code, c.amount(c.Parts[0]), c.blockSize())
	}
	return c.leftAlone(text)
}

// unsure names leave-it where cures fit that were wrong too often, and tells them as other ways.
func (c *candidate) unsure(offers []offer) finding.Row {
	o := offers[0]
	row := c.leftAlone(fate.Doubt{Code: o.cure.Code, Edit: strings.HasPrefix(o.best.Rule, editRule), Read: c.Line != nil}.Text(c.whyNot()))
	row.Others = others(c.Finding, offers)
	return row
}

func (c *candidate) leftAlone(text string) finding.Row {
	remedy := remedyOf(cures.Of(cures.LeaveIt), proposal{Text: text, Why: fate.Text(c.Finding)}, finding.Prediction{Basis: "nothing is changed"})
	return finding.Row{Finding: c.Finding, Remedy: remedy}
}

// whyNot says why no cure fits.
func (c *candidate) whyNot() string {
	switch {
	case len(c.ruledOut) > 0:
		return c.ruledOut[0].Why
	case !c.short():
		return "the objects have a long lifetime, so their memory cannot be reused"
	case len(c.Parts) > 0 && c.Parts[0].Via != "":
		return fate.Inside(life.ShortName(c.Parts[0].Via), c.Parts[0].Library != nil)
	}
	if len(c.Parts) == 0 {
		return fate.Unknown(c.Finding, false, false, finding.EndUnknown)
	}
	p := c.Parts[0]
	return fate.Unknown(c.Finding, p.Kind == finding.KindMapGrowth, outgrown.ask(c, nil) == finding.Yes, p.Life.End)
}

// chosen is an object and its row.
type chosen struct {
	of  *candidate
	row finding.Row
}

// joinLeft makes one row of the objects of a line that are left alone for the same reason: nothing is to be done
// with one that is not with the others.
func joinLeft(all []chosen) []finding.Row {
	first := map[string]int{}
	joined := map[int]bool{}
	var rows []finding.Row
	var of []*candidate
	for _, c := range all {
		if c.row.Remedy.Code == cures.LeaveIt && len(c.row.Others) == 0 {
			f := c.row.Finding
			key := fmt.Sprintf("%s|%s:%d|%s", f.Run, f.Site.File, f.Site.Line, c.row.Remedy.Text)
			if at, ok := first[key]; ok {
				of[at].Parts = append(of[at].Parts, c.of.Parts...)
				joined[at] = true
				continue
			}
			first[key] = len(rows)
		}
		rows, of = append(rows, c.row), append(of, c.of)
	}
	for at := range joined {
		of[at].combine()
		rows[at].Finding = of[at].Finding
	}
	return rows
}
