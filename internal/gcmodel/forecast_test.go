package gcmodel_test

import (
	"errors"
	"math"
	"testing"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

const mebi = 1 << 20

// steady is a service with a live heap that does not change, whose cycles end
// at their goal and take 50 ms of 0.4 s of CPU.
func steady(live float64, s gcmodel.Setting) *gcmodel.Trace {
	t := &gcmodel.Trace{Setting: s, Procs: 2, Wall: 10, CPU: 8, Peak: 2 * live, RSS: 2*live + 30*mebi, Memory: gcmodel.Memory{Fixed: 10 * mebi, Slack: 0.05}}
	for i := range 21 {
		t.Points = append(t.Points, gcmodel.Point{
			At: float64(i) * live, Live: live, End: 2 * live, HeapScan: live / 2,
			Background: 0.04, Assist: 0.005, Pause: 0.005, Idle: 0.01,
		})
	}
	return t
}

func forecaster(t *testing.T, tr *gcmodel.Trace) *gcmodel.Forecaster {
	t.Helper()
	f, err := gcmodel.NewForecaster(tr)
	if err != nil {
		t.Fatal(err)
	}
	f.Exponent = stats.Interval{}
	return f
}

func about(got, want, rel float64) bool { return math.Abs(got-want) <= rel*math.Abs(want) }

func TestForecastSteady(t *testing.T) {
	const live = 100 * mebi
	f := forecaster(t, steady(live, gcmodel.Setting{GOGC: 100}))
	check := func(name string, s gcmodel.Setting, headroom, rss float64) {
		t.Helper()
		v, err := f.At(s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		// A trigger is at 95 % of the headroom where marking is instant, or 4 MiB off.
		if !about(v.PerCycle.Value, headroom, 0.06) {
			t.Errorf("%s: %.1f MiB per cycle, want about %.1f", name, v.PerCycle.Value/mebi, headroom/mebi)
		}
		if !about(v.Cycles.Value, 2000*mebi/headroom, 0.06) {
			t.Errorf("%s: %.2f cycles, want about %.2f", name, v.Cycles.Value, 2000*mebi/headroom)
		}
		gc := 0.05 * v.Cycles.Value
		idle := 0.01 * v.Cycles.Value
		own := 8 - 20*0.06 + 0.4*(gc+idle-20*0.06)
		if want := gc / (own + gc); !about(v.Collector.Value, want, 1e-6) {
			t.Errorf("%s: collector %.4f of CPU, want %.4f", name, v.Collector.Value, want)
		}
		if !about(v.Dedicated.Value+v.Assist.Value, v.Collector.Value, 1e-9) {
			t.Errorf("%s: the parts %v and %v do not make up %v", name, v.Dedicated.Value, v.Assist.Value, v.Collector.Value)
		}
		if peak := live + float64(s.Ballast) + headroom; !about(v.Peak.Value, peak, 0.05) {
			t.Errorf("%s: largest heap %.1f MiB, want about %.1f", name, v.Peak.Value/mebi, peak/mebi)
		}
		if !about(v.RSS.Value, rss, 0.06) {
			t.Errorf("%s: resident %.1f MiB, want about %.1f", name, v.RSS.Value/mebi, rss/mebi)
		}
	}
	check("as recorded", gcmodel.Setting{GOGC: 100}, live, 230*mebi)
	check("a quarter", gcmodel.Setting{GOGC: 25}, live/4, 151*mebi)
	check("four times", gcmodel.Setting{GOGC: 400}, 4*live, 545*mebi)
	// A ballast is in the heap and not in memory.
	check("ballast", gcmodel.Setting{GOGC: 100, Ballast: 200 * mebi}, 3*live, 440*mebi)
	// 3 % stay free, and the slack grows with the heap; tables that grow with it and
	// what is held beyond the limit are about 1.5 % of that.
	room := (((500.0-10)/1.05-7.5)*0.97 - 100) * mebi
	check("limit", gcmodel.Setting{GOGC: -1, Limit: 500 * mebi}, room, 476*mebi)
}

// Each cycle costs the program more than the clocks of the collector say, and
// that goes with the cycles.
func TestForecastBesideCost(t *testing.T) {
	f := forecaster(t, steady(100*mebi, gcmodel.Setting{GOGC: 100}))
	cpu := func(percent int) float64 {
		v, err := f.At(gcmodel.Setting{GOGC: percent})
		if err != nil {
			t.Fatal(err)
		}
		return (8 - 20*0.01) * v.CPU.Value
	}
	if got := cpu(100); !about(got, 7.8, 0.01) {
		t.Errorf("as recorded: %.2f CPU seconds, want 7.8: idle marking is not in it", got)
	}
	// 15 of 20 cycles of 50 ms are saved, and 0.4 × as much again with idle marking.
	if got, want := cpu(400), 7.8-15*(0.05+0.06*0.4); !about(got, want, 0.01) {
		t.Errorf("GOGC=400: %.2f CPU seconds, want about %.2f", got, want)
	}
}

// Processors that mark because they are idle do not make a program one that uses all of them.
func TestSaturated(t *testing.T) {
	tr := steady(100*mebi, gcmodel.Setting{GOGC: 100})
	tr.Procs, tr.Wall, tr.CPU = 2, 4, 8
	if f := forecaster(t, tr); !f.Saturated() {
		t.Error("8 of 8 s, 0.2 s of them idle marking: not saturated")
	}
	for i := range tr.Points {
		tr.Points[i].Idle = 0.1
	}
	f := forecaster(t, tr)
	if f.Saturated() {
		t.Error("8 of 8 s, 2 s of them idle marking: saturated")
	}
	v, err := f.At(gcmodel.Setting{GOGC: 400})
	if err != nil {
		t.Fatal(err)
	}
	if want := v.Cycles.Value / tr.Wall; !about(v.PerSecond.Value, want, 1e-9) {
		t.Errorf("%v cycles per second, want %v: a program that waits does not become faster", v.PerSecond.Value, want)
	}
}

func TestForecastRefuses(t *testing.T) {
	f := forecaster(t, steady(100*mebi, gcmodel.Setting{GOGC: 100}))
	check := func(s gcmodel.Setting, want error) {
		t.Helper()
		if _, err := f.At(s); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%+v: error %v, want %v", s, err, want)
		}
	}
	check(gcmodel.Setting{GOGC: -1}, gcmodel.ErrNeverCollects)
	check(gcmodel.Setting{GOGC: -1, Limit: 10 * mebi}, gcmodel.ErrLimiter)
	// (145 − 10) / 1.05 is 1.29 × the live heap.
	check(gcmodel.Setting{GOGC: -1, Limit: 145 * mebi}, gcmodel.ErrLimiter)
	check(gcmodel.Setting{GOGC: 100, Limit: 145 * mebi}, gcmodel.ErrLimiter)
	check(gcmodel.Setting{GOGC: 0}, nil)
	check(gcmodel.Setting{GOGC: 100, Ballast: -1}, nil)
	check(gcmodel.Setting{GOGC: 1 << 40}, nil)
	if _, err := f.At(gcmodel.Setting{GOGC: -1, Limit: 148 * mebi}); err != nil {
		t.Errorf("just above the safe ratio: %v", err)
	}
}

func TestForecastGrowth(t *testing.T) {
	// A compiler that keeps all it allocates: 1 GiB, collected at each doubling.
	tr := &gcmodel.Trace{Whole: true, Bytes: 1024 * mebi, Setting: gcmodel.Setting{GOGC: 100}, Procs: 2, Wall: 10, CPU: 15, Peak: 1024 * mebi}
	for size := 4.0 * mebi; size <= 1024*mebi; size *= 2 {
		tr.Points = append(tr.Points, gcmodel.Point{At: size, Live: size, End: size, HeapScan: size, Background: size / (400 * mebi)})
	}
	f := forecaster(t, tr)
	check := func(percent int, want float64) {
		t.Helper()
		v, err := f.At(gcmodel.Setting{GOGC: percent})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(v.Cycles.Value-want) > math.Max(1, want/12) || v.Cycles.Low > want || v.Cycles.High < want {
			t.Errorf("GOGC=%d: %.1f cycles (%.1f to %.1f), want about %.0f", percent, v.Cycles.Value, v.Cycles.Low, v.Cycles.High, want)
		}
		if v.Peak.Value != 1024*mebi {
			t.Errorf("GOGC=%d: largest heap %v, want all that it allocates", percent, v.Peak.Value)
		}
	}
	check(100, 8)
	check(300, 4) // from 12 MiB, times 4
	check(50, 16) // from 2 MiB, 1 MiB more, then times 1.5 less the triggers' lead
}

func TestLearn(t *testing.T) {
	first := steady(100*mebi, gcmodel.Setting{GOGC: 100})
	second := steady(100*mebi, gcmodel.Setting{GOGC: 700})
	for i := range second.Points {
		p := &second.Points[i]
		p.At *= 7
		p.End *= 4
		p.Background, p.Assist, p.Idle, p.Pause = p.Background*1.5, p.Assist*1.5, p.Idle*1.5, p.Pause*1.5
	}
	second.CPU = 7*(first.CPU-20*0.06) + 20*0.09
	f := forecaster(t, first)
	if err := f.Learn(second); err != nil {
		t.Fatal(err)
	}
	// What the two show is weighed with what programs in general do.
	if want := math.Log(1.5) / math.Log(4); !about(f.Exponent.Value, want, 0.2) || f.Exponent.Value >= want || f.Exponent.High < want || f.Assumed {
		t.Errorf("exponent %v, want a little less than %v", f.Exponent, want)
	}
	before, err := f.At(gcmodel.Setting{GOGC: 100})
	if err != nil {
		t.Fatal(err)
	}
	after, err := f.At(gcmodel.Setting{GOGC: 700})
	if err != nil {
		t.Fatal(err)
	}
	cost := func(v gcmodel.Forecast) float64 {
		rest := 1 - v.Collector.Value
		// Beside what its clocks count, a cycle costs the program 0.4 of that.
		own := (8 - 1.4*20*0.06) / (1 - 0.4*(v.Collector.Value+v.Idle.Value)/rest)
		return v.Collector.Value / rest * own / v.Cycles.Value
	}
	if got := cost(after) / cost(before); !about(got, 1.5, 0.06) {
		t.Errorf("a cycle costs %.3f × as much, want 1.5", got)
	}
	if err := f.Learn(first); err == nil {
		t.Error("two recordings of one size taught something")
	}
}

// A second recording is asked for where the collector costs something and its
// cycles would tell the exponent.
func TestAsk(t *testing.T) {
	f := func(name string, tr *gcmodel.Trace, want int) {
		t.Helper()
		fc, err := gcmodel.NewForecaster(tr)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := fc.Ask()
		if ok != (want > 0) || ok && s != (gcmodel.Setting{GOGC: want}) {
			t.Errorf("%s: %+v, %v, want GOGC=%d", name, s, ok, want)
		}
	}
	f("costly", steady(100*mebi, gcmodel.Setting{GOGC: 100}), 400)
	f("less room", steady(100*mebi, gcmodel.Setting{GOGC: 75}), 400)
	f("more room", steady(100*mebi, gcmodel.Setting{GOGC: 200}), 800)
	f("a limit", steady(100*mebi, gcmodel.Setting{GOGC: -1, Limit: 250 * mebi}), 0)
	cheap := steady(100*mebi, gcmodel.Setting{GOGC: 100})
	cheap.CPU = 80
	f("cheap", cheap, 0)
	chance := steady(100*mebi, gcmodel.Setting{GOGC: 100})
	for i := range chance.Points {
		chance.Points[i].Background *= float64(1 + i%2)
	}
	f("cycles that differ", chance, 0)
	fc, err := gcmodel.NewForecaster(steady(100*mebi, gcmodel.Setting{GOGC: 100}))
	if err != nil {
		t.Fatal(err)
	}
	if err := fc.Learn(steady(100*mebi, gcmodel.Setting{GOGC: 100})); err == nil {
		t.Error("the same recording twice tells an exponent")
	}
	second := steady(100*mebi, gcmodel.Setting{GOGC: 400})
	for i := range second.Points {
		second.Points[i].End *= 2.5
	}
	if err := fc.Learn(second); err != nil {
		t.Fatal(err)
	}
	if s, ok := fc.Ask(); ok {
		t.Errorf("asks for %+v though there are two", s)
	}
}

func TestScaled(t *testing.T) {
	tr := steady(100*mebi, gcmodel.Setting{GOGC: 100})
	a, err := forecaster(t, tr).At(gcmodel.Setting{GOGC: 200})
	if err != nil {
		t.Fatal(err)
	}
	b, err := forecaster(t, tr).Scaled(2).At(gcmodel.Setting{GOGC: 200})
	if err != nil {
		t.Fatal(err)
	}
	if !about(b.Peak.Value, 2*a.Peak.Value, 0.02) || !about(b.PerCycle.Value, 2*a.PerCycle.Value, 0.02) {
		t.Errorf("twice the live heap: peak %v and %v, per cycle %v and %v", a.Peak.Value, b.Peak.Value, a.PerCycle.Value, b.PerCycle.Value)
	}
	if tr.Points[0].Live != 100*mebi {
		t.Error("the trace itself was scaled")
	}
}

func TestTracesRefused(t *testing.T) {
	check := func(name string, change func(*gcmodel.Trace)) {
		t.Helper()
		tr := steady(100*mebi, gcmodel.Setting{GOGC: 100})
		change(tr)
		if _, err := gcmodel.NewForecaster(tr); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	check("one cycle", func(t *gcmodel.Trace) { t.Points = t.Points[:1] })
	check("backwards", func(t *gcmodel.Trace) { t.Points[3].At = 0 })
	check("negative", func(t *gcmodel.Trace) { t.Points[3].Live = -1 })
	check("no number", func(t *gcmodel.Trace) { t.Points[3].Idle = math.NaN() })
	check("beyond all", func(t *gcmodel.Trace) { t.CPU = math.Inf(1) })
	check("no bytes", func(t *gcmodel.Trace) {
		for i := range t.Points {
			t.Points[i].At = 5
		}
	})
}

// Whatever a recording holds and whatever is asked, a forecast has finite
// values within their bounds.
func FuzzForecast(f *testing.F) {
	f.Add(100.0, 3.0, 0.02, 400, int64(0), int64(0), false, true)
	f.Add(1.0, 0.0, 0.0, 25, int64(8*mebi), int64(mebi), true, true)
	f.Add(5000.0, 900.0, 9.0, -1, int64(1<<40), int64(0), true, false)
	f.Fuzz(func(t *testing.T, live, beside, cost float64, gogc int, limit, ballast int64, whole, second bool) {
		trace := func(percent int) *gcmodel.Trace {
			tr := &gcmodel.Trace{Whole: whole, Setting: gcmodel.Setting{GOGC: percent}, Procs: 2, Wall: 1, CPU: 1, Peak: 2 * live * mebi, RSS: 3 * live * mebi, Unused: beside * mebi / 3}
			step := live * float64(percent) / 100
			for i := range 20 {
				here := live * float64(1+i%3) / 2
				tr.Points = append(tr.Points, gcmodel.Point{
					At: float64(i+1) * step * mebi, Live: here * mebi, Beside: beside * mebi, Natural: 2 * beside * mebi, End: (here + step) * mebi,
					HeapScan: here * mebi, ConsMark: cost, Background: cost, Idle: cost / 2,
				})
			}
			return tr
		}
		fc, err := gcmodel.NewForecaster(trace(100))
		if err != nil {
			return
		}
		if second {
			_ = fc.Learn(trace(400)) // without a contrast nothing is learnt
		}
		v, err := fc.At(gcmodel.Setting{GOGC: gogc, Limit: unit.Bytes(limit), Ballast: unit.Bytes(ballast)})
		if err != nil {
			return
		}
		for name, i := range map[string]stats.Interval{
			"cycles": v.Cycles, "collector": v.Collector, "dedicated": v.Dedicated, "assist": v.Assist, "idle": v.Idle, "CPU": v.CPU, "peak": v.Peak, "RSS": v.RSS, "rate": v.PerSecond,
		} {
			if !(i.Low <= i.Value && i.Value <= i.High) || math.IsNaN(i.Value) || math.IsInf(i.Value, 0) {
				t.Errorf("%s is %+v", name, i)
			}
		}
		if v.Collector.High > 1 || v.Idle.High > 1 {
			t.Errorf("a share above one: %+v, %+v", v.Collector, v.Idle)
		}
	})
}
