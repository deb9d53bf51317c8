package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// sample leaves of the planted cases as many as are asked for, 0 for all: drawn by the
// commit's hash, in turns from all mutators. Other cases stay.
func sample(cases []corpus.Case, most int, commit string) []corpus.Case {
	var out, planted []corpus.Case
	for _, c := range cases {
		if c.Planted == nil {
			out = append(out, c)
		} else {
			planted = append(planted, c)
		}
	}
	if most == 0 {
		most = len(planted)
	}
	slices.SortFunc(planted, func(a, b corpus.Case) int { return strings.Compare(a.Lot(commit), b.Lot(commit)) })
	turns, turn := map[string]int{}, map[string]int{}
	for _, c := range planted {
		turn[c.ID] = turns[c.Planted.Mutator]
		turns[c.Planted.Mutator]++
	}
	slices.SortStableFunc(planted, func(a, b corpus.Case) int { return cmp.Compare(turn[a.ID], turn[b.ID]) })
	return append(out, planted[:min(most, len(planted))]...)
}
