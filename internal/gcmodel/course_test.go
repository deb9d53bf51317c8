package gcmodel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heaptrim/heaptrim/internal/unit"
)

const mebi = 1 << 20

// swinging is a service whose live heap is read from a process that goes back
// to its mean and forgets over so many bytes.
func swinging(reach float64, percent int) *Trace { return swingingFor(400, reach, percent) }

func swingingFor(cycles int, reach float64, percent int) *Trace {
	r := rand.New(rand.NewPCG(5, 6))
	live := 20.0 * mebi
	t := &Trace{Setting: Setting{GOGC: percent}, Procs: 2, Wall: 10, CPU: 8, RSS: 90 * mebi, Memory: Memory{Fixed: 8 * mebi, Slack: 0.05}}
	at := 0.0
	for range cycles {
		step := live * float64(percent) / 100
		at += step
		end := live + step
		kept := math.Exp(-step / reach)
		live = math.Max(20*mebi+(live-20*mebi)*kept+5*mebi*math.Sqrt(1-kept*kept)*r.NormFloat64(), 2*mebi)
		t.Peak = math.Max(t.Peak, end)
		t.Points = append(t.Points, Point{At: at, Live: live, End: end, HeapScan: live / 2, Background: live / mebi * 1e-4})
	}
	return t
}

// The walks share a long trace: together they find the cycles and the largest heap that one walk through all of it finds.
func TestSharedTrace(t *testing.T) {
	whole := swingingFor(8000, 40*mebi, 100)
	whole.Whole, whole.Bytes = true, whole.Points[len(whole.Points)-1].At
	for i := 4950; i < 5050; i++ {
		whole.Points[i].Live, whole.Points[i].End = 60*mebi, 120*mebi // the largest, which one of the walks comes by
	}
	for name, tr := range map[string]*Trace{"service": swingingFor(8000, 40*mebi, 100), "from its start": whole} {
		f, err := NewForecaster(tr)
		if err != nil {
			t.Fatal(err)
		}
		settings := []Setting{{GOGC: 50}, {GOGC: 200}}
		if tr != whole {
			settings = append(settings, Setting{GOGC: -1, Limit: 80 * mebi})
		}
		for _, s := range settings {
			shared := f.walks(s)
			if !shared[0].part || len(shared) != phases {
				t.Fatalf("%s, %+v: not walked in parts", name, s)
			}
			all := f.course.walkFrom(s, walkOrder{stretch: 1, exponent: f.Exponent.Value, scatter: f.course.Memory.Scatter.Value, least: leastCycles})
			v, err := f.At(s)
			if err != nil {
				t.Fatal(err)
			}
			var cycles, bytes, work float64
			for _, w := range shared {
				cycles, bytes, work = cycles+w.cycles, bytes+w.bytes, work+w.work.charged()
			}
			for _, c := range []struct {
				what      string
				got, want float64
				off       float64
			}{
				{"cycles", cycles, all.cycles, 0.01}, {"bytes per cycle", bytes / cycles, all.bytes / all.cycles, 0.01},
				{"cost of a cycle", work / cycles, all.work.charged() / all.cycles, 0.01}, {"largest heap", v.Peak.Value, all.peak, 0.15},
			} {
				if math.Abs(c.got/c.want-1) > c.off {
					t.Errorf("%s, %+v: %s %.5g, one walk finds %.5g", name, s, c.what, c.got, c.want)
				}
			}
		}
		if w := f.walks(Setting{GOGC: 800}); w[0].part {
			t.Errorf("%s: some 40 cycles for each walk are shared", name)
		}
	}
}

// A forecast of a long log, which is walked in parts.
func BenchmarkLongTrace(b *testing.B) {
	f, err := NewForecaster(swingingFor(10_000, 40*mebi, 100))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := f.At(Setting{GOGC: 200}); err != nil {
			b.Fatal(err)
		}
	}
}

