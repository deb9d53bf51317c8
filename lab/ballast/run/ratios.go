//go:build unix

package main

import (
	"fmt"
	"math"
	"slices"
)

// ratio is a figure with one setting over that with another: the median of the
// rounds, each of which has both, and an interval for it.
type ratio struct {
	median, low, high float64
}

// compare returns the ratio of setting to base, or false if no round has both.
func compare(all []figures, setting, base string, figure func(figures) float64) (ratio, bool) {
	below := map[int]float64{}
	for _, f := range all {
		if f.Setting == base && !f.Killed {
			below[f.Round] = figure(f)
		}
	}
	var v []float64
	for _, f := range all {
		if b := below[f.Round]; f.Setting == setting && !f.Killed && b != 0 {
			v = append(v, figure(f)/b)
		}
	}
	if len(v) == 0 {
		return ratio{}, false
	}
	slices.Sort(v)
	k := rank(len(v))
	return ratio{(v[(len(v)-1)/2] + v[len(v)/2]) / 2, v[k], v[len(v)-1-k]}, true
}

// rank returns how many of n sorted values on either side are outside of an interval
// that holds the true median in at least 95 % of cases, whatever their distribution: the
// median is between two ranks unless too many fall on one side of it, like
// coins (sign test). Of five values and fewer not even all are enough; then it is all.
func rank(n int) int {
	likely := math.Pow(0.5, float64(n)) // that k of n coins show heads
	outside := 0.0
	for k := range n / 2 {
		outside += 2 * likely
		if outside > 0.05 {
			return max(0, k-1)
		}
		likely *= float64(n-k) / float64(k+1)
	}
	return 0
}

func (r ratio) String() string {
	if r.low == r.high {
		return fmt.Sprintf("%.2f", r.median)
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", r.median, r.low, r.high)
}

// change is the ratio as percents more or less.
func (r ratio) change() string {
	percent := func(v float64) float64 { return 100 * (v - 1) }
	return fmt.Sprintf("%+.1f %% (%+.1f to %+.1f)", percent(r.median), percent(r.low), percent(r.high))
}
