package hoistclosure

import (
	"sort"
	"time"
)

type tree interface{ Each(func(int)) }

type list []int

func (l list) Each(f func(int)) {
	for _, v := range l {
		f(v)
	}
}

func sum(trees []tree) (total int) {
	for _, t := range trees {
		t.Each(func(n int) { total += n }) // want `the closure is made in each iteration and uses nothing of the iteration`
	}
	return total
}

func timers(n int, done chan bool) {
	for range n {
		time.AfterFunc(time.Second, func() { done <- true }) // want `made in each iteration`
	}
}

// Silent from here on.

func perTrip(trees []tree, sums []int) {
	for i, t := range trees {
		t.Each(func(n int) { sums[i] += n })
	}
}

func nothingCaptured(trees []tree) {
	for _, t := range trees {
		t.Each(func(n int) {})
	}
}

func seenThrough(lists []list) (total int) {
	for _, l := range lists {
		l.Each(func(n int) { total += n })
	}
	return total
}

func sorted(lists [][]string, less func(a, b string) bool) {
	for _, l := range lists {
		sort.Slice(l, func(i, j int) bool { return less(l[i], l[j]) })
	}
}

func once(trees []tree) (total int) {
	for _, t := range trees {
		t.Each(func(n int) { total += n })
		return total
	}
	return 0
}

func started(n int, done chan bool) {
	for range n {
		go func() { done <- true }()
		defer func() { done <- false }()
	}
}

type clock struct{}

func (clock) AfterFunc(d time.Duration, f func()) {}

func shadowed(n int, done chan bool) {
	var time clock
	for range n {
		time.AfterFunc(1, func() { done <- true })
	}
}
