// Package hot picks the packages whose source says most of a recording, and reads it.
package hot

import (
	"context"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// Limits: the hottest findings and lines, and the packages that are read for them.
const (
	findings = 120
	packages = 16
)

// Packages lists the findings' packages, by import path or as a pattern, those of the heaviest first.
func Packages(d *finding.Diagnosis) []string {
	weight := map[string]float64{}
	add := func(site evidence.Site, w float64) {
		pkg := site.Package
		if pkg == "main" {
			pkg = mainOf(d.Target, site.File)
		}
		if pkg != "" && !strings.HasSuffix(pkg, "_test") {
			weight[pkg] += w
		}
	}
	for i, f := range d.Findings[:min(len(d.Findings), findings)] {
		add(f.Site, 1/float64(i+1))
	}
	for i, l := range d.Lines[:min(len(d.Lines), findings)] {
		add(l.Site, 0.1/float64(i+1))
	}
	out := make([]string, 0, len(weight))
	for p := range weight {
		out = append(out, p)
	}
	sort.Slice(out, func(i, j int) bool {
		if weight[out[i]] != weight[out[j]] {
			return weight[out[i]] > weight[out[j]]
		}
		return out[i] < out[j]
	})
	return out[:min(len(out), packages)]
}

// mainOf is a pattern for the command whose functions are in a file: they do not carry its import path. It is "" where the
// file is not of the module.
func mainOf(t evidence.Target, file string) string {
	if t.Kind == evidence.TargetExec && len(t.Packages) == 1 {
		return t.Packages[0]
	}
	dir, err := filepath.Abs(t.ModuleDir)
	if err != nil || t.ModuleDir == "" || file == "" {
		return ""
	}
	if filepath.IsAbs(file) {
		if file, err = filepath.Rel(dir, file); err != nil {
			return ""
		}
	}
	if _, err := os.Stat(filepath.Join(dir, file)); err != nil || !filepath.IsLocal(file) {
		return ""
	}
	return "./" + filepath.ToSlash(filepath.Dir(file))
}

// Source loads the packages of the hottest lines, and more; nil when there is no source to read. The warnings say what could
// not be read. Progress may be nil.
func Source(ctx context.Context, d *finding.Diagnosis, progress func(format string, args ...any), more []string) (p *source.Program, warnings []string) {
	t := d.Target
	if t.ModuleDir == "" || len(d.Findings) == 0 {
		return nil, nil
	}
	dir, err := filepath.Abs(t.ModuleDir)
	if err != nil {
		return nil, nil
	}
	list := append(Packages(d), more...)
	if progress != nil {
		progress("reading the source of %d packages", len(list))
	}
	p, problems, err := source.Load(ctx, source.Request{Dir: dir, Packages: list, BuildFlags: t.BuildFlags})
	if err != nil {
		return nil, []string{"cures are named without the source: " + err.Error()}
	}
	for _, e := range problems {
		warnings = append(warnings, "cures are named without some of the source: "+e.Error())
	}
	return p, warnings
}
