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
	for _, c := range []struct {
		runs      int
		automatic int
		want      string
	}{{1, 5, ""}, {2, 5, "BenchmarkMost, which collects most"}, {2, 0, "BenchmarkMost, for none of them collects by itself"}} {
		rep.Diagnosis.Runs = make([]finding.RunSummary, c.runs)
		rep.Diagnosis.Totals.Cycles.Automatic = c.automatic
		var text, md strings.Builder
		if err := Text(&text, rep, TextOptions{Width: 160}); err != nil {
			t.Fatal(err)
		}
		if err := Markdown(&md, rep); err != nil {
			t.Fatal(err)
		}
		for _, got := range []string{text.String(), md.String()} {
			if !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "BenchmarkMost, ") {
				t.Errorf("%+v:\n%s", c, got)
			}
		}
	}
}
