//go:build unix

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// leastCycles is how many a row must have measured to have bytes per cycle and
// a share of the collector.
const leastCycles = 3

// quantity is one of those that are compared.
type quantity struct {
	name     string
	forecast func(point) interval
	measured func(measured) float64
	scale    float64
	cycles   bool // needs leastCycles
	target   string
}

func quantities() []quantity {
	const mib = 1 << 20
	return []quantity{
		{"MiB per cycle", func(p point) interval { return p.PerCycle }, func(m measured) float64 { return m.PerCycle }, mib, true, "median ≤ 5 %, p90 ≤ 15 %"},
		{"GC % of CPU", func(p point) interval { return p.Collector }, func(m measured) float64 { return m.Collector }, 0.01, true, "median ≤ 10 %, p90 ≤ 30 %, or within 2 points in 95 %"},
		{"peak heap MiB", func(p point) interval { return p.Peak }, func(m measured) float64 { return m.Peak }, mib, false, "median ≤ 5 %, p90 ≤ 18 %"},
		{"peak RSS MiB", func(p point) interval { return p.RSS }, func(m measured) float64 { return m.RSS }, mib, false, "median ≤ 5 %, p90 ≤ 18 %"},
	}
}

// seen are the runs that measured the quantity: a program that ends soon may be
// gone before its resident set is read.
func (q quantity) seen(runs []measured) []measured {
	return slices.DeleteFunc(slices.Clone(runs), func(m measured) bool { return q.measured(m) <= 0 })
}

// shareColumn is the place of the collector's share among the quantities.
const shareColumn = 1

// truth is what the runs of a row measured.
type truth struct{ median, low, high float64 }

// scatter is half of the range of the runs, as a part of their median.
func (t truth) scatter() float64 { return (t.high - t.low) / 2 / t.median }

func truthOf(runs []measured, of func(measured) float64) truth {
	var v []float64
	for _, m := range runs {
		v = append(v, of(m))
	}
	slices.Sort(v)
	n := len(v)
	return truth{(v[(n-1)/2] + v[n/2]) / 2, v[0], v[n-1]}
}

// column sums up one quantity over rows.
type column struct {
	errors   []float64
	scatters []float64
	held     int // rows whose interval holds the median of the runs
	points   int // rows within two points; of the collector's share only
	among    int // rows whose forecast lies among the runs
}

// join adds the rows of another column of the same quantity.
func (c *column) join(d column) {
	c.errors, c.scatters = append(c.errors, d.errors...), append(c.scatters, d.scatters...)
	c.held, c.points, c.among = c.held+d.held, c.points+d.points, c.among+d.among
}

// printTable prints rows and sums in Markdown.
func printTable(w io.Writer, rows []row) {
	qs := quantities()
	all, left := make([]column, len(qs)), refusals{}
	for _, s := range sets() {
		sums, refused := make([]column, len(qs)), refusals{}
		of := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.Set != s })
		if len(of) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n### %s\n\n| program | setting | runs | cycles |", titles()[s])
		for _, q := range qs {
			fmt.Fprintf(w, " %s |", q.name)
		}
		fmt.Fprintf(w, " assist %% | load |\n|%s\n", strings.Repeat("---|", len(qs)+6))
		for _, r := range of {
			printRow(w, r, sums)
			refused.add(r)
		}
		printSums(w, sums, refused)
		for i := range all {
			all[i].join(sums[i])
		}
		left.join(refused)
	}
	fmt.Fprint(w, "\n### All\n")
	printSums(w, all, left)
}

// refusals counts rows without a forecast.
type refusals struct {
	rows    int
	limiter int // of them, too near to the live heap
	unknown int // of them, not known from the recording
}

func (c *refusals) add(r row) {
	c.rows++
	switch {
	case r.Forecast.Refused == "":
	case strings.Contains(r.Forecast.Refused, "not known"):
		c.unknown++
	default:
		c.limiter++
	}
}

func (c *refusals) join(d refusals) {
	c.rows, c.limiter, c.unknown = c.rows+d.rows, c.limiter+d.limiter, c.unknown+d.unknown
}

