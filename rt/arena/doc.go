// Package arena allocates values that all end together: the objects of a
// request, a parse tree, the working set of a batch. They come from slabs, which
// are ordinary slices of their type, so that one allocation of the runtime
// serves hundreds of values, and so that the garbage collector sees every
// pointer in them. It works with every toolchain from Go 1.25 on, with any
// type, and with pointers to and from the ordinary heap.
//
//	var a arena.Arena
//	defer a.Free()
//	n := arena.New[Node](&a)
//	n.Name = arena.String(&a, name)
//	n.Kids = arena.Append(&a, n.Kids, kid)
//
// A nil *Arena stands for the ordinary heap: code is written once and runs with
// and without an arena.
//
// # What is guaranteed
//
// After Reset or Free, nothing that the arena handed out before may be used. If
// it is used all the same, memory is never corrupted, a value is never taken
// for one of another type, and whatever is reachable stays allocated, in either
// mode, always. The modes differ in what a stale pointer sees:
//
//   - Drop mode, the default: its own old value. Reset and Free forget the
//     slabs, and the collector frees each when nothing points into it any more.
//     A stale pointer behaves as any pointer does; all it costs is that it keeps
//     its whole chunk, of up to 64 KiB or one large slice, and what the values in
//     that chunk point to.
//   - Reuse mode, [Options].Reuse: zero at first, and after further allocations
//     a value of the same type that belongs to somebody else, which a stale
//     pointer can read and write. What it writes after the Reset may also be what
//     a later New or MakeSlice returns instead of zero. Strings are no exception: one that is kept
//     beyond a Reset changes its bytes, and a map that has it as a key loses the
//     entry. Free lets go of the slabs as in drop mode.
//
// Data races are outside these guarantees, as everywhere in Go.
//
// # Checking mode
//
// In builds with the race detector, or with the tag heaptrimcheck, misuse is
// reported with both places, the use and the Reset or Free before it. Reuse mode
// then hands out no memory twice.
//
//   - With -race every read and every write through a stale pointer or slice is
//     found, of any type: the race detector reports it as a data race with a
//     write by a goroutine that was "created at" the Reset or Free. Of the reads
//     of a string it sees only those that copy it, since Go takes strings for
//     immutable.
//   - With heaptrimcheck alone, uses that the package sees are found: allocation
//     from an arena or a slab after Free, and stale slices given to Append,
//     AppendSlice, Grow, Clone and String. Writes are found at the next Reset or
//     Free, also at a second Free, unless they write what is there already (see
//     below). Remembered for that are the last rounds, of up to 4 MiB together.
//   - In both, memory without pointers is filled with 0xDB and other memory is
//     zeroed when it is taken back, so that what is not reported is conspicuous.
//   - Use by two goroutines at once is found when two calls overlap, and with
//     -race always.
//   - An arena that is collected without Free is reported with its first use.
//
// # Goroutines
//
// An arena has one owner at a time. Goroutines that work together on a request
// take a [Arena.Fork] each, which is an arena of its own for all but its end.
//
// # When not to use it
//
//   - The values do not end together, or some outlive the rest: one that is kept
//     keeps its whole chunk. Copy it out (Clone with a nil arena), or use new.
//   - Few values: the first value of a type costs three allocations of the
//     runtime. Under some dozens of values for each Reset or Free, new is faster.
//     An arena that is kept and Reset has that cost once.
//   - Values that the compiler can keep on the stack: new is free there, and
//     an arena is not.
//   - Drop mode, for large slices without pointers: they are allocations of
//     their own in any case.
//   - Values with finalizers: [runtime.SetFinalizer] ends the program for a value that is
//     not the first of its chunk. A [runtime.AddCleanup] runs when nothing points into the
//     whole chunk any more, so in reuse mode not before Free.
//   - The profile does not show allocation or the collector as a cost.
package arena
