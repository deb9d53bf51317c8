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
	old      bool  // see gateway.Service.Age
	workers  int   // 0 is one for each CPU
	phases   []gateway.Phase
	settings []string
	print    func(w io.Writer, e experiment, all []figures) error
	// sockets: see gateway.Load.
	sockets bool
	// contained experiments have each process in a cgroup with a limit of its own, which
	// needs root.
	contained bool
}

var experiments = map[string]experiment{
	// Table 4.3 of the comparison that the targets come from: as fast as it goes.
	"room": {
		live: 200, memory: 3072, phases: []gateway.Phase{{Duration: 1500 * time.Millisecond}, {Duration: 10 * time.Second, Measured: true}},
		settings: []string{"gogc=100", "automemlimit", "ballast=2048", "off+limit", "bytedance", "bytedance=2000",
			"heaptrim", "heaptrim-limit", "heaptrim-steer=2560", "heaptrim-classic=2048"},
		print: table,
	},
	// The same for long enough that a collection more or less does not matter, with a heap that is old from the start.
	"roomlong": {
		live: 200, memory: 3072, old: true,
		phases:   []gateway.Phase{{Duration: 1500 * time.Millisecond}, {Duration: 40 * time.Second, Measured: true}},
		settings: []string{"gogc=100", "off+limit", "heaptrim", "heaptrim-limit", "heaptrim-steer=2560"},
		print:    table,
	},
	// Table 4.2: 10,000 requests a second, with 1 GiB, and with next to nothing.
	"open": openLoop(8*time.Second, "gogc=100", "gogc=400", "automemlimit", "ballast=512", "off+limit", "bytedance",
		"heaptrim", "heaptrim-limit", "heaptrim-classic=512"),
	// The same, where memory is short: what the least room costs. The second default is
	// there to see what the figures of two equal settings differ by.
	"short": openLoop(12*time.Second, "gogc=100", "gogc=100.0", "off+limit@1.2", "off+limit@1.05", "bytedance@1.2",
		"heaptrim@1.2", "heaptrim@1.05", "heaptrim-limit@1.05", "heaptrim-mingogc=75@1.05"),
	// The same, with requests that come by sockets.
	"sockets": bySockets(12*time.Second, "gogc=100", "gogc=100.0", "off+limit@1.2", "off+limit@1.05", "bytedance@1.2",
		"heaptrim@1.2", "heaptrim@1.05", "heaptrim-limit@1.05", "heaptrim-mingogc=75@1.05", "heaptrim"),
	// Containers, whose kernel kills a process that takes more.
	"container": contained("gogc=100@3", "automemlimit@3", "off+limit@3", "bytedance@3", "heaptrim@3",
		"gogc=100@1.5", "automemlimit@1.5", "off+limit@1.5", "heaptrim@1.5",
		"gogc=100@1.2", "automemlimit@1.2", "off+limit@1.2", "heaptrim@1.2"),
	// The same around the least that somebody lives with, and for longer: the runtime's CPU limiter, by which
	// those die who use half of all CPU time for collections, takes ten seconds.
	"edge": edge("gogc=100@1.5", "off+limit@1.3", "heaptrim@1.3", "automemlimit@1.2", "off+limit@1.2", "heaptrim@1.2",
		"off+limit@1.15", "heaptrim@1.15", "off+limit@1.1", "heaptrim@1.1"),
	// Study S1: a gateway, and a storm of 20 times the requests. 400 MiB alive, just made …
	"storm": stormOf(400, false, 15*time.Second),
	// … the same after a while …
	"stormold": stormOf(400, true, 15*time.Second),
	// … with the study's "less than 450 MiB of heap in use", under the default …
	"storm200": stormOf(200, true, 15*time.Second),
	// … and with a hundredth of the ballast, for long enough that both collect.
	"stormlong": stormOf(100, true, 80*time.Second),
}

