//go:build unix

// Command whatif judges the forecasts of heaptrim tune from outside: it records
// programs that nobody here wrote once, at GOGC=100, has tune forecast other
// settings from that recording alone, runs the programs with those settings as
// they are, several times each, and sets the two beside each other.
//
// All that is measured is kept as it comes, so that the work can be done in
// pieces: see -for.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "whatif:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	heaptrim string
	work     string
	only     string
	json     string
	window   time.Duration
	budget   time.Duration
	runs     int
	prepare  bool
	second   bool
	asked    bool
	table    bool
	realtime bool
	publish  string
}

func run() error {
	var o options
	flag.StringVar(&o.heaptrim, "heaptrim", "heaptrim", "the tool to judge")
	flag.StringVar(&o.work, "work", "whatif.work", "`folder` for sources, binaries, recordings and runs")
	flag.StringVar(&o.only, "only", "", "comma-separated `names` of programs, or of sets: tuned, held, later, last, fresh, newer, newest; default: all")
	flag.StringVar(&o.json, "json", "", "also write the rows to `file`")
	flag.DurationVar(&o.window, "window", 8*time.Second, "length of a load")
	flag.DurationVar(&o.budget, "for", 0, "begin no recording and no run after this time; 0: until all are there")
	flag.IntVar(&o.runs, "runs", 3, "runs of each setting")
	flag.BoolVar(&o.prepare, "prepare", false, "only fetch and build")
	flag.BoolVar(&o.table, "table", false, "forecast from the recordings that are there and print the table of the runs that are there; run nothing")
	flag.BoolVar(&o.second, "second", false, "with -table: give tune the second recording too, at GOGC=400, and leave that row out")
	flag.BoolVar(&o.asked, "asked", false, "with -table: give tune the second recording of the programs for which it asks for one, and of no other")
	flag.BoolVar(&o.realtime, "realtime", false, "run and record the programs with real-time priority (chrt), and their load without it")
	flag.StringVar(&o.publish, "publish", "", "only publish to the NATS server at this `address` for the window")
	flag.Parse()
	if o.publish != "" {
		return publish(o.publish, o.window)
	}
	var err error
	if o.work, err = filepath.Abs(o.work); err != nil {
		return err
	}
	ps := slices.DeleteFunc(programs(o), func(p program) bool { return !o.wants(p) })
	if o.table {
		return o.printRows(ps)
	}
	for _, p := range ps {
		if err := p.build(o); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if o.prepare {
		return nil
	}
	return o.collect(ps)
}

func (o options) wants(p program) bool {
	only := strings.Split(o.only, ",")
	return o.only == "" || slices.Contains(only, p.name) || slices.Contains(only, string(p.set))
}

// collect makes the recordings and the runs that are missing, as far as the
// budget goes. Those that have fewest runs come first, so that the runs of one
// setting lie as far apart as may be.
func (o options) collect(ps []program) error {
	begin := time.Now()
	over := func() bool { return o.budget > 0 && time.Since(begin) > o.budget }
	for _, p := range ps {
		for _, env := range [][]string{nil, {secondSetting}} {
			if _, err := os.Stat(filepath.Join(o.recording(p, env...), "manifest.json")); err == nil {
				continue
			}
			if over() {
				return nil
			}
			fmt.Fprintln(os.Stderr, p.name, "record", env)
			if err := o.record(p, env...); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	for !over() {
		next, err := o.next(ps)
		if err != nil || next.setting.Text == "" {
			return err
		}
		fmt.Fprintln(os.Stderr, next.program.name, next.setting.Text, next.n+1)
		m, err := o.measure(next.program, next.setting, next.n+1)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", next.program.name, next.setting.Text, err)
		}
		if err := o.keep(next.program, ran{next.setting, m}); err != nil {
			return err
		}
	}
	return nil
}

// printRows prints the table of what is there.
func (o options) printRows(ps []program) error {
	var all []row
	for _, p := range ps {
		rows, err := o.rows(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		all = append(all, rows...)
	}
	if o.json != "" {
		text, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.json, text, 0o644); err != nil {
			return err
		}
	}
	printTable(os.Stdout, all)
	return nil
}
