package heaptrim_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/google/pprof/profile"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/check"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/report"
)

// The pipeline goes the whole way of a check: what a recorder wrote into a bundle is
// diagnosed, cures are named, and the report is shown in one of its formats.
func Example_pipeline() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "service")
	if err := record(name); err != nil {
		log.Fatal(err)
	}

	b, err := bundle.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	rep, err := check.Run(context.Background(), b, check.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d finding; not known for want of evidence, first: %s\n", len(rep.Diagnosis.Findings), rep.Diagnosis.Gaps[0].Code)
	if err := report.Lines(os.Stdout, &rep.Report); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1 finding; not known for want of evidence, first: cpu
	// /src/service/handle.go:12: [leave-it] the code of this line was not type-checked, so what speaks against cache-compiled is not known; run heaptrim in the module's folder (costs 8 MiB/s, 1000 objects/s)
}

// record does what a recorder does: it describes the target, and adds its runs
// with their parts.
func record(name string) error {
	w, err := bundle.Create(name, evidence.Manifest{
		Target: evidence.Target{Kind: evidence.TargetExec, Args: []string{"./service"},
			Module: "example.com/service"},
		Environment: evidence.Environment{GoVersion: "go1.26.8", GOGC: "100", GOMAXPROCS: 2},
	})
	if err != nil {
		return err
	}
	run := w.Run(evidence.Run{Name: "service"})
	log := evidence.Part{Path: "gctrace.txt", Kind: evidence.KindGCTrace, Pass: evidence.PassTiming,
		Wall: 10 * time.Second}
	if err := w.Add(run, log, collections); err != nil {
		return err
	}
	allocs := evidence.Part{Path: "allocs.pprof", Kind: evidence.KindAllocs, Pass: evidence.PassTiming,
		Wall: 10 * time.Second, Rate: 1}
	if err := w.Add(run, allocs, allocations); err != nil {
		return err
	}
	return w.Close(true)
}

// collections is the collector's log of a program that collects every 100 ms.
func collections(w io.Writer) error {
	for i := 1; i <= 100; i++ {
		if _, err := fmt.Fprintf(w, "gc %d @%.3fs 3%%: 0.1+5.0+0.1 ms clock, 0.2+1.0/5.0/0+0.2 ms cpu, "+
			"15->16->8 MB, 16 MB goal, 0 MB stacks, 0 MB globals, 2 P\n", i, float64(i)/10); err != nil {
			return err
		}
	}
	return nil
}

// allocations is a profile of one site, which compiles an expression for each of 10,000
// requests.
func allocations(w io.Writer) error {
	fn := &profile.Function{ID: 1, Name: "example.com/service.handle", Filename: "/src/service/handle.go"}
	compile := &profile.Function{ID: 2, Name: "regexp.Compile", Filename: "/go/src/regexp/regexp.go"}
	at := &profile.Location{ID: 1, Address: 1, Line: []profile.Line{{Function: fn, Line: 12}}}
	in := &profile.Location{ID: 2, Address: 2, Line: []profile.Line{{Function: compile, Line: 258}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{
			{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"},
			{Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"},
		},
		PeriodType: &profile.ValueType{Type: "space", Unit: "bytes"}, Period: 1,
		Sample:   []*profile.Sample{{Location: []*profile.Location{in, at}, Value: []int64{10_000, 80 << 20, 0, 0}}},
		Location: []*profile.Location{at, in}, Function: []*profile.Function{fn, compile},
	}
	return p.Write(w)
}
