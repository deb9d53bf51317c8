package tune_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/tune"
	"github.com/heaptrim/heaptrim/internal/unit"
)

func TestSettings(t *testing.T) {
	f := func(text string, want gcmodel.Setting) {
		t.Helper()
		got, err := tune.ParseSetting(text)
		if err != nil || got != want {
			t.Errorf("ParseSetting(%q) = %+v, %v, want %+v", text, got, err, want)
		}
		again, err := tune.ParseSetting(tune.SettingText(got))
		if err != nil || again != got {
			t.Errorf("%q reads back as %+v, %v", tune.SettingText(got), again, err)
		}
	}
	f("gogc=250", gcmodel.Setting{GOGC: 250})
	f("gogc=off,limit=1GiB", gcmodel.Setting{GOGC: -1, Limit: unit.GiB})
	f("limit=1500000001,gogc=40", gcmodel.Setting{GOGC: 40, Limit: 1_500_000_001})
	f(" ballast=64MiB", gcmodel.Setting{GOGC: 100, Ballast: 64 * unit.MiB})
	for _, bad := range []string{"", "gogc", "gogc=0", "gogc=-5", "gogc=off", "gogc=1,gogc=2", "limit=-1", "GOGC=100",
		"gogc=1e9"} {
		if s, err := tune.ParseSetting(bad); err == nil {
			t.Errorf("ParseSetting(%q) = %+v, want an error", bad, s)
		}
	}
}

func TestDeploy(t *testing.T) {
	f := func(s gcmodel.Setting, env string, wantGo ...string) {
		t.Helper()
		d := tune.Deploy(s, gcmodel.Setting{GOGC: 100})
		if got := strings.Join(d.Env, " "); got != env {
			t.Errorf("%+v: environment %q, want %q", s, got, env)
		}
		if len(d.Dockerfile) != len(d.Env) || len(d.Kubernetes) != 2*len(d.Env)+min(1, len(d.Env)) {
			t.Errorf("%+v: %q and %q", s, d.Dockerfile, d.Kubernetes)
		}
		for _, w := range wantGo {
			if !strings.Contains(strings.Join(d.Go, "\n"), w) {
				t.Errorf("%+v: no %q in %q", s, w, d.Go)
			}
		}
	}
	f(gcmodel.Setting{GOGC: 400}, "GOGC=400", "debug.SetGCPercent(400)")
	f(gcmodel.Setting{GOGC: -1, Limit: 3 * unit.GiB}, "GOGC=off GOMEMLIMIT=3GiB", "debug.SetGCPercent(-1)",
		"debug.SetMemoryLimit(3072 << 20)")
	f(gcmodel.Setting{GOGC: 100, Ballast: 64 * unit.MiB}, "", "ballast.Classic", "64 << 20")
}

