// Package show prints a tuning plan and the runs that prove it: text with a
// curve for a terminal, and JSON for programs. It computes nothing but layout.
package show

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/tune"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Text writes a plan for a reader at a terminal of so many columns.
func Text(w io.Writer, p *tune.Plan, width int) error {
	t := &page{width: max(width, 60)}
	t.recorded(p)
	t.choice(p)
	t.curve(p)
	t.table(p)
	if len(p.Notes) > 0 {
		t.line("")
		for _, n := range p.Notes {
			t.prose("  ! ", n)
		}
	}
	_, err := io.WriteString(w, t.text.String())
	return err
}

type page struct {
	text  strings.Builder
	width int
}

func (t *page) line(format string, args ...any) {
	fmt.Fprintln(&t.text, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

// prose breaks a text into lines behind a lead.
func (t *page) prose(lead, text string) {
	indent := strings.Repeat(" ", len([]rune(lead)))
	line := lead
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && len([]rune(line))+1+len([]rune(word)) > t.width {
			t.line("%s", line)
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	t.line("%s", line)
}

func (t *page) recorded(p *tune.Plan) {
	m := p.Measured
	t.line("%s, recorded with %s", p.Workload.Name, tune.SettingText(p.Workload.Trace.Setting))
	rate := ""
	if m.AllocRate > 0 {
		rate = fmt.Sprintf("; it allocates %s/s", unit.FormatBytes(m.AllocRate))
	}
	t.prose("  ", fmt.Sprintf("%d collections, %s per second, one for each %s allocated%s", m.Cycles, unit.FormatCount(m.PerSecond), unit.FormatBytes(m.PerCycle), rate))
	memory := fmt.Sprintf("live heap %s, largest heap %s", unit.FormatBytes(m.Live), unit.FormatBytes(m.Peak))
	if m.RSS > 0 {
		memory += ", resident " + unit.FormatBytes(m.RSS)
	}
	t.prose("  ", memory)
	if m.Collector > 0 {
		t.prose("  ", fmt.Sprintf("collector %s of CPU, of it assists %s; beside it %s on idle processors", share(m.Collector), share(m.Assist), share(m.Idle)))
	}
	if c := p.Constraint; c.Max > 0 {
		text := fmt.Sprintf("memory %v (%s)", c.Max, c.Source)
		if c.Beside > 0 {
			text += fmt.Sprintf(", less %v that others use", c.Beside)
		}
		if c.Burst > 1 {
			text += fmt.Sprintf("; the live heap may grow to %s × the recorded", unit.FormatCount(c.Burst))
		}
		t.prose("  ", text)
	}
}

func (t *page) choice(p *tune.Plan) {
	c := p.Choice
	t.line("")
	switch {
	case c.Refused != "":
		t.prose("No recommendation: ", c.Refused)
		t.prose("  ", c.Why)
		return
	case c.Knob == tune.KnobNone:
		t.line("Recommended: leave it as it is")
		t.prose("  ", c.Why)
		return
	}
	t.line("Recommended: %s (%s)", tune.SettingText(c.Point.Setting), c.Knob)
	t.prose("  ", c.Why)
	f := c.Point.Forecast
	t.prose("  ", fmt.Sprintf("predicted: collector %s, largest heap %s, resident %s; saves %s of CPU", shareInterval(f.Collector), sizeInterval(f.Peak), sizeInterval(f.RSS), share(c.Saves)))
	d := tune.Deploy(c.Point.Setting)
	t.line("")
	t.line("  environment  %s", strings.Join(d.Env, " "))
	t.block("Dockerfile", d.Dockerfile)
	t.block("Kubernetes", d.Kubernetes)
	t.block("Go", d.Go)
	t.line("")
	for _, o := range c.Others {
		t.prose("  not "+string(o.Knob)+" ("+tune.SettingText(o.Point.Setting)+"): ", o.Why)
	}
}

func (t *page) block(title string, lines []string) {
	for i, l := range lines {
		if i > 0 {
			title = ""
		}
		t.line("  %-11s  %s", title, l)
	}
}

// table lists every setting.
func (t *page) table(p *tune.Plan) {
	t.line("")
	t.line("%-28s %9s  %-16s %7s %6s  %-18s %-18s", "setting", "cycles/s", "collector", "assist", "idle", "largest heap", "resident")
	for _, q := range p.Curve {
		name := tune.SettingText(q.Setting)
		if !q.Known() {
			t.prose(fmt.Sprintf("%-28s ", name), q.Refused)
			continue
		}
		mark := ""
		switch {
		case q.Setting == p.Choice.Point.Setting && p.Choice.Refused == "":
			mark = "recommended"
		case q.Setting == p.Today.Setting:
			mark = "today"
		case !q.Fits:
			mark = "too large"
		}
		t.line("%-28s %9s  %-16s %7s %6s  %-18s %-18s %s", name, unit.FormatCount(q.PerSecond.Value), shareInterval(q.Collector),
			share(q.Assist.Value), share(q.Idle.Value), sizeInterval(q.Peak), sizeInterval(q.RSS), mark)
	}
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
