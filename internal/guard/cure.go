package guard

import (
	"context"
	"os"
	"path/filepath"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/check"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/guard/count"
	"github.com/heaptrim/heaptrim/internal/record/files"
	"github.com/heaptrim/heaptrim/internal/record/host"
)

// cures names what to do about the lines of benchmarks that grew, as check would: from a profile of
// the one that grew most.
func (m *module) cures(ctx context.Context, c *checker, grown []*Bench) error {
	if len(grown) == 0 || len(grown[0].Causes) == 0 {
		return nil
	}
	m.o.Progress("looking for cures")
	rows, err := m.rows(ctx, c.pkgs[grown[0].Whole()], grown[0])
	if err != nil {
		return err
	}
	for _, b := range grown {
		for i := range b.Causes {
			cause := &b.Causes[i]
			for k := range rows {
				r := &rows[k]
				if r.Site.Line == cause.Line && m.relative(m.absolute(r.Site.File)) == cause.File && names(r.Remedy) {
					cause.Cure = &r.Remedy
					break
				}
			}
		}
	}
	return nil
}

// names reports whether a remedy is something to do.
func names(r finding.Remedy) bool { return r.Code != "" && r.Code != "leave-it" }

func (m *module) absolute(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(m.dir, filepath.FromSlash(file))
}

// rows are those of a check of what a benchmark allocates.
func (m *module) rows(ctx context.Context, p count.Package, b *Bench) ([]finding.Row, error) {
	p.Plain = true
	profiles, err := m.counter.Profile(ctx, p, b.Name, count.Run{Ops: b.Ops, CPU: b.CPU})
	if err != nil {
		return nil, err
	}
	defer profiles.Close()
	dir, err := os.MkdirTemp("", "heaptrim-guard-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, "bundle")
	w, err := bundle.Create(at, evidence.Manifest{Target: evidence.Target{Kind: evidence.TargetFiles}, Environment: host.Environment()})
	if err != nil {
		return nil, err
	}
	if err := files.Record(ctx, files.Options{Paths: []string{profiles.Many}}, w); err != nil {
		w.Discard() // what keeps it from going is no news beside err
		return nil, err
	}
	if err := w.Close(true); err != nil {
		return nil, err
	}
	recorded, err := bundle.Open(at)
	if err != nil {
		return nil, err
	}
	defer recorded.Close()
	r, err := check.Run(ctx, recorded, check.Options{Own: []string{m.path + "/...", m.path}, Escapes: true, Threshold: -1,
		Local: gocmd.LocalModule(ctx, m.dir)})
	if err != nil {
		return nil, err
	}
	return r.Prescription.Rows, nil
}
