package prescribe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/life"
	"github.com/heaptrim/heaptrim/internal/prescribe/rank"
	"github.com/heaptrim/heaptrim/internal/prescribe/regrowth"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// objects makes one candidate of each object: of the parts of findings that one expression makes,
// or that are the memory of one variable or field. A finding whose source was not read is one object.
func objects(s *diagnose.Session, src *source.Program) []*candidate {
	d := s.Diagnosis()
	var out []*candidate
	at := map[string]*candidate{}
	for i := range d.Findings {
		f := &d.Findings[i]
		whole := newCandidate(s, f, src)
		if src != nil {
			for _, p := range whole.Parts {
				whole.look(p)
			}
		}
		if whole.Line == nil || len(f.Allocation.Mix) == 0 {
			out = append(out, whole)
			continue
		}
		for _, p := range whole.Parts {
			key := p.key(f)
			c := at[key]
			if c == nil {
				c = &candidate{session: s, diagnosis: d, source: src, Finding: f, Line: whole.Line}
				at[key] = c
				out = append(out, c)
			}
			c.Parts = append(c.Parts, p)
		}
	}
	out = joinGrowth(out)
	for _, c := range out {
		c.combine()
	}
	return out
}

// key names the object of a part: the call on the line, the variable that grows, or the expression. But for variables,
// whose lines are often reached by different benchmarks, objects of different runs are apart.
func (p *allocated) key(f *finding.Finding) string {
	line := fmt.Sprintf("%s|%s:%d", f.Run, f.Site.File, f.Site.Line)
	switch e := p.Expr; {
	case p.grows() && p.owner() != "":
		return p.owner()
	case e != nil && (e.Kind == source.Call || e.Kind == source.Append):
		return fmt.Sprintf("%s|%d", line, e.Place())
	case e != nil:
		return fmt.Sprintf("%s|%s|%d", line, p.Kind, e.Place())
	}
	return fmt.Sprintf("%s|%s|%s", line, p.Kind, p.Via)
}

// owner is the declaration of the variable or field that has the part's memory; "" if none is seen.
func (p *allocated) owner() string {
	switch d := p.dest(); {
	case d != nil && d.Owner != "":
		return d.Owner
	case p.Expr == nil:
		return ""
	}
	return p.Line.Owner(p.Expr)
}

// grows reports whether the part is memory that a slice, map, builder or text outgrows.
func (p *allocated) grows() bool {
	switch p.Kind {
	case finding.KindGrowth, finding.KindMapGrowth, finding.KindString:
		return p.Via == "" || p.owner() != ""
	case finding.KindConcat:
		return p.Expr != nil && p.Expr.Use.Adds
	}
	return false
}

// makes reports whether the part is the first memory of a slice, map or builder.
func (p *allocated) makes() bool {
	switch p.Kind {
	case finding.KindMake, finding.KindMap, finding.KindNew:
		return true
	}
	return false
}

// joinGrowth adds what makes a variable's first memory to the object that grows in it.
func joinGrowth(all []*candidate) []*candidate {
	grown := map[string]*candidate{}
	owner := func(c *candidate) string {
		if o := c.Parts[0].owner(); o != "" {
			return o
		}
		return ""
	}
	for _, c := range all {
		if len(c.Parts) > 0 && c.Parts[0].grows() && owner(c) != "" {
			grown[owner(c)] = c
		}
	}
	return slices.DeleteFunc(all, func(c *candidate) bool {
		if len(c.Parts) == 0 || !c.Parts[0].makes() || c.Parts[0].grows() {
			return false
		}
		into := grown[owner(c)]
		if owner(c) == "" || into == nil || into == c {
			return false
		}
		into.Parts = append(into.Parts, c.Parts...)
		return true
	})
}

// joinOwned makes one object of all memory of one builder or buffer, whichever functions write to it. Where a pool is
// the cure, it also joins the calls of a package whose objects die in one function, such as a compressor and the
// tables of its first use.
func joinOwned(all []*candidate) []*candidate {
	first := map[string]*candidate{}
	return slices.DeleteFunc(all, func(c *candidate) bool {
		key := c.ownedBy()
		into := first[key]
		switch {
		case key == "":
			return false
		case into == nil:
			first[key] = c
			return false
		}
		into.Parts = append(into.Parts, c.Parts...)
		into.combine()
		return true
	})
}

// ownedBy names the variable, or package and function, that the object belongs to; "" for none.
func (c *candidate) ownedBy() string {
	if len(c.Parts) == 0 {
		return ""
	}
	switch p := c.Parts[0]; {
	case p.Life.End == finding.EndFrame && p.listed("pool-object"):
		pkg, _, _ := strings.Cut(life.ShortName(p.Callee), ".")
		return c.Finding.Run + "|" + pkg + "|" + p.Life.Function
	case p.Life.Maker.At.Line > 0:
		return fmt.Sprintf("%s|%s|%s:%d", c.Finding.Run, p.Life.Maker.Name, p.Life.Maker.At.File, p.Life.Maker.At.Line)
	}
	return ""
}

