package check

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/vet"
)

// maxVetFolders bounds the packages that the source rules are run on, those of
// the hottest lines.
const maxVetFolders = 16

// hotRules runs the source rules on the packages of the hot lines and keeps findings on
// lines that take the share of CPU or of bytes, callees included, hottest line first. The
// warnings name what could not be read.
func hotRules(ctx context.Context, d *finding.Diagnosis, share float64) (hits []finding.RuleHit, warnings []string) {
	dir, err := filepath.Abs(d.Target.ModuleDir)
	if d.Target.ModuleDir == "" || err != nil {
		return nil, []string{"source rules need the module that was recorded, and its folder is not known"}
	}
	hot := hotLines(d, share)
	folders := foldersOf(dir, hot)
	if len(folders) == 0 {
		return nil, nil
	}
	said, err := vet.Run(ctx, dir, folders, vet.Options{BuildFlags: d.Target.BuildFlags})
	if err != nil {
		warnings = append(warnings, "source rules do not cover all of the hot code: "+err.Error())
	}
	return ruleHits(dir, hot, said), warnings
}

// hotLines are the lines that take the share of CPU or of bytes.
func hotLines(d *finding.Diagnosis, share float64) []finding.LineCost {
	var hot []finding.LineCost
	for _, l := range d.Lines {
		if l.Site.File != "" && max(l.CPU.Value, l.BytesShare) >= share {
			hot = append(hot, l)
		}
	}
	return hot
}

// foldersOf lists the folders of lines in files below dir, as patterns of the
// go command, those of the hottest lines first.
func foldersOf(dir string, lines []finding.LineCost) []string {
	var out []string
	for _, l := range lines {
		if filepath.IsAbs(l.Site.File) || strings.HasSuffix(l.Site.File, "_test.go") {
			continue
		}
		folder := "./" + path.Dir(l.Site.File)
		if len(out) == maxVetFolders || slices.Contains(out, folder) {
			continue
		}
		// The report shortens files outside of the module to names that look
		// relative too.
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(l.Site.File))); err == nil {
			out = append(out, folder)
		}
	}
	return out
}

// ruleHits joins the rules' findings with the hot lines. A finding covers the lines from the
// first to the last of its place, and those where it acts.
func ruleHits(dir string, hot []finding.LineCost, said []vet.Diagnostic) []finding.RuleHit {
	var hits []finding.RuleHit
	for _, s := range said {
		best := -1
		for i, l := range hot {
			file := filepath.Join(dir, filepath.FromSlash(l.Site.File))
			if speaksOf(s, file, l.Site.Line) && (best < 0 || heatOf(l) > heatOf(hot[best])) {
				best = i
			}
		}
		if best >= 0 {
			hits = append(hits, finding.RuleHit{Code: s.Code, Message: s.Message, Cost: hot[best]})
		}
	}
	slices.SortStableFunc(hits, func(a, b finding.RuleHit) int { return cmp.Compare(heatOf(b.Cost), heatOf(a.Cost)) })
	return hits
}

func heatOf(l finding.LineCost) float64 { return max(l.CPU.Value, l.BytesShare) }

func speaksOf(s vet.Diagnostic, file string, line int) bool {
	if s.File == file && s.Line <= line && line <= max(s.Line, s.EndLine) {
		return true
	}
	return slices.Contains(s.Related, vet.Place{File: file, Line: line})
}
