package cycles

import (
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// stream is one process of a log. Several processes write into one log when a command starts
// others, as the go command does, one after the other or at the same time.
type stream struct {
	n    int           // number of its last cycle; 0: it has just begun
	at   time.Duration // when that ended
	live unit.Bytes    // live heap after it
	base time.Duration // when the process began on the time line
}

// maxStreams bounds the number of processes that are distinguished at a time.
const maxStreams = 16

// stream returns the state of the cycle's process before it, and brings it up to date. It is
// false if nothing is known of the time before: the log begins in the middle, or lines are
// missing.
//
// A cycle belongs to the process that had the number before it, or else to one
// that had a smaller number at an earlier time; the latest to write comes first.
func (t *Tally) stream(c evidence.Cycle) (stream, bool) {
	i := -1
	if c.N > 1 {
		i = slices.IndexFunc(t.streams, func(s stream) bool { return s.n == c.N-1 && s.at <= c.At })
		if i < 0 {
			i = slices.IndexFunc(t.streams, func(s stream) bool { return s.n < c.N && s.at <= c.At })
		}
	}
	var before stream
	known := c.N == 1
	if i >= 0 {
		before = t.streams[i]
		known = before.n == c.N-1
		if !known {
			t.s.Count.Lost += c.N - before.n - 1
		}
		t.streams = slices.Delete(t.streams, i, i+1)
	} else {
		t.s.Count.Processes++
		before.base = t.newBase(c)
	}
	now := stream{n: c.N, at: c.At, live: c.HeapLive, base: before.base}
	t.streams = slices.Insert(t.streams, 0, now)
	if len(t.streams) > maxStreams {
		t.streams = t.streams[:maxStreams]
	}
	return before, known
}

// newBase sets the start of a process on the time line at its first line. The time line
// begins with the first cycle; if the log begins in the middle of a process, at that
// process's own time. Later processes began at the earliest when the previous line was
// written.
func (t *Tally) newBase(c evidence.Cycle) time.Duration {
	if len(t.streams) == 0 {
		return 0
	}
	last := t.streams[0]
	return max(plus(last.base, last.at)-c.At, 0)
}
