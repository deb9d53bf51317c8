package diagnose

import (
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// TestApartByCost: excluded rows are listed by their own cost, also where a function has several
// lines of which another function's line costs more than one.
func TestApartByCost(t *testing.T) {
	r := newRecording(t)
	stacks := []string{"runtime.mallocgc lib.First", "runtime.mallocgc lib.Between", "runtime.mallocgc x lib.First"}
	r.cpu([]sample{{stacks[0], []int64{0, 15e7}}, {stacks[1], []int64{0, 20e7}}, {stacks[2], []int64{0, 14e7}}, {"example.com/m.Work", []int64{0, 51e7}}})
	r.snapshot(nil)
	r.snapshot([]sample{{stacks[0], []int64{3, 3000, 0, 0}}, {stacks[1], []int64{2, 2000, 0, 0}}, {stacks[2], []int64{1, 1000, 0, 0}}})
	apart := r.diagnose().Diagnosis().Excluded
	if len(apart) < 3 {
		t.Fatalf("%d are excluded, want 3: %+v", len(apart), apart)
	}
	if !slices.IsSortedFunc(apart, func(a, b finding.Finding) int { return byCost(a, b) }) {
		t.Errorf("not by their costs: %+v", apart)
	}
}

// TestPeakInStep: a log says the largest heap in whole MiB, cut; the rates say where in the step.
func TestPeakInStep(t *testing.T) {
	f := func(cut, live, each, want unit.Bytes) {
		t.Helper()
		totals := finding.Totals{Heap: finding.HeapTotals{Peak: cut, Live: live}, Cycles: finding.CycleTotals{PerSecond: 50}, BytesPerSecond: 50 * float64(each)}
		if got := peakInStep(totals); got != want {
			t.Errorf("%v in the log, %v live, %v in each cycle: %v, want %v", cut, live, each, got, want)
		}
	}
	const mib = unit.MiB
	f(3*mib, mib, 5*mib/2, 7*mib/2)
	f(3*mib, mib, 9*mib, 4*mib)
	f(3*mib, mib, mib, 3*mib)
	f(3*mib, mib, 0, 7*mib/2)
}

// TestUncounted: a line with CPU samples and no counted allocation is excluded where other lines have counts.
func TestUncounted(t *testing.T) {
	names := func(fs []finding.Finding) (out []string) {
		for _, f := range fs {
			out = append(out, f.Site.Function)
		}
		return out
	}
	for _, memory := range []bool{false, true} {
		r := newRecording(t)
		r.cpu([]sample{{"runtime.mallocgc example.com/m.Counted", []int64{0, 15e7}}, {"runtime.mallocgc example.com/m.Sampled", []int64{0, 20e7}}, {"example.com/m.Work", []int64{0, 65e7}}})
		rows, apart := []string{"example.com/m.Sampled", "example.com/m.Counted"}, []string(nil)
		if memory {
			r.snapshot(nil)
			r.snapshot([]sample{{"runtime.mallocgc example.com/m.Counted", []int64{3, 3000, 0, 0}}})
			rows, apart = rows[1:], rows[:1]
		}
		d := r.diagnose().Diagnosis()
		if got := names(d.Findings); !slices.Equal(got, rows) {
			t.Errorf("rows: %v, want %v", got, rows)
		}
		if got := names(d.Excluded); !slices.Equal(got, apart) {
			t.Errorf("excluded: %v, want %v", got, apart)
		}
	}
}

// TestUnsampled: a line that a profile of memory counts has a row where no CPU sample fell on it, after those with samples.
func TestUnsampled(t *testing.T) {
	r := newRecording(t)
	r.cpu([]sample{{"runtime.mallocgc example.com/m.Sampled", []int64{0, 15e7}}, {"example.com/m.Work", []int64{0, 65e7}}})
	r.snapshot(nil)
	r.snapshot([]sample{
		{"runtime.mallocgc example.com/m.Sampled", []int64{3, 3000, 0, 0}}, {"runtime.mallocgc example.com/m.Counted", []int64{4, 9000, 0, 0}},
	})
	var got []string
	for _, f := range r.diagnose().Diagnosis().Findings {
		got = append(got, f.Site.Function)
	}
	if want := []string{"example.com/m.Sampled", "example.com/m.Counted"}; !slices.Equal(got, want) {
		t.Errorf("rows: %v, want %v", got, want)
	}
}
