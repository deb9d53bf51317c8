package main

import (
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// TestDraw draws the same rows for the same word, others for another, and none that names no cure.
func TestDraw(t *testing.T) {
	order := func(seed string) []string {
		d := draw{seed: seed, most: 4}
		for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
			d.add(corpus.Case{ID: id}, row{First: []said{{Code: "pool-object"}, {Code: "leave-it"}, {Code: "presize-map"}}}, false)
		}
		var out []string
		for _, r := range d.drawn() {
			if r.Rank == 2 {
				t.Errorf("%s: a row without a cure is read", r.Case)
			}
			out = append(out, r.Case+r.Code)
		}
		return out
	}
	one, again, other := order("one"), order("one"), order("other")
	if len(one) != 4 || !slices.Equal(one, again) || slices.Equal(one, other) {
		t.Errorf("drawn %v, %v and %v", one, again, other)
	}
}

// TestWants holds which cases a round judges.
func TestWants(t *testing.T) {
	c := corpus.Case{ID: "x", Module: "example.com/m"}
	part := c.HashedPart()
	for _, f := range []struct {
		o     options
		split string
		want  bool
	}{
		{options{}, "train", true},
		{options{split: "train"}, "validation", false},
		{options{part: part}, "validation", true},
		{options{part: part}, "train", false},
		{options{part: "neither"}, "validation", false},
		{options{only: []string{"y"}}, "train", false},
	} {
		if got := f.o.wants(c, f.split); got != f.want {
			t.Errorf("%+v wants a case of %s: %v", f.o, f.split, got)
		}
	}
}
