package pool

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"
)

// depot is what the Locals of one Bytes share. Free buffers lie in it in blocks,
// and the blocks in a sync.Pool for each class: so the collector itself drops,
// within its own pause, what was not asked for during two cycles, and what is used
// stays. A list that a cleanup trims is always a cycle late.
type depot struct {
	classes  [numClasses]shelf
	empty    sync.Pool // of *block
	cycle    atomic.Uint32
	granted  atomic.Int64 // bytes that the classes and the reserve may hold
	odd      atomic.Uint64
	options  *Bytes
	reserve  reserve
	spares   spares
	oversize oversize
}

// shelf is the free buffers of one class, and its counts.
type shelf struct {
	full    sync.Pool    // of *block
	granted atomic.Int64 // bytes that may lie in full
	before  uint64       // gets at the last turn
	quiet   int          // turns without a get
	// From here on written at every exchange: a cache line of their own.
	young  atomic.Int64 // items put in since the last collection
	old    atomic.Int64 // items put in before
	cached atomic.Int64 // items in Locals, as of their last publishing
	gets   atomic.Uint64
	misses atomic.Uint64
	drops  atomic.Uint64
	twice  atomic.Uint64
	_      [8]byte
}

type oversize struct {
	gets  atomic.Uint64
	bytes atomic.Uint64
	puts  atomic.Uint64
}

const blockLen = stackLen / 2

// block carries buffers of one class between a Local and the depot.
type block struct {
	n     int
	cycle uint32 // in which it was filled
	s     [blockLen]unsafe.Pointer
}

func newDepot(p *Bytes) *depot {
	d := &depot{options: p}
	d.reserve.depot = d
	d.watch()
	return d
}

// marker is what a collection finds unreachable. It is no tiny object, which
// might share its memory with a reachable one.
type marker struct{ _ [4]uintptr }

// watch has d.turn called after every collection, for as long as d is in use.
func (d *depot) watch() {
	runtime.AddCleanup(new(marker), collected, weak.Make(d))
}

func collected(w weak.Pointer[depot]) {
	if d := w.Value(); d != nil {
		d.turn()
		d.watch()
	}
}

// quietTurns without a Get, and nobody uses a class any more. One or two do not tell:
// cleanups may run so late that several turns have no Put between them.
const quietTurns = 3

// turn keeps the accounts in step with the collector: old blocks are gone, young
// ones are old.
func (d *depot) turn() {
	d.cycle.Add(1)
	var busy [numClasses]bool
	for k := range d.classes {
		sh := &d.classes[k]
		gets := sh.gets.Load()
		sh.quiet++
		if gets != sh.before {
			sh.before, sh.quiet = gets, 0
		}
		busy[k] = sh.quiet < quietTurns
		if sh.young.Load() == 0 && sh.old.Load() == 0 {
			continue
		}
		gone := sh.old.Swap(sh.young.Swap(0))
		d.reserve.lost(uint(k), gone)
	}
	d.shrink()
	d.reserve.turn()
	d.spares.turn(&busy)
}

// take returns a block of class k, or nil.
func (d *depot) take(k uint) *block {
	sh := &d.classes[k]
	b, _ := sh.full.Get().(*block)
	if b == nil {
		return nil
	}
	d.account(k, b, -b.n)
	return b
}

// give puts a filled block of class k in the depot. If that is full, the buffers
// are dropped.
func (d *depot) give(k uint, b *block) {
	sh := &d.classes[k]
	need := (sh.young.Load()+sh.old.Load()+int64(b.n))*int64(classSize(k)) - sh.granted.Load()
	if need > 0 && !d.grow(sh, need) {
		sh.drops.Add(uint64(b.n))
		d.recycle(b)
		return
	}
	b.cycle = d.cycle.Load()
	d.account(k, b, b.n)
	sh.full.Put(b)
}

// grow lets sh hold need bytes more, if MaxBytes allows. It asks for more than
// that, so as not to have all Ps write to one counter at every exchange.
func (d *depot) grow(sh *shelf, need int64) bool {
	for _, n := range []int64{max(need, d.options.maxBytes()/256), need} {
		if d.grant(n) {
			sh.granted.Add(n)
			return true
		}
	}
	return false
}

func (d *depot) grant(n int64) bool {
	if d.granted.Add(n) > d.options.maxBytes() {
		d.granted.Add(-n)
		return false
	}
	return true
}

// shrink takes back what classes were granted and do not hold any more.
func (d *depot) shrink() {
	for k := range d.classes {
		sh := &d.classes[k]
		items := max(0, sh.young.Load()+sh.old.Load())
		if spare := sh.granted.Load() - items*int64(classSize(uint(k))); spare > 0 {
			sh.granted.Add(-spare)
			d.granted.Add(-spare)
		}
	}
}

