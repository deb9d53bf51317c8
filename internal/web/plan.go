package web

import (
	"encoding/json"
	"fmt"
)

// The parts of a heaptrim.tune/1 document that the page shows.
type (
	planView struct {
		Schema   string       `json:"schema"`
		Workload string       `json:"workload"`
		Recorded planSetting  `json:"recorded_setting"`
		Measured planMeasured `json:"measured"`
		// Base is what the recording that is compared with has measured; nil: none,
		// or it bears no plan.
		Base       *planBase `json:"base,omitempty"`
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

		// HeapOnly: the resident set is not known, and memory is that of the heap.
		HeapOnly bool `json:"heap_only"`
	}

	planMeasured struct {
		Collector float64 `json:"collector_cpu_share"`
		Peak      float64 `json:"peak_heap_bytes"`
		RSS       float64 `json:"peak_rss_bytes"`
		Cycles    int     `json:"cycles"`
	}

	planBase struct {
		Recorded planSetting  `json:"recorded_setting"`
		Measured planMeasured `json:"measured"`
	}

	planSetting struct {
		Text    string `json:"text"`
		GOGC    int    `json:"gogc"`
		Limit   int64  `json:"limit_bytes"`
		Ballast int64  `json:"ballast_bytes"`
	}

	planPoint struct {
		Setting   planSetting `json:"setting"`
		Refused   string      `json:"refused"`
		Fits      bool        `json:"fits"`
		Collector *bounds     `json:"collector_cpu_share"`
		Peak      *bounds     `json:"peak_heap_bytes"`
		RSS       *bounds     `json:"peak_rss_bytes"`
	}

	planTrials struct {
		Today   planSetting  `json:"today"`
		Chosen  planSetting  `json:"chosen"`
		Changes []planChange `json:"changes"`
		Verdict string       `json:"verdict"`
		Stopped string       `json:"stopped"`
		Steps   []struct {
			Setting struct {
				Text string `json:"text"`
			} `json:"setting"`
			Saved *bounds `json:"saved_cpu_share"`
		} `json:"steps"`
	}
)

// planChange is one figure of the trials' comparison: of today's setting and of
// the chosen one.
type planChange struct {
	Unit string  `json:"unit"`
	A    *bounds `json:"a"`
	B    *bounds `json:"b"`
}

const planSchema = "heaptrim.tune/1"

// newPlan reads what tune forecasts, and what the recording that is compared
// with has measured under its own setting; nil without a document.
func newPlan(doc, base json.RawMessage) (*planView, error) {
	v, err := readPlan(doc)
	if v == nil || err != nil || base == nil {
		return v, err
	}
	other, err := readPlan(base)
	if err != nil {
		return nil, err
	}
	v.Base = &planBase{other.Recorded, other.Measured}
	return v, nil
}

func readPlan(doc json.RawMessage) (*planView, error) {
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
	v.Base = nil // heaptrim's own, not the document's
	v.HeapOnly = v.Measured.RSS <= 0
	return &v, nil
}
