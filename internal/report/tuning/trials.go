package tuning

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/tune"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Trials writes the results of runs under the user's load.
func Trials(w io.Writer, r *tune.Trials, width int) error {
	t := term.NewLines(w, width)
	t.Blank()
	t.Linef("Measured under the load, each in turns with the one before it, today's first")
	for _, s := range r.Steps {
		t.Linef("  %-28s saves %s of CPU beyond %s%s", tune.SettingText(s.Setting), savedText(s.Gained),
			tune.SettingText(s.Against), latencyText(s.Latency))
	}
	t.Prose("  ", "stopped: "+r.Stopped, term.Normal)
	if r.Compared != nil {
		compared(t, r)
	}
	return t.Flush()
}

func savedText(i stats.Interval) string {
	if math.IsNaN(i.Value) {
		return "an unknown part"
	}
	if math.IsInf(i.Low, 0) || math.IsInf(i.High, 0) {
		return share(i.Value)
	}
	return fmt.Sprintf("%.1f (%.1f to %.1f) %%", 100*i.Value, 100*i.Low, 100*i.High)
}

func latencyText(l [2]tune.Latency) string {
	if l[0].P99 == 0 || l[1].P99 == 0 {
		return ""
	}
	return fmt.Sprintf("; p99 %v → %v", short(l[0].P99), short(l[1].P99))
}

func short(d time.Duration) string { return unit.FormatNanoseconds(float64(d)) }

func compared(t *term.Page, r *tune.Trials) {
	t.Blank()
	t.Linef("%s against %s", tune.SettingText(r.Today), tune.SettingText(r.Chosen))
	for i, s := range r.Compared.Sides {
		t.Prose("  "+string(rune('A'+i))+"  ", fmt.Sprintf("%s, %s", s.Spec, s.GoVersion), term.Normal)
	}
	t.Prose("  ", r.Compared.Verdict.Sentence, term.Normal)
	for i, n := range r.Compared.Warnings {
		if i == 0 {
			t.Blank()
		}
		t.Prose("  ! ", n, term.Normal)
	}
	t.Blank()
	t.Linef("  %-22s %27s  %-26s %s", "", "measured: today → chosen", "change", "predicted")
	for _, row := range r.Rows {
		t.Linef("  %-22s %12s → %-12s  %-26s %s", row.Change.Label, amount(row.Change.Unit, row.Change.A.Value),
			amount(row.Change.Unit, row.Change.B.Value), deltaText(row.Change), expectedText(row))
	}
	if r.Built {
		t.Prose("  ! ", "the prediction is of the settings alone: it does not know what another toolchain or "+
			"experiment changes", term.Normal)
	}
}

// expectedText is the forecast for a measured change, and whether the change meets it.
func expectedText(r tune.Row) string {
	e := r.Forecast
	if e == nil || math.IsNaN(e.Delta.Value) {
		return string(r.Change.Outcome)
	}
	text := fmt.Sprintf("%+.1f (%+.1f to %+.1f) %%", 100*e.Delta.Value, 100*e.Delta.Low, 100*e.Delta.High)
	if e.B.Value > 0 || e.A.Value > 0 {
		text += fmt.Sprintf(", %s → %s", amount(r.Change.Unit, e.A.Value), amount(r.Change.Unit, e.B.Value))
	}
	if meets, known := r.Meets(); known && !meets {
		text += " – not met"
	}
	return text
}

func deltaText(c prove.Change) string {
	if math.IsNaN(c.Delta.Value) || math.IsInf(c.Delta.Value, 0) {
		return ""
	}
	if math.IsInf(c.Delta.Low, 0) || math.IsInf(c.Delta.High, 0) || c.Delta.Low <= -1 {
		return fmt.Sprintf("%+.1f %%, too few runs to bound it", 100*c.Delta.Value)
	}
	return fmt.Sprintf("%+.1f (%+.1f to %+.1f) %%", 100*c.Delta.Value, 100*c.Delta.Low, 100*c.Delta.High)
}

// amount prints a value of one of prove's units.
func amount(u string, v float64) string {
	switch u {
	case "peak-heap-bytes", "peak-RSS-bytes":
		return unit.FormatBytes(v)
	case "gc-cpu-share", "gc-assist-share":
		return share(v)
	case "sec", "cpu-sec":
		return unit.FormatNanoseconds(v * 1e9)
	case "failed-req-share":
		return share(v)
	}
	if strings.Contains(u, "-ns") {
		return unit.FormatNanoseconds(v)
	}
	return unit.FormatScaled(v)
}

func predictedJSON(r tune.Row) *schema.TunePredicted {
	e := r.Forecast
	if e == nil || math.IsNaN(e.Delta.Value) {
		return nil
	}
	out := &schema.TunePredicted{Delta: number(e.Delta)}
	if e.A.Value > 0 || e.B.Value > 0 {
		out.A, out.B = number(e.A), number(e.B)
	}
	if meets, known := r.Meets(); known {
		out.Meets = &meets
	}
	return out
}

func trialsJSON(r *tune.Trials) *schema.TuneTrials {
	out := &schema.TuneTrials{
		Today: settingJSON(r.Today), Chosen: settingJSON(r.Chosen), Stopped: r.Stopped,
		Steps: []schema.TuneStep{}, Changes: []schema.TuneDelta{}, Latency: latencyJSON(r.Latency),
	}
	for _, s := range r.Steps {
		out.Steps = append(out.Steps, schema.TuneStep{Setting: settingJSON(s.Setting), Against: settingJSON(s.Against),
			Gained: number(s.Gained), Saved: number(s.Saved), Latency: latencyJSON(s.Latency)})
	}
	if r.Compared == nil {
		return out
	}
	out.Verdict = r.Compared.Verdict.Sentence
	for _, s := range r.Compared.Sides {
		out.Sides = append(out.Sides, s.Spec+", "+s.GoVersion)
	}
	out.Warnings = append(out.Warnings, r.Compared.Warnings...)
	for _, row := range r.Rows {
		out.Changes = append(out.Changes,
			schema.TuneDelta{Unit: row.Change.Unit, A: number(row.Change.A), B: number(row.Change.B),
				Delta:   number(row.Change.Delta),
				Outcome: string(row.Change.Outcome), Predicted: predictedJSON(row)})
	}
	return out
}

// number is empty for unknown values.
func number(i stats.Interval) *stats.Interval {
	if math.IsNaN(i.Value) {
		return nil
	}
	return finite(i)
}

func latencyJSON(l [2]tune.Latency) schema.TuneLatency {
	return schema.TuneLatency{
		P50: [2]float64{l[0].P50.Seconds(), l[1].P50.Seconds()},
		P99: [2]float64{l[0].P99.Seconds(), l[1].P99.Seconds()},
	}
}
