package budgets

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/heaptrim/heaptrim/internal/guard"
	"github.com/heaptrim/heaptrim/internal/guard/growth"
	"github.com/heaptrim/heaptrim/internal/report/codehost"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
)

// found is one finding for a code host.
type found struct {
	rule, file, text, title string
	line                    int
	inherited               bool // it is in the version that is compared with, too
}

// findings are the lines behind what fails: each line once, with all its benchmarks, and why it
// allocates behind them.
func findings(r *guard.Result) []found {
	var out []found
	at, why := map[string]int{}, map[int]string{}
	for _, b := range r.Grown() {
		var c growth.Cause
		file := r.File
		if len(b.Causes) > 0 {
			c = b.Causes[0]
			file = c.At.File
		}
		text := fmt.Sprintf("%s: %s", label(*b), amounts(b.Line.Figure.Amount, b.Now))
		key := fmt.Sprintf("%s:%d", file, c.At.Line)
		if i, ok := at[key]; ok {
			out[i].text += "; " + text
			continue
		}
		at[key] = len(out)
		if len(b.Causes) > 0 {
			why[len(out)] = strings.Join(Sentences(c), "; ")
		} else {
			why[len(out)] = noLines(len(out) > 0)
		}
		out = append(out, found{rule: "allocation-budget", file: file, text: text, title: "allocates more than its budget", line: c.At.Line})
	}
	for i, text := range why {
		if text != "" {
			out[i].text += ". " + term.FullSentence(text)
		}
	}
	for _, b := range r.Benches {
		if b.Fails() && b.Status != guard.Grew {
			out = append(out, found{"benchmark-" + string(b.Status), r.File, label(b) + " " + EventText(b), "a benchmark is " + string(b.Status), 1, b.Inherited})
		}
	}
	for _, c := range r.Contracts {
		if !c.Fails() {
			continue
		}
		place := c.Place
		if c.At.File != "" {
			place = c.At
		}
		out = append(out, found{"allocation-contract", place.File, contractText(c), "a contract does not hold", place.Line, c.Inherited})
	}
	return out
}

// Annotations writes what fails as workflow commands, which GitHub and Gitea show at the lines.
func Annotations(w io.Writer, r *guard.Result, repository string) error {
	roots := codehost.NewRoots(r.Dir, repository)
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, f := range findings(r) {
		place := ""
		if uri, below := roots.URI(f.file); below {
			place = fmt.Sprintf("file=%s,line=%d,", property.Replace(uri), max(f.line, 1))
		}
		if _, err := fmt.Fprintf(w, "::error %stitle=%s::%s\n", place, property.Replace(f.title), value.Replace(term.Clean(f.text))); err != nil {
			return err
		}
	}
	return nil
}

// SARIF writes what fails, and did not before the change, as a log of SARIF 2.1.0.
func SARIF(w io.Writer, r *guard.Result, repository string, m schema.Meta) error {
	type object = map[string]any
	roots := codehost.NewRoots(r.Dir, repository)
	rules, known, results := []object{}, map[string]bool{}, []object{}
	for _, f := range findings(r) {
		if f.inherited {
			continue
		}
		if !known[f.rule] {
			known[f.rule] = true
			rules = append(rules, object{"id": f.rule, "shortDescription": object{"text": term.FullSentence(f.title)},
				"helpUri":    "https://github.com/heaptrim/heaptrim/blob/main/doc/format/budget.md",
				"properties": object{"tags": []string{"performance", "memory"}}})
		}
		uri, below := roots.URI(f.file)
		location := object{"uri": uri}
		if below {
			location["uriBaseId"] = "%SRCROOT%"
		}
		results = append(results, object{"ruleId": f.rule, "level": "error", "baselineState": "new",
			"message":             object{"text": term.FullSentence(term.Clean(f.text))},
			"partialFingerprints": object{"heaptrim/guard/v1": f.rule + " " + filepath.ToSlash(f.file) + " " + subject(f)},
			"locations":           []object{{"physicalLocation": object{"artifactLocation": location, "region": object{"startLine": max(f.line, 1)}}}}})
	}
	log := object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []object{{
		"tool": object{"driver": object{"name": "heaptrim guard", "fullName": term.Clean(m.Tool),
			"informationUri": "https://github.com/heaptrim/heaptrim", "rules": rules}},
		"automationDetails": object{"id": "heaptrim-guard/" + r.Module + "/"},
		"columnKind":        "utf16CodeUnits",
		"results":           results,
	}}}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(log)
}

// subject is the part of a text that stays when amounts change.
func subject(f found) string {
	name, _, _ := strings.Cut(f.text, ":")
	return term.Clean(name)
}