// printRow prints a row and adds it to the columns. A cell is forecast / median of the runs, what they differ by, and
// the error; a star says that the interval holds the median.
func printRow(w io.Writer, r row, sums []column) {
	cycles := truthOf(r.Runs, func(m measured) float64 { return m.Cycles })
	fmt.Fprintf(w, "| %s | %s | %d | %.0f |", r.Program, r.Forecast.Setting.Text, len(r.Runs), cycles.median)
	if r.Forecast.Refused != "" {
		gc := truthOf(r.Runs, func(m measured) float64 { return m.Collector })
		reason, _, _ := strings.Cut(r.Forecast.Refused, ":")
		fmt.Fprintf(w, " refused, %s: measured GC %.1f %% |\n", reason, 100*gc.median)
		return
	}
	for i, q := range quantities() {
		f, seen := q.forecast(r.Forecast), q.seen(r.Runs)
		if q.cycles && cycles.low < leastCycles || len(seen) == 0 || f.Value <= 0 {
			fmt.Fprint(w, " – |")
			continue
		}
		t := truthOf(seen, q.measured)
		sums[i].add(i, f, t)
		star := ""
		if f.Low <= t.median && t.median <= f.High {
			star = "*"
		}
		fmt.Fprintf(w, " %.1f / %.1f ±%.0f %+.0f %%%s |", f.Value/q.scale, t.median/q.scale, 100*t.scatter(), 100*(f.Value/t.median-1), star)
	}
	load := 0.0
	for _, m := range r.Runs {
		load = max(load, m.Load, m.After)
	}
	assist := truthOf(r.Runs, func(m measured) float64 { return m.Assist })
	fmt.Fprintf(w, " %.1f / %.1f | %.1f |\n", 100*r.Forecast.Assist.Value, 100*assist.median, load)
}

func (c *column) add(i int, f interval, t truth) {
	c.errors = append(c.errors, f.Value/t.median-1)
	c.scatters = append(c.scatters, t.scatter())
	if f.Low <= t.median && t.median <= f.High {
		c.held++
	}
	if t.low <= f.Value && f.Value <= t.high {
		c.among++
	}
	if i == shareColumn && math.Abs(f.Value-t.median) <= 0.02 {
		c.points++
	}
}

// titles are those of the tables.
func titles() map[set]string {
	return map[set]string{newest: "Newest programs", newer: "Newer programs", fresh: "Fresh programs", last: "Last programs", later: "Later programs", held: "Programs held out", tuned: "Programs that the model was changed by"}
}

func printSums(w io.Writer, sums []column, refused refusals) {
	if len(sums[0].errors) == 0 {
		return
	}
	fmt.Fprintf(w, "\n| quantity | rows | median | p90 | worst | mean | interval holds | runs differ by ± | forecast among the runs | target |\n|%s\n", strings.Repeat("---|", 10))
	for i, q := range quantities() {
		c := sums[i]
		n := len(c.errors)
		if n == 0 {
			continue
		}
		mean := 0.0
		abs := slices.Clone(c.errors)
		for k, e := range c.errors {
			mean += e / float64(n)
			abs[k] = math.Abs(e)
		}
		slices.Sort(abs)
		slices.Sort(c.scatters)
		percent := func(k int) float64 { return 100 * float64(k) / float64(n) }
		fmt.Fprintf(w, "| %s | %d | %.1f %% | %.1f %% | %.1f %% | %+.1f %% | %.0f %% | %.1f %% | %.0f %% | %s |\n", q.name, n,
			100*abs[n/2], 100*abs[min(n-1, n*9/10)], 100*abs[n-1], 100*mean, percent(c.held), 100*c.scatters[n/2], percent(c.among), q.target)
	}
	fmt.Fprintf(w, "\nGC share within 2 points: %d of %d rows. Refused: %d of %d rows (%.0f %%), %d as limiter territory, %d as not known from the recording.\n",
		sums[shareColumn].points, len(sums[shareColumn].errors), refused.limiter+refused.unknown, refused.rows,
		100*float64(refused.limiter+refused.unknown)/float64(refused.rows), refused.limiter, refused.unknown)
}