func (d *depot) account(k uint, b *block, n int) {
	sh := &d.classes[k]
	if b.cycle == d.cycle.Load() {
		sh.young.Add(int64(n))
	} else {
		sh.old.Add(int64(n))
	}
}

// recycle empties b and keeps it for give.
func (d *depot) recycle(b *block) {
	clear(b.s[:b.n])
	b.n = 0
	d.empty.Put(b)
}

func (d *depot) block() *block {
	if b, _ := d.empty.Get().(*block); b != nil {
		return b
	}
	return new(block)
}

// large serves a request that is above all classes.
//
//go:noinline
func (d *depot) large(n int) []byte {
	d.oversize.gets.Add(1)
	d.oversize.bytes.Add(uint64(n))
	return make([]byte, n)
}

// refill serves a Get of n bytes of class k for which l has no buffer.
//
//go:noinline
func (l *Local) refill(n int, k uint) []byte {
	if n < 0 {
		panic("pool: Get of a negative size")
	}
	d := l.depot
	st := &l.stacks[k]
	if int(st.size) > d.options.maxSize() {
		return d.large(n)
	}
	l.turn()
	st.gets++
	p := l.fetch(k)
	if p == nil {
		d.classes[k].misses.Add(1)
		d.reserve.missed(k)
		return make([]byte, n, int(st.size))
	}
	return unsafe.Slice((*byte)(p), int(st.size))[:n]
}

// fetch takes buffers of class k from the depot, keeps all but one, and returns
// that, or nil.
func (l *Local) fetch(k uint) unsafe.Pointer {
	d := l.depot
	b := d.take(k)
	if b == nil {
		return d.reserve.take(k)
	}
	st := &l.stacks[k]
	st.n = uint32(copy(st.s[1:], b.s[:b.n-1]))
	p := b.s[b.n-1]
	d.recycle(b)
	return p
}

// putSlow is Put for a full stack, another GC cycle, and everything that is wrong.
//
//go:noinline
func (l *Local) putSlow(b []byte) {
	d := l.depot
	k := classOf(cap(b))
	if k >= numClasses {
		d.oversize.puts.Add(1)
		return
	}
	l.turn()
	st := &l.stacks[k]
	p := unsafe.Pointer(unsafe.SliceData(b))
	switch {
	case cap(b) != int(st.size):
		if cap(b) > 0 {
			d.odd.Add(1)
		}
	case st.s[st.n] == p:
		d.classes[k].twice.Add(1)
	case int(st.size) > d.options.maxSize():
		d.classes[k].drops.Add(1)
	case st.depth == 0:
		l.pass(k, p)
	default:
		if st.n >= st.depth {
			l.spill(k, (st.depth+1)/2)
		}
		st.n++
		st.s[st.n] = p
	}
}

// pass gives one buffer straight to the depot.
func (l *Local) pass(k uint, p unsafe.Pointer) {
	if l.depot.reserve.give(k, p) {
		return
	}
	b := l.depot.block()
	b.s[0], b.n = p, 1
	l.depot.give(k, b)
}

// spill gives the n buffers of class k that were longest in l to the depot.
func (l *Local) spill(k uint, n uint32) {
	d := l.depot
	st := &l.stacks[k]
	for n > 0 {
		b := d.block()
		m := min(n, blockLen)
		for i, p := range st.s[1 : 1+m] {
			if d.reserve.give(k, p) {
				continue
			}
			b.s[b.n] = st.s[1+i]
			b.n++
		}
		copy(st.s[1:], st.s[1+m:st.n+1])
		clear(st.s[st.n+1-m : st.n+1])
		st.n -= m
		n -= m
		if b.n > 0 {
			d.give(k, b)
		} else {
			d.empty.Put(b)
		}
	}
}

// turn hands back the classes that saw no Get since the last collection but one.
func (l *Local) turn() {
	cycle := l.depot.cycle.Load()
	if l.cycle == cycle {
		return
	}
	l.cycle = cycle
	for k := range l.stacks {
		st := &l.stacks[k]
		if st.gets == l.counts[k].before && st.n > 0 {
			l.spill(uint(k), st.n)
		}
		l.counts[k].before = st.gets
		l.publish(uint(k))
	}
}

// publish adds what l counted for class k to the counts of the pool.
func (l *Local) publish(k uint) {
	st, c, sh := &l.stacks[k], &l.counts[k], &l.depot.classes[k]
	if st.gets != c.gets {
		sh.gets.Add(st.gets - c.gets)
		c.gets = st.gets
	}
	if st.n != c.n {
		sh.cached.Add(int64(st.n) - int64(c.n))
		c.n = st.n
	}
}
