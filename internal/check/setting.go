package check

import (
	"fmt"
	"math"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/tune"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// forecast forecasts settings of the collector, under the constraint that the recording
// names, as tune does; nil where the recording has too little for it.
func forecast(b *bundle.Bundle, d *finding.Diagnosis) *tune.Plan {
	w, notes, err := tune.Pick(b, d, "")
	if err != nil {
		return nil
	}
	plan, err := tune.Make(w, tune.Options{Constraint: tune.Limit(d.Environment)})
	if err != nil {
		return nil
	}
	plan.Notes = append(plan.Notes, notes...)
	return plan
}

// setting advises the collector's setting that the plan of a recording with so many runs
// recommends. It is false where the plan is to leave it, there is none, or the saving is
// below the threshold.
func setting(plan *tune.Plan, d *finding.Diagnosis, runs int) (finding.Advice, bool) {
	if plan == nil {
		return finding.Advice{}, false
	}
	c := plan.Choice
	if c.Refused != "" || c.Knob == tune.KnobNone || !plan.Today.Known() || d.Totals.Cycles.Automatic == 0 && d.Totals.Cycles.Forced > 0 {
		return finding.Advice{}, false
	}
	cure, ok := cures.Find("gc-headroom")
	if !ok {
		return finding.Advice{}, false
	}
	now, then := plan.Today.Forecast, c.Point.Forecast
	saves := tune.SavedBy(d.Totals.CollectorShare, now, then)
	if saves.Value < finding.DefaultThreshold {
		return finding.Advice{}, false
	}
	text := fmt.Sprintf("set %s: %s, for %s more memory", tune.Text(then.Setting, now.Setting),
		fewer(now.PerSecond.Value, then.PerSecond.Value), unit.FormatBytes(math.Max(c.Costs, 0)))
	return finding.Advice{Title: cure.Title, Remedy: finding.Remedy{
		Code: cure.Code, Safety: string(cure.Safety), Text: text, Why: chosenUnder(plan, runs), Fit: 1,
		Saves: finding.Prediction{CPU: saves, Basis: "the collector's share of CPU that goes by the forecast of 'heaptrim tune'"},
	}}, true
}

// fewer compares rates of collections. It names the ratio only: the rate of today that a forecast
// comes to is not quite the measured one.
func fewer(now, then float64) string {
	if then <= 0 {
		return "no collection in the recorded time"
	}
	return "one collection instead of " + unit.FormatCount(now/then)
}

// chosenUnder says for which run and which memory a setting was chosen.
func chosenUnder(p *tune.Plan, runs int) string {
	text := "forecast of the recording"
	if runs > 1 {
		text = "forecast of " + p.Workload.Name + ", whose log of collections covers most CPU time, for the collector's mean share of all runs"
	}
	if p.Constraint.Max > 0 {
		return text + fmt.Sprintf("; chosen for the %s of %s", p.Constraint.Max, p.Constraint.Source)
	}
	return text + "; how much memory it may take is not known: 'heaptrim tune -max-memory SIZE' chooses for a bound"
}

// Headroom is the room of the collector while a report is made, as GOGC has it. Profiles are read in little memory:
// 50 costs them 2 to 12 % more CPU time for a fifth less. Source code takes much of it, and as the collector's
// work is that of all of it in each cycle, 50 would cost a third of all CPU time there (nats-server: 12.6 s instead of
// 8.6, for 640 MB instead of 750).
func Headroom(source bool) int {
	if source {
		return 150
	}
	return 50
}
