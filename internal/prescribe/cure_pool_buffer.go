package prescribe

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/finding"
)

var poolBuffer = Cure{
	Code:  "pool-buffer",
	Title: "take buffers from a pool by size",
	Why: "Byte buffers of varying size that live for one request are classic garbage. A pool with size classes lends out a buffer that is large enough " +
		"and takes it back. It wastes little memory; a single pool for all sizes soon holds only buffers of the largest size.",
	Before:  "body, err := io.ReadAll(r)\nif err != nil {\n\treturn err\n}\nreturn json.Unmarshal(body, v)",
	After:   "buf := buffers.Get(size) // pool.Bytes of rt/pool\ndefer buffers.Put(buf)\n",
	Safety:  Review,
	Needs:   "element type, block sizes and lifetime",
	WhenNot: "When the buffer goes to code that may keep it, or is tiny.",
	match:   matchPoolBuffer,
}

func matchPoolBuffer(c *candidate, p *allocated) (proposal, bool) {
	if pr, ok := c.fromLibrary(p, "pool-buffer"); ok && c.short() {
		pr.Cost = poolPair
		return pr, true
	}
	if !c.short() || c.blockSize() < tinyObject {
		return proposal{}, false
	}
	if p.Library != nil && p.Library.Code == "presize-builder" {
		return c.pooled(probable, fmt.Sprintf("take the buffer behind %s from a pool", shortName(p.Callee)), "")
	}
	bytesOf := p.Expr != nil && p.Expr.Elem == 1
	if p.dest() != nil {
		bytesOf = bytesOf || p.dest().Elem == "byte" || p.dest().Elem == "uint8"
	}
	if p.Callee != "" || !bytesOf {
		return proposal{}, false
	}
	switch p.Kind {
	case finding.KindMake, finding.KindGrowth:
		fit := possible
		if c.blockSize() >= bigObject {
			fit = strong
		}
		text := fmt.Sprintf("take %s from a pool of buffers by size", p.text())
		if spread := sizeSpread(c.Finding.Allocation.Sizes); spread != "" {
			text += " (" + spread + ")"
		}
		return c.pooled(fit, text, c.escape())
	}
	return proposal{}, false
}

// sizeSpread says in words how the blocks' sizes spread; "" for one size.
func sizeSpread(sizes []finding.SizeCount) string {
	if len(sizes) < 2 {
		return ""
	}
	return fmt.Sprintf("blocks from %s to %s", sizes[0].Size, sizes[len(sizes)-1].Size)
}

// pooled is a proposal that removes everything at the cost of a pool.
func (c *candidate) pooled(fit float64, text, why string) (proposal, bool) {
	p := all(fit, text, why)
	p.Live = 0
	p.Cost = poolPair
	return p, true
}