// A live heap that is another one at each cycle says nothing of what lies
// between two of them; one that moves slowly does.
func TestSwingReach(t *testing.T) {
	f := func(reach, least, most float64) {
		t.Helper()
		got := swingOf(swinging(reach, 100).Points).reach
		if got < least || got > most {
			t.Errorf("reach %.0f MiB found for a process of %.0f MiB, want %.0f to %.0f", got/mebi, reach/mebi, least/mebi, most/mebi)
		}
	}
	f(2*mebi, 0, 20*mebi)
	f(200*mebi, 40*mebi, math.Inf(1))
}

// The mean of the live heap is what sets the bytes per cycle, however fast it
// swings: a long way behind a large live heap is not all large.
func TestForecastSwings(t *testing.T) {
	f, err := NewForecaster(swinging(2*mebi, 100))
	if err != nil {
		t.Fatal(err)
	}
	for _, percent := range []int{50, 200, 400, 800} {
		v, err := f.At(Setting{GOGC: percent})
		if err != nil {
			t.Fatal(err)
		}
		want := 20 * float64(percent) / 100
		if got := v.PerCycle.Value / mebi; math.Abs(got/want-1) > 0.08 {
			t.Errorf("GOGC=%d: %.1f MiB per cycle, want about %.1f", percent, got, want)
		}
	}
}

func TestFalls(t *testing.T) {
	tr := &Trace{Points: []Point{{At: 0, Live: 10}, {At: 100, Live: 20}, {At: 200, Live: 4}, {At: 300, Live: 8}}}
	f := func(at, falls, want float64) {
		t.Helper()
		if got := tr.at(at, chance{falls: func(int) float64 { return falls }}).Live; got != want {
			t.Errorf("live heap at %v with a fall at %v: %v, want %v", at, falls, got, want)
		}
	}
	f(50, 0.5, 15)
	f(140, 0.5, 20) // not halfway down
	f(160, 0.5, 4)
	f(160, 0.7, 20)
	f(250, 0.5, 6)
}

// What no object holds is a part of the heap at a cycle's end, whatever the
// cycle adds, within bounds.
func TestUsed(t *testing.T) {
	tr := swinging(2*mebi, 100)
	if c := tr.course(); c.used(7*mebi, 9*mebi) != 7*mebi {
		t.Error("without a figure of what is unused, all is used")
	}
	tr.Unused = 1.25 * mebi
	for i := range tr.Points {
		tr.Points[i].At -= float64(i+1) * tr.Unused
	}
	c := tr.course()
	f := func(grown, end, want float64) {
		t.Helper()
		if got := c.used(grown*mebi, end*mebi); math.Abs(got-want*mebi) > 0.02*want*mebi {
			t.Errorf("%v MiB of growth to %v: %.2f MiB allocated, want %.2f", grown, end, got/mebi, want)
		}
	}
	f(20, 40, 18.75) // as recorded: 1 of 40 MiB, and what processors hold
	f(100, 400, 92)
	f(100, 200, 95.75)
	f(1, 40, 0.7) // bounded
	if c.span() >= tr.span()*1.02 || c.span() <= tr.span()*0.98 {
		t.Errorf("%.0f MiB allocated by the new count, %.0f by the recorded one", c.span()/mebi, tr.span()/mebi)
	}
}

// A cycle that finds more work than the one before may go on in proportion.
func TestMost(t *testing.T) {
	c := pacer{marked: 100, last: Point{HeapScan: 50}}
	f := func(percent int, work, want float64) {
		t.Helper()
		if got := c.most(Setting{GOGC: percent}, Point{HeapScan: work}, 200, 180) / overshoot; math.Abs(got-want) > 1e-9 {
			t.Errorf("GOGC=%d, work %v: ends at %v, want %v", percent, work, got, want)
		}
	}
	f(100, 40, 200)
	f(100, 50, 200)
	f(100, 100, 220)
	f(100, 1e6, 400) // twice as far at most
	f(50, 1e6, 300)
}

