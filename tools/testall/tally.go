package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action     string
	Package    string
	ImportPath string // of build output
	Test       string
	Output     string
	Elapsed    float64
}

// tally adds up the events of any number of go test runs.
type tally struct {
	live  io.Writer // gets results and the output of failed tests as they come
	build string    // what to add to the names of tests

	passed  int
	skipped []string // test: reason
	failed  []string // tests, and packages that failed outside a test
	broken  []string // runs that ended in a way that no event explains

	times   []timed
	parents map[string]bool // tests with tests of their own, which have the time

	output map[string][]string // lines of tests and packages that have not ended
	inner  map[string]bool     // packages with a failed test
}

// timed is how long a test took.
type timed struct {
	name, test string
	seconds    float64
}

func newTally(live io.Writer) *tally {
	return &tally{live: live, parents: make(map[string]bool), output: make(map[string][]string),
		inner: make(map[string]bool)}
}

func (t *tally) ok() bool      { return t.failures() == 0 && t.passed > 0 }
func (t *tally) failures() int { return len(t.failed) + len(t.broken) }

// merge adds what another tally has.
func (t *tally) merge(u *tally) {
	t.passed += u.passed
	t.skipped = append(t.skipped, u.skipped...)
	t.failed = append(t.failed, u.failed...)
	t.broken = append(t.broken, u.broken...)
	t.times = append(t.times, u.times...)
	maps.Copy(t.parents, u.parents)
}

// add takes one line and prints what a person wants to see of it at once: the
// result of each package, and the output of what failed.
func (t *tally) add(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		t.live.Write(line)
		return
	}
	name := e.Package
	if e.Test != "" {
		name += " " + e.Test
	}
	switch e.Action {
	case "build-output":
		fmt.Fprint(t.live, e.Output)
	case "output":
		t.output[name] = append(t.output[name], e.Output)
	case "pass", "skip", "fail":
		if e.Test == "" {
			t.endPackage(e)
		} else {
			t.endTest(e, name)
		}
		delete(t.output, name)
	}
}

func (t *tally) endTest(e event, name string) {
	if e.Elapsed >= leastSlow {
		t.times = append(t.times, timed{name + t.build, name, e.Elapsed})
	}
	if i := strings.LastIndexByte(e.Test, '/'); i >= 0 {
		t.parents[e.Package+" "+e.Test[:i]] = true
	}
	switch e.Action {
	case "pass":
		t.passed++
	case "skip":
		t.skipped = append(t.skipped, name+t.build+": "+skipReason(t.output[name]))
	case "fail":
		t.failed = append(t.failed, name+t.build)
		t.inner[e.Package] = true
		for _, line := range t.output[name] {
			fmt.Fprint(t.live, line)
		}
	}
}

// endPackage prints a package's result. Packages without tests are not worth a
// line.
func (t *tally) endPackage(e event) {
	switch e.Action {
	case "pass":
		fmt.Fprintf(t.live, "ok    %s %.1fs\n", e.Package, e.Elapsed)
	case "fail":
		fmt.Fprintf(t.live, "FAIL  %s %.1fs\n", e.Package, e.Elapsed)
		if !t.inner[e.Package] { // did not build, or died outside a test
			t.failed = append(t.failed, e.Package+t.build)
			for _, line := range t.output[e.Package] {
				fmt.Fprint(t.live, line)
			}
		}
	}
}

// skipReason finds the reason among the lines that a skipped test printed: the
// one that t.Skip marked with its position.
func skipReason(lines []string) string {
	var reason []string
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- SKIP") {
			continue
		}
		if _, after, ok := strings.Cut(line, ".go:"); ok {
			if _, message, ok := strings.Cut(after, ": "); ok {
				line = message
			}
		}
		reason = append(reason, line)
	}
	if len(reason) == 0 {
		return "no reason given"
	}
	return strings.Join(reason, "; ")
}

// The slowest tests are named, of those that take long at all.
const (
	mostSlow  = 10
	leastSlow = 5 // seconds
)

// slowest returns the tests that took longest, longest first.
func (t *tally) slowest() []timed {
	list := slices.DeleteFunc(slices.Clone(t.times), func(x timed) bool { return t.parents[x.test] })
	slices.SortStableFunc(list, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	return list[:min(len(list), mostSlow)]
}

// print writes the summary. Its last line is the count.
func (t *tally) print(w io.Writer) {
	for _, s := range t.slowest() {
		fmt.Fprintf(w, "slow: %.0f s %s\n", s.seconds, s.name)
	}
	for _, s := range t.skipped {
		fmt.Fprintln(w, "skipped:", s)
	}
	for _, s := range append(t.failed, t.broken...) {
		fmt.Fprintln(w, "failed:", s)
	}
	if t.passed == 0 && t.failures() == 0 {
		fmt.Fprintln(w, "failed: no test ran")
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", t.passed, t.failures(), len(t.skipped))
}
