package pool

import (
	"sync"
	"unsafe"
)

// trayBatches is how many exchanges' worth of buffers of a small class a tray
// holds.
const trayBatches = 4

// tray is where a class's buffers change hands: a stack behind a lock, so that
// what was put last, and is still in a processor's cache, is got first. A
// sync.Pool gives another P what was put longest ago. What does not fit on the
// tray, or lies on it unused, goes into the sync.Pool behind it.
type tray struct {
	mu    sync.Mutex
	depth int              // buffers that fit
	items []unsafe.Pointer // of that length, of which n are there; or nil
	n     int
	low   int // the least n since the last collection
}

// trayDepth returns how many buffers of size bytes may lie on a tray: not one
// alone, as the largest class that is cached would have.
func trayDepth(size int, maxBytes int64) int {
	n := maxBytes / cacheShare / int64(size)
	if n < 2 {
		return 0
	}
	return int(min(trayBatches*blockLen, n))
}

// take moves buffers to the empty list, at most as many as it holds, and returns
// how many.
func (t *tray) take(list []unsafe.Pointer) int {
	if t.depth == 0 {
		return 0
	}
	t.mu.Lock()
	n := min(t.n, len(list))
	copy(list, t.items[t.n-n:t.n]) // and left there until turn, or the lines would have to be had for writing
	t.n -= n
	t.low = min(t.low, t.n)
	t.mu.Unlock()
	return n
}

// give takes the last buffers of list, as many as fit, and returns how many.
func (t *tray) give(list []unsafe.Pointer) int {
	if t.depth == 0 {
		return 0
	}
	t.mu.Lock()
	if t.items == nil {
		t.items = make([]unsafe.Pointer, t.depth)
	}
	n := copy(t.items[t.n:], list[max(0, len(list)-(t.depth-t.n)):])
	t.n += n
	t.mu.Unlock()
	return n
}

// turn removes what lay on the tray since the last collection but one.
func (t *tray) turn() []unsafe.Pointer {
	t.mu.Lock()
	defer t.mu.Unlock()
	idle := append([]unsafe.Pointer(nil), t.items[:t.low]...)
	copy(t.items, t.items[t.low:t.n])
	t.n -= t.low
	clear(t.items[t.n:])
	t.low = t.n
	return idle
}

// len returns how many buffers lie on the tray.
func (t *tray) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}
