package browser

import (
	"iter"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// paths yields stacks that are given by the functions of a package, the outermost
// first, with their values.
func paths(values map[string][]int64) iter.Seq2[[][]evidence.Frame, []int64] {
	return func(yield func([][]evidence.Frame, []int64) bool) {
		for _, path := range slices.Sorted(maps.Keys(values)) {
			var stack [][]evidence.Frame
			for name := range strings.FieldsSeq(path) {
				stack = append(stack, []evidence.Frame{{Function: name, File: "/src/" + name + ".go", Line: 1}})
			}
			slices.Reverse(stack)
			if !yield(stack, values[path]) {
				return
			}
		}
	}
}

// TestArrowsOfOneWeight: an arrow is direct by the weight that is shown. walk
// allocates under itself over each only, which is too light for a box; by CPU
// it calls itself.
func TestArrowsOfOneWeight(t *testing.T) {
	browserPath(t)
	dir := t.TempDir()
	cpu, allocs := filepath.Join(dir, "cpu.pprof"), filepath.Join(dir, "allocs.pprof")
	writeProfile(t, cpu, cpuTypes, paths(map[string][]int64{
		"x.serve x.walk x.walk": {50, 50e7},
		"x.serve x.walk":        {50, 50e7},
	}))
	writeProfile(t, allocs, heapTypes, paths(map[string][]int64{
		"x.serve x.walk runtime.mallocgc":               {980, 98000, 0, 0},
		"x.serve x.walk x.each x.walk runtime.mallocgc": {20, 2000, 0, 0},
	}))
	p := pageOfFiles(t, cpu, allocs)
	b := newTab(t, desktop)
	for weight, want := range map[string]string{
		"alloc_space": "x.serve > x.walk, x.walk over others > x.walk",
		"cpu":         "x.serve > x.walk, x.walk > x.walk",
	} {
		b.open(p.url + "#view=calls&nf=5&hide=runtime&weight=" + weight)
		b.wait("document.querySelector('.calls .box')")
		if got := eval[string](b, "("+calls+").graph.edges.map((e) => "+calls+".name(e.from) + (e.residual ? ' over others' : '') + ' > ' + "+calls+".name(e.to)).join(', ')"); got != want {
			t.Errorf("by %s the arrows are %q, want %q", weight, got, want)
		}
	}
}

// TestNoStack: what has no stack is not hidden, and not in focus.
func TestNoStack(t *testing.T) {
	browserPath(t)
	cpu := filepath.Join(t.TempDir(), "cpu.pprof")
	writeProfile(t, cpu, cpuTypes, paths(map[string][]int64{
		"":                          {10, 10e7},
		"x.serve x.walk":            {60, 60e7},
		"x.serve runtime.morestack": {30, 30e7},
	}))
	p := pageOfFiles(t, cpu)
	b := newTab(t, desktop)
	for filter, want := range map[string]float64{"": 1, "focus=serve": 0.9, "ignore=serve": 0.1, "hide=serve": 1, "hide=serve%7Cwalk": 0.4} {
		b.open(p.url + "#view=flame&weight=cpu&" + filter)
		if got := eval[float64](b, flame+".tree.total[0]"); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: the sum is %v, want %v", filter, got, want)
		}
	}
	if left := sums(p, beyond(p, regexp.MustCompile("serve|walk")))["cpu"]; math.Abs(left-0.4) > 1e-6 {
		t.Errorf("the data without two functions add up to %v, want 0.4", left)
	}
}
