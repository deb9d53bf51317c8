package cycles

import (
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Row is a stretch of the time line.
type Row struct {
	At       time.Duration // when it begins
	Cycles   int
	Forced   int
	Mark     time.Duration // concurrent marking
	Pause    time.Duration // the longest stop
	Assist   time.Duration // CPU time
	CPU      time.Duration // all of the collector's CPU time but idle marking
	Live     unit.Bytes    // largest live heap
	HeapPeak unit.Bytes    // largest heap at the end of marking
}

// add counts a cycle into the row that it ended in.
func (r *Row) add(c evidence.Cycle) {
	r.Cycles++
	if c.Forced {
		r.Forced++
	}
	r.Mark = plus(r.Mark, c.Wall.ConcurrentMark)
	r.Pause = max(r.Pause, c.Wall.SweepTermination, c.Wall.MarkTermination)
	r.Assist = plus(r.Assist, c.Used.Assist)
	r.CPU = plus(r.CPU, c.CPU())
	r.Live = max(r.Live, c.HeapLive)
	r.HeapPeak = max(r.HeapPeak, c.HeapEnd)
}

func (r *Row) join(o Row) {
	r.Cycles += o.Cycles
	r.Forced += o.Forced
	r.Mark = plus(r.Mark, o.Mark)
	r.Pause = max(r.Pause, o.Pause)
	r.Assist = plus(r.Assist, o.Assist)
	r.CPU = plus(r.CPU, o.CPU)
	r.Live = max(r.Live, o.Live)
	r.HeapPeak = max(r.HeapPeak, o.HeapPeak)
}

// finest is the width of a row before any are joined.
const finest = time.Millisecond

// timeline keeps at most a given number of rows: when the time exceeds them, pairs of rows
// are joined into one of double width.
type timeline struct {
	rows  []Row
	width time.Duration // 0: empty
}

func (t *timeline) add(at time.Duration, c evidence.Cycle, rows int) {
	if t.width == 0 {
		t.width, t.rows = finest, make([]Row, rows)
	}
	for int64(at/t.width) >= int64(len(t.rows)) {
		t.halve()
	}
	t.rows[at/t.width].add(c)
}

func (t *timeline) halve() {
	n := len(t.rows)
	for i := range n {
		var r Row
		if 2*i < n {
			r = t.rows[2*i]
		}
		if 2*i+1 < n {
			r.join(t.rows[2*i+1])
		}
		t.rows[i] = r
	}
	t.width *= 2
}

// used returns the rows from the first that holds a cycle to the last.
func (t *timeline) used() []Row {
	first, last := -1, -1
	for i := range t.rows {
		t.rows[i].At = time.Duration(i) * t.width
		if t.rows[i].Cycles > 0 {
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return nil
	}
	return append([]Row(nil), t.rows[first:last+1]...)
}
