package cycles

import (
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// stream is one process of a log. Several write into one when a command starts
// others, as the go command does, one after the other or at the same time.
type stream struct {
	n    int           // number of its last cycle; 0: it has just begun
	at   time.Duration // when that ended
	live unit.Bytes    // what it left
	base time.Duration // when the process began on the time line
}

// maxStreams bounds how many processes are told apart at a time.
const maxStreams = 16

// stream returns the state of the cycle's process before it, and brings it up
// to date. It is false where nothing is known of the time before: the log
// begins in the middle, or lines are missing.
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

// newBase places a process whose first line has come. The time line begins
// with the first cycle; where the log begins in the middle of a process, at
// that process's own time. Later ones have begun at the earliest when the line
// before was written.
func (t *Tally) newBase(c evidence.Cycle) time.Duration {
	if len(t.streams) == 0 {
		return 0
	}
	last := t.streams[0]
	return max(plus(last.base, last.at)-c.At, 0)
}
