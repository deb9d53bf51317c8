package tuning

import (
	"encoding/json"
	"io"
	"math"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/tune"
)

// Document is the JSON document of a plan, with the trials that were made of it
// unless t is nil.
func Document(p *tune.Plan, t *tune.Trials, m schema.Meta) *schema.Tune {
	doc := &schema.Tune{
		Schema: schema.TuneVersion, Tool: m.Tool, Created: m.Created.UTC(), Workload: p.Workload.Name,
		Recorded: settingJSON(p.Workload.Trace.Setting), Measured: schema.TuneMeasured(p.Measured),
		Exponent: p.Exponent, Assumed: p.Assumed,
		Constraint: schema.TuneConstraint{Max: int64(p.Constraint.Max), Source: p.Constraint.Source,
			Beside: int64(p.Constraint.Beside), Burst: math.Max(1, p.Constraint.Burst)},
		Today: pointJSON(p.Today), Curve: []schema.TunePoint{}, Recommended: choiceJSON(p.Choice, p.Today.Forecast.Setting),
		Notes: append([]string{}, p.Notes...),
	}
	if a := p.Ask; a != nil {
		doc.Ask = &schema.TuneAsk{Setting: settingJSON(a.Setting), Env: a.Env, Why: a.Why}
	}
	for _, q := range p.Curve {
		doc.Curve = append(doc.Curve, pointJSON(q))
	}
	if t != nil {
		doc.Trials = trialsJSON(t)
	}
	return doc
}

// JSON writes the document of a plan.
func JSON(w io.Writer, p *tune.Plan, t *tune.Trials, m schema.Meta) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(Document(p, t, m))
}

func settingJSON(s gcmodel.Setting) schema.TuneSetting {
	return schema.TuneSetting{Text: tune.SettingText(s), GOGC: s.GOGC, Limit: int64(s.Limit), Ballast: int64(s.Ballast)}
}

func pointJSON(q tune.Point) schema.TunePoint {
	out := schema.TunePoint{Setting: settingJSON(q.Forecast.Setting), Refused: q.Refused, Fits: q.Fits}
	if !q.Known() {
		return out
	}
	out.Regime, out.Pinned = q.Forecast.Regime.String(), q.Forecast.Pinned
	out.PerCycle, out.PerSecond = finite(q.Forecast.PerCycle), finite(q.Forecast.PerSecond)
	out.Collector, out.Dedicated, out.Assist, out.Idle = finite(q.Forecast.Collector), finite(q.Forecast.Dedicated),
		finite(q.Forecast.Assist),
		finite(q.Forecast.Idle)
	out.CPU, out.Peak, out.RSS = finite(q.Forecast.CPU), finite(q.Forecast.Peak), finite(q.Forecast.RSS)
	return out
}

// finite is an interval that JSON can hold: a missing bound becomes a very large one.
func finite(i stats.Interval) *stats.Interval {
	bound := func(v float64) float64 { return math.Min(math.Max(v, -1e18), 1e18) }
	return &stats.Interval{Value: bound(i.Value), Low: bound(i.Low), High: bound(i.High)}
}

func choiceJSON(c tune.Choice, today gcmodel.Setting) schema.TuneChoice {
	out := schema.TuneChoice{Knob: string(c.Knob), Refused: c.Refused, Why: c.Why, Saves: c.Saves, Clock: c.Clock, InAll: c.InAll, Costs: c.Costs,
		Others: []schema.TuneOther{}}
	if c.Refused == "" {
		q := pointJSON(c.Point)
		out.Point = &q
		if c.Knob != tune.KnobNone {
			d := tune.Deploy(c.Point.Forecast.Setting, today)
			out.Deploy = &schema.TuneDeployment{Env: d.Env, Dockerfile: schema.List(d.Dockerfile), Kubernetes: schema.List(d.Kubernetes),
				Go: d.Go}
		}
	}
	for _, o := range c.Others {
		out.Others = append(out.Others, schema.TuneOther{Knob: string(o.Knob),
			Setting: settingJSON(o.Point.Forecast.Setting),
			Why:     o.Why})
	}
	return out
}
