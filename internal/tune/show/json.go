package show

import (
	"encoding/json"
	"io"
	"math"
	"time"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/tune"
)

// Schema is the version of the JSON form.
const Schema = "heaptrim.tune/1"

type jsonDocument struct {
	Schema      string         `json:"schema"`
	Tool        string         `json:"tool"`
	Created     time.Time      `json:"created"`
	Workload    string         `json:"workload"`
	Recorded    jsonSetting    `json:"recorded_setting"`
	Measured    jsonMeasured   `json:"measured"`
	Exponent    stats.Interval `json:"cache_exponent"`
	Assumed     bool           `json:"cache_exponent_assumed"`
	Constraint  jsonConstraint `json:"constraint"`
	Today       jsonPoint      `json:"today"`
	Curve       []jsonPoint    `json:"curve"`
	Recommended jsonChoice     `json:"recommended"`
	Ask         *jsonAsk       `json:"ask,omitempty"`
	Notes       []string       `json:"notes"`
	Trials      *jsonTrials    `json:"trials,omitempty"`
}

type jsonSetting struct {
	Text    string `json:"text"`
	GOGC    int    `json:"gogc"`
	Limit   int64  `json:"limit_bytes"`
	Ballast int64  `json:"ballast_bytes"`
}

type jsonAsk struct {
	Setting jsonSetting `json:"setting"`
	Env     []string    `json:"env"`
	Why     string      `json:"why"`
}

type jsonMeasured struct {
	Cycles    int     `json:"cycles"`
	PerCycle  float64 `json:"bytes_per_cycle"`
	PerSecond float64 `json:"cycles_per_second"`
	Collector float64 `json:"collector_cpu_share"`
	Assist    float64 `json:"assist_cpu_share"`
	Idle      float64 `json:"idle_mark_cpu_share"`
	Peak      float64 `json:"peak_heap_bytes"`
	RSS       float64 `json:"peak_rss_bytes"`
	Live      float64 `json:"live_heap_bytes"`
	AllocRate float64 `json:"allocated_bytes_per_second"`
}

type jsonConstraint struct {
	Max    int64   `json:"max_memory_bytes"`
	Source string  `json:"source"`
	Beside int64   `json:"used_by_others_bytes"`
	Burst  float64 `json:"burst"`
}

type jsonPoint struct {
	Setting   jsonSetting     `json:"setting"`
	Refused   string          `json:"refused,omitempty"`
	Fits      bool            `json:"fits"`
	Regime    string          `json:"regime,omitempty"`
	PerCycle  *stats.Interval `json:"bytes_per_cycle,omitempty"`
	PerSecond *stats.Interval `json:"cycles_per_second,omitempty"`
	Collector *stats.Interval `json:"collector_cpu_share,omitempty"`
	Dedicated *stats.Interval `json:"background_cpu_share,omitempty"`
	Assist    *stats.Interval `json:"assist_cpu_share,omitempty"`
	Idle      *stats.Interval `json:"idle_mark_cpu_share,omitempty"`
	CPU       *stats.Interval `json:"cpu_against_recorded,omitempty"`
	Peak      *stats.Interval `json:"peak_heap_bytes,omitempty"`
	RSS       *stats.Interval `json:"peak_rss_bytes,omitempty"`
	Pinned    float64         `json:"cycles_pinned_share"`
}

type jsonChoice struct {
	Knob    string           `json:"knob"`
	Refused string           `json:"refused,omitempty"`
	Why     string           `json:"why"`
	Point   *jsonPoint       `json:"point,omitempty"`
	Saves   float64          `json:"saved_cpu_share"`
	Costs   float64          `json:"added_memory_bytes"`
	Deploy  *tune.Deployment `json:"deploy,omitempty"`
	Others  []jsonOther      `json:"others"`
}

type jsonOther struct {
	Knob    string      `json:"knob"`
	Setting jsonSetting `json:"setting"`
	Why     string      `json:"why"`
}

// Meta is what a JSON document says of its making.
type Meta struct {
	Tool    string
	Created time.Time
}

// JSON writes a plan, with the trials that were made of it unless t is nil.
func JSON(w io.Writer, p *tune.Plan, t *tune.Trials, m Meta) error {
	doc := jsonDocument{
		Schema: Schema, Tool: m.Tool, Created: m.Created.UTC(), Workload: p.Workload.Name,
		Recorded: settingJSON(p.Workload.Trace.Setting), Measured: jsonMeasured(p.Measured), Exponent: p.Exponent, Assumed: p.Assumed,
		Constraint: jsonConstraint{int64(p.Constraint.Max), p.Constraint.Source, int64(p.Constraint.Beside), math.Max(1, p.Constraint.Burst)},
		Today:      pointJSON(p.Today), Curve: []jsonPoint{}, Recommended: choiceJSON(p.Choice), Notes: append([]string{}, p.Notes...),
	}
	if a := p.Ask; a != nil {
		doc.Ask = &jsonAsk{settingJSON(a.Setting), a.Env, a.Why}
	}
	for _, q := range p.Curve {
		doc.Curve = append(doc.Curve, pointJSON(q))
	}
	if t != nil {
		doc.Trials = trialsJSON(t)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(doc)
}

func settingJSON(s gcmodel.Setting) jsonSetting {
	return jsonSetting{tune.SettingText(s), s.GOGC, int64(s.Limit), int64(s.Ballast)}
}

func pointJSON(q tune.Point) jsonPoint {
	out := jsonPoint{Setting: settingJSON(q.Setting), Refused: q.Refused, Fits: q.Fits}
	if !q.Known() {
		return out
	}
	out.Regime, out.Pinned = q.Regime.String(), q.Pinned
	out.PerCycle, out.PerSecond = finite(q.PerCycle), finite(q.PerSecond)
	out.Collector, out.Dedicated, out.Assist, out.Idle = finite(q.Collector), finite(q.Dedicated), finite(q.Assist), finite(q.Idle)
	out.CPU, out.Peak, out.RSS = finite(q.CPU), finite(q.Peak), finite(q.RSS)
	return out
}

// finite is an interval that JSON can hold: what has no bound gets a very
// large one.
func finite(i stats.Interval) *stats.Interval {
	bound := func(v float64) float64 { return math.Min(math.Max(v, -1e18), 1e18) }
	return &stats.Interval{Value: bound(i.Value), Low: bound(i.Low), High: bound(i.High)}
}

func choiceJSON(c tune.Choice) jsonChoice {
	out := jsonChoice{Knob: string(c.Knob), Refused: c.Refused, Why: c.Why, Saves: c.Saves, Costs: c.Costs, Others: []jsonOther{}}
	if c.Refused == "" {
		q := pointJSON(c.Point)
		out.Point = &q
		if c.Knob != tune.KnobNone {
			d := tune.Deploy(c.Point.Setting)
			out.Deploy = &d
		}
	}
	for _, o := range c.Others {
		out.Others = append(out.Others, jsonOther{string(o.Knob), settingJSON(o.Point.Setting), o.Why})
	}
	return out
}
