package arena

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Checking mode. An arena and its slabs share a watch, which sees every
// allocation, Reset and Free. All of this is dead code in other builds.

// quarantineBytes is how much memory that was reset a watch keeps, to recognise
// slices and strings from it.
const quarantineBytes = 4 << 20

const poisonByte = 0xdb

// watch looks for misuse of one arena or slab.
type watch struct {
	onMisuse func(*Misuse)
	touched  int // written by every use: two owners at once are a data race
	busy     atomic.Pointer[Stack]
	freed    *Stack
	leash    *leash
	past     []round
}

// round is what one Reset or Free took back.
type round struct {
	regions []region
	kind    Kind
	where   Stack
}

// region is memory that was handed out.
type region struct {
	base     unsafe.Pointer
	bytes    int
	pointers bool
	zero     func()
}

func (r region) holds(p unsafe.Pointer) bool {
	return uintptr(p)-uintptr(r.base) < uintptr(r.bytes)
}

// leash is what only a watch points to: when it is collected, so is the arena.
type leash struct {
	cleanup runtime.Cleanup
	_       [4]uintptr // not in a block of tiny objects, which live together
}

// wipe makes later reads conspicuous. Pointers must stay valid, so that memory
// with pointers is zeroed.
func (r region) wipe() {
	if r.pointers {
		r.zero()
		return
	}
	b := unsafe.Slice((*byte)(r.base), r.bytes)
	b[0] = poisonByte
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

func newWatch(onMisuse func(*Misuse)) *watch {
	return &watch{onMisuse: onMisuse}
}

// enter begins a use of the memory that starts at p, or of none if that is nil.
func (w *watch) enter(p unsafe.Pointer) {
	w.touched++
	here := callers()
	if w.leash == nil {
		w.leash = new(leash)
		w.leash.cleanup = runtime.AddCleanup(w.leash, reportLeak, leak{w.onMisuse, here})
	}
	if other := w.busy.Swap(&here); other != nil {
		report(w.onMisuse, &Misuse{ConcurrentUse, here, *other})
	}
	if w.freed != nil {
		report(w.onMisuse, &Misuse{UseAfterFree, here, *w.freed})
	}
	for _, r := range w.past {
		for _, region := range r.regions {
			if p != nil && region.holds(p) {
				report(w.onMisuse, &Misuse{r.kind, here, r.where})
			}
		}
	}
}

func (w *watch) exit() { w.busy.Store(nil) }

// retire ends the life of the regions.
func (w *watch) retire(kind Kind, regions []region) {
	here := callers()
	w.inspect(here)
	poison(regions)
	w.past = append(w.past, round{regions, kind, here})
	sum := 0
	for k := len(w.past) - 1; k >= 0; k-- {
		for _, r := range w.past[k].regions {
			sum += r.bytes
		}
		if sum > quarantineBytes {
			w.past = append([]round(nil), w.past[k+1:]...)
			break
		}
	}
}

// inspect looks for writes to memory that was taken back.
func (w *watch) inspect(here Stack) {
	for _, r := range w.past {
		if damaged(r.regions) {
			poison(r.regions)
			report(w.onMisuse, &Misuse{WriteAfterReset, here, r.where})
		}
	}
}

// free ends the life of the arena. After the first time it only looks for writes.
func (w *watch) free(regions []region) {
	if w.freed != nil {
		w.inspect(callers())
		return
	}
	w.retire(UseAfterFree, regions)
	here := callers()
	w.freed = &here
	if w.leash != nil {
		w.leash.cleanup.Stop()
	}
}

type leak struct {
	onMisuse func(*Misuse)
	first    Stack
}

// reportLeak runs on the goroutine of cleanups, where nobody could recover.
func reportLeak(l leak) {
	m := &Misuse{Kind: Leak, There: l.first}
	if l.onMisuse != nil {
		l.onMisuse(m)
		return
	}
	fmt.Fprintln(os.Stderr, m)
}

func report(onMisuse func(*Misuse), m *Misuse) {
	if onMisuse == nil {
		panic(m)
	}
	onMisuse(m)
}

// watched returns the watch of s, which a zero Slab does not have yet.
func (s *Slab[T]) watched() *watch {
	if s.watch == nil {
		s.watch = newWatch(nil)
	}
	return s.watch
}

func (s *Slab[T]) enter(v []T) {
	s.watched().enter(unsafe.Pointer(unsafe.SliceData(v)))
}

// regions returns the memory that s handed out.
func (s *Slab[T]) regions() []region {
	pointers := hasPointers(reflect.TypeFor[T]())
	var list []region
	add := func(v []T) {
		if len(v) == 0 || sizeOf[T]() == 0 {
			return
		}
		list = append(list, region{unsafe.Pointer(unsafe.SliceData(v)), len(v) * sizeOf[T](), pointers, func() { clear(v) }})
	}
	for _, c := range s.chunks {
		add(c)
	}
	for _, b := range s.bigs {
		add(b)
	}
	return list
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	}
	return t.Kind() > reflect.Complex128 // the kinds above are made of pointers
}

func (a *Arena) watched() *watch {
	if a.watch == nil {
		a.watch = newWatch(a.onMisuse)
	}
	return a.watch
}

func (a *Arena) regions() []region {
	var list []region
	for _, s := range a.slabs {
		list = append(list, s.regions()...)
	}
	return list
}
