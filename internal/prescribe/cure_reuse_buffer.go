package prescribe

import (
	"fmt"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Sizes that decide between the ways to reuse memory.
const (
	// A pool's Get and Put cost as much as malloc of an object about this size
	// without pointers (lab/libraries/pool: 9 to 13 ns).
	tinyObject = 64
	// From here on zeroing and marking alone justify a pool.
	bigObject = 4 << 10
)

var reuseBuffer = Cure{
	Code:  "reuse-buffer",
	Title: "use the same memory again",
	Why: "A buffer that the loop, the receiver or the caller owns can be cut to length zero and filled again. That is cheaper than any pool: " +
		"no lookup, no reset of what is not used, nothing for the collector.",
	Before:  "for _, r := range records {\n\tbuf := make([]byte, 0, 1024)\n\tbuf = r.AppendTo(buf)\n\tw.Write(buf)\n}",
	After:   "buf := make([]byte, 0, 1024)\nfor _, r := range records {\n\tbuf = r.AppendTo(buf[:0])\n\tw.Write(buf)\n}",
	Safety:  Review,
	Needs:   "the kind of allocation and the lifetime; for the owner, the source",
	WhenNot: "When other code keeps the buffer after the iteration.",
	match:   matchReuseBuffer,
}

func matchReuseBuffer(c *candidate, p *allocated) (proposal, bool) {
	if pr, ok := c.fromLibrary(p, "reuse-buffer"); ok && c.short() {
		if p.Expr != nil && len(p.Expr.Loops) > 0 {
			pr.Fit = 1
		}
		return pr, true
	}
	if p.Callee != "" || !c.short() {
		return proposal{}, false
	}
	why := c.escape()
	d := p.dest()
	switch p.Kind {
	case finding.KindNew:
		if owner := c.owner(); owner != "" && c.blockSize() < unit.Bytes(largeObject) {
			return c.reuse(probable, fmt.Sprintf("keep %s as a field of the owner of `%s` and set it again: the owner exists already", p.text(), owner), why), true
		}
	case finding.KindMake, finding.KindMap, finding.KindChan:
		if c.kept() {
			return proposal{}, false
		}
		if p.Expr != nil && len(p.Expr.Loops) > 0 && p.Expr.Use.Kind == source.UseAssigned && !p.Expr.Use.Field {
			fit := fair
			if c.fate() == finding.FateKept {
				fit = open
			}
			return c.reuse(fit, fmt.Sprintf("make %s once before the loop of line %d and use it again", p.text(), p.Expr.Loops[0].First), why), true
		}
		return proposal{}, false
	case finding.KindGrowth:
		switch {
		case c.kept() && (d == nil || !d.Field):
			return proposal{}, false
		case d != nil && d.Field && !d.Receiver:
			return c.reuse(faint, fmt.Sprintf("keep the array of `%s` for the next iteration, if nothing from this one is kept", d.Name), why), true
		case d != nil && d.Field:
			return c.reuse(possible, fmt.Sprintf("keep the array of `%s` and cut it to length zero instead of starting with a new one", d.Name), why), true
		}
		return proposal{}, false
	case finding.KindMapGrowth:
		if d == nil || !d.Local || d.Made == source.MadeElse {
			return proposal{}, false // other users of the map are not known here
		}
		return c.reuse(weak, "clear the map and fill it again instead of making a new one", why), true
	}
	return proposal{}, false
}

// owner is the field that the compiler says the value is stored in; "" for
// none.
func (c *candidate) owner() string {
	if c.Finding.Escape == nil {
		return ""
	}
	name := c.Finding.Escape.Holder
	if !strings.Contains(name, ".") || strings.ContainsAny(name, "[({") {
		return ""
	}
	return name
}

// reuse is a proposal that removes everything at the cost of a reset.
func (c *candidate) reuse(fit float64, text, why string) proposal {
	p := all(fit, text, why)
	p.Live = 0 // the memory stays
	p.Cost = reuseCost
	return p
}
