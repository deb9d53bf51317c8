package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// outcome is what was seen of one module. It is kept after each run, and nothing is tried again.
type outcome struct {
	Case    string    `json:"case"`
	Module  string    `json:"module"`
	Skipped string    `json:"skipped,omitempty"` // why the module could not be judged
	Ready   bool      `json:"ready"`             // the budgets are made, and the regression was tried
	Lines   int       `json:"lines"`             // of the budget file
	Varying int       `json:"varying"`
	Found   bool      `json:"found"`
	First   string    `json:"first"` // the line that is named first
	Want    []string  `json:"want"`
	Edited  []string  `json:"edited"` // lines of the edit, Want among them
	Runs    int       `json:"runs"`   // without a change
	Clones  int       `json:"clones"` // of them, in a clone
	Busy    int       `json:"busy"`   // of them, beside busy loops
	Alarms  []string  `json:"alarms"` // output of those that failed
	Loads   []float64 `json:"loads"`  // load average of the machine before each of those runs
	Init    float64   `json:"init_s"`
	Within  float64   `json:"within_s"` // guard, when nothing grew
	Grown   float64   `json:"grown_s"`  // guard, with the regression
}

// named reports whether the planted line is named first.
func (o outcome) named() bool { return slices.Contains(o.Want, o.First) }

func (o outcome) line() string {
	if o.Skipped != "" {
		first, _, _ := strings.Cut(o.Skipped, "\n")
		return "skipped: " + first
	}
	return fmt.Sprintf("lines %3d varying %2d  found %-5v first %-5v %s  runs %2d alarms %d  init %.0fs within %.0fs grown %.0fs",
		o.Lines, o.Varying, o.Found, o.named(), o.First, o.Runs, len(o.Alarms), o.Init, o.Within, o.Grown)
}

// summary adds the modules up.
func summary(all []outcome) {
	found, named, other, runs, clones, busy, alarms := 0, 0, 0, 0, 0, 0, 0
	var loads []float64
	for _, o := range all {
		if o.Found {
			found++
		}
		switch {
		case o.named():
			named++
		case slices.Contains(o.Edited, o.First):
			other++
		}
		runs, clones, busy, alarms = runs+o.Runs, clones+o.Clones, busy+o.Busy, alarms+len(o.Alarms)
		loads = append(loads, o.Loads...)
	}
	fmt.Printf("\n%d modules: found %d; named first: the planted line %d, another line of the same edit %d\n", len(all), found, named, other)
	fmt.Printf("%d runs without a change, %d in a clone and %d beside busy loops: %d alarms; below %s of runs with 95 %% confidence\n",
		runs, clones, busy, alarms, upper(runs, alarms))
	if len(loads) > 0 {
		fmt.Printf("load average before a run: %.1f to %.1f, median %.1f\n", slices.Min(loads), slices.Max(loads), middle(loads))
	}
}

// upper is the upper bound of a share, exact (Clopper and Pearson), one-sided.
func upper(n, k int) string {
	if n == 0 || k >= n {
		return "100 %"
	}
	low, high := float64(k)/float64(n), 1.0
	for range 60 {
		p := (low + high) / 2
		if atMost(n, k, p) > 0.05 {
			low = p
		} else {
			high = p
		}
	}
	return strconv.FormatFloat(100*high, 'f', 2, 64) + " %"
}

// atMost is the chance of at most k of n at a share p.
func atMost(n, k int, p float64) float64 {
	sum, term := 0.0, 1.0
	for range n {
		term *= 1 - p
	}
	for i := 0; i <= k; i++ {
		sum += term
		term *= float64(n-i) / float64(i+1) * p / (1 - p)
	}
	return sum
}
