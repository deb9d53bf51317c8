package pool

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"
)

// depot is what the Locals of one Bytes share. Of each class, a few free buffers
// lie on a tray; all others lie in blocks, and the blocks in a sync.Pool: so the
// collector itself drops, within its own pause, what was not asked for during two
// cycles, and what is used stays. A list that a cleanup trims is always a cycle
// late.
type depot struct {
	_        [56]byte // with the word that the allocator puts in front, a cache line
	classes  [numClasses]shelf
	empty    sync.Pool    // of *block
	granted  atomic.Int64 // bytes that the classes and the reserve may hold
	odd      atomic.Uint64
	options  *Bytes
	reserve  reserve
	spares   spares
	seats    seats
	oversize oversize
}

// shelf is the free buffers of one class, and its counts.
type shelf struct {
	// Hardly ever written; a cache line.
	full    sync.Pool // of *block
	size    int       // of a buffer
	depth   uint32    // that a cache's stack has in any case
	deepest uint32    // that it has at most
	batch   int       // buffers in a block

	// Written at every exchange; the second.
	tray tray
	_    [8]byte

	// Written when the tray is full or empty, and at the turns; the rest.
	granted atomic.Int64 // bytes that may lie in full
	young   atomic.Int64 // items put into full since the last collection
	old     atomic.Int64 // items put into it before
	cached  atomic.Int64 // items in Locals, as of their last publishing
	counts  shelfCounts

	before uint64 // gets at the last turn
	quiet  int    // turns without a get
	_      [48]byte
}

// shelfCounts are of all caches, as of their last publishing.
type shelfCounts struct {
	gets   atomic.Uint64
	misses atomic.Uint64
	drops  atomic.Uint64
	twice  atomic.Uint64
}

type oversize struct {
	gets  atomic.Uint64
	bytes atomic.Uint64
	puts  atomic.Uint64
}

const blockLen = (stackLen/2 + 4) &^ 7

// block carries buffers of one class between a Local and the depot.
type block struct {
	n     int
	cycle uint32 // in which it was filled
	s     [blockLen]unsafe.Pointer
}

func newDepot(p *Bytes) *depot {
	d := &depot{options: p}
	d.reserve.depot = d
	for k := range d.classes {
		sh := &d.classes[k]
		sh.size = classSize(uint(k))
		if sh.size <= p.maxSize() {
			sh.depth = uint32(stackDepth(sh.size, p.maxBytes()))
			sh.deepest = uint32(stackDeepest(sh.size, p.maxBytes()))
		}
		sh.batch = batchOf(int(sh.depth))
		sh.tray.depth = trayDepth(sh.size, p.maxBytes())
		if sh.tray.depth > sh.batch {
			sh.tray.depth -= sh.tray.depth % sh.batch
		}
	}
	d.seats.looks = looksToSit
	d.seats.open()
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
	atomic.AddUint32(&d.seats.cycle, 1)
	var busy [numClasses]bool
	for k := range d.classes {
		sh := &d.classes[k]
		gets := sh.counts.gets.Load()
		sh.quiet++
		if gets != sh.before {
			sh.before, sh.quiet = gets, 0
		}
		busy[k] = sh.quiet < quietTurns
		if idle := sh.tray.turn(); busy[k] {
			d.stow(uint(k), idle)
		}
		if sh.young.Load() == 0 && sh.old.Load() == 0 {
			continue
		}
		gone := sh.old.Swap(sh.young.Swap(0))
		d.reserve.lost(uint(k), gone)
	}
	d.shrink()
	d.reserve.turn()
	cycle := atomic.LoadUint32(&d.seats.cycle)
	d.spares.turn(&busy, cycle)
	d.seats.turn(d.options, cycle)
}

// take moves free buffers of class k to the empty list, and returns how many.
func (d *depot) take(k uint, list []unsafe.Pointer) int {
	sh := &d.classes[k]
	if n := sh.tray.take(list); n > 0 {
		return n
	}
	b, _ := sh.full.Get().(*block)
	if b == nil {
		return d.reserve.take(k, list)
	}
	d.account(k, b, -b.n)
	n := copy(list, b.s[:b.n])
	d.recycle(b)
	return n
}

// give puts buffers of class k in the depot. If that is full, they are dropped.
func (d *depot) give(k uint, list []unsafe.Pointer) {
	for len(list) > 0 && d.reserve.wants(k) && d.reserve.give(k, list[0]) {
		list = list[1:]
	}
	list = list[:len(list)-d.classes[k].tray.give(list)]
	if len(list) > 0 {
		d.stow(k, list)
	}
}

// stow puts buffers of class k in blocks.
func (d *depot) stow(k uint, list []unsafe.Pointer) {
	sh := &d.classes[k]
	for len(list) > 0 {
		b := d.block()
		b.n = copy(b.s[:sh.batch], list)
		list = list[b.n:]
		b.cycle = atomic.LoadUint32(&d.seats.cycle)
		d.account(k, b, b.n) // before the look, or many at once would all find the last room
		need := (sh.young.Load()+sh.old.Load())*int64(sh.size) - sh.granted.Load()
		if need > 0 && !d.grow(sh, need) {
			d.account(k, b, -b.n)
			sh.counts.drops.Add(uint64(b.n))
			d.recycle(b)
			continue
		}
		sh.full.Put(b)
	}
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
		if spare := sh.granted.Load() - items*int64(sh.size); spare > 0 {
			sh.granted.Add(-spare)
			d.granted.Add(-spare)
		}
	}
}

