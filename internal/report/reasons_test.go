package report

import (
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestWhyRemoval: one reason for a row, and none where there is nothing to explain.
func TestWhyRemoval(t *testing.T) {
	for _, c := range []struct {
		cost, removal, cycles float64
		want                  string
	}{
		{0.1, 0.1, 0.2, ""},
		{0.1, 0.2, 0.2, "fewer cycles"},
		{0.1, 0.2, -0.2, "marks less"},
		{0.1, -0.1, -0.2, "Negative"},
		{-0.1, -0.05, 0, "Negative"},
	} {
		got := whyRemoval(finding.Prediction{CPU: stats.Exact(c.removal), Cycles: stats.Exact(c.cycles)}, finding.Cost{CPU: stats.Exact(c.cost)})
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("costs %v, saved without it %v: %q, want %q", c.cost, c.removal, got, c.want)
		}
	}
}

// TestOtherPace: times of two passes that do not fit each other are both said.
func TestOtherPace(t *testing.T) {
	runs := []finding.RunSummary{{Name: "A", Pace: finding.Pace{NsPerOp: 100, CountedNsPerOp: 110}}, {Name: "B", Pace: finding.Pace{NsPerOp: 100}}}
	if got := otherPace(runs); got != "" {
		t.Error(got)
	}
	runs = append(runs, finding.RunSummary{Name: "C", Pace: finding.Pace{NsPerOp: 282_000, CountedNsPerOp: 494_000}})
	if got := otherPace(runs); !strings.Contains(got, "An operation of C took 494 µs") {
		t.Error(got)
	}
}

// TestRecordText: a rule that no known case has says so.
func TestRecordText(t *testing.T) {
	if got := recordText(""); got != "" {
		t.Error(got)
	}
	if got := recordText("no such rule"); !strings.Contains(got, "None of the known cases") {
		t.Error(got)
	}
}

// TestSparesMore: -explain says where a trial spares more objects than the row allocates.
func TestSparesMore(t *testing.T) {
	trial := &finding.Trial{Before: finding.Amount{Allocs: 1187}, After: finding.Amount{Allocs: 985}}
	for _, c := range []struct {
		trial   *finding.Trial
		objects float64
		want    bool
	}{
		{trial, 134, true},
		{trial, 202, false},
		{trial, 201, false}, // counts of two runs
		{trial, 300, false},
		{trial, 0, false}, // not known
		{nil, 134, false},
	} {
		got := sparesMore(c.trial, finding.Cost{ObjectsPerOp: stats.Exact(c.objects)})
		if (got != "") != c.want || c.want && !strings.Contains(got, "spares 202 objects/op") {
			t.Errorf("%v objects on the line: %q, want one: %v", c.objects, got, c.want)
		}
	}
}
