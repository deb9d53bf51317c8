package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/report/catalogue"
	"github.com/heaptrim/heaptrim/internal/report/codehost"
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
const worthWarning = finding.DefaultThreshold

// Limits of code scanning on GitHub, which refuses logs beyond them.
const (
	maxSarifResults = 25_000
	maxSarifText    = 1024 // characters of a rule's descriptions
)

// SARIFOptions is what a log needs beside the report. The zero value is ready to use.
type SARIFOptions struct {
	Meta       schema.Meta
	Repository string                            // folder that URIs are relative to; "" means the module's
	Source     func(file string) ([]byte, error) // reads the file of a finding; nil reads none
}

// SARIF writes the findings as a log of SARIF 2.1.0: a rule for each cure that is named, a
// result for each finding. Files below the repository's root are relative to %SRCROOT%. A
// finding whose remedy is to leave the line as it is becomes an informational result.
func SARIF(w io.Writer, rep *finding.Report, o SARIFOptions) error {
	k := knownOf(rep)
	target := rep.Diagnosis.Target
	run := sarifRun{
		Tool: sarifTool{
			sarifDriver{Name: "heaptrim", FullName: term.Clean(o.Meta.Tool),
				SemanticVersion: release(o.Meta.Tool), InformationURI: projectURI, Rules: []sarifRule{}},
		},
		Automation:  sarifAutomation{automationID(target.Module)},
		Invocations: []sarifInvocation{{Successful: true}},
		BaseIDs: map[string]sarifBase{
			srcRoot: {sarifText{Text: sarifMessage("the root of the repository of module " + target.Module)}},
		},
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
		Properties: sarifRunProperties{
			schema.NewInterval(rep.Diagnosis.Totals.MemoryShare, k.cpu), sarifPrediction(rep.Prescription.Together),
		},
	}
	s := sarifBuilder{
		run: &run, k: k, roots: codehost.NewRoots(target.ModuleDir, o.Repository), source: o.Source,
		rules: map[string]int{}, seen: map[string]int{}, hashes: map[string][]string{},
	}
	for _, text := range rep.Warnings {
		s.warn(text)
	}
	rows := rep.Prescription.Rows
	if n := len(rows) - maxSarifResults; n > 0 {
		rows = rows[:maxSarifResults]
		s.warn(fmt.Sprintf("%d findings with the smallest savings are left out.", n))
	}
	for i, f := range rows {
		f.Rank = rankOf(rep, i)
		s.add(f)
	}
	return schema.Write(w, sarifLog{sarifSchema, sarifVersion, []sarifRun{run}})
}

// semver finds a release of a Go module, which is a semantic version behind a v.
var semver = regexp.MustCompile(`\bv(\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?)`)

// release is the semantic version in what the tool says of itself. The standard wants one of
// unreleased tools, too.
func release(tool string) string {
	if m := semver.FindStringSubmatch(tool); m != nil {
		return m[1]
	}
	return "0.0.0-devel"
}

// automationID is the category of a module's log: code hosts replace a log by later ones of
// its category. All before the last slash is the category.
func automationID(module string) string {
	if module = term.Clean(module); module == "" {
		return "heaptrim/"
	}
	return "heaptrim/" + module + "/"
}

// sarifBuilder adds results and the rules that they need.
type sarifBuilder struct {
	run    *sarifRun
	k      known
	roots  codehost.Roots
	source func(string) ([]byte, error)
	rules  map[string]int      // index of a code's rule
	seen   map[string]int      // results of one code in one function
	hashes map[string][]string // of the lines of a file
}

