// Command misuse makes one mistake with an arena, which its arguments name: how
// the memory is taken back, how it is used after that, and the mode. The lines
// that a report must name are marked.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/heaptrim/heaptrim/rt/arena"
)

type node struct {
	next *node
	name string
	n    int
}

// held is what the program keeps beyond the end of its arena.
type held struct {
	a      *arena.Arena
	slab   *arena.Slab[int]
	object *node
	bytes  []byte
	ints   []int
	nodes  []*node
	text   string
	big    []int
	array  *[64]int
}

func hold(a *arena.Arena) *held {
	h := &held{
		a:      a,
		slab:   arena.SlabOf[int](a),
		object: arena.New[node](a),
		bytes:  arena.Clone(a, []byte("some bytes")),
		ints:   arena.MakeSlice[int](a, 5, 20),
		nodes:  arena.MakeSlice[*node](a, 3, 3),
		text:   arena.String(a, []byte("some text")),
		big:    arena.MakeSlice[int](a, 50_000, 50_000),
		array:  arena.New[[64]int](a),
	}
	h.object.name = h.text
	return h
}

func reset(a, _ *arena.Arena) {
	a.Reset() // back:reset
}

func free(a, _ *arena.Arena) {
	a.Free() // back:free
}

func forkReset(_, root *arena.Arena) {
	root.Reset() // back:fork-reset
}

func forkFree(_, root *arena.Arena) {
	root.Free() // back:fork-free
}

var ends = map[string]func(a, root *arena.Arena){
	"reset":      reset,
	"free":       free,
	"fork-reset": forkReset,
	"fork-free":  forkFree,
}

var uses = map[string]func(h *held){
	"read-field": func(h *held) {
		fmt.Fprint(os.Stderr, h.object.n) // use:read-field
	},
	"write-field": func(h *held) {
		h.object.n = 1 // use:write-field
	},
	"write-pointer": func(h *held) {
		h.object.next = &node{} // use:write-pointer
	},
	"read-slice": func(h *held) {
		sum := 0
		for _, x := range h.ints { // use:read-slice
			sum += x
		}
		fmt.Fprint(os.Stderr, sum)
	},
	"write-big": func(h *held) {
		h.big[49_000] = 1 // use:write-big
	},
	"copy-text": func(h *held) {
		var local [4]byte
		copy(local[:], h.text) // use:copy-text
		fmt.Fprint(os.Stderr, local)
	},
	"print-text": func(h *held) {
		fmt.Fprint(os.Stderr, h.text) // use:print-text
	},
	"copy-array": func(h *held) {
		local := *h.array // use:copy-array
		fmt.Fprint(os.Stderr, local[5])
	},
	"other-goroutine": func(h *held) {
		done := make(chan bool)
		go func() {
			h.nodes[1] = nil // use:other-goroutine
			close(done)
		}()
		<-done
	},
	// What follows the package sees itself.
	"append": func(h *held) {
		h.ints = arena.Append(h.a, h.ints, 1) // use:append
	},
	"append-slice": func(h *held) {
		h.ints = arena.AppendSlice(h.a, h.ints[:0:0], h.ints) // use:append-slice
	},
	"clone": func(h *held) {
		h.nodes = arena.Clone(h.a, h.nodes) // use:clone
	},
	"string": func(h *held) {
		h.text = arena.String(h.a, h.bytes) // use:string
	},
	"clone-string": func(h *held) {
		h.text = arena.CloneString(h.a, h.text) // use:clone-string
	},
	"slab-append": func(h *held) {
		h.big = h.slab.Append(h.big, 1) // use:slab-append
	},
	"slab-grow": func(h *held) {
		h.ints = h.slab.Grow(h.ints, 100) // use:slab-grow
	},
	"tail": func(h *held) {
		h.big = arena.Append(h.a, h.big[40_000:], 1) // use:tail
	},
	// And these after Free only.
	"new": func(h *held) {
		h.object = arena.New[node](h.a) // use:new
	},
	"make-slice": func(h *held) {
		h.ints = arena.MakeSlice[int](h.a, 3, 3) // use:make-slice
	},
	"slab-new": func(h *held) {
		*h.slab.New() = 1 // use:slab-new
	},
	"reset-freed": func(h *held) {
		h.a.Reset() // use:reset-freed
	},
}

func main() {
	end, use, mode := os.Args[1], os.Args[2], os.Args[3]
	o := arena.Options{Reuse: mode == "reuse"}
	switch end {
	case "leak":
		leakArena(o, use)
	case "concurrent":
		concurrent(o, use)
	default:
		root := arena.Make(o)
		a := root
		if end == "fork-reset" || end == "fork-free" {
			a = root.Fork()
		}
		h := hold(a)
		ends[end](a, root)
		uses[use](h)
		root.Free() // found:free
	}
}

func leakArena(o arena.Options, use string) {
	switch use {
	case "new":
		arena.New[node](arena.Make(o)) // back:leak-new
	case "slab":
		arena.SlabOf[int](arena.Make(o)).New() // back:leak-slab
	case "own-slab":
		arena.MakeSlab[int](o).New() // back:leak-own-slab
	case "reset":
		a := arena.Make(o)
		arena.String(a, []byte("x")) // back:leak-reset
		a.Reset()
	}
	for range 20 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// concurrent uses one arena from two goroutines at once. The first holds it up
// from within, so that the calls overlap in every run.
func concurrent(o arena.Options, use string) {
	var inside, done sync.WaitGroup
	inside.Add(1)
	o.OnMisuse = func(m *arena.Misuse) {
		if m.Kind == arena.UseAfterReset {
			inside.Done()
			time.Sleep(300 * time.Millisecond)
			return
		}
		fmt.Fprintln(os.Stderr, m)
	}
	a := arena.Make(o)
	old := arena.MakeSlice[int](a, 3, 3)
	a.Reset()
	done.Add(1)
	go func() {
		defer done.Done()
		arena.Clone(a, old) // back:concurrent
	}()
	inside.Wait()
	switch use {
	case "new":
		arena.New[node](a) // use:concurrent-new
	case "append":
		arena.Append(a, nil, 1) // use:concurrent-append
	case "reset":
		a.Reset() // use:concurrent-reset
	}
	done.Wait()
	a.Free()
}
