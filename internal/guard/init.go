package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
)

// Written is what init or update did to a budget file.
type Written struct {
	Path     string // of the file
	File     *budget.File
	Before   *budget.File // nil where there was none
	Changed  []Change
	Problems []string // benchmarks that could not be counted
	Varying  int      // lines with a tolerance
}

// Change is a line that is new, different or gone.
type Change struct {
	budget.Subject
	Keys          string
	Before, After *budget.Figure
}

// ErrExists means that there is a budget file already.
var ErrExists = errors.New("there is one already; 'heaptrim guard update' changes it, and -force measures all anew")

// Init measures all benchmarks of a module and writes its budget file.
func Init(ctx context.Context, o Options, force bool) (*Written, error) {
	m, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer m.close()
	before, err := m.read(ctx)
	switch {
	case err == nil && !force:
		return nil, fmt.Errorf("%s: %w", m.file(), ErrExists)
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !force:
		return nil, err
	}
	f := &budget.File{Home: m.env, CPU: m.cpus(nil), Rules: o.Rules, Store: o.Store}
	if before != nil { // what people wrote stays
		f.Notes, f.Rules, f.Store = before.Notes, merged(before.Rules, o.Rules), cmp.Or(o.Store, before.Store)
		f.Lines = slices.DeleteFunc(slices.Clone(before.Lines), func(l budget.Line) bool { return l.Reason == "" })
	}
	reasons := f.Lines
	f.Lines = nil
	promised, err := m.promised()
	if err != nil {
		return nil, err
	}
	if len(m.packages) == 0 && len(promised) == 0 {
		return nil, fmt.Errorf("%w and no contracts in %s", errNoBenchmarks, strings.Join(m.o.Patterns, " "))
	}
	d, err := m.measure(ctx, m.packages, f.CPU, func(budget.Subject, int) int64 { return 0 })
	if err != nil {
		return nil, err
	}
	if len(d.figures) == 0 && len(promised) == 0 {
		return nil, fmt.Errorf("%w that could run: %s", errNoBenchmarks, strings.Join(d.problems(), "; "))
	}
	m.enter(f, d)
	for i, l := range f.Lines {
		for _, r := range reasons {
			if r.Subject == l.Subject {
				f.Lines[i].Reason = r.Reason
			}
		}
	}
	if err := m.addSites(ctx, f, d, false); err != nil {
		return nil, err
	}
	if err := m.addTypes(ctx, f, false); err != nil {
		return nil, err
	}
	w := &Written{Path: m.file(), File: f, Before: before, Problems: d.problems(), Varying: varying(f)}
	w.Changed = changes(before, f)
	return w, m.write(ctx, f)
}

var errNoBenchmarks = errors.New("no benchmarks")

func merged(a, b budget.Rules) budget.Rules {
	out := budget.Rules{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// enter writes measurements into a file: the figures of the first value of GOMAXPROCS first, as the
// lines without keys are theirs.
func (m *module) enter(f *budget.File, d *measured) {
	keys := slices.SortedFunc(maps.Keys(d.figures), func(a, b figureKey) int {
		return cmp.Or(cmp.Compare(slices.Index(f.CPU, a.cpu), slices.Index(f.CPU, b.cpu)), cmp.Compare(a.Package, b.Package), cmp.Compare(a.Name, b.Name))
	})
	for _, k := range keys {
		f.Set(k.Subject, m.env, k.cpu, d.figures[k])
	}
}

// problems lists what could not be counted.
func (d *measured) problems() []string {
	var out []string
	for _, folder := range slices.Sorted(maps.Keys(d.broken)) {
		out = append(out, folder+": "+firstLines(d.broken[folder]))
	}
	for s, why := range d.failed {
		out = append(out, s.Package+" "+s.Name+" fails: "+why)
	}
	for s := range d.skipped {
		out = append(out, s.Package+" "+s.Name+" skips itself")
	}
	slices.Sort(out)
	return out
}

// firstLines is the telling line of a failed build.
func firstLines(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for _, l := range lines[1:] {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") && !strings.HasPrefix(l, "…") && l != "FAIL" {
			return strings.TrimSuffix(lines[0], ":") + ": " + l
		}
	}
	return lines[0]
}

func varying(f *budget.File) int {
	n := 0
	for _, l := range f.Lines {
		if l.Figure.Tolerance != (budget.Amount{}) {
			n++
		}
	}
	return n
}

// changes lists the lines that differ between two files.
func changes(before, after *budget.File) []Change {
	var out []Change
	lines := func(f *budget.File) map[string]budget.Line {
		all := map[string]budget.Line{}
		if f != nil {
			for _, l := range f.Lines {
				all[l.Package+"\x00"+l.Name+"\x00"+l.Site+"\x00"+l.Keys.String()] = l
			}
		}
		return all
	}
	was, is := lines(before), lines(after)
	for _, k := range slices.Sorted(maps.Keys(merge2(was, is))) {
		b, inB := was[k]
		a, inA := is[k]
		if inB && inA && b.Figure == a.Figure {
			continue
		}
		c := Change{}
		if inB {
			c.Subject, c.Keys, c.Before = b.Subject, b.Keys.String(), &b.Figure
		}
		if inA {
			c.Subject, c.Keys, c.After = a.Subject, a.Keys.String(), &a.Figure
		}
		out = append(out, c)
	}
	return out
}

func merge2[V any](a, b map[string]V) map[string]V {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}
