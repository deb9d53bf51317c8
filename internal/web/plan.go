package web

import (
	"encoding/json"
	"fmt"
)

// The parts of a heaptrim.tune/1 document that the page shows.
type (
	planView struct {
		Schema   string `json:"schema"`
		Workload string `json:"workload"`
		Measured struct {
			Collector float64 `json:"collector_cpu_share"`
			RSS       float64 `json:"peak_rss_bytes"`
			Cycles    int     `json:"cycles"`
		} `json:"measured"`
		Constraint struct {
			Max    int64  `json:"max_memory_bytes"`
			Source string `json:"source"`
		} `json:"constraint"`
		Today       planPoint   `json:"today"`
		Curve       []planPoint `json:"curve"`
		Recommended struct {
			Knob    string              `json:"knob"`
			Refused string              `json:"refused"`
			Why     string              `json:"why"`
			Point   *planPoint          `json:"point"`
			Saves   float64             `json:"saved_cpu_share"`
			Costs   float64             `json:"added_memory_bytes"`
			Deploy  map[string][]string `json:"deploy"`
		} `json:"recommended"`
		Notes  []string    `json:"notes"`
		Trials *planTrials `json:"trials"`
	}

	planPoint struct {
		Setting struct {
			Text    string `json:"text"`
			GOGC    int    `json:"gogc"`
			Limit   int64  `json:"limit_bytes"`
			Ballast int64  `json:"ballast_bytes"`
		} `json:"setting"`
		Refused   string  `json:"refused"`
		Fits      bool    `json:"fits"`
		Collector *bounds `json:"collector_cpu_share"`
		RSS       *bounds `json:"peak_rss_bytes"`
	}

	planTrials struct {
		Verdict string `json:"verdict"`
		Stopped string `json:"stopped"`
		Steps   []struct {
			Setting struct {
				Text string `json:"text"`
			} `json:"setting"`
			Saved *bounds `json:"saved_cpu_share"`
		} `json:"steps"`
	}
)

const planSchema = "heaptrim.tune/1"

// newPlan reads what tune forecasts; nil without a document.
func newPlan(doc json.RawMessage) (*planView, error) {
	if doc == nil {
		return nil, nil
	}
	var v planView
	if err := json.Unmarshal(doc, &v); err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	if v.Schema != planSchema {
		return nil, fmt.Errorf("read the plan: its schema is %q, want %s", v.Schema, planSchema)
	}
	return &v, nil
}
