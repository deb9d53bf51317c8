package tuning_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/report/tuning"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/tune"
	"github.com/heaptrim/heaptrim/internal/unit"
)

func made(t *testing.T, o tune.Options) *tune.Plan { return madeOf(t, 40, o) }

// madeOf plans for a recording of so many cycles.
func madeOf(t *testing.T, cycles int, o tune.Options) *tune.Plan {
	t.Helper()
	const live = 100 << 20
	tr := &gcmodel.Trace{Setting: gcmodel.Setting{GOGC: 100}, Procs: 2, Wall: 20, CPU: 10, Peak: 2 * live,
		RSS: 2*live + 20<<20, Memory: gcmodel.Memory{Fixed: 10 << 20, Slack: 0.05}}
	for i := range cycles + 1 {
		tr.Points = append(tr.Points, gcmodel.Point{At: float64(i) * live, Live: live, End: 2 * live,
			HeapScan: live / 2, Background: 0.06, Assist: 0.01, Idle: 0.02})
	}
	p, err := tune.Make(tune.Workload{Name: "service", Trace: tr}, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestText(t *testing.T) {
	p := made(t, tune.Options{Constraint: tune.Constraint{Max: unit.GiB, Source: "-max-memory", Burst: 1.5}})
	for _, width := range []int{80, 120, 200} {
		var b bytes.Buffer
		if err := tuning.Text(&b, p, width); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for _, want := range []string{
			"service, recorded with gogc=100", "memory 1 GiB (-max-memory)", "Recommended: ", "GOMEMLIMIT=",
			"not GOGC (", "not ballast (",
			"limiter territory", "collector, % of CPU", "│", "R", "too large", "record once more with GOGC=400",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("width %d: no %q in\n%s", width, want, text)
			}
		}
		for line := range strings.Lines(text) {
			// Rows of the table have a width of their own.
			if n := len([]rune(line)); strings.Contains(line, "│") && n > width+1 {
				t.Errorf("width %d: a line of the curve has %d columns", width, n)
			}
			if strings.HasSuffix(strings.TrimSuffix(line, "\n"), " ") {
				t.Errorf("width %d: a line ends in a space: %q", width, line)
			}
		}
	}
}

// TestShort: settings that make no cycle in the time of the recording say so, and others do not.
func TestShort(t *testing.T) {
	for cycles, want := range map[int]bool{40: false, 4: true} {
		p := madeOf(t, cycles, tune.Options{Constraint: tune.Constraint{Max: 16 * unit.GiB, Source: "-max-memory"}})
		var b bytes.Buffer
		if err := tuning.Text(&b, p, 120); err != nil {
			t.Fatal(err)
		}
		table, note, _ := strings.Cut(b.String(), "< 1 cycle: the recording is shorter")
		if (note != "") != want {
			t.Errorf("%d cycles: explained %v, want %v", cycles, note != "", want)
		}
		for line := range strings.Lines(table) {
			if strings.HasPrefix(line, "GOGC=100 ") && strings.Contains(line, "< 1 cycle") {
				t.Errorf("%d cycles: today's setting is marked: %s", cycles, line)
			}
		}
		if marked := strings.Count(table, "< 1 cycle"); (marked > 0) != want {
			t.Errorf("%d cycles: %d settings marked in\n%s", cycles, marked, table)
		}
	}
}

// TestBesideRecorded: the report says in which figures the forecast of today's setting differs from the recording.
func TestBesideRecorded(t *testing.T) {
	const collector, heap = "for the collector", "a largest heap of"
	for name, c := range map[string]struct {
		change func(*tune.Measured)
		want   string
	}{
		"as recorded":       {func(*tune.Measured) {}, ""},
		"fewer collections": {func(m *tune.Measured) { m.PerSecond *= 0.8 }, "cycles/s"},
		"less time":         {func(m *tune.Measured) { m.Collector *= 0.8 }, collector},
		"a larger heap":     {func(m *tune.Measured) { m.Peak *= 3 }, heap},
	} {
		p := madeOf(t, 40, tune.Options{Constraint: tune.Constraint{Max: 16 * unit.GiB, Source: "-max-memory"}})
		f, m := p.Today.Forecast, &p.Measured
		m.PerSecond, m.Collector, m.Peak = f.PerSecond.Value, f.Collector.Value, f.Peak.Value
		c.change(m)
		var b bytes.Buffer
		if err := tuning.Text(&b, p, 400); err != nil {
			t.Fatal(err)
		}
		_, note, _ := strings.Cut(b.String(), "All rows are forecasts")
		note, _, _ = strings.Cut(note, "\n")
		for _, part := range []string{"cycles/s", collector, heap} {
			if got := strings.Contains(note, part); got != (part == c.want) {
				t.Errorf("%s: the note names %q: %v in %q", name, part, got, note)
			}
		}
	}
}

// TestRecommendedIsListed: the recommended setting has its row, whatever the steps of the table are.
func TestRecommendedIsListed(t *testing.T) {
	for _, limit := range []unit.Bytes{60 * unit.MiB, 100 * unit.MiB, 333 * unit.MiB, 16 * unit.GiB} {
		p := madeOf(t, 40, tune.Options{Constraint: tune.Constraint{Max: limit, Source: "-max-memory"}})
		if p.Choice.Refused != "" || p.Choice.Knob == tune.KnobNone {
			continue
		}
		rows := 0
		for _, q := range p.Curve {
			if q.Forecast.Setting == p.Choice.Point.Forecast.Setting {
				rows++
			}
		}
		if rows != 1 {
			t.Errorf("%v: %v has %d rows", limit, p.Choice.Point.Forecast.Setting, rows)
		}
	}
}

// rows are what a comparison measured, with and without a forecast.
func rows() []tune.Row {
	return []tune.Row{
		{Change: prove.Change{
			Metric: prove.Metric{Unit: "req/s", Label: "throughput"}, A: stats.Exact(100), B: stats.Exact(120),
			Delta: stats.Interval{Value: 0.2, Low: -1, High: math.Inf(1)}, Outcome: prove.Better,
		}},
		{Change: prove.Change{
			Metric: prove.Metric{Unit: "latency-p99-ns",
				Label: "latency p99"}, A: stats.Exact(20e6), B: stats.Exact(5e6), Delta: stats.Exact(-0.75),
		}},
		{Change: prove.Change{
			Metric: prove.Metric{Unit: "gc-cpu-share",
				Label: "GC share of CPU"}, A: stats.Exact(0.2), B: stats.Exact(0.1),
			Delta: stats.Interval{Value: -0.5, Low: -0.6, High: -0.4},
		}, Forecast: &tune.Expected{A: stats.Exact(0.2), B: stats.Exact(0.15), Delta: stats.Interval{Value: -0.25,
			Low: -0.3, High: -0.2}}},
		{Change: prove.Change{
			Metric: prove.Metric{Unit: "cpu-ns/req",
				Label: "CPU per request"}, A: stats.Exact(1e6), B: stats.Exact(9e5),
			Delta: stats.Interval{Value: -0.1, Low: -0.12, High: -0.08},
		}, Forecast: &tune.Expected{Delta: stats.Interval{Value: -0.09, Low: -0.1, High: -0.08}}},
	}
}

func TestJSON(t *testing.T) {
	p := made(t, tune.Options{})
	nothing := math.NaN()
	trials := &tune.Trials{
		Today: p.Today.Forecast.Setting, Chosen: p.Choice.Point.Forecast.Setting, Stopped: "the knee",
		Steps: []tune.Step{{Setting: p.Choice.Point.Forecast.Setting,
			Gained: stats.Interval{Value: nothing, Low: nothing, High: nothing}, Saved: stats.Interval{Value: nothing,
				Low: nothing, High: nothing}}},
		Latency: [2]tune.Latency{{P50: time.Millisecond, P99: 20 * time.Millisecond},
			{P50: time.Millisecond, P99: 5 * time.Millisecond}},
		Compared: &prove.Result{Verdict: prove.Verdict{Sentence: "B is better."}, Warnings: []string{"few pairs"}},
		Rows:     rows(),
	}
	var b bytes.Buffer
	if err := tuning.JSON(&b, p, trials, schema.Meta{Tool: "heaptrim test"}); err != nil {
		t.Fatal(err)
	}
	doc, err := schema.Read[schema.Tune](b.Bytes(), schema.TuneVersion)
	if err != nil {
		t.Fatal(err)
	}
	if doc.Recommended.Knob != "GOGC" || len(doc.Recommended.Deploy.Env) != 1 ||
		len(doc.Recommended.Others) != 3 {
		t.Errorf("got %+v", doc.Recommended)
	}
	if doc.Ask.Setting.GOGC != 400 || len(doc.Ask.Env) != 1 || doc.Ask.Env[0] != "GOGC=400" || doc.Ask.Why == "" {
		t.Errorf("asks for %+v, want GOGC=400", doc.Ask)
	}
	for i, q := range doc.Curve {
		if (q.Refused == "") != (q.RSS != nil) {
			t.Errorf("point %d: refused %q, with figures %v", i, q.Refused, q.RSS != nil)
		}
	}
	if doc.Trials.Latency.P99 != [2]float64{0.02, 0.005} || doc.Trials.Changes[0].Delta.High != 1e18 ||
		doc.Trials.Steps[0].Saved != nil {
		t.Errorf("got %+v", doc.Trials)
	}
	if c := doc.Trials.Changes; c[0].Predicted != nil || *c[2].Predicted.Meets || c[2].Predicted.B.Value != 0.15 ||
		!*c[3].Predicted.Meets || c[3].Predicted.B != nil {
		t.Errorf("the forecast beside what was measured: %s", b.String())
	}
	b.Reset()
	if err := tuning.Trials(&b, trials, 100); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"stopped: the knee", "latency p99", "20 ms → 5 ms",
		"-25.0 (-30.0 to -20.0) %, 20.0 % → 15.0 % – not met", "-9.0 (-10.0 to -8.0) %\n", "! few pairs",
		"an unknown part", "too few runs", "B is better."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestCurveNamesItsMemory: where no resident set was recorded, the curve is over
// the largest heap, and says so.
func TestCurveNamesItsMemory(t *testing.T) {
	for _, resident := range []bool{true, false} {
		p := made(t, tune.Options{Constraint: tune.Constraint{Max: unit.GiB, Source: "-max-memory"}})
		if !resident {
			p.Today.Forecast.RSS = stats.Interval{}
			for i := range p.Curve {
				p.Curve[i].Forecast.RSS = stats.Interval{}
			}
		}
		var b bytes.Buffer
		if err := tuning.Text(&b, p, 200); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "memory is the resident set at its largest"); got != resident {
			t.Errorf("resident set known: %v; named: %v", resident, got)
		}
		if got := strings.Contains(b.String(), "memory is the largest heap"); got == resident {
			t.Errorf("resident set known: %v; the heap named: %v", resident, got)
		}
	}
}
