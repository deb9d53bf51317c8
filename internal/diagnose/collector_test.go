package diagnose

import (
	"math"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// TestWhileMarking: the pacer counts what is allocated meanwhile in bytes, and the
// cycle's own line in MiB.
func TestWhileMarking(t *testing.T) {
	const mib = unit.MiB
	f := func(cycles []evidence.Cycle, want float64) {
		t.Helper()
		if got := whileMarking(cycles); got != want {
			t.Errorf("%v bytes, want %v", got, want)
		}
	}
	f(nil, 0)
	f([]evidence.Cycle{{HeapStart: 10 * mib, HeapEnd: 13 * mib}}, 0)
	f([]evidence.Cycle{{HeapStart: 10 * mib, HeapEnd: 19 * mib}}, 9<<20)
	pacer := func(trigger, end unit.Bytes) evidence.Cycle {
		return evidence.Cycle{HeapStart: 3 * mib, HeapEnd: 4 * mib, Pacer: &evidence.Pacer{Trigger: trigger, End: end}}
	}
	f([]evidence.Cycle{pacer(3<<20, 3<<20+1000), pacer(3<<20, 3<<20+4000)}, 2500)
	f([]evidence.Cycle{pacer(3<<20, 2<<20)}, 0)
}

// TestScanOfFreshObjects: what is alive because it was allocated while a cycle
// marked is not marked, so the cost of marking is borne by what stays.
func TestScanOfFreshObjects(t *testing.T) {
	const above = "runtime.mallocgcSmallScanNoHeader runtime.mallocgc runtime.newobject "
	churns, keeps := above+"example.com/m.Churn main.main", above+"example.com/m.Keep main.main"
	r := newRecording(t)
	r.cpu([]sample{
		{"runtime.scanobject runtime.gcDrainMarkWorkerDedicated runtime.gcBgMarkWorker", []int64{0, 300e7}},
		{"example.com/m.Work main.main", []int64{0, 500e7}},
	})
	for i := range int64(2) {
		r.snapshot([]sample{
			{churns, []int64{1e6 * (i + 1), 990e6 * (i + 1), 1e3, 3 << 19}},
			{keeps, []int64{1e3 * (i + 1), 10e6 * (i + 1), 1e3, 17 << 19}},
		})
	}
	r.cycles(20, 10) // 2.5 MiB allocated while each marks, 5 MiB scanned
	d := r.diagnose()
	checkSums(t, d)
	scan := map[bool]float64{}
	for _, s := range d.runs[0].sites {
		scan[strings.HasSuffix(s.site.Key.Function, ".Churn")] = d.runs[0].model.site(s.site,
			d.runs[0].ShareOf(s.site)).Scan
	}
	if len(scan) != 2 || scan[true] != 0 || math.Abs(scan[false]-5<<20) > 1 {
		t.Errorf("scan work %v, want none of what churns and all 5 MiB of what stays", scan)
	}
}