// Assists do what falls due, in proportion to what is allocated on the way to
// the goal, and at least what they hold the program back by.
func TestAssistsMore(t *testing.T) {
	p := Point{Background: 4, Assist: 2, Idle: 4, demand: 0.2}
	f := func(c cycleShape, want float64) {
		t.Helper()
		if got := p.assistsMore(c); math.Abs(got-want) > 1e-9 {
			t.Errorf("%+v: %v more than recorded, want %v", c, got, want)
		}
	}
	f(cycleShape{demand: 0.2}, 0)
	f(cycleShape{demand: 0.1}, -1)
	f(cycleShape{demand: 0.4}, 2)
	f(cycleShape{demand: 0.4, held: 0.8}, 0.8*0.75*10-2)
	f(cycleShape{demand: 0.4, held: 0.1}, 2)
	if got := demand(1<<20, 4<<20); got != 0.25 {
		t.Errorf("demand of 1 MiB on a way of 4: %v", got)
	}
	if got := demand(8<<20, 4<<20); got != 2 {
		t.Errorf("demand beyond the goal: %v, want 2", got)
	}
}

// What is allocated beside a cycle is not scanned by it: of a heap that grows,
// a cycle with less of that beside it has more to scan.
func TestRescan(t *testing.T) {
	f := func(lives, beside, want float64) {
		t.Helper()
		tr := &Trace{fit: fitted{lives: lives}}
		p := tr.rescan(Point{Live: 100, Beside: 40, Background: 4, Assist: 2, Idle: 2, Pause: 1}, beside)
		if got := (p.Background + p.Assist + p.Idle) / 8; math.Abs(got-want) > 1e-9 || p.Pause != 1 {
			t.Errorf("%v of it lives, %v beside: costs %v times as much, want %v; pauses %v, want 1", lives, beside, got, want, p.Pause)
		}
	}
	f(0, 10, 1)
	f(0.5, 40, 1)
	f(0.5, 20, 90.0/80)
	f(0.5, 80, 60.0/80)
	f(0.5, 190, 1.0/mostRescan)
	f(0.5, 400, 1) // nothing would be left: not such a heap
}

// What lives on of what is allocated is what a program's heap grows by; a
// service's does not.
func TestSurvival(t *testing.T) {
	f := func(whole bool, dies, want float64) {
		t.Helper()
		tr := &Trace{Whole: whole, Dies: dies, Points: []Point{{At: 10, Live: 5}, {At: 100, Live: 30}, {At: 200, Live: 10}}}
		if got := tr.survival(); math.Abs(got-want) > 1e-9 {
			t.Errorf("whole %v, %v dies: %v lives, want %v", whole, dies, got, want)
		}
	}
	f(true, 0.5, 0.3)
	f(true, 0.9, 0.1)
	f(false, 0.5, 0)
}

// What cycles cost in all stays when it is shared out, also at either end.
func TestShareCosts(t *testing.T) {
	tr := swinging(1<<30, 100)
	tr.Points = tr.Points[:7]
	tr.Points[6].Background *= 10
	c := tr.course()
	got, want := 0.0, 0.0
	for i := range c.Points {
		got, want = got+c.Points[i].total(), want+tr.Points[i].total()
	}
	if math.Abs(got-want) > 1e-9*want {
		t.Errorf("cycles cost %v in all, want the recorded %v", got, want)
	}
}

// Under GOGC no cycle begins before the sweeper had a MiB; below a limit it may.
func TestSweepDistance(t *testing.T) {
	c := pacer{marked: 1.2 * (1 << 20)}
	goal, trigger, r := c.aim(Setting{GOGC: 50})
	if want := c.marked + sweepDistance; trigger < want || trigger >= goal || goal != want+minRunway || r != MinimumRunway {
		t.Errorf("GOGC=50: trigger %v, goal %v, %v, want %v or more, and 64 KiB more than that", trigger, goal, r, want)
	}
	if _, trigger, r = c.aim(Setting{GOGC: -1, Limit: 3 << 20}); trigger >= c.marked+sweepDistance || r != MemoryLimit {
		t.Errorf("limit: trigger %v, %v, want one below %v", trigger, r, c.marked+sweepDistance)
	}
}