// combine makes the finding of the object: the sum of its parts, at the place of the heaviest.
func (c *candidate) combine() {
	if c.wholeOf() {
		for _, p := range c.Parts {
			c.Finding, p.Objects, p.Bytes = p.of, p.share.objects, p.share.bytes
		}
		return
	}
	slices.SortStableFunc(c.Parts, func(a, b *allocated) int { return cmp.Compare(b.weight(), a.weight()) })
	heaviest := c.Parts[0]
	f := *heaviest.of
	f.Cost, f.ByRun, f.Stacks = finding.Cost{}, nil, nil
	f.Allocation.Kind, f.Allocation.Via, f.Allocation.Mix, f.Allocation.Places = heaviest.Kind, heaviest.Via, nil, nil
	f.Escape = heaviest.Mix.Escape
	sizes := map[unit.Bytes]float64{}
	known := true
	for _, cut := range c.cuts(1, 1, 1) {
		f.Cost = f.Cost.Add(cut.Finding.Cost.Part(cut.Objects, cut.Bytes))
		for _, r := range cut.Finding.ByRun {
			f.ByRun = finding.AddRun(f.ByRun, finding.RunCost{Run: r.Run, Cost: r.Cost.Part(cut.Objects, cut.Bytes)})
		}
	}
	for _, p := range c.Parts {
		for _, n := range p.Mix.Sizes {
			sizes[n.Size] += n.Objects
		}
		known = known && len(p.Mix.Sizes) > 0
		f.Allocation.Places = finding.AddPlace(f.Allocation.Places, finding.Place{Site: p.of.Site, Share: p.weight()})
	}
	c.inOneRun(&f)
	f.Allocation.Sizes = nil
	if known {
		f.Allocation.Sizes = regrowth.Sorted(sizes)
	}
	for _, p := range c.Parts {
		p.Objects, p.Bytes = share(p.objects(), f.Cost.Objects.Value), share(p.bytes(), f.Cost.Bytes.Value)
		m := p.Mix
		m.Objects, m.Bytes = p.Objects, p.Bytes
		f.Allocation.Mix = append(f.Allocation.Mix, m)
		f.Stacks = append(f.Stacks, p.stacks(f.Cost.Bytes.Value)...)
	}
	slices.SortStableFunc(f.Stacks, func(a, b finding.Stack) int { return cmp.Compare(b.Share, a.Share) })
	f.Allocation.Pointers = finding.PointersOf(f.Allocation.Mix)
	f.Allocation.Places = finding.Shares(f.Allocation.Places)
	slices.SortStableFunc(f.Allocation.Places, func(a, b finding.Place) int { return cmp.Compare(b.Share, a.Share) })
	f.Title = diagnose.Title(f.Allocation)
	c.Finding = &f
	removal := c.session.Saving(c.cuts(1, 1, 1))
	f.Removal = &removal
}

// inOneRun gives an object whose lines cost most in different runs the amounts of an operation of one run: the one where
// all of it costs most.
func (c *candidate) inOneRun(f *finding.Finding) {
	if len(f.ByRun) == 0 || !slices.ContainsFunc(c.Parts, func(p *allocated) bool { return p.of.Run != f.Run }) {
		return
	}
	most := slices.MaxFunc(f.ByRun, func(a, b finding.RunCost) int { return cmp.Compare(a.Cost.CPU.Value, b.Cost.CPU.Value) })
	f.Run = most.Run
	f.Cost.BytesPerOp, f.Cost.ObjectsPerOp = most.Cost.BytesPerOp, most.Cost.ObjectsPerOp
	f.Cost.BytesPerSecond, f.Cost.ObjectsPerSecond = most.Cost.BytesPerSecond, most.Cost.ObjectsPerSecond
}

// wholeOf reports whether the object is all that one line allocates.
func (c *candidate) wholeOf() bool {
	if len(c.Parts) == 0 {
		return true
	}
	n := 0
	for _, p := range c.Parts {
		if p.of != c.Parts[0].of {
			return false
		}
		n++
	}
	return n == min(max(len(c.Parts[0].of.Allocation.Mix), 1), maxParts)
}

// objects and bytes are the part's amounts over everything that the profile covers.
func (p *allocated) objects() float64 { return p.of.Cost.Objects.Value * p.share.objects }
func (p *allocated) bytes() float64   { return p.of.Cost.Bytes.Value * p.share.bytes }

// weight ranks the parts of an object: the mean of its shares of the two amounts, by the finding's cost.
func (p *allocated) weight() float64 {
	w := (p.share.objects + p.share.bytes) / 2
	if cpu := p.of.Cost.CPU.Value; cpu > 0 {
		return w * cpu
	}
	return w * p.of.Cost.Bytes.Value
}

// stacks are those of the finding that the part is allocated on, as shares of all bytes of the object.
func (p *allocated) stacks(all float64) []finding.Stack {
	var out []finding.Stack
	total := 0.0
	for _, st := range p.of.Stacks {
		if st.Kind == p.Kind && st.Via == p.Via {
			out = append(out, st)
			total += st.Share
		}
	}
	if len(out) == 0 {
		out, total = slices.Clone(p.of.Stacks), 1
	}
	for i := range out {
		out[i].Share = share(out[i].Share/total*p.bytes(), all)
	}
	return out
}

// cuts are what a change takes of each finding that the object is of, given what it takes of the object.
func (c *candidate) cuts(objects, bytes, live float64) []finding.Cut {
	var out []finding.Cut
	for _, p := range c.Parts {
		out = rank.AddCut(out, finding.Cut{Finding: p.of, Objects: objects * p.share.objects, Bytes: bytes * p.share.bytes, Live: live * p.share.bytes})
	}
	if len(out) == 0 {
		out = append(out, finding.Cut{Finding: c.Finding, Objects: objects, Bytes: bytes, Live: live})
	}
	return out
}

func share(part, all float64) float64 {
	if all <= 0 {
		return 0
	}
	return part / all
}