func (d *depot) account(k uint, b *block, n int) {
	sh := &d.classes[k]
	if b.cycle == atomic.LoadUint32(&d.seats.cycle) {
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

// refill serves a Get of n bytes for which l has no buffer, or none that was fetched.
//
//go:noinline
func (l *Local) refill(n int) []byte {
	if n < 0 {
		panic("pool: Get of a negative size")
	}
	k := classOf(n)
	d := l.depot
	if k >= numClasses || classSize(k) > d.options.maxSize() {
		return d.large(n)
	}
	st, sh := &l.stacks[k], &d.classes[k]
	if st.n() > stackLen {
		panic(corrupt)
	}
	l.turn()
	st.tally += oneGet
	if st.n() == 0 {
		if st.depth < sh.depth {
			l.deepen(k)
		}
		// For a class that is not cached, one buffer passes through the stack.
		m := d.take(k, st.s[1:1+sh.batch])
		if m == 0 {
			sh.counts.misses.Add(1)
			d.reserve.missed(k)
			return make([]byte, n, int(st.size))
		}
		st.tally += uint64(m)
	}
	st.bringNear()
	p := st.s[st.n()]
	if p == nil {
		panic(corrupt)
	}
	st.s[st.n()] = nil
	st.tally--
	return unsafe.Slice((*byte)(p), int(st.size))[:n]
}

const corrupt = "pool: a Local is corrupt: is it used by two goroutines at once?"

// ahead is how many buffers of a class are fetched at a time. Of a whole batch, the lines
// of the last ones would have left the first-level cache again before they are handed out.
const ahead = 16

// bringNear fetches the uppermost buffers. Who put them may have run on another
// processor, and some of them are in its cache: one after the other, each would be
// waited for when it is written to.
func (st *stack) bringNear() {
	n := st.n()
	st.far = n - min(n, ahead)
	fetch(&st.s[st.far+1], int(n-st.far))
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
	st := &l.stacks[k]
	p := unsafe.Pointer(unsafe.SliceData(b))
	twice := st.s[st.n()] == p // before turn, which may hand it back
	l.turn()
	switch {
	case cap(b) != int(st.size):
		if cap(b) > 0 {
			d.odd.Add(1)
		}
	case twice:
		d.classes[k].counts.twice.Add(1)
	case int(st.size) > d.options.maxSize():
		d.classes[k].counts.drops.Add(1)
	default:
		if st.n() >= st.depth && l.mayDeepen(k) {
			l.deepen(k)
		}
		if st.depth == 0 {
			d.give(k, []unsafe.Pointer{p})
			return
		}
		if st.n() >= st.depth {
			l.spill(k, min(st.depth, uint32(d.classes[k].batch)))
		}
		st.tally++
		st.s[st.n()] = p
	}
}

// spill gives the n uppermost buffers of class k to the depot. These were used
// last: where one goroutine puts what another gets, they are still in the
// processor's cache, and the lower ones of the stack are never touched.
func (l *Local) spill(k uint, n uint32) {
	st := &l.stacks[k]
	l.depot.give(k, st.s[st.n()+1-n:st.n()+1])
	st.drop(n)
}

// drop removes the n uppermost buffers.
func (st *stack) drop(n uint32) {
	clear(st.s[st.n()+1-n : st.n()+1])
	st.tally -= uint64(n)
}

// turn calls turnTo if there was a collection since.
func (l *Local) turn() {
	if cycle := atomic.LoadUint32(&l.depot.seats.cycle); atomic.LoadUint32(&l.cycle) != cycle {
		l.turnTo(cycle)
	}
}

// turnTo hands back what the Gets since the last turn but one cannot have asked for, and
// of the classes that saw none since the last one all. Two may be close together.
func (l *Local) turnTo(cycle uint32) {
	atomic.StoreUint32(&l.cycle, cycle)
	for k := range l.stacks {
		st, c := &l.stacks[k], &l.counts[k]
		used := st.gets() - c.before
		keep := used + uint64(c.last)
		if used == 0 {
			keep = 0
		}
		if n := uint64(st.n()); n > keep {
			l.spill(uint(k), uint32(n-keep))
		}
		if used == 0 {
			l.relax(uint(k))
		}
		c.before, c.last = st.gets(), uint32(min(used, stackLen))
		l.publish(uint(k))
	}
}

// publish adds what l counted for class k to the counts of the pool.
func (l *Local) publish(k uint) {
	st, c, sh := &l.stacks[k], &l.counts[k], &l.depot.classes[k]
	if st.gets() != c.gets {
		sh.counts.gets.Add(st.gets() - c.gets)
		c.gets = st.gets()
	}
	if st.n() != c.n {
		sh.cached.Add(int64(st.n()) - int64(c.n))
		c.n = st.n()
	}
}
