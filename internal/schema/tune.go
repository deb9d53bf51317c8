package schema

import (
	"time"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// TuneVersion is the version of the JSON of a plan.
const TuneVersion = "heaptrim.tune/1"

// Tune is the document of heaptrim tune. Shares are of CPU time, from 0 to 1.
type Tune struct {
	Schema      string         `json:"schema"`
	Tool        string         `json:"tool"`
	Created     time.Time      `json:"created"`
	Workload    string         `json:"workload"`
	Recorded    TuneSetting    `json:"recorded_setting"`
	Measured    TuneMeasured   `json:"measured"`
	Exponent    stats.Interval `json:"cache_exponent"`
	Assumed     bool           `json:"cache_exponent_assumed"`
	Constraint  TuneConstraint `json:"constraint"`
	Today       TunePoint      `json:"today"`
	Curve       []TunePoint    `json:"curve"`
	Recommended TuneChoice     `json:"recommended"`
	Ask         *TuneAsk       `json:"ask,omitempty"`
	Notes       []string       `json:"notes"`
	Trials      *TuneTrials    `json:"trials,omitempty"`
}

// TuneSetting is a setting of the collector.
type TuneSetting struct {
	Text    string `json:"text"`
	GOGC    int    `json:"gogc"`
	Limit   int64  `json:"limit_bytes"`
	Ballast int64  `json:"ballast_bytes"`
}

// TuneAsk is a second recording that would tell more.
type TuneAsk struct {
	Setting TuneSetting `json:"setting"`
	Env     []string    `json:"env"`
	Why     string      `json:"why"`
}

// TuneMeasured is what the recording shows under its own setting.
type TuneMeasured struct {
	Means     bool    `json:"means"`
	Cycles    int     `json:"cycles"`
	PerCycle  float64 `json:"bytes_per_cycle"`
	PerSecond float64 `json:"cycles_per_second"`
	Collector float64 `json:"collector_cpu_share"`
	Sampled   float64 `json:"collector_cpu_share_by_samples"`
	Assist    float64 `json:"assist_cpu_share"`
	Idle      float64 `json:"idle_mark_cpu_share"`
	Peak      float64 `json:"peak_heap_bytes"`
	RSS       float64 `json:"peak_rss_bytes"`
	Live      float64 `json:"live_heap_bytes"`
	AllocRate float64 `json:"allocated_bytes_per_second"`
}

// TuneConstraint is the memory that the program may use.
type TuneConstraint struct {
	Max    int64   `json:"max_memory_bytes"`
	Source string  `json:"source"`
	Beside int64   `json:"used_by_others_bytes"`
	Burst  float64 `json:"burst"`
}

// TunePoint is the forecast for one setting.
type TunePoint struct {
	Setting   TuneSetting     `json:"setting"`
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

// TuneChoice is the recommended setting.
type TuneChoice struct {
	Knob    string          `json:"knob"`
	Refused string          `json:"refused,omitempty"`
	Why     string          `json:"why"`
	Point   *TunePoint      `json:"point,omitempty"`
	Saves   float64         `json:"saved_cpu_share"`
	Clock   float64         `json:"saved_cpu_share_by_clock"`
	InAll   float64         `json:"saved_cpu_share_in_all"`
	Costs   float64         `json:"added_memory_bytes"`
	Deploy  *TuneDeployment `json:"deploy,omitempty"`
	Others  []TuneOther     `json:"others"`
}

// TuneDeployment is the setting in the forms in which it is deployed.
type TuneDeployment struct {
	Env        []string `json:"env"`
	Dockerfile []string `json:"dockerfile"`
	Kubernetes []string `json:"kubernetes"`
	Go         []string `json:"go"`
}

// TuneOther is a setting that was not chosen, and why.
type TuneOther struct {
	Knob    string      `json:"knob"`
	Setting TuneSetting `json:"setting"`
	Why     string      `json:"why"`
}

// TuneTrials are measured steps under the user's own load.
type TuneTrials struct {
	Today   TuneSetting `json:"today"`
	Chosen  TuneSetting `json:"chosen"`
	Steps   []TuneStep  `json:"steps"`
	Stopped string      `json:"stopped"`
	Verdict string      `json:"verdict,omitempty"`
	Changes []TuneDelta `json:"changes"`
	Latency TuneLatency `json:"latency_seconds"`
	Sides   []string    `json:"sides,omitempty"`
	// Of the comparison.
	Warnings []string `json:"warnings,omitempty"`
}

// TuneStep is one trial against the setting before it.
type TuneStep struct {
	Setting TuneSetting     `json:"setting"`
	Against TuneSetting     `json:"against"`
	Gained  *stats.Interval `json:"gained_cpu_share,omitempty"`
	Saved   *stats.Interval `json:"saved_cpu_share,omitempty"`
	Latency TuneLatency     `json:"latency_seconds"`
}

// jsonLatency has today's first; 0 is not known.
// TuneLatency are latencies of the two settings, in seconds.
type TuneLatency struct {
	P50 [2]float64 `json:"p50"`
	P99 [2]float64 `json:"p99"`
}

// TuneDelta is one quantity of today's setting and the chosen one.
type TuneDelta struct {
	Unit      string          `json:"unit"`
	A         *stats.Interval `json:"a"`
	B         *stats.Interval `json:"b"`
	Delta     *stats.Interval `json:"delta,omitempty"`
	Outcome   string          `json:"outcome,omitempty"`
	Predicted *TunePredicted  `json:"predicted,omitempty"`
}

// TunePredicted is the forecast of a quantity that was measured.
type TunePredicted struct {
	A     *stats.Interval `json:"a,omitempty"`
	B     *stats.Interval `json:"b,omitempty"`
	Delta *stats.Interval `json:"delta"`
	Meets *bool           `json:"meets,omitempty"`
}
