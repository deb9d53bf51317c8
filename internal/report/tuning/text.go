// Package tuning prints a tuning plan and the runs that prove it: text with a
// curve for a terminal, and JSON for programs. It computes nothing but layout.
package tuning

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/tune"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Text writes a plan for a reader at a terminal of so many columns.
func Text(w io.Writer, p *tune.Plan, width int) error {
	t := term.NewLines(w, width)
	recorded(t, p)
	choice(t, p)
	curve(t, p)
	table(t, p)
	if len(p.Notes) > 0 {
		t.Blank()
		for _, n := range p.Notes {
			t.Prose("  ! ", n, term.Normal)
		}
	}
	return t.Flush()
}

func recorded(t *term.Page, p *tune.Plan) {
	m := p.Measured
	t.Linef("%s, recorded with %s", p.Workload.Name, tune.SettingText(p.Workload.Trace.Setting))
	rate := ""
	if m.AllocRate > 0 {
		rate = fmt.Sprintf("; it allocates %s/s", unit.FormatBytes(m.AllocRate))
	}
	t.Prose("  ", fmt.Sprintf("%d collections, %s per second, one for each %s allocated%s", m.Cycles,
		unit.FormatCount(m.PerSecond), unit.FormatBytes(m.PerCycle), rate), term.Normal)
	about := ""
	if m.Means {
		about = "about "
	}
	memory := fmt.Sprintf("live heap %s, largest heap %s", unit.FormatBytes(m.Live), about+unit.FormatBytes(m.Peak))
	if m.RSS > 0 {
		memory += ", resident " + unit.FormatBytes(m.RSS)
	}
	t.Prose("  ", memory, term.Normal)
	if m.Collector > 0 {
		text := fmt.Sprintf("collector %s of CPU, of it assists %s; beside it %s on idle processors", share(m.Collector), share(m.Assist), share(m.Idle))
		switch {
		case p.Workload.Reduced:
			text += ", by CPU samples"
		case m.Sampled > 0 && !p.Workload.Means:
			text += fmt.Sprintf(": by gctrace's clock, as all forecasts below; CPU samples, which see sweeping and waking up, too, show %s", share(m.Sampled))
		}
		t.Prose("  ", text, term.Normal)
	}
	if c := p.Constraint; c.Max > 0 {
		text := fmt.Sprintf("memory %v (%s)", c.Max, c.Source)
		if c.Beside > 0 {
			text += fmt.Sprintf(", less %v that others use", c.Beside)
		}
		if c.Burst > 1 {
			text += fmt.Sprintf("; the live heap may grow to %s × the recorded", unit.FormatCount(c.Burst))
		}
		t.Prose("  ", text, term.Normal)
	}
}

// leastBeside is the share of CPU from which a saving outside of the collector is worth a word.
const leastBeside = 0.005

func choice(t *term.Page, p *tune.Plan) {
	c := p.Choice
	t.Blank()
	switch {
	case c.Refused != "":
		t.Prose("No recommendation: ", c.Refused, term.Normal)
		t.Prose("  ", c.Why, term.Normal)
		return
	case c.Knob == tune.KnobNone:
		t.Linef("Recommended: leave it as it is")
		t.Prose("  ", c.Why, term.Normal)
		return
	}
	t.Linef("Recommended: %s (%s)", tune.Text(c.Point.Forecast.Setting, p.Today.Forecast.Setting), c.Knob)
	t.Prose("  ", c.Why, term.Normal)
	f := c.Point.Forecast
	saves, clock := share(c.Saves)+" of CPU", "this"
	if p.Measured.Sampled > 0 && !p.Workload.Means && !p.Workload.Reduced {
		saves += " by samples, " + share(c.Clock) + " by gctrace's clock"
		clock = "the clock's figure"
	}
	if c.InAll > c.Clock+leastBeside {
		saves += fmt.Sprintf("; to %s the model adds what fewer collections spare the program's own code, which no sample shows: %s in all", clock,
			share(c.InAll))
	}
	t.Prose("  ", fmt.Sprintf("predicted: collector %s, largest heap %s, resident %s; saves %s",
		shareInterval(f.Collector), sizeInterval(f.Peak), sizeInterval(f.RSS), saves), term.Normal)
	d := tune.Deploy(c.Point.Forecast.Setting, p.Today.Forecast.Setting)
	t.Blank()
	if len(d.Env) > 0 {
		t.Linef("  environment  %s", strings.Join(d.Env, " "))
	}
	block(t, "Dockerfile", d.Dockerfile)
	block(t, "Kubernetes", d.Kubernetes)
	block(t, "Go", d.Go)
	t.Blank()
	for _, o := range c.Others {
		t.Prose("  not "+string(o.Knob)+" ("+tune.Text(o.Point.Forecast.Setting, p.Today.Forecast.Setting)+"): ", o.Why, term.Normal)
	}
}

