package prescribe

import (
	"fmt"
	"strings"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Sizes that decide between the ways of using memory again.
const (
	// A pool's Get and Put cost as much as malloc of an object about this size
	// without pointers (lab/libraries/pool: 9 to 13 ns).
	tinyObject = 64
	// From here on zeroing and marking make an object worth a pool whatever else.
	bigObject = 4 << 10
)

var reuseBuffer = Cure{
	Code:  "reuse-buffer",
	Title: "use the same memory again",
	Why: "A buffer that the loop, the receiver or the caller owns can be cut to length zero and filled again. That is cheaper than any pool: " +
		"no lookup, no reset of what is not used, nothing for the collector.",
	Before: "for _, r := range records {\n\tbuf := make([]byte, 0, 1024)\n\tbuf = r.AppendTo(buf)\n\tw.Write(buf)\n}",
	After:  "buf := make([]byte, 0, 1024)\nfor _, r := range records {\n\tbuf = r.AppendTo(buf[:0])\n\tw.Write(buf)\n}",
	Safety: Review,
	Needs:  "the kind of allocation and the lifetime; for the owner, the source",
	Not:    "When someone keeps the buffer after the round.",
	match:  matchReuseBuffer,
}

func matchReuseBuffer(c *Case, p *Part) (Proposal, bool) {
	if pr, ok := c.fromLibrary(p, "reuse-buffer"); ok {
		if p.Expr != nil && len(p.Expr.Loops) > 0 {
			pr.Fit = 1
		}
		return pr, true
	}
	if p.Callee != "" || !c.short() {
		return Proposal{}, false
	}
	why := c.escape()
	d := p.dest()
	switch p.Kind {
	case diagnose.KindNew:
		if owner := c.owner(); owner != "" && c.blockSize() < unit.Bytes(largeObject) {
			return c.reuse(0.65, fmt.Sprintf("keep %s as a field of the owner of `%s` and set it anew: the owner is there already", p.text(), owner), why), true
		}
	case diagnose.KindMake, diagnose.KindMap, diagnose.KindChan:
		if c.kept() {
			return Proposal{}, false
		}
		if p.Expr != nil && len(p.Expr.Loops) > 0 && p.Expr.Use.Kind == source.UseAssigned && !p.Expr.Use.Field {
			fit := 0.75
			if strings.Contains(why, "which keeps it") {
				fit = 0.55
			}
			return c.reuse(fit, fmt.Sprintf("make %s once before the loop of line %d and use it again", p.text(), p.Expr.Loops[0].First), why), true
		}
		return c.reuse(0.35, fmt.Sprintf("keep %s where its owner can use it again", p.text()), why), true
	case diagnose.KindGrowth:
		switch {
		case c.kept() && (d == nil || !d.Field):
			return Proposal{}, false
		case d != nil && d.Field && !d.Receiver:
			return c.reuse(0.35, fmt.Sprintf("keep the array of `%s` for the next round, if nothing of this one is kept", d.Name), why), true
		case d != nil && d.Field:
			return c.reuse(0.6, fmt.Sprintf("keep the array of `%s` and cut it to length zero instead of starting anew", d.Name), why), true
		case d != nil && d.Local && !c.edge("return"):
			return c.reuse(0.5, fmt.Sprintf("keep the array of `%s` for the next call", d.Name), why), true
		}
		return c.reuse(0.3, "keep the array for the next call", why), true
	case diagnose.KindMapGrowth:
		if d == nil || !d.Local || d.Made == source.MadeElse {
			return Proposal{}, false // nobody here knows who else looks at the map
		}
		return c.reuse(0.4, "clear the map and fill it again instead of making a new one", why), true
	}
	return Proposal{}, false
}

// owner is the field that the compiler says the value is stored in; "" for
// none.
func (c *Case) owner() string {
	_, rest, ok := strings.Cut(c.escape(), "is stored in `")
	if !ok {
		return ""
	}
	name, _, ok := strings.Cut(rest, "`")
	if !ok || !strings.Contains(name, ".") || strings.ContainsAny(name, "[(") {
		return ""
	}
	return name
}

// reuse is a proposal that takes everything away for the price of a reset.
func (c *Case) reuse(fit float64, text, why string) Proposal {
	p := all(fit, text, why)
	p.Live = 0 // the memory stays
	p.Cost = reuseCost
	return p
}

var poolBuffer = Cure{
	Code:  "pool-buffer",
	Title: "take buffers from a pool by size",
	Why: "Byte buffers of varying size that live for one request are the classic garbage. A pool with size classes hands out one that is large enough " +
		"and takes it back; it wastes little, where one pool for all sizes keeps the largest for everybody.",
	Before: "body, err := io.ReadAll(r)\nif err != nil {\n\treturn err\n}\nreturn json.Unmarshal(body, v)",
	After:  "buf := buffers.Get(size) // pool.Bytes of rt/pool\ndefer buffers.Put(buf)\n",
	Safety: Review,
	Needs:  "element type, block sizes and lifetime",
	Not:    "When the buffer is handed on to someone who may keep it, or is tiny.",
	match:  matchPoolBuffer,
}

func matchPoolBuffer(c *Case, p *Part) (Proposal, bool) {
	if pr, ok := c.fromLibrary(p, "pool-buffer"); ok {
		pr.Cost = poolPair
		return pr, true
	}
	if !c.short() || c.blockSize() < tinyObject {
		return Proposal{}, false
	}
	if p.Library != nil && p.Library.code == "presize-builder" {
		return c.pooled(0.65, fmt.Sprintf("take the buffer behind %s from a pool", shortName(p.Callee)), "")
	}
	bytesOf := p.Expr != nil && p.Expr.Elem == 1
	if p.dest() != nil {
		bytesOf = bytesOf || p.dest().Elem == "byte" || p.dest().Elem == "uint8"
	}
	if p.Callee != "" || !bytesOf {
		return Proposal{}, false
	}
	switch p.Kind {
	case diagnose.KindMake, diagnose.KindGrowth:
		fit := 0.6
		if c.blockSize() >= bigObject {
			fit = 0.85
		}
		text := fmt.Sprintf("take %s from a pool of buffers by size", p.text())
		if spread := sizeSpread(c.Finding.Sizes); spread != "" {
			text += " (" + spread + ")"
		}
		return c.pooled(fit, text, c.escape())
	}
	return Proposal{}, false
}

// sizeSpread says in words how the blocks' sizes spread; "" for one size.
func sizeSpread(sizes []diagnose.SizeCount) string {
	if len(sizes) < 2 {
		return ""
	}
	return fmt.Sprintf("blocks from %s to %s", sizes[0].Size, sizes[len(sizes)-1].Size)
}

// pooled is a proposal that takes everything away for the price of a pool.
func (c *Case) pooled(fit float64, text, why string) (Proposal, bool) {
	p := all(fit, text, why)
	p.Live = 0
	p.Cost = poolPair
	return p, true
}

var poolObject = Cure{
	Code:  "pool-object",
	Title: "keep the objects in a pool",
	Why: "Objects that live for one request and cost much to make – by size, by initialisation, or by what they allocate themselves – can be handed from one request " +
		"to the next. What stays in the pool is not garbage, so cycles become rarer.",
	Before: "zw := gzip.NewWriter(w)\ndefer zw.Close()",
	After:  "zw := writers.Get().(*gzip.Writer)\ndefer writers.Put(zw)\nzw.Reset(w)\ndefer zw.Close()",
	Safety: Review,
	Needs:  "type, size and lifetime of the objects",
	Not:    "For tiny objects a pool costs as much as malloc; objects that someone may keep must not go back.",
	match:  matchPoolObject,
}

func matchPoolObject(c *Case, p *Part) (Proposal, bool) {
	if pr, ok := c.fromLibrary(p, "pool-object"); ok {
		pr.Cost, pr.Live = poolPair, 0
		return pr, true
	}
	if !c.short() || p.Via != "" {
		return Proposal{}, false
	}
	size := c.blockSize()
	why := fmt.Sprintf("%s, %s each", c.amount(p), size)
	switch p.Kind {
	case diagnose.KindNew, diagnose.KindMake, diagnose.KindMap, diagnose.KindChan:
	default:
		return Proposal{}, false
	}
	switch {
	case size >= bigObject:
		return c.pooled(0.85, fmt.Sprintf("keep %s in a pool: an object of %s is worth it", p.text(), size), why)
	case size < tinyObject && c.Finding.Pointers == diagnose.No:
		return Proposal{}, false
	case p.Kind == diagnose.KindNew && !c.edge("return"):
		return c.pooled(0.6, fmt.Sprintf("keep %s in a pool, or inside its owner, and use it again", p.text()), why)
	}
	return c.pooled(0.4, fmt.Sprintf("keep %s in a pool and use it again", p.text()), why)
}

var poolMisuse = Cure{
	Code:  "pool-misuse",
	Title: "make the pool work",
	Why: "A pool whose New allocates most of the time is a detour to the heap: nobody puts back, what is put back is boxed, or collections empty it faster than it is used. " +
		"sync.Pool takes pointers without boxing only, and gives up what two collections did not touch.",
	Before: "b := pool.Get().([]byte)\ndefer pool.Put(b) // boxes the slice header: 24 B",
	After:  "b := pool.Get().(*[]byte)\ndefer pool.Put(b)",
	Safety: Review,
	Needs:  "stacks through sync.Pool",
	Not:    "While the program warms up every Get calls New.",
	match:  matchPoolMisuse,
}

func matchPoolMisuse(c *Case, p *Part) (Proposal, bool) {
	if p.Library != nil && p.Library.function == "sync.(*Pool).Put" || p.Kind == diagnose.KindBoxing && p.Callee == "sync.(*Pool).Put" {
		return all(1, "put a pointer into the pool: a slice or a struct is boxed on each Put", c.amount(p)+" are headers that Put boxes"), true
	}
	if !c.below("sync.(*Pool).Get") {
		return Proposal{}, false
	}
	return all(0.8, "see that every Get has its Put on all ways out: the pool's New makes a new object nearly every time", c.amount(p)+" come from the pool's New"), true
}

// below reports whether the heaviest stack reaches the site through a
// function: the site is a callback of it.
func (c *Case) below(function string) bool {
	if len(c.Finding.Stacks) == 0 {
		return false
	}
	at := false
	for _, f := range c.Finding.Stacks[0].Frames {
		if plainName(f.Function) == plainName(c.Finding.Site.Function) && f.Line == c.Finding.Site.Line {
			at = true
			continue
		}
		if at {
			return plainName(f.Function) == function
		}
	}
	return false
}

var batchArena = Cure{
	Code:  "batch-arena",
	Title: "allocate objects of one lifetime together",
	Why: "Many small objects that are made together and die together can share a few large blocks: a slab of elements, or an arena that is reset as a whole. " +
		"malloc is then a bump of an offset, and the collector sees one object instead of many.",
	Before: "for i := range rows {\n\tnodes = append(nodes, &Node{Row: i})\n}",
	After:  "slab := make([]Node, len(rows))\nfor i := range rows {\n\tslab[i] = Node{Row: i}\n\tnodes = append(nodes, &slab[i])\n}",
	Safety: Review,
	Needs:  "objects per operation, the source's loops, the lifetime",
	Not:    "When one object outlives the others: it keeps the whole block alive.",
	match:  matchBatchArena,
}

// manyObjects is from how many objects an operation on a block for all pays.
const manyObjects = 8

func matchBatchArena(c *Case, p *Part) (Proposal, bool) {
	if p.Via != "" || c.perOp(p) < manyObjects && c.Finding.Cost.ObjectsPerOp.Value > 0 || c.blockSize() > unit.Bytes(largeObject) {
		return Proposal{}, false
	}
	why := fmt.Sprintf("%s, %s each, made by one operation", c.amount(p), c.blockSize())
	// Blocks of a few KiB hold about this many objects each.
	stay := min(1, max(1, float64(c.blockSize()))/float64(bigObject))
	if n := c.perOp(p); n > 0 {
		stay = min(1, max(stay, 1/n))
	}
	pr := Proposal{Why: why, Objects: 1 - stay, Bytes: 0}
	switch p.Kind {
	case diagnose.KindNew:
		pr.Fit, pr.Text = 0.5, fmt.Sprintf("make %s in slabs, or in an arena (rt/arena) that is reset when the operation is done", p.text())
		if c.Finding.Lifetime.Class == diagnose.LifetimeShort {
			// An arena that is reset uses its blocks again: lab/libraries/arena.
			pr.Objects, pr.Bytes = 1-stay*0.1, 0.9
		}
		if p.Expr != nil && len(p.Expr.Loops) > 0 || c.recursive() || c.edge("return") && c.perOp(p) >= 4*manyObjects {
			pr.Fit = 0.8
		}
	case diagnose.KindMake, diagnose.KindVariadic:
		pr.Fit, pr.Text = 0.65, fmt.Sprintf("carve %s out of one allocation for the whole operation", p.text())
		if p.Expr != nil && len(p.Expr.Loops) > 0 {
			pr.Fit = 0.85
		}
	default:
		return Proposal{}, false
	}
	if c.perOp(p) == 0 {
		pr.Fit /= 2
	}
	return pr, true
}

// recursive reports whether the site's function is on the heaviest stack more
// than once, as in a parser of nested things.
func (c *Case) recursive() bool {
	if len(c.Finding.Stacks) == 0 {
		return false
	}
	n := 0
	for _, f := range c.Finding.Stacks[0].Frames {
		if plainName(f.Function) == plainName(c.Finding.Site.Function) {
			n++
		}
	}
	return n > 1
}
