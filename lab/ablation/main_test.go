package main

import (
	"strings"
	"testing"
)

// TestChange holds the sign and the interval of a row that matters, and of one that does not.
func TestChange(t *testing.T) {
	var programs []program
	for _, name := range []string{"a", "b", "c", "d"} {
		p := program{name: name, measured: interval{20, 19, 21}}
		for i := range 6 {
			near := 20 + 0.1*float64(i)
			p.predicted = append(p.predicted, []float64{near, near + 8, near})
		}
		programs = append(programs, p)
	}
	if value, low, high := change(programs, 1); value < 7 || low < 5 || high > 9 {
		t.Errorf("without a row that matters: %v, %v to %v", value, low, high)
	}
	if value, low, high := change(programs, 2); value != 0 || low != 0 || high != 0 {
		t.Errorf("without a row that does not: %v, %v to %v", value, low, high)
	}
	if points, relative := errorOf(programs, 1); points < 8 || points > 9 || relative < 40 || relative > 45 {
		t.Errorf("error %v points, %v %%", points, relative)
	}
}

// TestTable prints a column for each program and a row for each thing left out.
func TestTable(t *testing.T) {
	all := make([]float64, len(rows())+1)
	var b strings.Builder
	table(&b, []program{{name: "only", measured: interval{10, 9, 11}, predicted: [][]float64{all}}})
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if want := 2 + 1 + len(rows()) + 3; len(lines) != want {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), want, b.String())
	}
	for _, l := range lines {
		if strings.Count(l, "|") != 7 {
			t.Errorf("not six cells: %s", l)
		}
	}
}
