package guard

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
)

// UpdateOptions says what an update may change.
type UpdateOptions struct {
	Shrink bool   // only lower budgets
	Reason string // written behind the lines that change; "" keeps those that are there
}

// Update counts what a change can affect anew and writes it into the budget file.
func Update(ctx context.Context, o Options, u UpdateOptions) (*Written, error) {
	m, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer m.close()
	f, err := m.read(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoFile
	} else if err != nil {
		return nil, err
	}
	b, err := m.findBase(ctx)
	if err != nil {
		return nil, err
	}
	defer b.close()
	packages, err := m.affectedPackages(ctx, b)
	if err != nil {
		return nil, err
	}
	before := copyOf(f)
	f.CPU = m.cpus(f)
	f.Rules = merged(f.Rules, o.Rules)
	if o.Store != "" {
		f.Store = o.Store
	}
	d, err := m.measure(ctx, packages, f.CPU, func(s budget.Subject, cpu int) int64 {
		l, _ := before.Find(s, m.env, cpu)
		return l.Figure.Ops
	})
	if err != nil {
		return nil, err
	}
	m.bless(f, d, packages, u)
	if err := m.addSites(ctx, f, d, u.Shrink); err != nil {
		return nil, err
	}
	if err := m.addTypes(ctx, f, u.Shrink); err != nil {
		return nil, err
	}
	w := &Written{Path: m.file(), File: f, Before: before, Problems: d.problems(), Varying: varying(f)}
	w.Changed = changes(before, f)
	for i, l := range f.Lines {
		if u.Reason != "" && slices.ContainsFunc(w.Changed, func(c Change) bool { return c.Subject == l.Subject && c.Keys == l.Keys.String() && c.After != nil }) {
			f.Lines[i].Reason = u.Reason
		}
	}
	return w, m.write(ctx, f)
}

func copyOf(f *budget.File) *budget.File {
	c := *f
	c.Lines = slices.Clone(f.Lines)
	return &c
}

// bless enters new figures. Lines that are right as they are stay as they are.
func (m *module) bless(f *budget.File, d *measured, packages []gocmd.Package, u UpdateOptions) {
	if !u.Shrink {
		m.moveRenamed(f, d, packages)
	}
	for k, fig := range d.figures {
		l, ok := f.Find(k.Subject, m.env, k.cpu)
		switch {
		case ok && l.Figure.Covers(seen(fig)), u.Shrink && (!ok || !l.Figure.Below(fig.Amount)):
			delete(d.figures, k)
		}
	}
	m.enter(f, d)
}

// seen is a figure as far as its runs went: a tolerance reaches at least twice as far above the median.
func seen(f budget.Figure) budget.Figure {
	f.Tolerance = budget.Amount{Allocs: f.Tolerance.Allocs / 2, Bytes: f.Tolerance.Bytes / 2}
	return f
}

// moveRenamed takes out the lines of benchmarks that are gone. If one that is new allocates the same
// and is the only one, its line gets their reason.
func (m *module) moveRenamed(f *budget.File, d *measured, packages []gocmd.Package) {
	for _, l := range slices.Clone(f.Lines) {
		if !l.Bench() || !m.isGone(l, d, packages) {
			continue
		}
		var same []budget.Subject
		for k, fig := range d.figures {
			if _, known := f.Find(k.Subject, m.env, k.cpu); !known && k.Package == l.Package && k.cpu == f.CPU[0] && l.Figure.Same(fig) {
				same = append(same, k.Subject)
			}
		}
		if len(same) == 1 {
			f.Rename(l.Subject, same[0])
		} else {
			f.Remove(l.Subject)
		}
	}
}

// isGone reports whether the benchmark of a line was looked for and is not there.
func (m *module) isGone(l budget.Line, d *measured, packages []gocmd.Package) bool {
	for k := range d.figures {
		if k.Subject == l.Subject {
			return false
		}
	}
	top := budget.Subject{Package: l.Package, Name: l.Top()}
	switch {
	case d.broken[l.Package] != nil, d.skipped[l.Subject], d.skipped[top], d.failed[l.Subject] != "", d.failed[top] != "", !m.selected(l.Name):
		return false
	case slices.ContainsFunc(packages, func(p gocmd.Package) bool { return m.folder(p.Dir) == l.Package }):
		return true
	}
	c := checker{module: m}
	return c.gone(l.Package)
}