func block(t *term.Page, title string, lines []string) {
	for i, l := range lines {
		if i > 0 {
			title = ""
		}
		t.Linef("  %-11s  %s", title, l)
	}
}

// table lists every setting.
func table(t *term.Page, p *tune.Plan) {
	const short = "< 1 cycle"
	some, ballast := false, false
	t.Blank()
	t.Linef("%-28s %9s  %-16s %7s %6s  %-18s %-18s", "setting", "cycles/s", "collector", "assist", "idle",
		"largest heap", "resident")
	for _, q := range p.Curve {
		name := tune.Text(q.Forecast.Setting, p.Today.Forecast.Setting)
		if !q.Known() {
			t.Prose(fmt.Sprintf("%-28s ", name), q.Refused, term.Normal)
			continue
		}
		mark := ""
		switch {
		case q.Forecast.Setting == p.Choice.Point.Forecast.Setting && p.Choice.Refused == "":
			mark = "recommended"
		case q.Forecast.Setting == p.Today.Forecast.Setting:
			mark = "today"
		case !q.Fits:
			mark = "too large"
		}
		ballast = ballast || q.Forecast.Setting.Ballast > 0
		if p.Workload.Trace.Wall > 0 && q.Forecast.PerSecond.Value*p.Workload.Trace.Wall < 1 {
			mark, some = strings.TrimSpace(mark+" "+short), true
		}
		t.Linef("%-28s %9s  %-16s %7s %6s  %-18s %-18s %s", name, unit.FormatCount(q.Forecast.PerSecond.Value),
			shareInterval(q.Forecast.Collector),
			share(q.Forecast.Assist.Value), share(q.Forecast.Idle.Value), sizeInterval(q.Forecast.Peak),
			sizeInterval(q.Forecast.RSS), mark)
	}
	if text := besideRecorded(p); text != "" {
		t.Prose("  ", text, term.Normal)
	}
	if ballast {
		t.Prose("  ", "The largest heap counts a ballast, of which nothing is resident.", term.Normal)
	}
	if some {
		t.Prose("  ", short+": the recording is shorter than a cycle of this setting would be, which would reach a larger heap", term.Normal)
	}
}

// besideRecorded compares the forecast of today's setting with the recording; "" where they hardly differ.
func besideRecorded(p *tune.Plan) string {
	const little = 0.02
	f, was := p.Today.Forecast, p.Measured
	if !p.Today.Known() {
		return ""
	}
	var here, there []string
	apart := func(forecast, recorded float64) bool { return recorded > 0 && math.Abs(forecast/recorded-1) > little }
	if apart(f.PerSecond.Value, was.PerSecond) {
		here, there = append(here, unit.FormatCount(f.PerSecond.Value)+" cycles/s"), append(there, unit.FormatCount(was.PerSecond))
	}
	if apart(f.Collector.Value, was.Collector) && share(f.Collector.Value) != share(was.Collector) {
		here, there = append(here, share(f.Collector.Value)+" for the collector"), append(there, share(was.Collector))
	}
	if was.Peak > 0 && (was.Peak < f.Peak.Low || was.Peak > f.Peak.High) {
		here, there = append(here, "a largest heap of "+unit.FormatBytes(f.Peak.Value)), append(there, unit.FormatBytes(was.Peak))
	}
	if len(here) == 0 {
		return ""
	}
	return fmt.Sprintf("All rows are forecasts, to be compared with each other: that of today's setting has %s, and the recording %s. "+
		"The saving of the recommendation is a share of the recording's CPU time.", strings.Join(here, ", "), strings.Join(there, ", "))
}

func share(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*v)
}

func shareInterval(i stats.Interval) string {
	return fmt.Sprintf("%.1f (%.1f–%.1f) %%", 100*i.Value, 100*i.Low, 100*i.High)
}

func sizeInterval(i stats.Interval) string {
	if i.Value == 0 {
		return "–"
	}
	half := math.Max(i.High-i.Value, i.Value-i.Low)
	return fmt.Sprintf("%s ±%.0f %%", unit.FormatBytes(i.Value), 100*half/i.Value)
}
