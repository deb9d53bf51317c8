package diagnose

import (
	"io"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// TestDamagedProfiles: what cannot be read is warned of once, and the stacks and
// the derived profile are still made of what can.
func TestDamagedProfiles(t *testing.T) {
	const a = "runtime.mallocgc runtime.newobject example.com/m.A main.main"
	allocs := profile("alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes", 1, []sample{{a, []int64{40, 4000, 5, 500}}})
	cpu := profile("samples/count cpu/nanoseconds", 1e7, []sample{{a, []int64{0, 20e7}}, {"example.com/m.Work main.main", []int64{0, 80e7}}})
	garbage := func(w io.Writer) error {
		_, err := io.WriteString(w, "\x1f\x8b no profile")
		return err
	}
	for _, c := range []struct {
		name         string
		cpu, heap    func(io.Writer) error
		warning      string
		ofCPU, ofMem bool
	}{
		{"whole", cpu, allocs, "", true, true},
		{"CPU profile is garbage", garbage, allocs, "cpu.pprof", false, true},
		{"heap profile is garbage", cpu, garbage, "heap.pprof", true, false},
		{"heap profile as CPU profile", allocs, allocs, "a CPU profile without a cpu column", false, true},
		{"CPU profile as heap profile", cpu, cpu, "a heap profile without alloc_space", true, false},
	} {
		r := newRecording(t)
		r.add(evidence.Part{Path: "cpu.pprof", Kind: evidence.KindCPU}, c.cpu)
		r.add(evidence.Part{Path: "heap.pprof", Kind: evidence.KindAllocs, Delta: true, Rate: 1}, c.heap)
		r.cycles(20, 10)
		d := r.diagnose()
		if got := strings.Join(d.Warnings, "\n"); (got == "") != (c.warning == "") || !strings.Contains(got, c.warning) || len(d.Warnings) > 1 {
			t.Errorf("%s: warnings %q, want one with %q", c.name, d.Warnings, c.warning)
		}
		ofCPU, ofMem := false, false
		err := d.WalkStacks(func(s WeightedStack) error {
			ofCPU, ofMem = ofCPU || !s.Heap, ofMem || s.Heap
			return nil
		})
		if err != nil || ofCPU != c.ofCPU || ofMem != c.ofMem {
			t.Errorf("%s: stacks of CPU %v, of the heap %v, error %v; want %v, %v and none", c.name, ofCPU, ofMem, err, c.ofCPU, c.ofMem)
		}
		samples := 0
		scanDerived(t, d, func(evidence.Sample) { samples++ })
		if samples == 0 {
			t.Errorf("%s: the derived profile is empty", c.name)
		}
	}
}
