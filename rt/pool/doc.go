// Package pool keeps memory for reuse: [Bytes] byte slices of all sizes, [Of]
// objects of one type, [Values] values that have no pointer of their own.
//
// # When not to use it
//
// A pool is a promise that nobody uses a buffer after its Put, and the compiler
// cannot check it. Make that promise only for something that a profile shows:
//
//   - not for buffers below about 1 KiB, or made a thousand times a second or less;
//   - not when a buffer can live in its owner – a connection, an encoder – and be
//     reused there: that is faster than any pool, and cannot go wrong;
//   - not when a callee may have kept a slice of the buffer: leave it to the collector;
//   - not to lower the number of collections of a program with a tiny heap: a larger
//     heap (GOGC, GOMEMLIMIT) does that, with no risk;
//   - not for secrets: Put does not clear;
//   - Of: not for objects smaller than a cache line, nor for ones that are dearer to
//     reset than to make.
//
// # Bytes
//
// [Bytes.Get] and [Bytes.Put] are for use anywhere, and cost one use of a [sync.Pool]
// each. [Bytes.Local] lends a cache to one goroutine, a worker or a request. It costs half
// as much, and its buffers are a third larger than asked for on the mean.
//
// Buffers come in classes, four for each doubling from 64 bytes to 32 MiB. Their capacity
// is less than a quarter above the requested size, 8.6 % on the mean over all sizes. Larger
// buffers are made, and left to the collector by Put.
//
// The collector frees what nobody uses between two collections: a burst is given back
// within three, whether its goroutines have ended or wait, and whether their Locals were
// released or not. Where goroutines change processors and collections are frequent, free
// buffers can lie where nobody gets them before the collector does; a class that had to
// make large ones again and again is then kept in a reserve that all share. There is
// nothing to close: a pool that is no longer used can be collected itself.
//
// # Of
//
// There are no pools here for bytes.Buffer, gzip.Writer and their like: an [Of] is one
// in a line, and as fast as a sync.Pool written out by hand. Reset must let go of
// everything that the object refers to, and Keep refuse one that has grown too large:
//
//	var buffers = pool.Of[bytes.Buffer]{
//		Reset: (*bytes.Buffer).Reset,
//		Keep:  func(b *bytes.Buffer) bool { return b.Cap() <= 64<<10 },
//	}
//
// A json.Encoder cannot be reset: pool the buffer that it writes to.
//
// # Misuse
//
// Without checks, these are harmless: never putting a buffer, putting a shorter
// slice of it, putting a slice from elsewhere. These are not: using a buffer after its
// Put, and putting it twice; two users may then share one buffer. Neither corrupts
// anything but the content of that buffer: it never gets smaller than its users
// believe, nor is it freed under them.
//
// With the build tag heaptrimcheck, and under the race detector, every Get and Put
// is entered in a ledger with its stack. Found are: a second Put, a write after Put
// (when the buffer is to be handed out again, or by Check), a Put of something that
// is not from the pool, a buffer that was never put (when the collector finds it, and
// the pool is still in use), a [Local] that is used after Release or by two goroutines
// at once. Each is reported with the stacks of both places; see [Misuse]. The checks
// take a lock and are for tests.
package pool
