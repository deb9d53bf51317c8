//go:build unix

package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/heaptrim/heaptrim/lab/ballast/gateway"
)

// experiment is a load, and the settings to put under it.
type experiment struct {
	live     int64 // MiB
	memory   int64 // MiB that a setting may use
	merge    bool  // see gateway.Service
	workers  int   // 0 is one for each CPU
	phases   []gateway.Phase
	settings []string
	print    func(w io.Writer, e experiment, all []figures) error
}

var experiments = map[string]experiment{
	// Table 4.3 of the comparison that the targets come from: as fast as it goes.
	"room": {
		live: 200, memory: 3072, phases: []gateway.Phase{{Duration: 1500 * time.Millisecond}, {Duration: 10 * time.Second, Measured: true}},
		settings: []string{"gogc=100", "automemlimit", "ballast=2048", "off+limit", "bytedance", "bytedance=2000",
			"heaptrim", "heaptrim-limit", "heaptrim-steer=2560", "heaptrim-classic=2048"},
		print: table,
	},
	// Table 4.2: 10,000 requests a second, with 1 GiB, and with next to nothing.
	"open": openLoop("gogc=100", "gogc=400", "off+limit", "bytedance", "heaptrim", "heaptrim-limit", "automemlimit", "ballast=512"),
	// The same, where memory is short: what the least room costs.
	"short": openLoop("gogc=100", "off+limit@1.2", "off+limit@1.05", "bytedance@1.2", "heaptrim@1.2", "heaptrim@1.05",
		"heaptrim-limit@1.2", "heaptrim-limit@1.05", "heaptrim-mingogc=50@1.2", "heaptrim-mingogc=100@1.2"),
	// Study S1: a gateway, and a storm of 20 times the requests. 400 MiB alive …
	"storm": {
		live: 400, merge: true, workers: 64, phases: storm(20000),
		settings: []string{"gogc=100", "ballast=10240", "heaptrim-classic=10240"},
		print:    study,
	},
	// … and a heap in use of at most 400 MiB under the default, as in the study.
	"storm200": {
		live: 190, merge: true, workers: 64, phases: storm(20000),
		settings: []string{"gogc=100", "ballast=10240", "heaptrim-classic=10240"},
		print:    study,
	},
}

func openLoop(settings ...string) experiment {
	return experiment{
		live: 200, memory: 1024, workers: 16, settings: settings, print: table,
		phases: []gateway.Phase{{Rate: 10000, Duration: 1500 * time.Millisecond}, {Rate: 10000, Duration: 8 * time.Second, Measured: true}},
	}
}

// storm is the base rate, and then 20 times as much from one moment to the next.
func storm(peak float64) []gateway.Phase {
	return []gateway.Phase{{Rate: peak / 20, Duration: 3 * time.Second}, {Rate: peak, Duration: 15 * time.Second, Measured: true}}
}

// middle returns the median of a figure over the runs with a setting, and their
// number.
func middle(all []figures, setting string, figure func(figures) float64) (float64, int) {
	var v []float64
	for _, f := range all {
		if f.Setting == setting {
			v = append(v, figure(f))
		}
	}
	if len(v) == 0 {
		return 0, 0
	}
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2, len(v)
}

// column is a figure in a table.
type column struct {
	title  string
	format string
	of     func(figures) float64
}

var columns = []column{
	{"req/s", "%.0f", func(f figures) float64 { return f.Served }},
	{"of the offered", "%.3f", func(f figures) float64 { return f.Served / f.Offered }},
	{"GC/s", "%.2f", func(f figures) float64 { return f.Cycles }},
	{"GC CPU %", "%.1f", func(f figures) float64 { return 100 * f.GC }},
	{"of it idle", "%.1f", func(f figures) float64 { return 100 * f.Idle }},
	{"assist %", "%.1f", func(f figures) float64 { return 100 * f.Assist }},
	{"CPU µs/req", "%.1f", func(f figures) float64 { return f.CPU }},
	{"p50 ms", "%.2f", func(f figures) float64 { return f.P50 }},
	{"p99 ms", "%.2f", func(f figures) float64 { return f.P99 }},
	{"p99.9 ms", "%.1f", func(f figures) float64 { return f.P999 }},
	{"peak RSS MiB", "%.0f", func(f figures) float64 { return f.Resident }},
	{"÷ target", "%.2f", func(f figures) float64 {
		if f.Memory == 0 {
			return 0 // there is none
		}
		return f.Resident / f.Memory
	}},
}

// table prints medians, and the ratios to the first setting that the targets are of.
func table(w io.Writer, e experiment, all []figures) error {
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprint(tw, "| setting\t| n")
	for _, c := range columns {
		fmt.Fprintf(tw, "\t| %s", c.title)
	}
	fmt.Fprintln(tw, "\t| req/s ÷ default\t| req/CPU s ÷ default\t| p99 ÷ default\t|")
	rate, _ := middle(all, e.settings[0], columns[0].of)
	cpu, _ := middle(all, e.settings[0], columns[6].of)
	p99, _ := middle(all, e.settings[0], columns[8].of)
	for _, s := range e.settings {
		_, n := middle(all, s, columns[0].of)
		if n == 0 {
			continue
		}
		fmt.Fprintf(tw, "| %s\t| %d", s, n)
		for _, c := range columns {
			v, _ := middle(all, s, c.of)
			fmt.Fprintf(tw, "\t| "+c.format, v)
		}
		r, _ := middle(all, s, columns[0].of)
		p, _ := middle(all, s, columns[8].of)
		c, _ := middle(all, s, columns[6].of)
		fmt.Fprintf(tw, "\t| %.2f\t| %.2f\t| %.2f\t|\n", r/rate, cpu/c, p/p99)
	}
	return tw.Flush()
}

// study prints the changes against the first setting, beside those that were
// published.
func study(w io.Writer, e experiment, all []figures) error {
	if err := table(w, e, all); err != nil {
		return err
	}
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(tw, "| in the storm\t| GC cycles\t| for each byte allocated\t| GC assist\t| process CPU\t| p99\t|")
	fmt.Fprintln(tw, "| the study\t| −99 %\t| –\t| −99 %\t| −30 %\t| −45 %\t|")
	for _, s := range e.settings[1:] {
		fmt.Fprintf(tw, "| %s", s)
		for _, figure := range []func(figures) float64{
			func(f figures) float64 { return f.Cycles },
			// A storm is over before a large heap is full once.
			func(f figures) float64 { return 1 / f.Room },
			func(f figures) float64 { return f.AssistS },
			func(f figures) float64 { return f.CPU },
			func(f figures) float64 { return f.P99 },
		} {
			before, _ := middle(all, e.settings[0], figure)
			after, n := middle(all, s, figure)
			if n == 0 || before == 0 {
				fmt.Fprint(tw, "\t| –")
				continue
			}
			fmt.Fprintf(tw, "\t| %+.1f %%", 100*(after/before-1))
		}
		fmt.Fprintln(tw, "\t|")
	}
	return tw.Flush()
}