// Free slots grow less than the heap does, tables do not shrink much.
func TestBeside(t *testing.T) {
	tr := &Trace{Peak: 100 * mebi, Procs: 2, Memory: Memory{Fixed: 8 * mebi, Slack: 0.2}}
	fixed, slots := tr.beside(100 * mebi)
	if fixed != 8*mebi || math.Abs(slots-20*mebi) > 1 {
		t.Errorf("as recorded: %v and %v, want 8 and 20 MiB", fixed/mebi, slots/mebi)
	}
	more, wider := tr.beside(400 * mebi)
	if more <= fixed || more > 16*mebi || wider <= slots || wider >= 80*mebi {
		t.Errorf("four times the heap: %v and %v MiB", more/mebi, wider/mebi)
	}
	less, held := tr.beside(0)
	if less < 6*mebi || held != 2*heldPerProc {
		t.Errorf("without a heap %v of 8 MiB are left, want three quarters, and %v of slots, want what two processors hold", less/mebi, held)
	}
	// A tiny heap has nothing but what processors hold.
	tr = &Trace{Peak: 4 * mebi, Procs: 2, Memory: Memory{Slack: 0.3}}
	if _, slots := tr.beside(40 * mebi); math.Abs(slots-1.2*mebi) > 1 {
		t.Errorf("ten times a tiny heap: %v MiB, want 1.2 as recorded", slots/mebi)
	}
}

// Below a limit a heap that lies scattered cannot grow to its goal: while it
// fills free slots goal and heap grow side by side, and meet at the trigger.
func TestScattered(t *testing.T) {
	const live = 80 // MiB
	s := Setting{GOGC: -1, Limit: 252 * unit.MiB}
	c := pacer{nonHeap: 12 * mebi, slots: 2 * mebi, marked: live * mebi, last: Point{HeapScan: 67 * mebi, ConsMark: 0.2}}
	free, _, _ := c.aim(s)
	c.spans = 222 * mebi
	goal, trigger, r := c.aim(s)
	if r != MemoryLimit || goal >= free || trigger <= c.marked || trigger >= goal {
		t.Fatalf("scattered: trigger %v, goal %v of %v MiB, %v", trigger/mebi, goal/mebi, free/mebi, r)
	}
	// The goal by the runtime's formula with the free slots at the trigger.
	if want := 0.97 * (float64(s.Limit) - 10*mebi - (c.spans - trigger)); math.Abs(goal-want) > 0.01*want {
		t.Errorf("goal %v, want %v MiB", goal/mebi, want/mebi)
	}
	c.scatter(230*mebi, live*mebi, 0.9)
	if want := 215.0 * mebi; math.Abs(c.spans-want) > 1 {
		t.Errorf("spans of %v MiB are left, want nine tenths of what was freed and what lives, %v", c.spans/mebi, want/mebi)
	}
}

// With more room assists hide less of what a program allocates beside a cycle.
func TestFree(t *testing.T) {
	p := Point{Beside: 1 * mebi, demand: 0.5, hindered: 0.5}
	f := func(runway, want float64) {
		t.Helper()
		if got := p.free(runway*mebi) / mebi; math.Abs(got-want) > 1e-9 {
			t.Errorf("%v MiB to the goal: %v MiB, want %v", runway, got, want)
		}
	}
	f(2, 1) // as recorded
	f(20, 2.0/1.1)
	f(1, 2.0/3)
	if got := (Point{Beside: 3}).free(1); got != 3 {
		t.Errorf("without assists: %v, want what was recorded", got)
	}
}
