package main

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

func TestShare(t *testing.T) {
	for _, c := range []struct{ before, fixed, after, want float64 }{
		{10, 4, 4, 1}, {10, 7, 4, 0.5}, {10, 10, 4, 0}, {10, 2, 4, 8.0 / 6}, {4, 4, 4, math.NaN()},
	} {
		if got := share(c.before, c.fixed, c.after); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%g to %g of %g: %g, want %g", c.before, c.fixed, c.after, got, c.want)
		}
	}
}

// TestUndone: a fix reaches the saving in one count, with the other and the time not worse.
func TestUndone(t *testing.T) {
	good := row{Kept: 1, Before: corpus.Amounts{B: 100, Allocs: 10}, Fixed: corpus.Amounts{B: 100, Allocs: 5}, After: corpus.Amounts{B: 50, Allocs: 5},
		Times: [3]float64{100, 100, 90}}
	if !good.undone() {
		t.Error("the saving in allocations is reached")
	}
	traded := good
	if traded.Fixed.B, traded.After.B = 120, 120; !traded.undone() {
		t.Error("people took the same bytes for it")
	}
	for what, change := range map[string]func(*row){
		"a broken test": func(r *row) { r.Broken = []string{"p.TestA"} }, "an error": func(r *row) { r.Error = "x" },
		"no edit kept": func(r *row) { r.Kept = 0 }, "half of the saving": func(r *row) { r.Fixed.Allocs = 8 },
		"more bytes": func(r *row) { r.Fixed.B = 102 }, "slower": func(r *row) { r.Times[1] = 120 },
	} {
		r := good
		change(&r)
		if r.undone() {
			t.Errorf("%s counts as undone", what)
		}
	}
}

// TestShow: errors and broken tests stay in the denominator.
func TestShow(t *testing.T) {
	done := row{Kept: 1, Before: corpus.Amounts{Allocs: 2}, Times: [3]float64{1, 1, 1}}
	var out bytes.Buffer
	show(&out, []row{done, {Error: "x"}, {Kept: 1, Broken: []string{"p.TestA"}}, {Planted: true}})
	for _, want := range []string{"| fixes by people | 3 | 1 (33 %) | 0 | 0 | 1 | 1 |", "| planted, common | 1 | 0 (0 %) | 0 | 1 | 0 | 0 |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// TestDraw: a word draws the same cases, whatever their order.
func TestDraw(t *testing.T) {
	a, b := []corpus.Case{{ID: "a"}, {ID: "b"}, {ID: "c"}}, []corpus.Case{{ID: "c"}, {ID: "a"}, {ID: "b"}}
	if x, y := draw(a, 2, "word"), draw(b, 2, "word"); x[0].ID != y[0].ID || x[1].ID != y[1].ID || len(x) != 2 {
		t.Errorf("%v and %v", x, y)
	}
}
