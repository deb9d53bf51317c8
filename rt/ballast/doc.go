// Package ballast sets how much a Go program's heap may grow between two
// collections: by an amount of memory, in a container by the container's, instead
// of by a percentage of what happens to be alive.
//
//	func main() {
//		if _, err := ballast.Set(ballast.Options{}); err != nil { … }
//
// The collector's cost is the price of a cycle times the number of cycles, and
// that number is what is allocated divided by the room above the live heap. With
// GOGC=100 the room is as large as the live heap, however much memory lies idle
// beside it: a service with 100 MiB alive on a host of 64 GiB collects as often as
// if it had 200 MiB. A larger room makes fewer cycles, hence fewer goroutines that
// have to help with marking, hence shorter tails.
//
// # Modes, and what each guarantees
//
// L is the live heap, in bytes, at the end of the last collection.
//
//   - [Auto]: the process stays within the memory limit of its container less
//     Options.Reserve, or within MaxMemory, and uses 94 % of it before it collects.
//     The limit is the tightest of the cgroup and all above it, v1 or v2, less what others
//     have in that cgroup: the kernel for this process, files that live in memory, other
//     processes. All that is looked at again every ten seconds. Outside of a container, and
//     with no MaxMemory: nothing is changed.
//   - [Classic]: the heap grows to 2L + Ballast. The ballast takes no memory: it is
//     at most 2 GiB of address space from which every resident page has been
//     removed, for which huge pages are switched off, and which nobody touches; the
//     rest of a larger one, and all of it where that is not possible (other systems
//     than Linux, 32 bits, no address space left, a GOMEMLIMIT against which it would
//     count), is done by GOGC, to the same effect. The resident memory that the
//     runtime needs for the object is less than 5 MiB. The ballast is never resized.
//     It shows in metrics of the live heap, but not in [Stats].
//   - [Steer]: the heap grows to L + Headroom: the rate of collections does not
//     depend on L. Within 2 % of the heap goal, GOGC stays as it is.
//   - [Limit]: GOGC is off and GOMEMLIMIT is MaxMemory: the runtime itself fits the
//     heap into what stacks and its own tables leave, at every moment.
//
// In all modes the memory of the process is bounded: by MaxMemory, by the container,
// on Linux in Classic and Steer by the machine; all less Reserve but MaxMemory.
// Memory that the runtime does not know of – C, mmap – is taken off on Linux.
// The end of a collection is noticed by a cleanup, and where cleanups are held up by
// a clock that ticks each second. Where the live heap has doubled, the next cycle but one
// has the right goal.
//
// # When memory is short
//
// A heap goal near the live heap is the death spiral: the runtime then collects
// without end, and its own CPU limiter does not stop that. So memory is a target, and the
// room comes first, by these rules:
//
//  1. The room is never less than MinGOGC percent of L. Where the target has no space
//     for that, it is exceeded, and the memory limit set aside with it.
//  2. But if the container, or the machine, would then kill the process, its limit comes
//     first, whatever room this leaves, for a killed program does nothing. The runtime's memory
//     limit is set 1 % below it, and the runtime aims 3 % lower by itself; GOGC, which is
//     set once in a collection only, stays out of its way. No more than that is left unused:
//     the smaller the room, the more is collected, and where that takes more than half of the
//     CPU time that the process uses, for about ten seconds, the runtime lets the heap grow
//     beyond the limit rather than collect more.
//  3. If the collector, without idle marking, takes more than 25 % of the CPU
//     time that the process uses, in two collections in a row, the room is that of
//     GOGC=100, as if nobody had set anything, but still within the limit that kills.
//     This is taken back after a minute, and if that was wrong after two, four … 60, so
//     that there is no oscillation.
//
// So a container is large enough where Stats.GCShare stays below 0.5. Fewer requests do not
// change that share, since they take less of the program's CPU time as well; more memory does,
// or fewer pointers in what lives.
//
// Collections that the program forces do not count, nor a collector that takes less than a
// tenth of one CPU.
//
// # Who wins
//
// GOGC in the environment is never changed, nor a memory limit that is in force when
// Set is called, whoever set it; that limit then bounds all modes. If GOGC or the limit
// are changed by others while a Tuner works – another tuner, the program – it
// yields: it leaves theirs, drops its ballast, says so once to the Logger, and does
// nothing until Stop. A second Set is refused with [ErrActive].
//
// # When not to use it
//
//   - The process shares its container with others that take memory in bursts, or a
//     page cache that matters: Auto sees what they have, every ten seconds, but leaves the
//     Reserve for what they come to want. Give MaxMemory.
//   - A profile shows no cost of the collector, or a share of idle marking only.
//   - Commands that end before they have collected ten times: set GOGC=off.
//   - Memory that grows without end: a larger heap only postpones it.
//   - The program sets GOGC or the memory limit itself, while it runs.
//   - Libraries: the decision is main's.
//   - Most of the process's memory is C's or mapped: it is followed once a second
//     only. Lower MaxMemory instead.
//   - Classic where Steer or Auto would do: it is there for programs that are known
//     to run well with a ballast of a certain size.
package ballast
