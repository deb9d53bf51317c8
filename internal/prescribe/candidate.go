package prescribe

import (
	"cmp"
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/fate"
	"github.com/heaptrim/heaptrim/internal/prescribe/library"
	"github.com/heaptrim/heaptrim/internal/prescribe/life"
	"github.com/heaptrim/heaptrim/internal/prescribe/match"
	"github.com/heaptrim/heaptrim/internal/prescribe/rank"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/way"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// candidate is the evidence on one object.
type candidate struct {
	Finding *finding.Finding // of the object: a finding of the diagnosis, or what several have of it
	Line    *source.Line     // of the heaviest part; nil when the source was not read
	Parts   []*allocated     // heaviest first

	held     []*candidate    // objects of the same function that become part of this one
	told     bool            // as part of another object
	given    bool            // something else states what the site's function returns
	taken    finding.End     // of what the pool's Get hands out, where the pool's New makes the object
	lent     map[string]bool // fields, by their declarations, whose memory the code hands on
	maker    string          // function that makes it of constants, to be only read
	made     evidence.Frame  // where that is called
	ruledOut []fate.Against  // why cures that match do not fit
	trials   []finding.Trial

	session   *diagnose.Session
	diagnosis *finding.Diagnosis
	source    *source.Program // nil when none was read
}

// allocated is one part of an object, with the expression that allocates it.
type allocated struct {
	finding.Mix                // Objects and Bytes are shares of the object
	Line        *source.Line   // of its finding
	Expr        *source.Expr   // nil when not known
	Library     *library.Entry // entry of the library function; nil for none
	Callee      string         // function called on the line: of a library, or the one that takes the boxed values
	Life        finding.Life   // what becomes of it

	above *above // where what grows is handed in by callers; nil where the function itself has it

	of    *finding.Finding // the line's
	share amounts          // of that
}

type amounts struct{ objects, bytes float64 }

// maxParts bounds the parts of a line that are looked at; later ones are negligible.
const maxParts = 6

// newCandidate takes all that a line allocates for one object.
func newCandidate(s *diagnose.Session, f *finding.Finding, src *source.Program) *candidate {
	c := &candidate{Finding: f, session: s, diagnosis: s.Diagnosis(), source: src}
	if src != nil {
		c.Line = src.At(f.Site.File, f.Site.Line)
	}
	mix := f.Allocation.Mix
	if len(mix) == 0 {
		mix = []finding.Mix{{Kind: f.Allocation.Kind, Via: f.Allocation.Via, Objects: 1, Bytes: 1, Sizes: f.Allocation.Sizes, Escape: f.Escape, Pointers: f.Allocation.Pointers}}
	}
	mix = mix[:min(len(mix), maxParts)]
	objects, bytes := 0.0, 0.0
	for _, m := range mix {
		objects, bytes = objects+m.Objects, bytes+m.Bytes
	}
	for _, m := range mix {
		p := c.part(m)
		p.of, p.share = f, amounts{share(m.Objects, objects), share(m.Bytes, bytes)}
		c.Parts = append(c.Parts, p)
	}
	return c
}

func (c *candidate) part(m finding.Mix) *allocated {
	p := &allocated{Mix: m, Line: c.Line, Callee: life.Plain(m.Via)}
	leaf, compressor := way.Inside(c.Finding, m, c.yours)
	if compressor != "" && library.Find(p.Callee, "") == nil {
		p.Callee = compressor
	}
	if c.Line != nil {
		p.Expr = match.Expr(c.Line, match.Memory{Kind: p.Kind, Callee: p.Callee, Sizes: p.Sizes})
		for _, a := range c.Line.Exprs { // append([]T{v}, list...) makes its array twice
			if p.Expr != nil && p.Expr.Kind == source.Literal && c.Line.Prepends(a) && p.Expr.Path()[len(p.Expr.Path())-1] == a.Node() {
				p.Expr = a
			}
		}
		if fate.Moved(m.Escape) && m.Kind == finding.KindNew && m.Via == "" {
			p.Expr = cmp.Or(match.Variable(c.Line, m.Escape.From.Expr), p.Expr) // the compiler names the variable, not its value
		}
	}
	if p.Callee == "" && p.Expr != nil && p.Expr.Kind == source.Call {
		p.Callee = p.Expr.Call.Callee
	}
	p.Library = library.Find(p.Callee, leaf)
	return p
}

// ownMemory reports whether the part belongs to the receiver of the library's method.
func (p *allocated) ownMemory() bool { return p.Via != "" && life.OwnMemory(p.Callee) }

// short reports whether the lifetime may be short, so that the memory can be reused: it is
// short, or not known to be long.
func (c *candidate) short() bool {
	switch c.Finding.Lifetime.Class {
	case finding.LifetimeLong, finding.LifetimeLeak:
		return false
	}
	return true
}

// blockSize is the mean size of the site's blocks.
func (c *candidate) blockSize() unit.Bytes {
	if o := c.Finding.Cost.Objects.Value; o > 0 {
		return unit.Bytes(math.Round(c.Finding.Cost.Bytes.Value / o))
	}
	return 0
}

// perOp is the objects of a part for each operation; 0 when not known.
func (c *candidate) perOp(p *allocated) float64 { return c.Finding.Cost.ObjectsPerOp.Value * p.Objects }

// text is the part's expression, or a substitute for it.
func (p *allocated) text() string {
	if p.Expr != nil {
		return "`" + p.Expr.Text + "`"
	}
	if p.Via != "" {
		return "`" + life.ShortName(p.Via) + "`"
	}
	return "the value"
}

// amount is what a part allocates, for the evidence of a remedy. For a library call it
// includes the other parts of the same call.
func (c *candidate) amount(p *allocated) string {
	objects, bytes := 0.0, 0.0
	for _, q := range c.Parts {
		if q == p || p.Via != "" && q.Via == p.Via {
			objects += q.Objects
			bytes += q.Bytes
		}
	}
	return rank.Amount(c.Finding.Cost, objects, bytes)
}
