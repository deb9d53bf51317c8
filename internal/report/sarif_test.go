package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/codehost"
	"github.com/heaptrim/heaptrim/internal/report/reporttest"
	"github.com/heaptrim/heaptrim/internal/schema"
)

func sarifOf(t *testing.T, rep *finding.Report, o ...SARIFOptions) sarifRun {
	t.Helper()
	var out bytes.Buffer
	if err := SARIF(&out, rep, append(o, SARIFOptions{})[0]); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	dec := json.NewDecoder(&out)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&log); err != nil {
		t.Fatal(err)
	}
	if log.Version != sarifVersion || len(log.Runs) != 1 {
		t.Fatalf("version %s with %d runs, want %s with 1", log.Version, len(log.Runs), sarifVersion)
	}
	return log.Runs[0]
}

// TestSARIFHolds: what the standard demands beyond the shape of its objects
// holds for any diagnosis.
func TestSARIFHolds(t *testing.T) {
	bare := empty()
	bare.Prescription.Rows = []finding.Row{{Finding: &finding.Finding{}}, {Finding: &finding.Finding{}}}
	reports := []*finding.Report{fixture(), empty(), bare}
	for _, name := range reporttest.HostileNames {
		reports = append(reports, poisoned(name))
	}
	for i, rep := range reports {
		run := sarifOf(t, rep)
		if run.Results == nil || run.Tool.Driver.Rules == nil || len(run.Results) != len(rep.Prescription.Rows) {
			t.Errorf("report %d: %d results, want %d", i, len(run.Results), len(rep.Prescription.Rows))
		}
		ids := map[string]bool{}
		for _, r := range run.Tool.Driver.Rules {
			if ids[r.ID] {
				t.Errorf("report %d: rule %s stands twice", i, r.ID)
			}
			ids[r.ID] = true
			if len([]rune(r.Short.Text)) > maxSarifText || len([]rune(r.Full.Text)) > maxSarifText || len(r.Name) > 255 {
				t.Errorf("report %d: rule %s is beyond GitHub's limits", i, r.ID)
			}
			if r.Short.Text == "" || r.Full.Text == "" || r.Help.Text == "" {
				t.Errorf("report %d: rule %s lacks a text", i, r.ID)
			}
		}
		prints := map[string]bool{}
		for _, r := range run.Results {
			holdsSARIF(t, run, r)
			print := r.Fingerprints["heaptrimSite/v1"]
			if print == "" || prints[print] {
				t.Errorf("report %d: fingerprint %q stands twice", i, print)
			}
			prints[print] = true
		}
	}
}

func holdsSARIF(t *testing.T, run sarifRun, r sarifResult) {
	t.Helper()
	if rules := run.Tool.Driver.Rules; r.RuleIndex >= len(rules) || rules[r.RuleIndex].ID != r.RuleID {
		t.Errorf("result %d is of rule %s, which is not the one at its index", r.Properties.Rank, r.RuleID)
	}
	if (r.Kind == "fail") == (r.Level == "none") {
		t.Errorf("result %d is of kind %s with level %s", r.Properties.Rank, r.Kind, r.Level)
	}
	plain := strings.NewReplacer("{{", "", "}}", "").Replace(r.Message.Text)
	if plain == "" || strings.ContainsAny(plain, "{}") || strings.Contains(plain, "](") {
		t.Errorf("result %d: the message has a placeholder or a link: %.200s", r.Properties.Rank, r.Message.Text)
	}
	if len(r.Locations) != 1 || r.Locations[0].Physical == nil || r.Locations[0].Physical.Region == nil {
		t.Fatalf("result %d has not one place in a file: %+v", r.Properties.Rank, r.Locations)
	}
	for _, l := range r.Locations {
		uri := l.Physical.Artifact.URI
		if strings.ContainsAny(uri, "\\ \n\t\"<>|`{}") || strings.HasPrefix(uri, "/") {
			t.Errorf("result %d: %.200q is no URI to a file", r.Properties.Rank, uri)
		}
		if region := l.Physical.Region; region != nil && region.StartLine < 1 {
			t.Errorf("result %d begins at line %d", r.Properties.Rank, region.StartLine)
		}
	}
}

// TestSARIFFingerprint: an edit above a site leaves its fingerprint as it is;
// another function's or another cure's differs.
func TestSARIFFingerprint(t *testing.T) {
	of := func(change func(*finding.Row)) string {
		rep := empty()
		site := evidence.Site{Function: "p.F", File: "p.go", Line: 3, Package: "p"}
		rep.Prescription.Rows = []finding.Row{{Finding: &finding.Finding{Site: site},
			Remedy: finding.Remedy{Code: "presize-map"}}}
		change(&rep.Prescription.Rows[0])
		return sarifOf(t, rep).Results[0].Fingerprints["heaptrimSite/v1"]
	}
	first := of(func(*finding.Row) {})
	if got := of(func(f *finding.Row) { f.Site.Line = 30 }); got != first {
		t.Errorf("the fingerprint changes with the line")
	}
	if got := of(func(f *finding.Row) { f.Site.Function = "p.G" }); got == first {
		t.Errorf("two functions share a fingerprint")
	}
	if got := of(func(f *finding.Row) { f.Remedy.Code = "skip-work" }); got == first {
		t.Errorf("two cures share a fingerprint")
	}
}

// TestSARIFOptions: the line's hash, the release and the category are in a log, and a log
// stays below GitHub's limits.
func TestSARIFOptions(t *testing.T) {
	rep := empty()
	rep.Diagnosis.Target.Module = "example.com/m"
	site := evidence.Site{Function: "p.F", File: "p.go", Line: 2, Package: "p"}
	for range maxSarifResults + 3 {
		rep.Prescription.Rows = append(rep.Prescription.Rows, finding.Row{Finding: &finding.Finding{Site: site}})
	}
	reads := 0
	run := sarifOf(t, rep, SARIFOptions{
		Meta: schema.Meta{Tool: "heaptrim v1.2.3-rc.1 go1.26.8"},
		Source: func(string) ([]byte, error) {
			reads++
			return []byte("a\nb\n"), nil
		},
	})
	if reads != 1 || run.Results[0].Fingerprints["primaryLocationLineHash"] != codehost.LineHashes([]byte("a\nb\n"))[1] {
		t.Errorf("fingerprints %v after %d reads", run.Results[0].Fingerprints, reads)
	}
	if run.Tool.Driver.SemanticVersion != "1.2.3-rc.1" || run.Automation.ID != "heaptrim/example.com/m/" {
		t.Errorf("version %q, category %q", run.Tool.Driver.SemanticVersion, run.Automation.ID)
	}
	if len(run.Results) != maxSarifResults || len(run.Invocations[0].Notifications) != 1 {
		t.Errorf("%d results with %d warnings", len(run.Results), len(run.Invocations[0].Notifications))
	}
	if got := release("heaptrim (devel) go1.26.8"); got != "0.0.0-devel" {
		t.Errorf("the release of a development version is %q", got)
	}
}
