package arena_test

import (
	"fmt"
	"strings"
	"sync"

	"github.com/heaptrim/heaptrim/rt/arena"
)

type word struct {
	text  string
	count int
	next  *word
}

// count counts the words of a text. It is written once, and runs with an arena
// and, given nil, without.
func count(a *arena.Arena, text string) *word {
	var list *word
	for field := range strings.FieldsSeq(text) {
		w := list
		for w != nil && w.text != field {
			w = w.next
		}
		if w == nil {
			w = arena.New[word](a)
			w.text = arena.CloneString(a, field)
			w.next, list = list, w
		}
		w.count++
	}
	return list
}

func Example() {
	var a arena.Arena
	defer a.Free()
	for w := count(&a, "to be or not to be"); w != nil; w = w.next {
		fmt.Println(w.text, w.count)
	}
	// Output:
	// not 1
	// or 1
	// be 2
	// to 2
}

// A server keeps an arena for each worker, and resets it after each request.
func ExampleMake() {
	a := arena.Make(arena.Options{Reuse: true})
	defer a.Free()
	for _, request := range []string{"a b a", "c"} {
		fmt.Println(count(a, request).count)
		a.Reset()
	}
	// Output:
	// 1
	// 1
}

// A loop that makes many values of one type saves the look-up of the type.
func ExampleSlabOf() {
	var a arena.Arena
	defer a.Free()
	words := arena.SlabOf[word](&a)
	var list *word
	for range 1000 {
		w := words.New()
		w.next, list = list, w
	}
	n := 0
	for w := list; w != nil; w = w.next {
		n++
	}
	fmt.Println(n)
	// Output: 1000
}

// What outlives the arena is copied out of it, with a nil arena as the target.
func ExampleClone() {
	longest := func(text string) string {
		var a arena.Arena
		defer a.Free()
		var best *word
		for w := count(&a, text); w != nil; w = w.next {
			if best == nil || len(w.text) > len(best.text) {
				best = w
			}
		}
		return arena.CloneString(nil, best.text)
	}
	fmt.Println(longest("to be or perhaps not to be"))
	// Output: perhaps
}

// Goroutines that work on one request take an arena each, which ends with that
// of the request.
func ExampleArena_Fork() {
	var a arena.Arena
	defer a.Free()
	var found [3]*word
	var wait sync.WaitGroup
	for i, text := range []string{"a", "b b", "c c c"} {
		fork := a.Fork()
		wait.Go(func() { found[i] = count(fork, text) })
	}
	wait.Wait()
	for _, w := range found {
		fmt.Println(w.text, w.count)
	}
	// Output:
	// a 1
	// b 2
	// c 3
}

// Append grows the slab's last slice in place.
func ExampleSlab_Append() {
	var s arena.Slab[int]
	defer s.Free()
	var squares []int
	for i := range 10 {
		squares = s.Append(squares, i*i)
	}
	fmt.Println(squares)
	// Output: [0 1 4 9 16 25 36 49 64 81]
}
