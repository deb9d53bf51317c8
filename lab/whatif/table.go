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
const leastCycles = 2

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

// printTable prints rows and sums in Markdown. A cell is forecast / measured
// and the error; a star says that the interval holds the measured value.
func printTable(w io.Writer, rows []row) {
	qs := quantities()
	fmt.Fprint(w, "| program | setting | cycles |")
	for _, q := range qs {
		fmt.Fprintf(w, " %s |", q.name)
	}
	fmt.Fprintf(w, " assist %% | load |\n|%s\n", strings.Repeat("---|", len(qs)+5))
	errors := make([][]float64, len(qs))
	held, points := make([]int, len(qs)), 0
	refused := 0
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %s | %.0f |", r.Program, r.Forecast.Setting.Text, r.Measured.Cycles)
		if r.Forecast.Refused != "" {
			refused++
			fmt.Fprintf(w, " refused: measured GC %.1f %% |\n", 100*r.Measured.Collector)
			continue
		}
		for i, q := range qs {
			f, m := q.forecast(r.Forecast), q.measured(r.Measured)
			if q.cycles && r.Measured.Cycles < leastCycles || m <= 0 {
				fmt.Fprint(w, " – |")
				continue
			}
			e := f.Value/m - 1
			errors[i] = append(errors[i], e)
			star := ""
			if f.Low <= m && m <= f.High {
				held[i]++
				star = "*"
			}
			if i == 1 && math.Abs(f.Value-m) <= 0.02 {
				points++
			}
			fmt.Fprintf(w, " %.1f / %.1f %+.0f %%%s |", f.Value/q.scale, m/q.scale, 100*e, star)
		}
		fmt.Fprintf(w, " %.1f / %.1f | %.1f |\n", 100*r.Forecast.Assist.Value, 100*r.Measured.Assist, r.Measured.Load)
	}
	fmt.Fprintf(w, "\n| quantity | rows | median | p90 | worst | mean | interval holds | target |\n|%s\n", strings.Repeat("---|", 8))
	for i, q := range qs {
		if len(errors[i]) == 0 {
			continue
		}
		abs := make([]float64, len(errors[i]))
		mean := 0.0
		for k, e := range errors[i] {
			abs[k] = math.Abs(e)
			mean += e / float64(len(abs))
		}
		slices.Sort(abs)
		n := len(abs)
		fmt.Fprintf(w, "| %s | %d | %.1f %% | %.1f %% | %.1f %% | %+.1f %% | %.0f %% | %s |\n", q.name, n, 100*abs[n/2], 100*abs[min(n-1, n*9/10)], 100*abs[n-1], 100*mean,
			100*float64(held[i])/float64(n), q.target)
	}
	if n := len(errors[1]); n > 0 {
		fmt.Fprintf(w, "\nGC share within 2 points: %d of %d rows. Settings refused: %d.\n", points, n, refused)
	}
}