func (s *sarifBuilder) warn(text string) {
	to := &s.run.Invocations[0].Notifications
	*to = append(*to, sarifNotification{"warning", sarifText{Text: sarifMessage(text)}})
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
			Text: sarifMessage(strings.TrimSuffix(term.Sentence(text), ".") + besideRemark(f) + " (" + lineFigure(f, s.k) + ")."),
		},
		Locations:    sarifLocations(s.roots, f),
		Fingerprints: s.fingerprints(code, f),
		Properties: sarifResultProperties{
			Rank: f.Rank, Safety: term.Clean(f.Remedy.Safety), Prediction: sarifPrediction(f.Remedy.Saves),
			CostCPU:      schema.NewInterval(f.Cost.Share(), s.k.cpu),
			BytesPerOp:   schema.Positive(f.Cost.BytesPerOp.Value),
			ObjectsPerOp: schema.Positive(f.Cost.ObjectsPerOp.Value),
		},
	})
}

// fingerprints identify a finding for us and, where its line can be read, for code hosts.
func (s *sarifBuilder) fingerprints(code string, f finding.Row) map[string]string {
	out := map[string]string{"heaptrimSite/v1": s.fingerprint(code, f)}
	if s.source == nil || f.Site.File == "" || f.Site.Line < 1 {
		return out
	}
	hashes, ok := s.hashes[f.Site.File]
	if !ok {
		if text, err := s.source(f.Site.File); err == nil {
			hashes = codehost.LineHashes(text)
		}
		s.hashes[f.Site.File] = hashes
	}
	if f.Site.Line <= len(hashes) {
		out["primaryLocationLineHash"] = hashes[f.Site.Line-1]
	}
	return out
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
	c, ok := cures.Find(code)
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
	case c.Safety == cures.Advice:
		level = "note"
	}
	return sarifRule{
		ID: c.Code, Name: ruleName(c.Code), Short: sarifText{Text: term.Sentence(c.Title) +
			"."}, Full: sarifText{Text: shortened(c.Why)},
		Help: sarifText{catalogue.Text(c), string(catalogue.Markdown(c))}, HelpURI: cureURI + c.Code + ".md",
		Default: sarifConfiguration{level}, Properties: sarifRuleProperties{sarifTags(), string(c.Safety)},
	}
}

// shortened ends a text at the last sentence that a description has room for.
func shortened(text string) string {
	r := []rune(text)
	if len(r) <= maxSarifText {
		return text
	}
	cut := string(r[:maxSarifText])
	if i := strings.LastIndex(cut, ". "); i > 0 {
		cut = cut[:i+1]
	}
	return cut
}

func sarifTags() []string { return []string{"performance", "memory"} }

// ruleName is a code in the capitals that the standard asks of names. A name that differs
// from its code in nothing else is left out, as the standard wants.
func ruleName(code string) string {
	code = term.Clean(code)
	var b strings.Builder
	for word := range strings.SplitSeq(code, "-") {
		b.WriteString(term.Sentence(word))
	}
	if strings.EqualFold(b.String(), code) {
		return ""
	}
	return b.String()
}

// sarifLevel is how urgent a finding is. No waste of memory is an error.
func sarifLevel(f finding.Row) (kind, level string) {
	switch {
	case cure(f) == leaveIt:
		return "informational", "none" // the standard allows a level for failures only
	case !cured(f), f.Remedy.Safety == string(cures.Advice), f.Remedy.Saves.CPU.Value > 0 &&
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

// sarifLocations says where a finding is. Code hosts want one location in a file for each result:
// a finding whose file is not known is at the module's go.mod.
func sarifLocations(r codehost.Roots, f finding.Row) []sarifLocation {
	file, line := f.Site.File, max(f.Site.Line, 1)
	if file == "" {
		file, line = "go.mod", 1
	}
	uri, below := r.URI(file)
	at := sarifLocation{Physical: &sarifPhysical{sarifArtifact{URI: uri}, &sarifRegion{line}}}
	if below {
		at.Physical.Artifact.Base = srcRoot
	}
	if f.Site.Function != "" {
		at.Logical = []sarifLogical{{term.Clean(f.Site.Function), "function"}}
	}
	return []sarifLocation{at}
}

// sarifMessage makes text harmless in a message: braces mark arguments there and are doubled
// to be literal, and brackets before a parenthesis are a link.
func sarifMessage(s string) string {
	return strings.NewReplacer("{", "{{", "}", "}}", "](", "] (").Replace(term.Clean(s))
}
