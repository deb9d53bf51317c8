// Package frontier keeps what is ahead of several readers in the order of its time.
package frontier

import (
	"cmp"
	"slices"
)

// Frontier is the next event of each reader, the earliest one first: a binary heap. It keeps readers
// beside their times, which is what it looks at.
type Frontier[R any] []Ahead[R]

// Ahead is a reader with the time of its next event.
type Ahead[R any] struct {
	Time   int64
	Reader R
}

// Add puts a reader in.
func (f *Frontier[R]) Add(time int64, r R) {
	*f = append(*f, Ahead[R]{time, r})
	f.up(len(*f) - 1)
}

// Moved puts reader i, whose next event has another time now, where it belongs.
func (f Frontier[R]) Moved(i int, time int64) {
	f[i].Time = time
	if f.up(i) == i {
		f.down(i)
	}
}

// Remove takes reader i out.
func (f *Frontier[R]) Remove(i int) {
	h := *f
	for i > 0 {
		parent := (i - 1) / 2
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
	last := len(h) - 1
	h[0], h[last] = h[last], Ahead[R]{}
	if *f = h[:last]; last > 0 {
		f.down(0)
	}
}

// Sort puts all readers in order, which leaves a heap one.
func (f Frontier[R]) Sort() {
	slices.SortFunc(f, func(a, b Ahead[R]) int { return cmp.Compare(a.Time, b.Time) })
}

func (f Frontier[R]) up(i int) int {
	for i > 0 {
		parent := (i - 1) / 2
		if f[parent].Time <= f[i].Time {
			break
		}
		f[parent], f[i] = f[i], f[parent]
		i = parent
	}
	return i
}

func (f Frontier[R]) down(i int) {
	moved := f[i]
	for {
		child := 2*i + 1
		if child >= len(f) {
			break
		}
		if child+1 < len(f) && f[child+1].Time < f[child].Time {
			child++
		}
		if f[child].Time >= moved.Time {
			break
		}
		f[i] = f[child]
		i = child
	}
	f[i] = moved
}
