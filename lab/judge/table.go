package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// table prints how many edits of each kind were rejected, and by what. Right ones, and those that change
// nothing that a caller can see, are not among all.
func table(w io.Writer, rows []row) {
	type count struct{ all, rejected, tests, calls, reached, errors int }
	kinds := map[string]*count{}
	total := &count{}
	for _, r := range rows {
		kind := r.Kind
		if kind == "" {
			kind = "right"
		}
		if kinds[kind] == nil {
			kinds[kind] = &count{}
		}
		all := []*count{kinds[kind], total}
		if r.Kind == "" {
			all = all[:1]
		}
		for _, c := range all {
			c.all++
			switch r.Fault {
			case "":
			case "differs":
				c.calls++
				c.rejected++
			default:
				c.tests++
				c.rejected++
			}
			if r.Reached > 0 {
				c.reached++
			}
			if r.NotAsked != "" {
				c.errors++
			}
		}
	}
	fmt.Fprintf(w, "| kind | edits | rejected | by calls | otherwise | the change ran | not judged |\n|---|--:|--:|--:|--:|--:|--:|\n")
	line := func(name string, c *count) {
		fmt.Fprintf(w, "| %s | %d | %d (%.0f %%) | %d | %d | %d | %d |\n", name, c.all, c.rejected, 100*float64(c.rejected)/float64(max(c.all, 1)),
			c.calls, c.tests, c.reached, c.errors)
	}
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		line(k, kinds[k])
	}
	line("all wrong", total)
}
