//go:build unix

// Command whatif judges the forecasts of heaptrim tune from outside: it records
// programs that nobody here wrote once, at GOGC=100, has tune forecast other
// settings from that recording alone, runs the programs with those settings as
// they are, and sets the two beside each other.
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
	prepare  bool
	again    bool
	second   bool
	table    bool
	publish  string
}

func run() error {
	var o options
	flag.StringVar(&o.heaptrim, "heaptrim", "heaptrim", "the tool to judge")
	flag.StringVar(&o.work, "work", "whatif.work", "`folder` for sources, binaries, recordings and runs")
	flag.StringVar(&o.only, "only", "", "comma-separated `names` of programs; default: all")
	flag.StringVar(&o.json, "json", "", "also write the rows to `file`")
	flag.DurationVar(&o.window, "window", 10*time.Second, "length of a load")
	flag.BoolVar(&o.prepare, "prepare", false, "only fetch and build")
	flag.BoolVar(&o.again, "forecast", false, "forecast anew from the recordings that are there; run nothing")
	flag.BoolVar(&o.second, "second", false, "with -forecast: give tune a second recording, at GOGC=400, and leave that row out")
	flag.BoolVar(&o.table, "table", false, "only print the table of the rows that are there")
	flag.StringVar(&o.publish, "publish", "", "only publish to the NATS server at this `address` for the window")
	flag.Parse()
	if o.publish != "" {
		return publish(o.publish, o.window)
	}
	var err error
	if o.work, err = filepath.Abs(o.work); err != nil {
		return err
	}
	var all []row
	for _, p := range programs(o) {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), p.name) {
			continue
		}
		rows, err := o.judge(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		all = append(all, rows...)
	}
	if o.prepare {
		return nil
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

// judge makes the rows of one program, or reads those that are there.
func (o options) judge(p program) ([]row, error) {
	kept := filepath.Join(o.work, p.name+".rows.json")
	if o.table || o.again {
		var rows []row
		text, err := os.ReadFile(kept)
		if os.IsNotExist(err) {
			return nil, nil
		}
		if err == nil {
			err = json.Unmarshal(text, &rows)
		}
		if err != nil || o.table {
			return rows, err
		}
		return o.forecastAgain(p, rows)
	}
	if err := p.build(o); err != nil {
		return nil, err
	}
	if o.prepare {
		return nil, nil
	}
	if err := o.record(p); err != nil {
		return nil, err
	}
	plan, err := o.forecast(p, nil, "")
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, s := range plan.chosen() {
		fmt.Fprintf(os.Stderr, "%s %s\n", p.name, s.Setting.Text)
		m, err := o.measure(p, s.Setting)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Setting.Text, err)
		}
		rows = append(rows, row{Program: p.name, Forecast: s, Measured: m})
	}
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return nil, err
	}
	return rows, os.WriteFile(kept, text, 0o644)
}
