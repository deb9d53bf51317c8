package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// print writes the table of one benchmark, for each number of processors.
func (s *samples) print(w io.Writer, group string) {
	byCPU := make(map[string][]string)
	for _, name := range s.order {
		g, _, _ := strings.Cut(name, "/")
		if g == group {
			byCPU[cpus(name)] = append(byCPU[cpus(name)], name)
		}
	}
	for _, cpu := range slices.Sorted(keys(byCPU)) {
		s.table(w, group, cpu, byCPU[cpu])
	}
}

func keys(m map[string][]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// cpus returns GOMAXPROCS as the testing package appends it to a name, or "1".
func cpus(name string) string {
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			return name[i+1:]
		}
	}
	return "1"
}

// Metrics that are not shown: the number of operations decides them, or they are
// shown in a column of their own.
var hidden = []string{"cpu-ns/op", "ns/op", "MB/s"}

func (s *samples) table(w io.Writer, group, cpu string, names []string) {
	suffix := ""
	if cpu != "1" {
		suffix = "-" + cpu
	}
	const unit = "cpu-ns/op"
	slices.SortStableFunc(names, func(a, b string) int {
		x, _ := s.median(a, unit)
		y, _ := s.median(b, unit)
		return int(x*100 - y*100)
	})
	floor, hasFloor := s.median(group+"/floor"+suffix, unit)
	reference, hasReference := s.median(group+"/mcache"+suffix, unit)
	var units []string
	for _, name := range names {
		for u := range s.values[name] {
			if !slices.Contains(units, u) && !slices.Contains(hidden, u) {
				units = append(units, u)
			}
		}
	}
	slices.Sort(units)
	fmt.Fprintf(w, "\n%s, %s CPU\n\n| pool | n | CPU ns/op | ÷ floor | over | over ÷ mcache's | ns/op | %s |\n|---|%s\n",
		group, cpu, strings.Join(units, " | "), strings.Repeat("---|", 6+len(units)))
	for _, name := range names {
		v, timed := s.median(name, unit)
		short := strings.TrimSuffix(strings.TrimPrefix(name, group+"/"), suffix)
		cells := []string{short, strconv.Itoa(len(s.values[name]["ns/op"])), cell(v, timed), cell(v/floor, timed && hasFloor),
			cell(v-floor, timed && hasFloor), cell((v-floor)/(reference-floor), timed && hasFloor && hasReference)}
		clock, ok := s.median(name, "ns/op")
		cells = append(cells, cell(clock, ok && timed))
		for _, u := range units {
			m, ok := s.median(name, u)
			cells = append(cells, cell(m, ok))
		}
		fmt.Fprintln(w, "|", strings.Join(cells, " | "), "|")
	}
}

func cell(v float64, ok bool) string {
	switch {
	case !ok:
		return ""
	case v >= 1000 || v == float64(int(v)):
		return strconv.FormatFloat(v, 'f', 0, 64)
	default:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
}
