package diagnose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
)

// recording builds a bundle of one service run for tests.
type recording struct {
	t    *testing.T
	dir  string
	w    *bundle.Writer
	run  int
	heap int
}

func newRecording(t *testing.T) *recording {
	t.Helper()
	dir := t.TempDir() + "/b"
	m := evidence.Manifest{Tool: "test", Target: evidence.Target{Kind: evidence.TargetExec, Module: "example.com/m"},
		Environment: evidence.Environment{GoVersion: "go1.26.8", GOGC: "100", GOMAXPROCS: 2}}
	w, err := bundle.Create(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	return &recording{t: t, dir: dir, w: w, run: w.Run(evidence.Run{Name: "service"})}
}

func (r *recording) add(p evidence.Part, fill func(io.Writer) error) {
	r.t.Helper()
	if p.Pass == "" {
		p.Pass = "service"
	}
	if err := r.w.Add(r.run, p, fill); err != nil {
		r.t.Fatal(err)
	}
}

// sample is a stack, leaf first, with its values.
type sample struct {
	locs   string
	values []int64
}

func profile(types string, period int64, samples []sample) func(io.Writer) error {
	return func(w io.Writer) error {
		h := pprof.Header{Period: period, Duration: 10 * time.Second}
		for _, f := range strings.Fields(types) {
			typ, unit, _ := strings.Cut(f, "/")
			h.Types = append(h.Types, evidence.ValueType{Type: typ, Unit: unit})
		}
		out, err := pprof.NewWriter(w, h)
		if err != nil {
			return err
		}
		for _, s := range samples {
			var locs [][]evidence.Frame
			for i, f := range strings.Fields(s.locs) {
				locs = append(locs, []evidence.Frame{{Function: f, File: "f.go", Line: 10 + i}})
			}
			if err := out.Add(locs, s.values); err != nil {
				return err
			}
		}
		return out.Close()
	}
}

func (r *recording) cpu(samples []sample) { r.cpuOf(evidence.Part{}, samples) }

// cpuOf adds a CPU profile of a process that has used what p says meanwhile.
func (r *recording) cpuOf(p evidence.Part, samples []sample) {
	p.Path, p.Kind, p.Wall = "cpu.pprof", evidence.KindCPU, 10*time.Second
	r.add(p, profile("samples/count cpu/nanoseconds", 1e7, samples))
}

func (r *recording) snapshot(samples []sample) {
	r.add(evidence.Part{Path: fmt.Sprintf("heap-%02d.pprof", r.heap), Kind: evidence.KindHeap, Rate: 1,
		Wall: 10 * time.Second},
		profile("alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes", 1, samples))
	r.heap++
}

// cycles writes a gctrace log of n equal cycles.
func (r *recording) cycles(n, liveMiB int) {
	r.cyclesOf(evidence.Part{Wall: 10 * time.Second}, n, liveMiB)
}

// cyclesOf writes that of a process that did what p says meanwhile.
func (r *recording) cyclesOf(p evidence.Part, n, liveMiB int) {
	p.Path, p.Kind = "gctrace.txt", evidence.KindGCTrace
	r.add(p, func(w io.Writer) error {
		for i := 1; i <= n; i++ {
			fmt.Fprintf(w, "pacer: 26%% CPU (25 exp.) for %d+3000+90000 B work (%d B exp.) in %d B -> %d B (∆goal "+
				"-1000, cons/mark +1.0e-001)\n", liveMiB<<19, liveMiB<<19, liveMiB<<21-liveMiB<<18, liveMiB<<21)
			fmt.Fprintf(w, "gc %d @%d.%03ds 3%%: 0.1+5.0+0.1 ms clock, 0.2+1.0/5.0/0+0.2 ms cpu, %d->%d->%d MB, %d "+
				"MB goal, 0 MB stacks, 0 MB globals, 2 P\n", i, i*10/n, i%1000, 2*liveMiB-1, 2*liveMiB, liveMiB,
				2*liveMiB)
		}
		return nil
	})
}

func (r *recording) diagnose() *Session {
	r.t.Helper()
	if err := r.w.Close(true); err != nil {
		r.t.Fatal(err)
	}
	b, err := bundle.Open(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { b.Close() })
	d, err := Open(context.Background(), b, Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

// scanDerived gives f the samples of the profile that WritePprof derives, of which none may
// be negative: viewers refuse those.
func scanDerived(t *testing.T, d *Session, f func(evidence.Sample)) {
	t.Helper()
	var out bytes.Buffer
	if err := d.WritePprof(&out); err != nil {
		t.Fatal(err)
	}
	p, err := pprof.Bytes("out.pprof", out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	err = p.Samples.Scan(func(s evidence.Sample) error {
		if slices.Min(s.Values) < 0 {
			t.Errorf("a sample of %s with negative values %v", s.Stack[0].Frames[0].Function, s.Values)
		}
		f(s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPartsMakeTheWhole: whatever was recorded, the charged buckets add up to
// all CPU, the columns of every site to its cost, and churn, retention and the
// remainder to the collector's cost as measured.
func TestPartsMakeTheWhole(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 30 {
		r := newRecording(t)
		cpu := []sample{
			{"runtime.scanobject runtime.gcDrainMarkWorkerDedicated runtime.gcBgMarkWorker",
				[]int64{0, 1e7 * rnd.Int64N(400)}},
			{"runtime.scanobject runtime.gcDrainMarkWorkerIdle runtime.gcBgMarkWorker",
				[]int64{0, 1e7 * rnd.Int64N(400)}},
			{"runtime.sweepone runtime.bgsweep", []int64{0, 1e7 * rnd.Int64N(50)}},
			{"example.com/m.Work main.main", []int64{0, 1e7 * (1 + rnd.Int64N(900))}},
			{"runtime.futex runtime.findRunnable runtime.schedule", []int64{0, 1e7 * rnd.Int64N(60)}},
		}
		var first, last []sample
		for i := range 1 + rnd.IntN(12) {
			locs := fmt.Sprintf("runtime.mallocgc runtime.newobject example.com/m.Site%d main.main", i)
			cpu = append(cpu, sample{locs, []int64{0, 1e7 * rnd.Int64N(100)}})
			n, live := rnd.Int64N(1e6), rnd.Int64N(1e5)
			first = append(first, sample{locs, []int64{n / 2, n * 32, live, live * 64}})
			last = append(last, sample{locs, []int64{n, n * 64, live, live * 64}})
		}
		r.cpuOf(evidence.Part{Profiled: time.Duration(rnd.Int64N(40)) * time.Second, Sleeps: rnd.Int64N(1000)}, cpu)
		r.snapshot(first)
		r.snapshot(last)
		r.cycles(20, 1+rnd.IntN(200))
		checkSums(t, r.diagnose())
	}
}

func checkSums(t *testing.T, d *Session) {
	t.Helper()
	whole := 0.0
	for _, b := range d.Diagnosis().Decomposition {
		if b.Charged {
			whole += b.Share.Value
		}
	}
	groups := 0.0
	for _, g := range d.Diagnosis().Groups {
		groups += g.Share.Value
	}
	if math.Abs(groups-1) > 1e-9 {
		t.Fatalf("groups add up to %v", groups)
	}
	if math.Abs(whole-1) > 1e-9 {
		t.Fatalf("charged buckets add up to %v", whole)
	}
	run := d.runs[0]
	sum := run.cpu.remainder.Value
	for _, s := range run.sites {
		c := s.cost
		sum += c.Churn.Value + c.Retention.Value
		columns := c.Malloc.Value + c.Zeroing.Value + c.GrowCopy.Value + c.Assist.Value + c.Churn.Value +
			c.Retention.Value
		if math.Abs(columns-c.CPU.Value) > 1e-9 || c.CPU.Low > c.CPU.Value || c.CPU.High < c.CPU.Value {
			t.Fatalf("site %v: columns add up to %v, cost %+v", s.site.Key, columns, c.CPU)
		}
	}
	if math.Abs(sum-run.cpu.collected.Value) > 1e-9 {
		t.Fatalf("churn, retention and remainder add up to %v, the collector costs %v", sum, run.cpu.collected.Value)
	}
	if got := d.Diagnosis().Totals.Sites.Value +
		d.Diagnosis().Totals.Remainder.Value; math.Abs(got-run.cpu.collected.Value) > 1e-9 {
		t.Fatalf("totals: sites and remainder add up to %v, the collector costs %v", got, run.cpu.collected.Value)
	}
	if !run.model.known {
		t.Fatalf("no collector model: %s", run.model.why)
	}
}

// TestWritePprofKeepsTheTotal: the derived profile has the recorded CPU time,
// with the collector's samples moved below the stacks that cause them.
func TestWritePprofKeepsTheTotal(t *testing.T) {
	r := newRecording(t)
	a, b := "runtime.mallocgc runtime.newobject example.com/m.A main.main", "runtime.mallocgc runtime.makeslice "+
		"example.com/m.B main.main"
	r.cpu([]sample{
		{"runtime.scanobject runtime.gcDrainMarkWorkerDedicated runtime.gcBgMarkWorker", []int64{0, 300e7}},
		{"runtime.scanobject runtime.gcDrainMarkWorkerIdle runtime.gcBgMarkWorker", []int64{0, 40e7}},
		{"example.com/m.Work main.main", []int64{0, 500e7}},
		{a, []int64{0, 20e7}},
	})
	r.snapshot([]sample{{a, []int64{10, 1000, 5, 500}}, {b, []int64{0, 0, 0, 0}}})
	r.snapshot([]sample{{a, []int64{40, 4000, 5, 500}}, {b, []int64{10, 1000, 5, 500}}})
	r.cycles(20, 10)
	d := r.diagnose()
	leaves, total := map[string]int64{}, int64(0)
	scanDerived(t, d, func(s evidence.Sample) {
		total += s.Values[0] - s.Values[3]
		site := ""
		if len(s.Stack) > 1 {
			site = " < " + s.Stack[1].Frames[0].Function
		}
		leaves[s.Stack[0].Frames[0].Function+site] += s.Values[0] - s.Values[3]
	})
	if want := int64(860e7); math.Abs(float64(total-want)) > 10 {
		t.Errorf("total %d ns, want %d", total, want)
	}
	f := func(leaf string, want int64) {
		t.Helper()
		if got := leaves[leaf]; math.Abs(float64(got-want)) > 10 {
			t.Errorf("%s: %d ns, want %d", leaf, got, want)
		}
	}
	// Three quarters of the window's bytes are A's, one quarter B's.
	f(FrameChurn+" < example.com/m.A", 3*leaves[FrameChurn+" < example.com/m.B"])
	collector := int64(0)
	for leaf, v := range leaves {
		if strings.HasPrefix(leaf, "GC ") {
			collector += v
		}
	}
	if math.Abs(float64(collector-300e7)) > 10 {
		t.Errorf("the virtual frames have %d ns, the collector took %d", collector, int64(300e7))
	}
	f("runtime.scanobject < runtime.gcDrainMarkWorkerDedicated", 0)
}

// TestWritePprofIsOneTree: heap profiles show where a goroutine begins and no start lines of
// functions, CPU profiles do the reverse. The derived profile has each function once, and
// the collector's cost below the callers of the CPU samples.
func TestWritePprofIsOneTree(t *testing.T) {
	r := newRecording(t)
	site := "runtime.mallocgc runtime.newobject example.com/m.A example.com/m.Serve"
	r.cpu([]sample{
		{"runtime.scanobject runtime.gcDrainMarkWorkerDedicated runtime.gcBgMarkWorker", []int64{0, 300e7}},
		{site, []int64{0, 500e7}},
	})
	r.snapshot([]sample{{site + " runtime.goexit", []int64{10, 1000, 5, 500}}})
	r.snapshot([]sample{{site + " runtime.goexit", []int64{40, 4000, 5, 500}}})
	r.cycles(20, 10)
	churn := 0
	scanDerived(t, r.diagnose(), func(s evidence.Sample) {
		root := s.Stack[len(s.Stack)-1].Frames[0].Function
		if s.Stack[0].Frames[0].Function != FrameChurn {
			return
		}
		churn++
		if root != "example.com/m.Serve" || s.Values[0] <= 0 || s.Values[1] != 30 || s.Values[2] != 3000 {
			t.Errorf("churn of %v is below %s, want the difference of the snapshots below Serve", s.Values, root)
		}
	})
	if churn != 1 {
		t.Errorf("churn is in %d samples of one stack, want 1", churn)
	}
}

func TestBundleWithoutEvidence(t *testing.T) {
	r := newRecording(t)
	r.add(evidence.Part{Path: "load.txt", Kind: evidence.KindLoad}, func(w io.Writer) error {
		_, err := io.WriteString(w, "Requests/sec: 12\n")
		return err
	})
	r.w.Close(true)
	b, err := bundle.Open(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := Open(context.Background(), b, Options{}); !errors.Is(err, errNoEvidence) {
		t.Errorf("got %v, want ErrNoEvidence", err)
	}
}

// TestSiteIsTheUsersFrame: allocations inside libraries are charged to the
// user's call, with the library function named.
func TestSiteIsTheUsersFrame(t *testing.T) {
	r := newRecording(t)
	lib := "runtime.mallocgc runtime.makeslice bufio.NewReaderSize bufio.NewReader example.com/m.(*T).Open " +
		"net/http.HandlerFunc.ServeHTTP"
	r.cpu([]sample{{lib, []int64{0, 10e7}}, {"example.com/m.Work", []int64{0, 90e7}}})
	r.snapshot(nil)
	r.snapshot([]sample{{lib, []int64{100, 409600, 1, 4096}},
		{"runtime.mallocgc net/http.(*conn).serve", []int64{1, 100, 0, 0}}})
	d := r.diagnose()
	if len(d.Diagnosis().Findings) != 1 {
		t.Fatalf("%d findings, want 1: %+v", len(d.Diagnosis().Findings), d.Diagnosis().Findings)
	}
	f := d.Diagnosis().Findings[0]
	if f.Site.Function != "example.com/m.(*T).Open" || f.Site.Package != "example.com/m" ||
		f.Allocation.Via != "bufio.NewReader" || f.Allocation.Kind != finding.KindMake {
		t.Errorf("site %+v via %q kind %q, want Open via bufio.NewReader, make", f.Site, f.Allocation.Via,
			f.Allocation.Kind)
	}
	if got := f.Cost.BytesPerSecond.Value; math.Abs(got-40960) > 1 {
		t.Errorf("%v bytes/s, want 40960", got)
	}
	if len(d.Diagnosis().Excluded) != 0 && d.Diagnosis().Excluded[0].Site.Function != "net/http.(*conn).serve" {
		t.Errorf("set apart %+v", d.Diagnosis().Excluded)
	}
}

// TestCallersOfHelper: a helper's callers are named with their shares if several matter, past
// frames of other code and of itself.
func TestCallersOfHelper(t *testing.T) {
	f := func(want string, stacks ...string) {
		t.Helper()
		r := newRecording(t)
		var cpu, heap []sample
		for i, s := range stacks {
			n := int64(1000 / (i + 1))
			cpu = append(cpu, sample{s, []int64{0, 1e7 * n}})
			heap = append(heap, sample{s, []int64{n, n * 640, 0, 0}})
		}
		r.cpu(cpu)
		r.snapshot(heap)
		r.cycles(20, 10)
		var got []string
		for _, c := range r.diagnose().Diagnosis().Findings[0].Allocation.Callers {
			got = append(got, fmt.Sprintf("%s %.2f", c.Site.Function, c.Share))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("callers of %v: %q, want %q", stacks, s, want)
		}
	}
	const made = "runtime.mallocgc runtime.makeslice example.com/m.copyBytes "
	f("example.com/m.A 0.67, example.com/m.B 0.33", made+"example.com/m.A main.main", made+"example.com/m.B main.main")
	f("example.com/m.A 0.67, example.com/m.B 0.33", made+"sort.Slice example.com/m.A main.main", made+"example.com/m.copyBytes example.com/m.B main.main")
	f("", made+"example.com/m.A main.main", made+"example.com/m.A example.com/m.B main.main")
	f("", made+"main.main")
}
