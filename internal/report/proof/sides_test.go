package proof

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// sidesFixture is a service under three Go releases, the last of which fails.
func sidesFixture() *prove.Result {
	nan := math.NaN()
	change := func(unit, label string, judged bool, a, b float64) prove.Change {
		return prove.Change{
			Metric: prove.Metric{Unit: unit, Label: label,
				Judged: judged},
			A:    stats.Exact(a),
			B:    stats.Exact(b),
			Runs: prove.RunCount{A: 8, B: 8},
			Delta: stats.Interval{Value: b/a - 1, Low: b/a - 1.05,
				High: b/a - 0.95},
			Tests:   prove.Tests{P: 0.01, RankSumP: 0.01, AdjustedP: 0.02},
			Outcome: prove.NotJudged,
		}
	}
	faster := change("req/s", "throughput", true, 1000, 1200)
	faster.Outcome = prove.Better
	nothing := change("peak-heap-bytes", "peak heap", false, 1<<20, 1)
	nothing.Runs.B, nothing.B, nothing.Delta = 0, stats.Interval{Value: nan}, stats.Interval{Value: nan}
	return &prove.Result{
		Sides: []sides.Info{{Spec: "work,toolchain:go1.25.13", GoVersion: "go1.25.13"},
			{Spec: "work|<b>", GoVersion: "go1.26.8"}, {Spec: "work,toolchain:go1.27.4", GoVersion: "go1.27.4"}},
		Comparisons: []prove.Comparison{
			{Name: "BenchmarkServe", Package: "p", Side: 1, Pairs: 8, Outcome: prove.Better,
				Pauses: [2]prove.Pauses{{Count: 12, P50: 9 * time.Microsecond, P99: time.Millisecond,
					Max: time.Millisecond}, {}},
				Changes: []prove.Change{faster, change("gc-pause-p99-ns", "pause p99", false, 1e6, 2e6),
					change("latency-p99-ns", "latency p99", false, 2e6, 1e6), nothing},
				Runs: []prove.Sample{{Side: 0}, {Side: 1}}, Warnings: []string{"few \x1b[31mruns"}},
			{Name: "BenchmarkServe", Package: "p", Side: 2, Pairs: 8, Outcome: prove.Worse,
				Failed: [2]string{"", "panic: \x1b]0;x"}, Runs: []prove.Sample{{Side: 0}, {Side: 1}}},
		},
		Verdict: prove.Verdict{Outcome: prove.Mixed, Sentence: "B is better. C is worse."},
		BySide: []prove.Verdict{{Outcome: prove.Better, Sentence: "B is better."},
			{Outcome: prove.Worse, Sentence: "C is worse."}},
	}
}

func TestProveSidesText(t *testing.T) {
	text := func(width int) string {
		t.Helper()
		var out bytes.Buffer
		if err := Text(&out, sidesFixture(), term.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if term.Cells(strings.TrimSuffix(line, "\n")) > width || strings.Contains(line, "\x1b") {
				t.Errorf("width %d: too wide, or not clean: %q", width, line)
			}
		}
		return out.String()
	}
	for _, want := range []string{
		"B is better.\nC is worse.\n", "A go1.25.13", "B go1.26.8", "C go1.27.4", "BenchmarkServe  8 pairs of runs",
		"against A", "+20.0 %", "better",
		"latency p99", "pauses (STW), count", "longest pause", "! C fails: panic", "! B: few",
	} {
		if !strings.Contains(text(100), want) {
			t.Errorf("no %q in\n%s", want, text(100))
		}
	}
	if strings.Count(text(100), "pause p99") != 1 {
		t.Errorf("pauses of single runs beside those of all:\n%s", text(100))
	}
	// Where there is no room for columns, each side has rows of its own.
	if narrow := text(60); !strings.Contains(narrow, "C against A: worse") || strings.Contains(narrow, "A go1.25.13 ") {
		t.Errorf("narrow:\n%s", narrow)
	}
}

func TestProveSidesMarkdown(t *testing.T) {
	var out bytes.Buffer
	if err := Markdown(&out, sidesFixture()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| **throughput** | 1000 | 1200 (+20.0 % ±5.0) **better** |  |",
		"| pause p50 | 9 µs |  |  |", "BenchmarkServe fails in C: panic"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	for _, never := range []string{"<b>", "\x1b", "NaN", "work|"} {
		if strings.Contains(out.String(), never) {
			t.Errorf("the Markdown has %q:\n%s", never, &out)
		}
	}
}

func TestProveSidesJSON(t *testing.T) {
	var out bytes.Buffer
	if err := JSON(&out, sidesFixture(), schema.Meta{}); err != nil {
		t.Fatal(err)
	}
	var doc schema.Prove
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Sides) != 3 || doc.Sides[0].Verdict != nil || doc.Sides[2].Name != "C" ||
		doc.Sides[2].Verdict.Outcome != "worse" || doc.B.Spec != doc.Sides[1].Side.Spec {
		t.Errorf("sides %+v", doc.Sides)
	}
	b, c := doc.Comparisons[0], doc.Comparisons[1]
	if b.Side != "B" || c.Side != "C" || c.Runs[0].Side != "A" || c.Runs[1].Side != "C" || b.PausesA.Count != 12 ||
		b.PausesB != nil {
		t.Errorf("comparisons of %s and %s, runs %+v, pauses %v, %v", b.Side, c.Side, c.Runs, b.PausesA, b.PausesB)
	}
}
