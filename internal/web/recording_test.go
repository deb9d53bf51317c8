package web

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// stack is frames leaf first, separated by spaces, with their values; between
// inlined code and what it was inlined into stands a bar.
type stack struct {
	frames string
	values []int64
}

// profile writes a profile of such stacks. Frames are functions, or
// function@file:line.
func profile(types string, period int64, stacks []stack) func(io.Writer) error {
	return func(w io.Writer) error {
		var h pprof.Header
		for t := range strings.FieldsSeq(types) {
			name, unit, _ := strings.Cut(t, "/")
			h.Types = append(h.Types, evidence.ValueType{Type: name, Unit: unit})
		}
		h.Period, h.PeriodOf = period, h.Types[len(h.Types)-1]
		out, err := pprof.NewWriter(w, h)
		if err != nil {
			return err
		}
		for _, s := range stacks {
			if err := out.Add(framesOf(s.frames), s.values); err != nil {
				return err
			}
		}
		return out.Close()
	}
}

func framesOf(text string) [][]evidence.Frame {
	var out [][]evidence.Frame
	for place := range strings.FieldsSeq(text) {
		var frames []evidence.Frame
		for f := range strings.SplitSeq(place, "|") {
			frames = append(frames, frameOf(f))
		}
		out = append(out, frames)
	}
	return out
}

func frameOf(text string) evidence.Frame {
	frame := evidence.Frame{Function: text, File: "f.go", Line: 1}
	if name, place, ok := strings.Cut(text, "@"); ok {
		frame.Function = name
		file, line, _ := strings.Cut(place, ":")
		frame.File = file
		fmt.Sscan(line, &frame.Line)
	}
	// A space cannot stand in the list; hostile names have one.
	frame.Function = strings.ReplaceAll(frame.Function, "␠", " ")
	frame.File = strings.ReplaceAll(frame.File, "␠", " ")
	return frame
}

const (
	cpuTypes  = "samples/count cpu/nanoseconds"
	heapTypes = "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes"
	ms        = 1_000_000
)

// record makes a bundle of one service run and diagnoses it.
func record(t testing.TB, cpu, heap []stack, cycles int) *diagnose.Session {
	t.Helper()
	dir := t.TempDir() + "/b"
	m := evidence.Manifest{
		Tool: "test", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Target:      evidence.Target{Kind: evidence.TargetExec, Args: []string{"./service"}, Module: "example.com/m"},
		Environment: evidence.Environment{GoVersion: "go1.26.8", GOGC: "100"},
	}
	w, err := bundle.Create(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	run := w.Run(evidence.Run{Name: "service"})
	add := func(p evidence.Part, fill func(io.Writer) error) {
		p.Pass, p.Wall = "service", 10*time.Second
		if err := w.Add(run, p, fill); err != nil {
			t.Fatal(err)
		}
	}
	if cpu != nil {
		add(evidence.Part{Path: "cpu.pprof", Kind: evidence.KindCPU}, profile(cpuTypes, 10*ms, cpu))
	}
	if heap != nil {
		add(evidence.Part{Path: "heap.pprof", Kind: evidence.KindHeap, Rate: 1}, profile(heapTypes, 1, heap))
	}
	if cycles > 0 {
		add(evidence.Part{Path: "gctrace.txt", Kind: evidence.KindGCTrace}, func(w io.Writer) error {
			for i := 1; i <= cycles; i++ {
				fmt.Fprintf(w, "gc %d @%d.%03ds 3%%: 0.1+5.0+0.1 ms clock, 0.2+1.0/5.0/0+0.2 ms cpu, 15->16->8 MB, 16 MB goal, 0 MB stacks, 0 MB globals, 2 P\n", i, i*10/cycles, i%1000)
			}
			return nil
		})
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	d, err := diagnose.Open(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// small is a recording of a few stacks.
func small(t testing.TB) *diagnose.Session {
	return record(t, []stack{
		{"example.com/m/a.Parse@a/a.go:20 example.com/m/a.Serve@a/a.go:10 main.main@main.go:3", []int64{40, 400 * ms}},
		{"runtime.mallocgc runtime.newobject example.com/m/a.Parse@a/a.go:22 example.com/m/a.Serve@a/a.go:10 main.main@main.go:3", []int64{20, 200 * ms}},
		{"runtime.memclrNoHeapPointers runtime.mallocgc runtime.makeslice example.com/m/a.Read@a/a.go:30 main.main@main.go:4", []int64{10, 100 * ms}},
		{"runtime.scanobject runtime.gcDrain runtime.gcDrainMarkWorkerDedicated runtime.gcBgMarkWorker", []int64{25, 250 * ms}},
		{"runtime.gcDrainMarkWorkerIdle runtime.gcBgMarkWorker", []int64{3, 30 * ms}},
		{"runtime.findRunnable runtime.schedule runtime.mcall", []int64{5, 50 * ms}},
	}, []stack{
		{"example.com/m/a.Parse@a/a.go:22 example.com/m/a.Serve@a/a.go:10 main.main@main.go:3 runtime.goexit", []int64{3000, 300_000, 10, 1000}},
		{"example.com/m/a.Read@a/a.go:30 main.main@main.go:4 runtime.goexit", []int64{10, 100_000, 5, 50_000}},
	}, 40)
}
