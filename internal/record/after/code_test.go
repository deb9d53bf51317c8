package after

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
)

// TestHot checks that functions with any kind of sample count, ordered by their
// shares.
func TestHot(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, types []evidence.ValueType, functions ...string) {
		t.Helper()
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		w, err := pprof.NewWriter(f, pprof.Header{Types: types, PeriodOf: types[len(types)-1], Period: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i, leaf := range functions {
			values := make([]int64, len(types))
			for k := range values {
				values[k] = int64(100 - 10*i)
			}
			if err := w.Add([][]evidence.Frame{{{Function: leaf, File: "a.go", Line: i + 1}},
				{{Function: "main.main", File: "a.go", Line: 9}}}, values); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	write("cpu.pprof", []evidence.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		"both", "cpu")
	write("heap.pprof", []evidence.ValueType{{Type: "alloc_space", Unit: "bytes"},
		{Type: "inuse_space", Unit: "bytes"}}, "both", "heap")
	hot := map[string]float64{}
	run := evidence.Run{Parts: []evidence.Part{{Path: "cpu.pprof", Kind: evidence.KindCPU},
		{Path: "heap.pprof", Kind: evidence.KindHeap}, {Path: "none.txt", Kind: evidence.KindBench}}}
	if err := addHot(hot, dir, run); err != nil {
		t.Fatal(err)
	}
	if got, want := hottest(hot, 10), []string{"both", "heap", "main.main", "cpu"}; !slices.Equal(got, want) {
		t.Errorf("functions %q, want %q: %v", got, want, hot)
	}
	if got := hottest(hot, 1); !slices.Equal(got, []string{"both"}) {
		t.Errorf("the hottest function is %q", got)
	}
}
