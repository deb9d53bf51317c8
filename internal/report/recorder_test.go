package report

import (
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// TestRecorderIsSaid: what is subtracted for the recorder has a line, and the resident set is
// beside the heap. Benchmarks have neither.
func TestRecorderIsSaid(t *testing.T) {
	text := func(heap finding.HeapTotals) string {
		t.Helper()
		var out strings.Builder
		rep := fixture()
		rep.Diagnosis.Totals.Heap = heap
		if err := Text(&out, rep, TextOptions{Width: 120}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	got := text(finding.HeapTotals{Live: 15 * unit.MiB, Resident: 56 * unit.MiB, OwnLive: 43 * unit.KiB,
		OwnResident: 235 * unit.KiB})
	for _, want := range []string{"15 MiB live, largest resident set 56 MiB",
		"recorder   its own 43 KiB of the live heap and 235 KiB of the resident set are subtracted"} {
		if !strings.Contains(got, want) {
			t.Errorf("without %q:\n%s", want, got)
		}
	}
	// Without a log, the largest heap is no measured one.
	for want, heap := range map[string]finding.HeapTotals{
		"goal 30 MiB, peak 30 MiB":         {Goal: 30 * unit.MiB, Peak: 30 * unit.MiB},
		"goal 30 MiB, peak about the goal": {Goal: 30 * unit.MiB, Peak: 30 * unit.MiB, PeakByGoal: true},
		"goal 30 MiB, peak about 34 MiB":   {Goal: 30 * unit.MiB, Peak: 34 * unit.MiB, PeakByGoal: true},
	} {
		if got := text(heap); !strings.Contains(got, want) {
			t.Errorf("without %q:\n%s", want, got)
		}
	}
	if got := text(finding.HeapTotals{Live: 15 * unit.MiB}); strings.Contains(got, "recorder") ||
		strings.Contains(got, "resident") {
		t.Errorf("of a benchmark:\n%s", got)
	}
}

// TestFactsOfOneRun: of several runs, the facts are of the one that collects most, and its name is there.
func TestFactsOfOneRun(t *testing.T) {
	rep := fixture()
	rep.Diagnosis.Totals.Run = "BenchmarkMost"
	for _, runs := range []int{1, 2} {
		rep.Diagnosis.Runs = make([]finding.RunSummary, runs)
		var text, md strings.Builder
		if err := Text(&text, rep, TextOptions{Width: 160}); err != nil {
			t.Fatal(err)
		}
		if err := Markdown(&md, rep); err != nil {
			t.Fatal(err)
		}
		for _, got := range []string{text.String(), md.String()} {
			if strings.Contains(got, "BenchmarkMost, which collects most") != (runs > 1) {
				t.Errorf("%d runs:\n%s", runs, got)
			}
		}
	}
}
