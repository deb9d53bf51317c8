package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
)

// Where the standard's schema and the project's pages are.
const (
	sarifSchema  = "https://json.schemastore.org/sarif-2.1.0.json"
	sarifVersion = "2.1.0"
	projectURI   = "https://github.com/heaptrim/heaptrim"
	cureURI      = projectURI + "/blob/main/doc/cures/"
	srcRoot      = "%SRCROOT%"
)

// worthWarning is the predicted share of CPU from which a result is a warning;
// below it is a note. It is the default threshold of a finding.
const worthWarning = prescribe.DefaultThreshold

// SARIF writes the findings as a log of SARIF 2.1.0: a rule for each cure that is named, a
// result for each finding. Files below the module's root are relative to %SRCROOT%. A
// finding whose remedy is to leave the line as it is becomes an informational result.
func SARIF(w io.Writer, rep *finding.Report, m schema.Meta) error {
	k := knownOf(rep)
	run := sarifRun{
		Tool: sarifTool{
			sarifDriver{Name: "heaptrim", FullName: term.Clean(m.Tool), InformationURI: projectURI,
				Rules: []sarifRule{}},
		},
		Invocations: []sarifInvocation{{Successful: true}},
		BaseIDs: map[string]sarifBase{
			srcRoot: {sarifText{Text: sarifMessage("the root of module " + rep.Diagnosis.Target.Module)}},
		},
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
		Properties: sarifRunProperties{
			schema.NewInterval(rep.Diagnosis.Totals.MemoryShare, k.cpu), sarifPrediction(rep.Prescription.Together),
		},
	}
	for _, text := range rep.Warnings {
		run.Invocations[0].Notifications = append(
			run.Invocations[0].Notifications, sarifNotification{"warning", sarifText{Text: sarifMessage(text)}},
		)
	}
	s := sarifBuilder{&run, k, rep.Diagnosis.Target.ModuleDir, map[string]int{}, map[string]int{}}
	for i, f := range rep.Prescription.Rows {
		f.Rank = rankOf(rep, i)
		s.add(f)
	}
	return schema.Write(w, sarifLog{sarifSchema, sarifVersion, []sarifRun{run}})
}

// sarifBuilder adds results and the rules that they need.
type sarifBuilder struct {
	run   *sarifRun
	k     known
	root  string         // of the module, where it is known
	rules map[string]int // index of a code's rule
	seen  map[string]int // results of one code in one function
}

func (s *sarifBuilder) add(f finding.Row) {
	code := cure(f)
	if code == "" {
		code = unclassified
	}
	rule, ok := s.rules[code]
	if !ok {
		rule = len(s.run.Tool.Driver.Rules)
		s.rules[code] = rule
		s.run.Tool.Driver.Rules = append(s.run.Tool.Driver.Rules, newSarifRule(code))
	}
	kind, level := sarifLevel(f)
	text := f.Remedy.Text
	if text == "" {
		text = whyOnHeap(f)
	}
	s.run.Results = append(s.run.Results, sarifResult{
		RuleID: term.Clean(code), RuleIndex: rule, Kind: kind, Level: level,
		Message: sarifText{
			Text: sarifMessage(strings.TrimSuffix(sentence(text), ".") + " (" + lineFigure(f, s.k) + ")."),
		},
		Locations:    sarifLocations(f, s.root),
		Fingerprints: map[string]string{"heaptrimSite/v1": s.fingerprint(code, f)},
		Properties: sarifResultProperties{
			Rank: f.Rank, Safety: term.Clean(f.Remedy.Safety), Prediction: sarifPrediction(f.Remedy.Saves),
			CostCPU:      schema.NewInterval(f.Cost.CPU, s.k.cpu),
			BytesPerOp:   schema.Positive(f.Cost.BytesPerOp.Value),
			ObjectsPerOp: schema.Positive(f.Cost.ObjectsPerOp.Value),
		},
	})
}

// fingerprint identifies a finding by properties that an edit elsewhere in the file does not
// change: its cure, its function, and its index among the findings with both.
func (s *sarifBuilder) fingerprint(code string, f finding.Row) string {
	key := strings.Join([]string{code, f.Site.Package, f.Site.Function, f.Site.File}, "\x00")
	n := s.seen[key]
	s.seen[key]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", key, n))
	return hex.EncodeToString(sum[:16])
}

