package prove

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// workDiffers says in which ways the two sides did not do the same work, as far
// as the benchmark itself tells: iterations, bytes processed, its own metrics
// that are constant on either side, and what a command printed.
func workDiffers(c *Comparison) []string {
	var out []string
	runs := c.Runs
	var own [2]map[string][]float64
	for i := range own {
		own[i] = map[string][]float64{}
	}
	for _, r := range runs {
		if r.Collector {
			continue
		}
		for u, v := range r.Values {
			if isOwn(u) {
				own[r.Side][u] = append(own[r.Side][u], v)
			}
		}
	}
	if d := bytesDiffer(c); d != "" {
		out = append(out, d)
	}
	for _, u := range slices.Sorted(keysOf(own[0], own[1])) {
		a, b := own[0][u], own[1][u]
		switch {
		case u == unitPerSec:
			if len(a) > 0 != (len(b) > 0) && len(runs) > 1 {
				out = append(out, fmt.Sprintf("only %s sets the bytes that an operation processes", c.letter(len(a) == 0)))
			}
		case len(a) == 0 || len(b) == 0:
			if sidesSeen(runs) == 3 {
				out = append(out, fmt.Sprintf("only %s reports %s", c.letter(len(a) == 0), u))
			}
		case !timed(u) && constant(a) && constant(b) && a[0] != b[0]:
			out = append(out, fmt.Sprintf("%v %s in A, %v in %s", a[0], u, b[0], c.letter(true)))
		}
	}
	if d := outputDiffers(runs); d != "" {
		out = append(out, d)
	}
	return out
}

// letter is the name of the first side, or of the second.
func (c *Comparison) letter(second bool) string {
	if second {
		return Letter(max(c.Side, 1))
	}
	return Letter(0)
}

func sidesSeen(runs []Sample) int {
	seen := 0
	for _, r := range runs {
		if !r.Collector {
			seen |= 1 << r.Side
		}
	}
	return seen
}

// isOwn tells a benchmark's own metric from those that every run has.
func isOwn(u string) bool {
	return !slices.ContainsFunc(metrics(), func(m Metric) bool { return m.Unit == u })
}

// timed tells units that measure time, which are never the same twice but by
// rounding.
func timed(u string) bool {
	for _, word := range []string{"ns", "us", "µs", "ms", "sec", "s"} {
		if u == word || strings.HasPrefix(u, word+"/") || strings.HasSuffix(u, "-"+word) || strings.HasSuffix(u, "/"+word) || strings.Contains(u, "-"+word+"/") {
			return true
		}
	}
	return false
}

func keysOf(ms ...map[string][]float64) func(yield func(string) bool) {
	seen := map[string]bool{}
	for _, m := range ms {
		for k := range m {
			seen[k] = true
		}
	}
	return func(yield func(string) bool) {
		for k := range seen {
			if !yield(k) {
				return
			}
		}
	}
}

// bytesDiffer finds out from MB/s and ns/op, both rounded, whether the sides
// called SetBytes with different numbers: when no number of bytes agrees with
// all runs of both, while each side agrees with itself.
func bytesDiffer(c *Comparison) string {
	low, high := [2]float64{}, [2]float64{math.Inf(1), math.Inf(1)}
	seen := [2]bool{}
	for _, r := range c.Runs {
		rate, ok := r.Values[unitPerSec]
		ns, timed := r.Values[unitTime]
		if !ok || !timed || r.Collector || ns <= 0 {
			continue
		}
		// package testing prints MB/s with two decimals and ns/op with four digits.
		const rateError, timeError = 0.005, 0.0005
		seen[r.Side] = true
		low[r.Side] = math.Max(low[r.Side], (rate-rateError)*ns*(1-timeError)/1e3)
		high[r.Side] = math.Min(high[r.Side], (rate+rateError)*ns*(1+timeError)/1e3)
	}
	if !seen[0] || !seen[1] || low[0] > high[0] || low[1] > high[1] || c.Iterations == 0 {
		return ""
	}
	if low[0] <= high[1] && low[1] <= high[0] {
		return ""
	}
	return fmt.Sprintf("an operation processes about %.4g bytes in A, %.4g in %s", (low[0]+high[0])/2, (low[1]+high[1])/2, c.letter(true))
}

// outputDiffers compares what a command printed, where that is the same in all
// runs of a side.
func outputDiffers(runs []Sample) string {
	var said [2][]string
	for _, r := range runs {
		if r.Output != "" {
			said[r.Side] = append(said[r.Side], r.Output)
		}
	}
	for _, s := range said {
		slices.Sort(s)
		if len(slices.Compact(slices.Clone(s))) != 1 {
			return ""
		}
	}
	if said[0][0] == said[1][0] {
		return ""
	}
	return "the two sides print different results"
}