func openLoop(window time.Duration, settings ...string) experiment {
	return experiment{
		live: 200, memory: 1024, workers: 16, settings: settings, print: table,
		phases: []gateway.Phase{{Rate: 10000, Duration: 1500 * time.Millisecond}, {Rate: 10000, Duration: window, Measured: true}},
	}
}

func bySockets(window time.Duration, settings ...string) experiment {
	e := openLoop(window, settings...)
	e.sockets = true
	return e
}

func contained(settings ...string) experiment {
	e := openLoop(8*time.Second, settings...)
	e.contained = true
	return e
}

// edge has an old heap, whose marking costs as much at the end as in the beginning.
func edge(settings ...string) experiment {
	e := openLoop(20*time.Second, settings...)
	e.contained, e.old = true, true
	return e
}

// stormOf is the base rate, and then 20 times as much from one moment to the next.
func stormOf(live int64, old bool, window time.Duration) experiment {
	const peak = 20000
	return experiment{
		live: live, merge: true, old: old, workers: 64,
		phases:   []gateway.Phase{{Rate: peak / 20, Duration: 3 * time.Second}, {Rate: peak, Duration: window, Measured: true}},
		settings: []string{"gogc=100", "ballast=10240", "heaptrim-classic=10240"},
		print:    study,
	}
}

// middle returns the median of a figure over the runs with a setting, and their
// number.
func middle(all []figures, setting string, figure func(figures) float64) (float64, int) {
	var v []float64
	for _, f := range all {
		if f.Setting == setting && !f.Killed {
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
	{"slowest 1 % wait %", "%.0f", func(f figures) float64 { return 100 * (f.Tail.Woken + f.Tail.Queued) }},
	{"live MiB", "%.0f", func(f figures) float64 { return f.Live }},
	{"allocs MB/s", "%.0f", func(f figures) float64 { return f.Allocs }},
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
	rule := "|---\t|---"
	for _, c := range columns {
		fmt.Fprintf(tw, "\t| %s", c.title)
		rule += "\t|---"
	}
	fmt.Fprintf(tw, "\t| req/s ÷ default\t| req/CPU s ÷ default\t| p99 ÷ default\t|\n%s\t|---\t|---\t|---\t|\n", rule)
	for _, s := range e.settings {
		runs, killed := count(all, s)
		if runs == 0 {
			continue
		}
		fmt.Fprintf(tw, "| %s\t| %d", s, runs)
		if killed > 0 {
			fmt.Fprintf(tw, ", %d killed", killed)
		}
		for _, c := range columns {
			v, n := middle(all, s, c.of)
			if n == 0 {
				fmt.Fprint(tw, "\t| –")
				continue
			}
			fmt.Fprintf(tw, "\t| "+c.format, v)
		}
		for _, figure := range []func(figures) float64{
			func(f figures) float64 { return f.Served }, func(f figures) float64 { return 1 / f.CPU }, func(f figures) float64 { return f.P99 },
		} {
			if r, ok := compare(all, s, e.settings[0], figure); ok {
				fmt.Fprintf(tw, "\t| %v", r)
			} else {
				fmt.Fprint(tw, "\t| –")
			}
		}
		fmt.Fprintln(tw, "\t|")
	}
	return tw.Flush()
}

// count returns how many processes had a setting, and how many of them were killed.
func count(all []figures, setting string) (runs, killed int) {
	for _, f := range all {
		if f.Setting == setting {
			runs++
			if f.Killed {
				killed++
			}
		}
	}
	return runs, killed
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
			func(f figures) float64 { return f.CPUS },
			func(f figures) float64 { return f.P99 },
		} {
			r, ok := compare(all, s, e.settings[0], figure)
			if !ok {
				fmt.Fprint(tw, "\t| –")
				continue
			}
			fmt.Fprintf(tw, "\t| %s", r.change())
		}
		fmt.Fprintln(tw, "\t|")
	}
	return tw.Flush()
}
