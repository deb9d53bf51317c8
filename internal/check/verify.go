package check

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/fix"
)

// verifyRows is how many rows' edits are tried: those that a reader looks at.
const verifyRows = 15

// verify tries edits for the first rows of a prescription. The error says why none could be.
func verify(ctx context.Context, b *bundle.Bundle, r *finding.Report, o Options) ([]finding.Trial, error) {
	t := r.Diagnosis.Target
	if o.Verify <= 0 || t.ModuleDir == "" || !unchanged(b, r) {
		return nil, nil
	}
	if t.Kind == evidence.TargetPackages {
		o.Progress("trying the first cures for up to %v", o.Verify)
	}
	search := fix.Options{Budget: o.Verify, Most: verifyRows, Tests: true, Progress: o.Progress}
	return fix.Verify(ctx, r, fix.RunOptions{Search: search, Memory: fix.DefaultMemory()})
}

// unchanged reports whether the files of the rows are there, and as old as the recording.
func unchanged(b *bundle.Bundle, r *finding.Report) bool {
	for _, row := range r.Prescription.Rows {
		name := row.Site.File
		if !filepath.IsAbs(name) {
			name = filepath.Join(r.Diagnosis.Target.ModuleDir, name)
		}
		info, err := os.Stat(name)
		if err != nil || info.ModTime().Truncate(time.Second).After(b.Manifest.Created) {
			return false
		}
	}
	return len(r.Prescription.Rows) > 0
}
