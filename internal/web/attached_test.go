package web

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestNewProof(t *testing.T) {
	finding := func(function, code string, saved string) string {
		return `{"site":{"function":"` + function + `","file":"a.go","line":3},"remedy":{"code":"` + code + `"},"prediction":{"cpu_share":` + saved + `}}`
	}
	const saved = `{"value":0.1,"low":0.05,"high":0.2}`
	o := Options{
		Proof:      json.RawMessage(`{"schema":"heaptrim.prove/1","verdict":{"outcome":"better","sentence":"B is better"},"comparisons":[{"changes":[{"unit":"ns/op","change":{"value":-0.1,"low":null,"high":null}}]}]}`),
		BaseReport: json.RawMessage(`{"findings":[` + finding("m.gone", "pool-object", saved) + "," + finding("m.stays", "pool-object", saved) + "," + finding("m.left", "leave-it", "null") + `]}`),
		Report:     json.RawMessage(`{"findings":[` + finding("m.stays", "pool-object", saved) + `]}`),
	}
	p, gone, err := newProof(o)
	if err != nil {
		t.Fatal(err)
	}
	if p.Verdict.Sentence != "B is better" || p.Comparisons[0].Changes[0].Change.Low != nil {
		t.Errorf("the proof was read as %+v", p)
	}
	if len(gone) != 1 || gone[0].Function != "m.gone" || gone[0].CPU.Value != 0.1 {
		t.Errorf("gone: %+v, want m.gone", gone)
	}
	for _, bad := range []string{`{"schema":"heaptrim.report/1"}`, `[]`, `{`} {
		if _, _, err := newProof(Options{Proof: json.RawMessage(bad)}); err == nil {
			t.Errorf("no error for the proof %s", bad)
		}
	}
}

func TestNewPlan(t *testing.T) {
	v, err := newPlan(json.RawMessage(`{"schema":"heaptrim.tune/1","workload":"service","recommended":{"knob":"GOGC","point":{"setting":{"text":"gogc=400","gogc":400}},"deploy":{"env":["GOGC=400"]}}}`), nil)
	if err != nil || v.Recommended.Point.Setting.GOGC != 400 || v.Recommended.Deploy["env"][0] != "GOGC=400" {
		t.Errorf("the plan was read as %+v, %v", v, err)
	}
	// Without a resident set, memory is that of the heap.
	for measured, heapOnly := range map[string]bool{`"peak_heap_bytes":5,"peak_rss_bytes":0`: true, `"peak_heap_bytes":5,"peak_rss_bytes":9`: false} {
		v, err := newPlan(json.RawMessage(`{"schema":"heaptrim.tune/1","measured":{`+measured+`},"curve":[{"peak_heap_bytes":{"value":4}}]}`), nil)
		if err != nil || v.HeapOnly != heapOnly || v.Measured.Peak != 5 || v.Curve[0].Peak.Value != 4 {
			t.Errorf("of %s the plan was read as %+v, %v", measured, v, err)
		}
	}
	if v, err := newPlan(nil, nil); v != nil || err != nil {
		t.Errorf("no plan: %v, %v", v, err)
	}
	if _, err := newPlan(json.RawMessage(`{"schema":"heaptrim.tune/9"}`), nil); err == nil {
		t.Error("no error for another document")
	}
}

func TestNewLatency(t *testing.T) {
	v, err := newLatency(json.RawMessage(`{"schema":"heaptrim.trace/1","length_ns":5,"payers":{"groups":[` + strings.Repeat(`{"start":"f"},`, maxGroups+2) + `{"start":"g"}],"requests":[]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Payers.Groups) != maxGroups || v.Payers.Dropped != 3 {
		t.Errorf("%d groups and %d dropped, want %d and 3", len(v.Payers.Groups), v.Payers.Dropped, maxGroups)
	}
	if v, err := newLatency(json.RawMessage(`{"schema":"heaptrim.trace/1","payers":null}`)); v != nil || err != nil {
		t.Errorf("a trace without payers: %v, %v", v, err)
	}
	if _, err := newLatency(json.RawMessage(`{"schema":"heaptrim.prove/1"}`)); err == nil {
		t.Error("no error for another document")
	}
}
