package pool

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// reserveBytes is what a pool may hold on to across collections, so that the
// largest demand of a class, which recurs only every few cycles, need not be made
// again each time.
const reserveBytes = 4 << 20

// patience is how many cycles the reserve of a class lies untouched before it is
// cut by one buffer.
const patience = 32

// reserve is the part of a depot that the collector does not drop. It grows by
// regret: a class gets one more buffer when it has to make one after the
// collector dropped one.
type reserve struct {
	mu      sync.Mutex
	classes [numClasses]keep
	wanted  int64 // bytes in all classes' wants
	depot   *depot
}

type keep struct {
	have, want atomic.Int32 // have only changes under mu
	regret     int32        // buffers that the collector dropped of late
	idle       int32        // cycles since one was taken
	items      []unsafe.Pointer
}

// wants reports whether give would take a buffer of class k.
func (r *reserve) wants(k uint) bool {
	c := &r.classes[k]
	return c.have.Load() < c.want.Load()
}

// give reports whether the reserve took p, of class k.
func (r *reserve) give(k uint, p unsafe.Pointer) bool {
	if !r.wants(k) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.wants(k) {
		return false
	}
	c := &r.classes[k]
	c.items = append(c.items, p)
	c.have.Add(1)
	return true
}

// take moves buffers of class k to the empty list, and returns how many.
func (r *reserve) take(k uint, list []unsafe.Pointer) int {
	c := &r.classes[k]
	if c.have.Load() == 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c.idle = 0
	if p := r.pop(k); p != nil {
		list[0] = p
		return 1
	}
	return 0
}

func (r *reserve) pop(k uint) unsafe.Pointer {
	c := &r.classes[k]
	last := len(c.items) - 1
	if last < 0 {
		return nil
	}
	p := c.items[last]
	c.items[last] = nil
	c.items = c.items[:last]
	c.have.Add(-1)
	return p
}

// lost notes that the collector dropped n buffers of class k.
func (r *reserve) lost(k uint, n int64) {
	if n <= 0 {
		return
	}
	r.mu.Lock()
	r.classes[k].regret = int32(min(int64(r.classes[k].regret)+n, 64))
	r.mu.Unlock()
}

// missed notes that a buffer of class k had to be made.
func (r *reserve) missed(k uint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.classes[k]
	size := int64(classSize(k))
	if c.regret == 0 || r.wanted+size > reserveBytes || !r.depot.grant(size) {
		return
	}
	c.regret--
	c.idle = 0
	c.want.Add(1)
	r.wanted += size
}

// turn is called after each collection.
func (r *reserve) turn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k := range r.classes {
		c := &r.classes[k]
		c.regret -= (c.regret + 7) / 8
		if c.want.Load() == 0 {
			continue
		}
		c.idle++
		if c.idle < patience {
			continue
		}
		c.idle = 0
		c.want.Add(-1)
		r.wanted -= int64(classSize(uint(k)))
		r.depot.granted.Add(-int64(classSize(uint(k))))
		if c.have.Load() > c.want.Load() {
			r.pop(uint(k))
		}
	}
}
