// Command corpus asks whether heaptrim prove finds known changes of
// allocations: each case of a list is a module before and after a fix, with a
// benchmark that shows it and the allocations that others measured.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/prove/heaptrim"
)

func main() {
	os.Exit(run())
}

func run() int {
	binary := flag.String("heaptrim", "heaptrim", "the tool to judge")
	list := flag.String("cases", "", "JSON list of cases")
	budget := flag.String("budget", "15s", "for each case")
	only := flag.String("only", "", "IDs of the cases to run, comma-separated; all without it")
	flag.Parse()
	cases, err := corpus.Read(*list)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("| case | allocs/op before → after | called | B/op before → after | called | listed allocs | ns/op |\n|---|--:|---|--:|---|--:|--:|")
	ran, right := 0, 0
	for _, c := range cases {
		if *only != "" && !strings.Contains(","+*only+",", ","+c.ID+",") {
			continue
		}
		ok, err := trial(c, *binary, *budget)
		if err != nil {
			fmt.Printf("| %s | not run: %s |\n", c.ID, firstLine(err))
			continue
		}
		ran++
		if ok {
			right++
		}
	}
	fmt.Printf("\n%d of %d cases: every listed change of allocs/op and B/op is called, and the right way.\n", right, ran)
	return 0
}

// trial proves one case and prints its row.
func trial(c corpus.Case, binary, budget string) (bool, error) {
	tmp, err := os.MkdirTemp("", "corpus-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	before, after, err := c.LayOut(tmp)
	if err != nil {
		return false, err
	}
	env := []string{"GOFLAGS=-mod=mod", "GOWORK=off"}
	p, err := heaptrim.Prove(binary, after, env, "-a", "dir:"+before, "-b", "work", "-bench", c.Bench, "-budget", budget, c.Pattern())
	if err != nil {
		return false, err
	}
	return row(c, p)
}

func row(c corpus.Case, p heaptrim.Proof) (bool, error) {
	if len(p.Comparisons) != 1 {
		return false, fmt.Errorf("%d benchmarks: %v", len(p.Comparisons), p.LeftOut)
	}
	cmp := p.Comparisons[0]
	if cmp.Outcome == "incomparable" {
		return false, errors.New(strings.Join(append(cmp.Differs, cmp.FailedA, cmp.FailedB), " "))
	}
	cells := map[string]heaptrim.Change{}
	for _, ch := range cmp.Changes {
		cells[ch.Unit] = ch
	}
	allocs, bytes, ns := cells["allocs/op"], cells["B/op"], cells["ns/op"]
	if allocs.A == nil || bytes.A == nil || allocs.B == nil || bytes.B == nil {
		return false, errors.New("no allocations were measured")
	}
	fmt.Printf("| %s | %v → %v | %s | %v → %v | %s | %v → %v | %s |\n", c.ID, allocs.A.Value, allocs.B.Value, called(allocs),
		bytes.A.Value, bytes.B.Value, called(bytes), c.Measured.Before.Allocs, c.Measured.After.Allocs, time(ns))
	return agrees(allocs, c.Measured.Before.Allocs, c.Measured.After.Allocs) && agrees(bytes, c.Measured.Before.B, c.Measured.After.B), nil
}

func called(ch heaptrim.Change) string {
	switch {
	case ch.Exact:
		return ch.Outcome + ", exact"
	case ch.Apart:
		return ch.Outcome + ", far apart"
	}
	return ch.Outcome
}

func time(ch heaptrim.Change) string {
	if ch.Delta == nil {
		return "–"
	}
	return fmt.Sprintf("%+.0f %% %s", ch.Delta.Value*100, ch.Outcome)
}

// agrees tells whether a call says what the list does: a change of at least one
// percent is called, and its direction is right.
func agrees(ch heaptrim.Change, before, after float64) bool {
	want := "same"
	switch {
	case before == after:
	case math.Abs(after-before) < 0.01*math.Max(before, after):
		return true // below what counts where values vary
	case after < before:
		want = "better"
	default:
		want = "worse"
	}
	return ch.Outcome == want
}

func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
