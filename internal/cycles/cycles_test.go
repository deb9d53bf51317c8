package cycles_test

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/cycles"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/gctrace"
	"github.com/heaptrim/heaptrim/internal/unit"
)

const ms = time.Millisecond

// cycle is one that began at start, marked for 8 ms and stopped for 1 ms twice.
func cycle(n int, start time.Duration, begin, end, live int) evidence.Cycle {
	return evidence.Cycle{
		N:    n,
		At:   start + 10*ms,
		Wall: evidence.PhaseWall{SweepTermination: ms, ConcurrentMark: 8 * ms, MarkTermination: ms},
		Used: evidence.PhaseCPU{SweepTermination: 2 * ms, Assist: 3 * ms, Background: 4 * ms, Idle: 5 * ms,
			MarkTermination: 2 * ms},
		HeapStart: unit.Bytes(begin) * unit.MiB,
		HeapEnd:   unit.Bytes(end) * unit.MiB,
		HeapLive:  unit.Bytes(live) * unit.MiB,
		Goal:      20 * unit.MiB,
		Procs:     2,
	}
}

func tally(list ...evidence.Cycle) *cycles.Summary {
	var t cycles.Tally
	for _, c := range list {
		t.Add(c)
	}
	return t.Summary()
}

func TestSummary(t *testing.T) {
	forced := cycle(3, 300*ms, 30, 30, 10)
	forced.Forced = true
	s := tally(cycle(1, 90*ms, 4, 5, 2), cycle(2, 190*ms, 18, 21, 10), forced)
	check := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("cycles", [3]int{s.Count.Cycles, s.Count.Forced, s.Count.Processes}, [3]int{3, 1, 1})
	check("span", s.Span, 310*ms)
	check("pauses", s.Phases.Pause.Count, int64(6))
	check("longest pause", s.Phases.Pause.Max, float64(ms))
	check("bars", len(s.Phases.Pauses) == 1 && s.Phases.Pauses[0] == cycles.Bar{UpTo: ms, Count: 6}, true)
	check("between", [3]float64{float64(s.Steps.Between.Count), s.Steps.Between.Min, s.Steps.Between.Max},
		[3]float64{2, float64(90 * ms), float64(100 * ms)})
	check("grown", [2]float64{s.Steps.Grown.Min, s.Steps.Grown.Max},
		[2]float64{19 * float64(unit.MiB), 20 * float64(unit.MiB)})
	check("in mark", s.Steps.InMark.Max, 3*float64(unit.MiB))
	check("over goal", s.Steps.OverGoal, 1) // the forced one is nobody's goal
	check("live", [4]unit.Bytes{s.Heap.LiveFirst, s.Heap.LiveLast, s.Heap.LiveMin, s.Heap.LiveMax},
		[4]unit.Bytes{2 * unit.MiB, 10 * unit.MiB, 2 * unit.MiB, 10 * unit.MiB})
	check("assist", s.CPU.Assist, 9*ms)
	check("share", math.Round(s.CPU.Share*1e6), math.Round(33.0/620*1e6))
	check("rate", math.Round(s.AllocRate), math.Round(44*float64(unit.MiB)/0.31))
	n := 0
	for _, r := range s.Rows {
		n += r.Cycles
	}
	check("cycles of the rows", n, 3)
}

func TestEmpty(t *testing.T) {
	s := tally()
	if s.Count.Cycles != 0 || s.Rows != nil || s.Phases.Pauses != nil || s.CPU.Share != 0 ||
		s.Phases.Pause.Total != 0 || s.Phases.Pause.P99 != 0 {
		t.Errorf("the summary of nothing is %+v", s)
	}
}

// TestProcesses: cycles of several processes in one log are joined to their
// own.
func TestProcesses(t *testing.T) {
	f := func(what string, list []evidence.Cycle, processes, lost, steps int, ends time.Duration) {
		t.Helper()
		s := tally(list...)
		if s.Count.Processes != processes || s.Count.Lost != lost || int(s.Steps.Between.Count) != steps ||
			s.Ends != ends {
			t.Errorf("%s: %d processes, %d lost, %d steps, ends at %v; want %d, %d, %d, %v",
				what, s.Count.Processes, s.Count.Lost, s.Steps.Between.Count, s.Ends, processes, lost, steps, ends)
		}
	}
	c := cycle
	f("one", []evidence.Cycle{c(1, 0, 4, 4, 1), c(2, 90*ms, 4, 4, 1)}, 1, 0, 1, 100*ms)
	f("from the middle", []evidence.Cycle{c(7, time.Hour, 4, 4, 1), c(8, time.Hour+90*ms, 4, 4, 1)}, 1, 0, 1,
		time.Hour+100*ms)
	f("one after the other", []evidence.Cycle{c(1, 0, 4, 4, 1), c(2, 90*ms, 4, 4, 1), c(1, 0, 4, 4, 1),
		c(2, 40*ms, 4, 4, 1)}, 2, 0, 2, 140*ms)
	f("together", []evidence.Cycle{c(1, 0, 4, 4, 1), c(2, 90*ms, 4, 4, 1), c(1, 0, 4, 4, 1), c(3, 190*ms, 4, 4, 1),
		c(2, 60*ms, 4, 4, 1)}, 2, 0, 3, 200*ms)
	f("lines lost", []evidence.Cycle{c(1, 0, 4, 4, 1), c(5, 500*ms, 4, 4, 1), c(6, 600*ms, 4, 4, 1)}, 1, 3, 1, 610*ms)
	var many []evidence.Cycle
	for range 100 {
		many = append(many, c(1, 0, 4, 4, 1))
	}
	f("many", many, 100, 0, 0, 10*ms)
}

