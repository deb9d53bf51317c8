package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/corpus/bench"
)

// row is what became of a case.
type row struct {
	ID      string `json:"id"`
	Cure    string `json:"cure"`
	Planted bool   `json:"planted,omitempty"`
	Mutator string `json:"mutator,omitempty"`
	Apart   bool   `json:"apart,omitempty"`

	Failing  bool     `json:"failing,omitempty"` // tests fail without any edit: what follows was found with -skip failing
	Findings int      `json:"findings"`
	NoEdit   int      `json:"no_edit"`
	Tried    []string `json:"tried,omitempty"`    // kinds of edits and what became of each
	AtWaste  []string `json:"at_waste,omitempty"` // of them, what became of those at lines of planted waste
	Kept     int      `json:"kept"`
	Passed   int      `json:"tests_passed"`
	Broken   []string `json:"broken,omitempty"`
	Seconds  float64  `json:"seconds"`
	Error    string   `json:"error,omitempty"`

	Before, Fixed, After corpus.Amounts
	Times                [3]float64 `json:"ns"` // of an operation: before, fixed, after; the least
}

// rounds of the benchmark in each copy, in turns, how many where the fix seems to be slower, and how long each lasts for the time.
const (
	rounds  = 5
	atMost  = 20
	roundOf = 200 * time.Millisecond
)

// measure runs the benchmark in the three copies.
func (r *row) measure(ctx context.Context, c corpus.Case, at string) error {
	var copies []bench.Package
	var counts [3][]corpus.Amounts
	var times [3][]float64
	for _, name := range []string{"before", "fixed", "after"} {
		dir := filepath.Join(at, name)
		p := bench.Package{Dir: dir, Pattern: c.Pattern(), Binary: dir + ".test"}
		if err := p.Build(ctx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		copies = append(copies, p)
	}
	for round := 0; round < rounds || round < atMost && r.slower(); round++ {
		for i, p := range copies {
			got, err := p.Run(ctx, c.Bench)
			if err != nil {
				return err
			}
			for _, a := range got {
				counts[i] = append(counts[i], a)
			}
			t, err := p.Time(ctx, c.Bench, roundOf)
			if err != nil {
				return err
			}
			times[i] = append(times[i], t)
			r.Times[i] = slices.Min(times[i]) // other work only adds
		}
	}
	for i, to := range []*corpus.Amounts{&r.Before, &r.Fixed, &r.After} {
		if len(counts[i]) == 0 {
			return fmt.Errorf("the benchmark of %s printed nothing", copies[i].Dir)
		}
		*to = corpus.Amounts{
			B:      median(counts[i], func(a corpus.Amounts) float64 { return a.B }),
			Allocs: median(counts[i], func(a corpus.Amounts) float64 { return a.Allocs }),
		}
	}
	return nil
}

// slower reports whether the fix costs time: more than a tenth, which these machines differ by.
func (r *row) slower() bool { return r.Times[1] > 1.1*r.Times[0] }

func median[T any](list []T, of func(T) float64) float64 {
	var all []float64
	for _, v := range list {
		all = append(all, of(v))
	}
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}

// reached is the share of the saving that is enough.
const reached = 0.9

// share is the part of the saving by people that a fix reached; NaN where there was none.
func share(before, fixed, after float64) float64 {
	if before <= after {
		return math.NaN()
	}
	return (before - fixed) / (before - after)
}

// undone reports whether the fix reached the saving in allocations or in bytes, with the other no worse than it was or than
// people left it, and the time not worse.
func (r row) undone() bool {
	if r.Error != "" || len(r.Broken) > 0 || r.Kept == 0 {
		return false
	}
	objects := share(r.Before.Allocs, r.Fixed.Allocs, r.After.Allocs)
	space := share(r.Before.B, r.Fixed.B, r.After.B)
	const slack = 1.01
	worse := r.Fixed.Allocs > max(r.Before.Allocs, r.After.Allocs)*slack || r.Fixed.B > max(r.Before.B, r.After.B)*slack || r.slower()
	return (objects >= reached || space >= reached) && !worse
}

func (r row) String() string {
	what := "no edit kept"
	switch {
	case r.Error != "":
		what = "error: " + r.Error
	case len(r.Broken) > 0:
		what = "broken: " + strings.Join(r.Broken, ", ")
	case r.undone():
		what = "undone"
	case r.Kept > 0:
		what = "in part"
	}
	return fmt.Sprintf("%s\t%s\t%s\t%.0f s\tobjects %g %g %g\tbytes %g %g %g\tns %.0f %.0f %.0f\tof %d findings %d have no edit; %s", r.ID, r.Cure, what, r.Seconds,
		r.Before.Allocs, r.Fixed.Allocs, r.After.Allocs, r.Before.B, r.Fixed.B, r.After.B, r.Times[0], r.Times[1], r.Times[2],
		r.Findings, r.NoEdit, strings.Join(r.Tried, ", "))
}

// show prints the scores, by where cases come from.
func show(w io.Writer, rows []row) {
	fmt.Fprintf(w, "| cases | | saving reached | some | none | broken | errors |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for _, group := range []struct {
		name string
		has  func(row) bool
	}{
		{"fixes by people", func(r row) bool { return !r.Planted && !r.Failing }},
		{"fixes by people, tests fail without any edit", func(r row) bool { return !r.Planted && r.Failing }},
		{"planted, common", func(r row) bool { return r.Planted && !r.Apart }},
		{"planted, apart", func(r row) bool { return r.Apart }},
	} {
		var n, whole, some, broken, errs int
		for _, r := range rows {
			if !group.has(r) {
				continue
			}
			n++
			switch {
			case r.Error != "":
				errs++
			case len(r.Broken) > 0:
				broken++
			case r.undone():
				whole++
			case r.Kept > 0:
				some++
			}
		}
		if n > 0 {
			fmt.Fprintf(w, "| %s | %d | %d (%.0f %%) | %d | %d | %d | %d |\n", group.name, n, whole, 100*float64(whole)/float64(n), some, n-whole-some-broken-errs, broken, errs)
		}
	}
	missed(w, rows)
}

// missed prints, of the cases whose saving is not reached, in how many an edit ended in which way, and in how many there was none:
// for all of them anywhere, and for planted ones at the lines of the waste.
func missed(w io.Writer, rows []row) {
	missed := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.Error != "" || r.undone() })
	if len(missed) > 0 {
		fmt.Fprintf(w, "\nOf the %d that are not reached, edits ended as: %s\n", len(missed), endings(missed, func(r row) []string { return r.Tried }))
	}
	planted := slices.DeleteFunc(missed, func(r row) bool { return !r.Planted })
	if len(planted) > 0 {
		fmt.Fprintf(w, "Of the %d planted ones, edits at the waste: %s\n", len(planted), endings(planted, func(r row) []string { return r.AtWaste }))
	}
}

// endings says in how many rows an edit ended in which way.
func endings(rows []row, tried func(row) []string) string {
	by := map[string]int{}
	for _, r := range rows {
		ends := map[string]bool{}
		for _, t := range tried(r) {
			_, end, _ := strings.Cut(t, ": ")
			ends[end] = true
		}
		if len(ends) == 0 {
			ends["no edit"] = true
		}
		for end := range ends {
			by[end]++
		}
	}
	var parts []string
	for _, end := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, fmt.Sprintf("%s in %d", end, by[end]))
	}
	return strings.Join(parts, ", ")
}
