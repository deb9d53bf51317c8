// Package pool keeps memory for reuse: [Bytes] byte slices of all sizes, [Of]
// objects of one type, [Values] values that have no pointer of their own.
//
// # When not to use it
//
// A pool is a promise that nobody uses a buffer after its Put, and the compiler
// cannot check it. Make that promise only for something that a profile shows:
//
//   - not for buffers below about 1 KiB, or made a thousand times a second or less:
//     making them costs little more than the pool;
//   - not when a buffer can live in its owner – a connection, an encoder – and be
//     reused there: that is faster than any pool, and cannot go wrong;
//   - not when it is unclear who is the last user: if a slice of the buffer may have
//     been kept by a callee, leave the buffer to the collector;
//   - not to lower the number of collections of a program with a tiny heap: there,
//     a larger heap (GOGC, GOMEMLIMIT) does that, with no risk;
//   - not for secrets: Put does not clear;
//   - Of: not for objects smaller than a cache line, nor for ones that are dearer to
//     reset than to make.
//
// # Bytes
//
// [Bytes.Get] and [Bytes.Put] are for use anywhere. A goroutine that keeps using a pool
// is given a cache to itself until two collections pass without a Put of it, and then
// pays less than for one use of a [sync.Pool]; up to 8 goroutines have one, or four for
// each P, but 128 at most. All others borrow one for each call, which costs two uses of
// a sync.Pool. [Bytes.Local] lends a cache to one goroutine – a worker, a request – for
// as long as it says.
//
// Goroutines are told apart by the address of what the runtime keeps of them, which
// stays the same when their stacks move; one that starts in the place of another that
// ended takes over its cache. It takes an instruction of assembly, and so is done by the
// gc toolchains of Go 1.25 to 1.27, on amd64 and arm64, and not with the build tag
// heaptrimnoseats. Elsewhere, every call borrows.
//
// Buffers come in classes, four for each doubling from 64 bytes to 32 MiB. What is
// handed out is less than a quarter larger than asked for, 8.6 % on the mean over
// all sizes. Eight a doubling would halve that; but each class would then be used half as
// often and may keep half as much, and a goroutine with 16 buffers of all sizes out would
// pay three to four times as much, for its ways to the shared part. Anything larger than
// 32 MiB is made, and left to the collector by Put.
//
// The pool follows demand: what nobody asked for during two collections is dropped,
// so a burst is given back within three, but for the few buffers of each class in
// caches, which take two or three more, or eight where they lie in a spare cache of a
// pool that is in use. Of a class that stays in use, a cache keeps no more than was got
// through it in the last two cycles that saw a Put of it. A buffer that has to be made
// again after it was dropped is from then on kept in a reserve, which takes 4 MiB at most
// and dwindles when it is not needed. There is nothing to close: a pool that is no longer
// used holds nothing, and can be collected itself.
//
// # Of
//
// There are no pools here for bytes.Buffer, gzip.Writer and their like: an [Of] is one
// in a line, and as fast as what is written by hand around a sync.Pool. What makes it
// right is that Reset lets go of what the object refers to, and Keep of what has grown:
//
//	var buffers = pool.Of[bytes.Buffer]{
//		Reset: (*bytes.Buffer).Reset,
//		Keep:  func(b *bytes.Buffer) bool { return b.Cap() <= 64<<10 },
//	}
//	var writers = pool.Of[bufio.Writer]{
//		Reset: func(w *bufio.Writer) { w.Reset(nil) },
//	}
//
// A json.Encoder cannot be reset: pool the buffer that it writes to.
//
// # Misuse
//
// Without checks, these are harmless: never putting a buffer, putting a shorter
// slice of it, putting a slice from elsewhere, putting the same one, of up to 1 MiB,
// again at once through the same cache. These are not: using a buffer after its Put,
// and putting it twice with other use of the pool or a collection in between; two users
// may then share one buffer. Neither corrupts anything but the content of that buffer: it
// never gets smaller than its users believe, nor is it freed under them.
//
// With the build tag heaptrimcheck, and under the race detector, every Get and Put
// is entered in a ledger with its stack. Found are: a second Put, a write after Put
// (when the buffer is to be handed out again, or by Check), a Put of something that
// is not from the pool, a buffer that was never put (when the collector finds it, and
// the pool is still in use), a [Local] that is used after Release or by two goroutines
// at once. Each is reported with the stacks of both places; see [Misuse]. The checks
// take a lock and are for tests.
package pool