// TestQuantiles holds the quantiles against those of the sorted values.
func TestQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var list []evidence.Cycle
	var sorted []float64
	for i := range 5000 {
		c := cycle(i+1, time.Duration(i)*time.Second, 4, 4, 1)
		c.Wall.ConcurrentMark = time.Duration(math.Exp(r.NormFloat64()*2) * 1e6)
		list = append(list, c)
		sorted = append(sorted, float64(c.Wall.ConcurrentMark))
	}
	slices.Sort(sorted)
	s := tally(list...)
	for _, q := range []struct{ q, got float64 }{{0.5, s.Phases.Mark.P50}, {0.9, s.Phases.Mark.P90},
		{0.99, s.Phases.Mark.P99}} {
		want := sorted[int(math.Ceil(q.q*5000))-1]
		if math.Abs(q.got-want) > 0.022*want {
			t.Errorf("quantile %v is %v, want %v", q.q, q.got, want)
		}
	}
	if s.Phases.Mark.Min != sorted[0] || s.Phases.Mark.Max != sorted[4999] {
		t.Errorf("from %v to %v, want %v to %v", s.Phases.Mark.Min, s.Phases.Mark.Max, sorted[0], sorted[4999])
	}
}

// TestTimeline: rows are joined as time goes on and lose nothing.
func TestTimeline(t *testing.T) {
	for _, rows := range []int{1, 2, 7, 48} {
		tl := cycles.Tally{Rows: rows}
		for i := range 1000 {
			tl.Add(cycle(i+1, time.Duration(i)*time.Second, 4, 4, 1))
		}
		s := tl.Summary()
		n, at := 0, time.Duration(-1)
		for _, r := range s.Rows {
			n += r.Cycles
			if r.At <= at || r.At%s.Width != 0 {
				t.Errorf("%d rows: one at %v after one at %v, width %v", rows, r.At, at, s.Width)
			}
			at = r.At
		}
		if n != 1000 || len(s.Rows) > rows {
			t.Errorf("%d rows: %d of them with %d cycles, want 1000", rows, len(s.Rows), n)
		}
	}
}

// FuzzTally sums up logs of any kind.
func FuzzTally(f *testing.F) {
	seed, err := os.ReadFile("../ingest/gctrace/testdata/issues.log")
	if err != nil {
		f.Fatal(err)
	}
	// The fuzzer minimises what is interesting, which takes minutes for long seeds.
	for lines := range slices.Chunk(strings.SplitAfter(string(seed), "\n"), 6) {
		f.Add(strings.Join(lines, ""))
	}
	huge := "gc 1 @500000000.1s 0%: 400000000000000+1+1 ms clock, 1+1/1/1+1 ms cpu, 4->8796093022207->1 MB, 1 MB " +
		"goal, 1000000 P\n"
	f.Add(strings.Repeat(huge, 3))
	f.Fuzz(func(t *testing.T, in string) {
		tl := cycles.Tally{Rows: 5}
		n := 0
		if _, err := gctrace.Scan("fuzz", strings.NewReader(in), func(c evidence.Cycle) error {
			n++
			if step := tl.Add(c); step.Between < 0 || step.Grown < 0 {
				t.Errorf("%+v after %+v", step, c)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		s := tl.Summary()
		rows := 0
		for _, r := range s.Rows {
			rows += r.Cycles
		}
		if s.Count.Cycles != n || rows != n || s.Span < 0 || s.Ends < 0 || s.CPU.Assist < 0 || s.CPU.Share < 0 ||
			s.AllocRate < 0 || s.Count.Lost < 0 {
			t.Errorf("%d cycles, %d in rows: %+v", n, rows, s)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	var t cycles.Tally
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		t.Add(cycle(n, time.Duration(n)*time.Second, 18, 21, 10))
	}
}

// TestAddAllocates: a cycle costs no memory once the tables are there.
func TestAddAllocates(t *testing.T) {
	var tl cycles.Tally
	n := 0
	if got := testing.AllocsPerRun(1000, func() {
		n++
		tl.Add(cycle(n, time.Duration(n)*time.Second, 18, 21, 10))
	}); got != 0 {
		t.Errorf("Add allocates %v times a cycle", got)
	}
}
