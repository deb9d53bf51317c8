package pool

import (
	"sync/atomic"
	"unsafe"
)

func (p *Bytes) checkedGet(n int) []byte {
	if n < 0 {
		panic("pool: Get of a negative size")
	}
	size := n
	if k := classOf(n); p.pooled(k) {
		size = classSize(k)
	}
	x := p.checks.get(size, p.Report, func() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(p.make(n))) })
	return memory(x, size)[:n]
}

func (p *Bytes) checkedPut(b []byte) {
	if cap(b) == 0 {
		return
	}
	b = b[:cap(b)]
	p.checks.put(unsafe.Pointer(unsafe.SliceData(b)), len(b), p.Report, func() bool {
		for i := range b {
			b[i] = poison
		}
		k := classOf(len(b))
		return p.pooled(k) && classSize(k) == len(b)
	})
}

// Check looks through all that lies free in p for writes after Put, reports them,
// and returns how many there are. Outside the checking mode it returns 0. Call it
// at the end of a test.
func (p *Bytes) Check() int {
	return p.checks.check(p.Report)
}

// localCheck is what the checking mode knows of a Local.
type localCheck struct {
	busy     atomic.Bool
	released atomic.Pointer[Stack]
}

// enter notes that l is used, until leave is called.
func (l *Local) enter() (leave func()) {
	report := l.pool.Report
	if at := l.check.released.Load(); at != nil {
		tell(report, &Misuse{Kind: UseAfterRelease, Here: callers(), There: *at})
	}
	if !l.check.busy.CompareAndSwap(false, true) {
		tell(report, &Misuse{Kind: ConcurrentUse, Here: callers()})
		return func() {}
	}
	return func() { l.check.busy.Store(false) }
}

func (l *Local) checkedGet(n int) []byte {
	defer l.enter()()
	if k := localClass(max(n, 1)); k < localClasses && n >= 0 {
		return l.pool.checkedGet(1 << k)[:n]
	}
	return l.pool.checkedGet(n)
}

func (l *Local) checkedPut(b []byte) {
	defer l.enter()()
	l.pool.checkedPut(b)
}

func (l *Local) checkedRelease() {
	if l.check.released.Load() != nil {
		return
	}
	defer l.enter()()
	at := callers()
	l.check.released.CompareAndSwap(nil, &at)
}
