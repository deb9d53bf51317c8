// Package gen writes synthetic recordings of any size: profiles of a program whose functions
// call each other at random, with what the runtime does below them, and logs of a collector.
// The same sizes give the same files.
package gen

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
)

// Program is the program that a profile is of.
type Program struct {
	Functions int // each has a line that allocates
	random    *rand.Rand
	sites     *rand.Zipf // functions that allocate: some much more than others
	frames    [][]evidence.Frame
}

// calls is the number of lines of a function that call others.
const calls = 6

// Lines of a function, after its calls.
const (
	lineOwn   = calls + iota // that computes
	lineAlloc                // that allocates
	lines
)

func (p *Program) start() {
	p.random = rand.New(rand.NewPCG(3, 4))
	p.sites = rand.NewZipf(p.random, 1.3, 4, uint64(p.Functions-1))
	p.frames = make([][]evidence.Frame, p.Functions*lines)
	for f := range p.Functions {
		for l := range lines {
			frames := []evidence.Frame{frame(f, l)}
			if (f*lines+l)%5 == 0 { // an inlined call
				frames = append([]evidence.Frame{frame((f+1)%p.Functions, l)}, frames...)
			}
			p.frames[f*lines+l] = frames
		}
	}
}

func frame(f, line int) evidence.Frame {
	return evidence.Frame{
		Function: fmt.Sprintf("example.com/service/internal/pkg%d.(*Type%d).Method%d", f%100, f%700, f),
		File:     fmt.Sprintf("/src/service/internal/pkg%d/file%d.go", f%100, f%700),
		Line:     1 + f*20%4000 + line, StartLine: 1 + f*20%4000,
	}
}

// stack appends a call path of 10 to 50 of the program's locations, leaf first.
// Its innermost line is one that allocates, or computes.
func (p *Program) stack(to [][]evidence.Frame, innermost int) [][]evidence.Frame {
	at := int(p.sites.Uint64())
	to = append(to, p.frames[at*lines+innermost])
	for range 9 + p.random.IntN(41) {
		caller := (at*7 + 1 + p.random.IntN(40)) % p.Functions
		to = append(to, p.frames[caller*lines+at%calls])
		at = caller
	}
	return to
}

// runtimeFrames gives locations of the runtime, leaf first.
func runtimeFrames(functions ...string) [][]evidence.Frame {
	var out [][]evidence.Frame
	for i, f := range functions {
		out = append(out, []evidence.Frame{{
			Function: "runtime." + f, File: "/usr/local/go/src/runtime/" + f + ".go", Line: 10 + i, StartLine: 1,
		}})
	}
	return out
}

// CPU writes a CPU profile: a quarter of the samples allocates, and a seventh collects.
func (p *Program) CPU(out io.Writer, samples int) error {
	p.start()
	const period = 10_000_000
	w, err := pprof.NewWriter(out, pprof.Header{
		Types: []evidence.ValueType{
			{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"},
		},
		PeriodOf: evidence.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: period,
		Start: time.Unix(1_700_000_000, 0), Duration: time.Duration(samples) * period,
	})
	if err != nil {
		return err
	}
	below := [][][]evidence.Frame{
		runtimeFrames("nextFreeFast", "mallocgcSmallScanNoHeader", "mallocgc", "newobject"),
		runtimeFrames("mallocgcSmallNoscan", "mallocgc", "makeslice"),
		runtimeFrames("memclrNoHeapPointers", "mallocgcLarge", "mallocgc", "makeslice"),
		runtimeFrames("memmove", "growslice"),
		runtimeFrames("scanobject", "gcDrainN", "gcAssistAlloc1", "systemstack", "gcAssistAlloc", "mallocgc", "newobject"),
	}
	mark := runtimeFrames("scanobject", "gcDrain", "gcBgMarkWorker.func2", "systemstack", "gcBgMarkWorker")
	var stack [][]evidence.Frame
	for range samples {
		stack = stack[:0]
		switch r := p.random.IntN(100); {
		case r < 60:
			stack = p.stack(stack, lineOwn)
		case r < 86:
			stack = p.stack(append(stack, below[p.random.IntN(len(below))]...), lineAlloc)
		default:
			stack = append(stack, mark...)
		}
		if err := w.Add(stack, []int64{1, period}); err != nil {
			return err
		}
	}
	return w.Close()
}

// Allocs writes an allocation profile, a tenth of whose bytes are in use.
func (p *Program) Allocs(out io.Writer, samples int) error {
	p.start()
	space, count := "bytes", "count"
	w, err := pprof.NewWriter(out, pprof.Header{
		Types: []evidence.ValueType{
			{Type: "alloc_objects", Unit: count}, {Type: "alloc_space", Unit: space},
			{Type: "inuse_objects", Unit: count}, {Type: "inuse_space", Unit: space},
		},
		DefaultType: "alloc_space", PeriodOf: evidence.ValueType{Type: "space", Unit: space}, Period: 512 << 10,
		Start: time.Unix(1_700_000_000, 0), Duration: time.Duration(samples) * 10 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	var stack [][]evidence.Frame
	for range samples {
		stack = p.stack(stack[:0], lineAlloc)
		size := int64(16) << p.random.IntN(8)
		n := 1 + (512<<10)/size
		live := int64(0)
		if p.random.IntN(10) == 0 {
			live = n
		}
		if err := w.Add(stack, []int64{n, n * size, live, live * size}); err != nil {
			return err
		}
	}
	return w.Close()
}
