package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/schema"
)

// TestNoNegativeCosts: a site whose live memory saves more collections than the site costs
// has the same cost in all formats, zero. Its retention says what it saves.
func TestNoNegativeCosts(t *testing.T) {
	rep := fixture()
	rep.Prescription.Rows = rep.Prescription.Rows[:1]
	f := rep.Prescription.Rows[0].Finding
	f.Cost = finding.Cost{Churn: span95(1.2, 0.1), Retention: span95(-45.67, 0.1), CPU: span95(-44.47, 0.2)}
	f.ByRun = []finding.RunCost{{Run: "BenchmarkOrder", Cost: f.Cost}}

	var text bytes.Buffer
	if err := JSON(&text, rep, schema.Meta{}); err != nil {
		t.Fatal(err)
	}
	var doc schema.Report
	if err := json.Unmarshal(text.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	zero := schema.Interval{}
	for _, c := range []schema.Cost{doc.Findings[0].Cost, doc.Findings[0].ByRun[0].Cost} {
		if *c.CPUShare != zero || *c.Retention != -0.4567 {
			t.Errorf("JSON: a cost of %v with retention %v, want 0 and -0.4567", *c.CPUShare, *c.Retention)
		}
	}
	text.Reset()
	if err := CSV(&text, rep); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string]string{"cpu_percent": "0", "cpu_percent_low": "0", "cpu_percent_high": "0", "retention_percent": "-45.67"} {
		if got := rows[1][slices.Index(rows[0], column)]; got != want {
			t.Errorf("CSV: %s is %s, want %s", column, got, want)
		}
	}
	for _, format := range formats {
		var out bytes.Buffer
		if err := format.write(&out, rep); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "-44.") || strings.Contains(out.String(), "-0.44") {
			t.Errorf("%s has the negative sum as a cost:\n%s", format.golden, &out)
		}
	}
}
