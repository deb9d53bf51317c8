package arena

import (
	"sync"
)

// Arena hands out values of any type that all end together, at Reset or Free.
//
// The zero value is ready and in drop mode; Make gives one in reuse mode. The
// package comment says what the modes guarantee. An Arena must not be copied
// after first use. It has one owner at a time: it may pass from goroutine to
// goroutine with the usual synchronisation, but two must not use it at once;
// Fork gives goroutines that work together an arena each.
//
// A nil *Arena stands for the ordinary heap: all functions of this package
// accept it and allocate as new, make and append do.
type Arena struct {
	// tab is a perfect hash of the slabs: the type T has its *Slab[T], if it has
	// one, at the type's address times mul shifted right by shift. The type
	// assertion on it decides, so that no type can be taken for another.
	tab          []any
	mul          uint64
	shift        uint8
	near, second [nearSlots]any // where New looks first; see nearSlots

	kind  slabKind
	slabs []slab
	text  Slab[byte]

	forks    forks
	watch    *watch // checking mode: nil until first use
	onMisuse func(*Misuse)
}

// Options says how an arena works. The zero value is drop mode.
type Options struct {
	// Reuse makes Reset keep the memory, zero it and hand it out again.
	Reuse bool
	// OnMisuse is called in checking mode with each misuse that is found, if it
	// is set, on any goroutine. Without it a misuse panics, and a leak is
	// written to standard error.
	OnMisuse func(*Misuse)
}

func (o Options) kind() slabKind {
	if o.Reuse {
		return reusing
	}
	return dropping
}

// slab is what an arena does with all its slabs, whatever their type.
type slab interface {
	reset()
	free()
	held() int64
	typeWord() uint64
	regions() []region
}

// forks are the arenas that Fork made.
type forks struct {
	mu   sync.Mutex
	all  []*Arena
	next int // all[:next] are in use this round
}

// Make returns an arena that works as o says.
func Make(o Options) *Arena {
	a := &Arena{kind: o.kind(), onMisuse: o.OnMisuse}
	a.text.kind = a.kind
	return a
}

// Reset takes back all that was handed out, by a and by its forks, whose users
// must be done. Nothing from before may be used any more; the package comment
// says what happens if it is. The arena is then as good as new.
func (a *Arena) Reset() {
	if a == nil {
		return
	}
	if checking {
		a.watched().enter(nil)
		defer a.watch.exit()
		a.watch.retire(UseAfterReset, a.regions())
	}
	for _, s := range a.slabs {
		s.reset()
	}
	for k, f := range a.forks.all {
		if k < a.forks.next {
			f.Reset()
		} else if checking {
			f.watched().inspect(callers())
		}
	}
	a.forks.next = 0
}

// Free ends the use of the arena and of its forks, and gives their memory to
// the collector. A second Free does nothing.
func (a *Arena) Free() {
	if a == nil {
		return
	}
	if checking {
		a.watched().free(a.regions())
	}
	for _, s := range a.slabs {
		s.free()
	}
	for _, f := range a.forks.all {
		f.Free()
	}
	if !checking { // a second Free looks at their memory, and who forks gets one that is free
		a.forks.all = nil
	}
	a.tab, a.slabs, a.forks.next = nil, nil, 0
	clear(a.near[:])
	clear(a.second[:])
}

// Fork returns an arena for another goroutine, with the mode of a, whose values
// live until the Reset or Free of a. It may be called by several goroutines at
// once, and beside other uses of a, but not beside Reset and Free. A fork need
// not be freed. The fork of a nil arena is nil.
func (a *Arena) Fork() *Arena {
	if a == nil {
		return nil
	}
	a.forks.mu.Lock()
	defer a.forks.mu.Unlock()
	f := &a.forks
	if f.next == len(f.all) {
		f.all = append(f.all, a.newFork())
	}
	f.next++
	return f.all[f.next-1]
}

func (a *Arena) newFork() *Arena {
	return Make(Options{Reuse: a.kind == reusing, OnMisuse: a.onMisuse})
}

// HeldBytes returns the size of the memory that the arena and its forks keep or
// hand out from. Large slices in drop mode, which have memory of their own, are
// not counted.
func (a *Arena) HeldBytes() int64 {
	if a == nil {
		return 0
	}
	var n int64
	for _, s := range a.slabs {
		n += s.held()
	}
	a.forks.mu.Lock()
	defer a.forks.mu.Unlock()
	for _, f := range a.forks.all {
		n += f.HeldBytes()
	}
	return n
}