// newSarifRule makes the rule of a code from its entry in the catalogue.
func newSarifRule(code string) sarifRule {
	c, ok := prescribe.Find(code)
	if !ok {
		text := sarifText{Text: "An allocation site that memory management spends time on, without a cure that is " +
			"known."}
		return sarifRule{
			ID: term.Clean(code), Name: ruleName(code), Short: sarifText{Text: "Costly allocation."}, Full: text,
			Help:    text,
			HelpURI: projectURI, Default: sarifConfiguration{"note"},
			Properties: sarifRuleProperties{Tags: sarifTags()},
		}
	}
	level := "warning"
	switch {
	case c.Code == leaveIt:
		level = "none"
	case c.Safety == prescribe.Advice:
		level = "note"
	}
	return sarifRule{
		ID: c.Code, Name: ruleName(c.Code), Short: sarifText{Text: sentence(c.Title) +
			"."}, Full: sarifText{Text: c.Why},
		Help: sarifText{cureText(c), string(CureMarkdown(c))}, HelpURI: cureURI + c.Code + ".md",
		Default: sarifConfiguration{level}, Properties: sarifRuleProperties{sarifTags(), string(c.Safety)},
	}
}

func sarifTags() []string { return []string{"performance", "memory"} }

// ruleName is a code in the capitals that the standard asks of names.
func ruleName(code string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(term.Clean(code), "-") {
		b.WriteString(sentence(word))
	}
	return b.String()
}

// sarifLevel is how urgent a finding is. No waste of memory is an error.
func sarifLevel(f finding.Row) (kind, level string) {
	switch {
	case cure(f) == leaveIt:
		return "informational", "none" // the standard allows a level for failures only
	case !cured(f), f.Remedy.Safety == string(prescribe.Advice), f.Remedy.Saves.CPU.Value > 0 &&
		f.Remedy.Saves.CPU.Value < worthWarning:
		return "fail", "note"
	}
	return "fail", "warning"
}

func sarifPrediction(p finding.Prediction) *schema.Prediction {
	out := newPrediction(p)
	if out.CPUShare == nil && out.BytesPerOp == nil && out.ObjectsPerOp == nil {
		return nil
	}
	out.Basis = term.Clean(out.Basis)
	return &out
}

// sarifLocations says where a finding is. Files outside the module have their whole name:
// code hosts accept no path that leads out of the source's root.
func sarifLocations(f finding.Row, root string) []sarifLocation {
	var at sarifLocation
	if file := f.Site.File; file != "" {
		if strings.HasPrefix(file, "../") && root != "" {
			file = strings.ReplaceAll(root, `\`, "/") + "/" + file
		}
		at.Physical = &sarifPhysical{Artifact: sarifFile(file)}
		if f.Site.Line > 0 {
			at.Physical.Region = &sarifRegion{f.Site.Line}
		}
	}
	if f.Site.Function != "" {
		at.Logical = []sarifLogical{{term.Clean(f.Site.Function), "function"}}
	}
	if at.Physical == nil && at.Logical == nil {
		return []sarifLocation{}
	}
	return []sarifLocation{at}
}

// sarifFile is a file as a URI: relative to the source's root where it lies
// below it.
func sarifFile(file string) sarifArtifact {
	file = strings.ReplaceAll(file, `\`, "/")
	if len(file) > 2 && file[1] == ':' && file[2] == '/' {
		file = "/" + file // a drive of Windows
	}
	if strings.HasPrefix(file, "/") {
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: path.Clean(file)}).String()}
	}
	return sarifArtifact{(&url.URL{Path: path.Clean(file)}).String(), srcRoot}
}

// sarifMessage makes text harmless in a message: braces mark arguments there and are doubled
// to be literal, and brackets before a parenthesis are a link.
func sarifMessage(s string) string {
	return strings.NewReplacer("{", "{{", "}", "}}", "](", "] (").Replace(term.Clean(s))
}
