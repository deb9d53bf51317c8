package pool

import (
	"hash/crc32"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"
)

// In checking mode every Get and Put goes through a ledger of all that was handed
// out, under a lock. Free memory is reused first in, first out, so that a write
// after Put has time to happen, and is looked through at every Get.

// What the ledger keeps for reuse, at most.
const (
	ledgerItems = 64      // of one size
	ledgerBytes = 8 << 20 // of all
	lookBytes   = 1 << 20 // looked through at one Get
	poison      = byte(0xDB)
)

type state uint8

const (
	out  state = iota // with a user
	free              // in the pool
	gone              // put, and left to the collector
)

// item is one buffer or object.
type item struct {
	addr  uintptr // no pointer: a leak must be collected
	size  int
	state state
	sum   uint32 // of the content when it was put
	got   Stack
	put   Stack
}

// freed is an item that lies in the pool, and its memory.
type freed struct {
	*item
	p unsafe.Pointer
}

// spoilt returns the misuse if f was written to after its Put.
func (f freed) spoilt(at Stack) *Misuse {
	if sum(memory(f.p, f.size)) == f.sum {
		return nil
	}
	return &Misuse{Kind: UseAfterPut, Size: f.size, Here: at, There: f.put, Got: f.got}
}

// ledger knows all that one pool handed out.
type ledger struct {
	mu    sync.Mutex
	items map[uintptr]*item
	free  map[int][]freed // by size, the first put in front
	bytes int
}

// checks is the ledger of a pool, made when first asked for.
type checks struct{ made atomic.Pointer[ledger] }

func (c *checks) ledger() *ledger {
	if l := c.made.Load(); l != nil {
		return l
	}
	c.made.CompareAndSwap(nil, &ledger{items: make(map[uintptr]*item), free: make(map[int][]freed)})
	return c.made.Load()
}

// get returns size bytes that lie free, or what make makes.
func (c *checks) get(size int, report func(*Misuse), make func() unsafe.Pointer) unsafe.Pointer {
	at := callers()
	x, misuse := c.ledger().take(size, at)
	tell(report, misuse)
	if x == nil {
		if x = make(); x != nil {
			c.ledger().add(x, size, at, report)
		}
	}
	return x
}

// put takes back the size bytes at x. If they are a user's, keep prepares them and says
// whether they are reused.
func (c *checks) put(x unsafe.Pointer, size int, report func(*Misuse), keep func() bool) {
	at := callers()
	kept := c.ledger().has(x, size) && keep()
	tell(report, c.ledger().give(x, size, at, kept))
}

// memory returns the n bytes at p.
func memory(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

func sum(b []byte) uint32 { return crc32.ChecksumIEEE(b) }

// take returns what was put longest ago of size bytes, or nil, and a misuse that it
// came across.
func (l *ledger) take(size int, at Stack) (unsafe.Pointer, *Misuse) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.look(size, at)
	list := l.free[size]
	if len(list) == 0 {
		return nil, m
	}
	it := list[0]
	l.free[size] = list[1:]
	l.bytes -= size
	it.state, it.got, it.put = out, at, nil
	return it.p, m
}

// look looks for free memory of size bytes that was written to, and removes it.
func (l *ledger) look(size int, at Stack) *Misuse {
	for i, it := range l.free[size] {
		if i*size > lookBytes {
			break
		}
		if m := it.spoilt(at); m != nil {
			l.free[size] = slices.Delete(l.free[size], i, i+1)
			l.bytes -= size
			it.state = gone
			return m
		}
	}
	return nil
}

// add enters what was made for a user. report is told if it leaks.
func (l *ledger) add(p unsafe.Pointer, size int, at Stack, report func(*Misuse)) {
	it := &item{addr: uintptr(p), size: size, got: at}
	l.mu.Lock()
	l.items[it.addr] = it
	l.mu.Unlock()
	// Weak, lest a pool that nobody has any more be kept by what it holds.
	w := weak.Make(l)
	runtime.AddCleanup((*byte)(p), func(it *item) { tell(report, w.Value().collected(it)) }, it)
}

// collected is called when nothing refers to it any more.
func (l *ledger) collected(it *item) *Misuse {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.items[it.addr] == it { // the address may have a new tenant
		delete(l.items, it.addr)
	}
	if it.state != out {
		return nil
	}
	return &Misuse{Kind: Leak, Size: it.size, There: it.got}
}

// give takes back the size bytes at p. If keep is false they are not reused.
func (l *ledger) give(p unsafe.Pointer, size int, at Stack, keep bool) *Misuse {
	l.mu.Lock()
	defer l.mu.Unlock()
	it := l.items[uintptr(p)]
	switch {
	case it == nil || it.state == out && it.size != size:
		return &Misuse{Kind: Foreign, Size: size, Here: at, There: l.around(uintptr(p))}
	case it.state != out:
		return &Misuse{Kind: DoublePut, Size: size, Here: at, There: it.put, Got: it.got}
	}
	it.put = at
	if !keep {
		it.state = gone
		return nil
	}
	it.state = free
	it.sum = sum(memory(p, size))
	l.free[size] = append(l.free[size], freed{it, p})
	l.bytes += size
	return l.trim(size, at)
}

// trim leaves the longest free of size bytes to the collector, if there are too
// many.
func (l *ledger) trim(size int, at Stack) (m *Misuse) {
	for m == nil && (len(l.free[size]) > ledgerItems || l.bytes > ledgerBytes && len(l.free[size]) > 1) {
		it := l.free[size][0]
		m = it.spoilt(at)
		l.free[size] = l.free[size][1:]
		l.bytes -= size
		it.state = gone
	}
	return m
}

// around returns where the buffer was got that addr points into.
func (l *ledger) around(addr uintptr) Stack {
	for _, it := range l.items {
		if it.addr <= addr && addr < it.addr+uintptr(it.size) {
			return it.got
		}
	}
	return nil
}

// has reports whether the size bytes at p are with a user of this pool.
func (l *ledger) has(p unsafe.Pointer, size int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	it := l.items[uintptr(p)]
	return it != nil && it.state == out && it.size == size
}

// check reports what was written to while it lay free, and returns how much was.
func (c *checks) check(report func(*Misuse)) int {
	l, at := c.ledger(), callers()
	var list []*Misuse
	l.mu.Lock()
	for size, items := range l.free {
		for _, it := range items {
			if m := it.spoilt(at); m != nil {
				list = append(list, m)
				it.sum = sum(memory(it.p, size))
			}
		}
	}
	l.mu.Unlock()
	for _, m := range list {
		tell(report, m)
	}
	return len(list)
}