// TestLimitOfToday: a limit that is today's stays in all settings of GOGC, and is nothing to set.
func TestLimitOfToday(t *testing.T) {
	w := service(100<<20, 0.3)
	w.Trace.Setting.Limit = 20 << 30
	today := w.Trace.Setting
	p, err := tune.Make(w, tune.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(p.Curve, func(q tune.Point) bool { return q.Forecast.Setting == today }) {
		t.Error("today is not in the table")
	}
	chosen := p.Choice.Point.Forecast.Setting
	if p.Choice.Knob != tune.KnobGOGC || chosen.Limit != today.Limit || chosen == today {
		t.Fatalf("chose %+v by %s", chosen, p.Choice.Knob)
	}
	d := tune.Deploy(chosen, today)
	if all := strings.Join(slices.Concat(d.Env, d.Go, d.Kubernetes, d.Dockerfile), "\n"); strings.Contains(all, "LIMIT") || strings.Contains(all, "MemoryLimit") || len(d.Env) != 1 {
		t.Errorf("sets the limit that is there: %s", all)
	}
	if got := tune.Text(chosen, today); strings.Contains(got, "limit") {
		t.Errorf("text %q", got)
	}
	if got := tune.Text(gcmodel.Setting{GOGC: -1, Limit: today.Limit}, today); got != "gogc=off,limit=20GiB" {
		t.Errorf("without GOGC: %q", got)
	}
	for _, o := range p.Choice.Others {
		if strings.Contains(o.Why, "no limit to set") {
			t.Errorf("%s: %s", o.Knob, o.Why)
		}
	}
}

func TestContainer(t *testing.T) {
	const v2 = "30 25 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n"
	const v1 = "33 25 0:29 / /sys/fs/cgroup/memory rw shared:12 - cgroup cgroup rw,memory\n"
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	f := func(name string, fs fstest.MapFS, max, beside unit.Bytes, folder string) {
		t.Helper()
		c, err := tune.Container(fs, "self")
		if max == 0 {
			if !errors.Is(err, tune.ErrNoContainer) {
				t.Errorf("%s: %+v, %v, want no container", name, c, err)
			}
			return
		}
		if err != nil || c.Max != max || c.Beside != beside || !strings.Contains(c.Source, folder) {
			t.Errorf("%s: %+v, %v, want %v less %v of %s", name, c, err, max, beside, folder)
		}
	}
	f("the parent is tighter", fstest.MapFS{
		"proc/self/mountinfo": file(v2), "proc/self/cgroup": file("0::/a/b\n"),
		"sys/fs/cgroup/a/b/memory.max": file("8589934592\n"), "sys/fs/cgroup/a/memory.max": file("1073741824\n"),
		"sys/fs/cgroup/memory.max": file("max\n"),
		"sys/fs/cgroup/a/memory.stat": file("anon 500\nfile 900\nactive_file 300\ninactive_file 600\nkernel " +
			"20\nshmem 3\nsock 1\n"),
	}, unit.GiB, 324, "/sys/fs/cgroup/a")
	f("version 1", fstest.MapFS{
		"proc/self/mountinfo": file(v1), "proc/self/cgroup": file("5:cpu:/x\n4:memory:/docker/1f\n0::/\n"),
		"sys/fs/cgroup/memory/docker/1f/memory.limit_in_bytes": file("536870912\n"),
		"sys/fs/cgroup/memory/memory.limit_in_bytes":           file("9223372036854771712\n"),
		"sys/fs/cgroup/memory/docker/1f/memory.stat":           file("cache 5\ntotal_active_file 7\ntotal_shmem 2\n"),
	}, 512*unit.MiB, 9, "docker/1f")
	f("seen from inside", fstest.MapFS{
		"proc/self/mountinfo":      file("30 25 0:26 /kube/pod /sys/fs/cgroup ro - cgroup2 cgroup rw\n"),
		"proc/self/cgroup":         file("0::/\n"),
		"sys/fs/cgroup/memory.max": file("268435456\n"),
	}, 256*unit.MiB, 0, "/sys/fs/cgroup")
	f("no limit", fstest.MapFS{"proc/self/mountinfo": file(v2), "proc/self/cgroup": file("0::/\n"),
		"sys/fs/cgroup/memory.max": file("max\n")}, 0, 0, "")
	f("nonsense", fstest.MapFS{"proc/self/mountinfo": file("x\n- -\n" + v2),
		"proc/self/cgroup": file("0:\nx\n0::/../../etc\n"), "sys/fs/cgroup/memory.max": file("-5\n")}, 0, 0, "")
	f("no proc", fstest.MapFS{}, 0, 0, "")
}

// service is a workload with a constant live heap, recorded at GOGC=100, whose
// collector takes the given share of CPU.
func service(live, share float64) tune.Workload {
	const cycles, cpu = 40, 10.0
	t := &gcmodel.Trace{Setting: gcmodel.Setting{GOGC: 100}, Procs: 2, Wall: 20, CPU: cpu, Peak: 2 * live,
		RSS: 2*live + 20<<20, Memory: gcmodel.Memory{Fixed: 10 << 20, Slack: 0.05}}
	for i := range cycles + 1 {
		t.Points = append(t.Points, gcmodel.Point{
			At: float64(i) * live, Live: live, End: 2 * live, HeapScan: live / 2, Background: cpu * share / cycles,
		})
	}
	return tune.Workload{Name: "service", Trace: t}
}

func TestChoice(t *testing.T) {
	f := func(name string, w tune.Workload, c tune.Constraint, want tune.Knob) *tune.Plan {
		t.Helper()
		p, err := tune.Make(w, tune.Options{Constraint: c})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if p.Choice.Knob != want {
			t.Errorf("%s: %s, want %s: %s", name, p.Choice.Knob, want, p.Choice.Why)
		}
		return p
	}
	const live = 100 << 20
	// Without a bound, the simplest knob that reaches the knee.
	p := f("costly", service(live, 0.3), tune.Constraint{}, tune.KnobGOGC)
	today, then := p.Today.Forecast, p.Choice.Point.Forecast
	stays := then.Collector.Value * then.CPU.Value / (today.Collector.Value * today.CPU.Value)
	if less := p.Measured.Collector * (1 - stays); math.Abs(p.Choice.Saves-less) > 1e-9 {
		t.Errorf("saves %v, and of the recorded share of the collector %v goes", p.Choice.Saves, less)
	}
	if recorded := fmt.Sprintf("instead of %s per second", unit.FormatCount(p.Measured.PerSecond)); !strings.Contains(p.Choice.Why, recorded) {
		t.Errorf("%q does not say what was recorded: %s", p.Choice.Why, recorded)
	}
	if p.Choice.Point.Forecast.Setting.GOGC <= 100 || p.Choice.Saves < 0.1 || p.Choice.Costs <= 0 ||
		len(p.Choice.Others) != 3 {
		t.Errorf("costly: %+v", p.Choice)
	}
	// Why no larger value: here it takes more memory than is known to be there, there it would save too little.
	if !strings.Contains(p.Choice.Why, "is refused: its largest heap would be more than") {
		t.Errorf("costly: %s", p.Choice.Why)
	}
	if little := f("little", service(live, 0.022), tune.Constraint{}, tune.KnobGOGC); !strings.Contains(little.Choice.Why, "would save less than") {
		t.Errorf("little: %s", little.Choice.Why)
	}
	// Of what CPU samples show goes the part that goes of the collector's clock; the setting is the same.
	sampled := service(live, 0.3)
	sampled.Sampled = stats.Interval{Value: 0.6, Low: 0.55, High: 0.65}
	gone := 1 - p.Choice.Point.Forecast.Collector.Value*p.Choice.Point.Forecast.CPU.Value/(p.Today.Forecast.Collector.Value*p.Today.Forecast.CPU.Value)
	if s := f("sampled", sampled, tune.Constraint{}, tune.KnobGOGC); s.Choice.Clock != p.Choice.Saves || s.Measured.Sampled != 0.6 ||
		math.Abs(s.Choice.Saves-0.6*gone) > 0.01 || s.Choice.Point.Forecast.Setting != p.Choice.Point.Forecast.Setting {
		t.Errorf("saves %v by samples and %v by the clock, want %v and %v", s.Choice.Saves, s.Choice.Clock, 0.6*gone, p.Choice.Saves)
	}
	f("cheap", service(live, 0.005), tune.Constraint{}, tune.KnobNone)
	// With a bound there must be a guard, and the choice must stay within the bound.
	p = f("in 1 GiB", service(live, 0.3), tune.Constraint{Max: unit.GiB}, tune.KnobBoth)
	if got := p.Choice.Point.Forecast.RSS.High; got > float64(unit.GiB) ||
		p.Choice.Point.Forecast.Setting.Limit > unit.GiB {
		t.Errorf("in 1 GiB: resident up to %v under %+v", got, p.Choice.Point.Forecast.Setting)
	}
	// A limit does not count memory outside of the runtime, which needs room, too.
	outside := service(live, 0.3)
	outside.Trace.RSS += 300 << 20
	inside := p.Choice.Point.Forecast.Setting.Limit
	p = f("much outside of the runtime", outside, tune.Constraint{Max: unit.GiB}, tune.KnobBoth)
	if less := float64(inside - p.Choice.Point.Forecast.Setting.Limit); math.Abs(less-0.95*(300<<20)) > 8<<20 { // it is rounded
		t.Errorf("with 300 MiB outside of the runtime the limit is %v lower", unit.Bytes(less))
	}
	// GOGC alone would not fit at the burst; a limit keeps it within the bound.
	p = f("bursts", service(live, 0.3), tune.Constraint{Max: unit.GiB, Burst: 3}, tune.KnobBoth)
	for _, q := range p.Curve {
		if q.Forecast.Setting == (gcmodel.Setting{GOGC: 400}) && q.Fits {
			t.Error("GOGC=400 fits 1 GiB at three times the live heap")
		}
	}
	// A limit too close to the live heap at the burst is not used.
	p = f("larger bursts", service(live, 0.3), tune.Constraint{Max: unit.GiB, Burst: 4.9}, tune.KnobNone)
	if p.Choice.Refused == "" || !strings.Contains(p.Choice.Why, "below 2") {
		t.Errorf("larger bursts: %q: %s", p.Choice.Refused, p.Choice.Why)
	}
	p = f("too small", service(live, 0.3), tune.Constraint{Max: 110 << 20}, tune.KnobNone)
	if p.Choice.Refused == "" {
		t.Error("too small: a setting is recommended")
	}
}

func TestPlanRefusesNearLimits(t *testing.T) {
	p, err := tune.Make(service(100<<20, 0.3),
		tune.Options{Settings: []gcmodel.Setting{{GOGC: -1, Limit: 120 << 20}}, Only: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Curve) != 1 || !strings.Contains(p.Curve[0].Refused, "limiter territory") ||
		p.Curve[0].Forecast.Collector.Value != 0 {
		t.Errorf("got %+v", p.Curve)
	}
}

// A requested recording is in the plan and in a note that says how to make it.
func TestAsk(t *testing.T) {
	f := func(name string, w tune.Workload, want string) {
		t.Helper()
		p, err := tune.Make(w, tune.Options{})
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(p.Notes, "\n")
		if want == "" {
			if p.Ask != nil || strings.Contains(notes, "record once more") {
				t.Errorf("%s: asks for %+v: %s", name, p.Ask, notes)
			}
			return
		}
		if p.Ask == nil || strings.Join(p.Ask.Env, " ") != want ||
			!strings.Contains(notes, "record once more with "+want) {
			t.Errorf("%s: asks for %+v, want %s: %s", name, p.Ask, want, notes)
		}
	}
	f("costly", service(100<<20, 0.3), "GOGC=400")
	f("cheap", service(100<<20, 0.005), "")
	means := service(100<<20, 0.3)
	means.Means = true
	f("of means", means, "")
}

// TestAt checks that At gives the same forecast as the plan's curve.
func TestAt(t *testing.T) {
	p, err := tune.Make(service(100<<20, 0.3), tune.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range p.Curve {
		if got := p.At(q.Forecast.Setting); got != q {
			t.Errorf("At(%+v) = %+v, want %+v", q.Forecast.Setting, got, q)
		}
	}
	if got := (&tune.Plan{}).At(gcmodel.Setting{GOGC: 100}); got.Known() {
		t.Errorf("a plan of nothing: %+v", got)
	}
}

// TestUnknownMemory: where it is not known how much memory there is, no setting is recommended
// that takes many times the memory of today, unless that is little.
func TestUnknownMemory(t *testing.T) {
	for _, live := range []float64{1 << 20, 41 << 20, 400 << 20} {
		p, err := tune.Make(service(live, 0.6), tune.Options{})
		if err != nil {
			t.Fatal(err)
		}
		now, then := p.Today.Forecast.Peak.Value, p.Choice.Point.Forecast.Peak.Value
		if p.Choice.Refused != "" || then <= now {
			t.Errorf("%.0f MiB live: nothing is recommended (%s): it tests nothing", live/(1<<20), p.Choice.Why)
		}
		if then > 4*now && then > 128<<20 {
			t.Errorf("%.0f MiB live: from %.0f to %.0f MiB", live/(1<<20), now/(1<<20), then/(1<<20))
		}
		roomy, err := tune.Make(service(live, 0.6), tune.Options{Constraint: tune.Constraint{Max: 64 << 30}})
		if err != nil {
			t.Fatal(err)
		}
		if live > 40<<20 && roomy.Choice.Point.Forecast.Peak.Value <= then {
			t.Errorf("%.0f MiB live: knowing of memory makes no difference: it tests nothing", live/(1<<20))
		}
	}
}

// TestKnee: the last doubling of the recommended setting saves at least the knee, and one more doubling saves less. The heap
// is never smaller with a smaller knee.
func TestKnee(t *testing.T) {
	tested := 0
	for _, collector := range []float64{0.02, 0.03, 0.05, 0.08, 0.15} {
		largest := math.Inf(1)
		for _, knee := range []float64{0.001, 0.002, 0.003, 0.005, 0.01, 0.02} {
			p, err := tune.Make(service(20<<20, collector), tune.Options{Knee: knee, Constraint: tune.Constraint{Max: 64 * unit.GiB}})
			if err != nil {
				t.Fatal(err)
			}
			cpu := map[int]float64{}
			for _, q := range p.Curve {
				if s := q.Forecast.Setting; q.Known() && s.GOGC > 0 && s.Ballast == 0 {
					cpu[s.GOGC] = q.Forecast.CPU.Value
				}
			}
			g := p.Choice.Point.Forecast.Setting.GOGC
			if p.Choice.Knob != tune.KnobBoth || cpu[g/2] == 0 || cpu[2*g] == 0 {
				continue
			}
			tested++
			today := p.Today.Forecast.CPU.Value
			if last, more := (cpu[g/2]-cpu[g])/today, (cpu[g]-cpu[2*g])/today; last < knee || more >= knee {
				t.Errorf("collector %v, knee %v: GOGC=%d, whose last doubling saves %.4f and one more %.4f", collector, knee, g, last, more)
			}
			if peak := p.Choice.Point.Forecast.Peak.Value; peak > largest {
				t.Errorf("collector %v, knee %v: the heap reaches %.0f bytes, %.0f with a smaller knee", collector, knee, peak, largest)
			} else {
				largest = peak
			}
		}
	}
	if tested < 5 {
		t.Errorf("%d recommendations: it tests little", tested)
	}
}

// TestLargestSetting: of the largest headroom that is forecast, the plan does not say what one more doubling saves.
func TestLargestSetting(t *testing.T) {
	const largest = "none larger than that of GOGC=1600 is forecast"
	for knee, want := range map[float64]bool{1e-4: true, 0.1: false} {
		p, err := tune.Make(service(20<<20, 0.5), tune.Options{Knee: knee, Constraint: tune.Constraint{Max: 64 * unit.GiB}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(p.Choice.Why, largest); got != want || got == strings.Contains(p.Choice.Why, "would save less") {
			t.Errorf("knee %v: %s", knee, p.Choice.Why)
		}
	}
}
