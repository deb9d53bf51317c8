package guard

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/contract"
)

// sized is a type that promises not to grow, with its size on an architecture.
type sized struct {
	contract.Contract
	env    budget.Env
	figure budget.Figure
	ok     bool // it has a size of its own
}

func (s sized) subject() budget.Subject {
	return budget.Subject{Package: s.Folder, Name: budget.TypePrefix + s.Name}
}

// sizes asks the type checker for the sizes of the types that promise not to grow: on the architecture
// of the build, and on one whose words have the other size. Those with words of one size lay types
// out alike.
func (m *module) sizes(ctx context.Context, all []contract.Contract) ([]sized, error) {
	all = slices.DeleteFunc(slices.Clone(all), func(c contract.Contract) bool { return c.Directive != "nogrow" || !c.Of("go"+m.env.Go) })
	paths := packagesOf(all, func(contract.Contract) bool { return true })
	if len(paths) == 0 {
		return nil, nil
	}
	o := contract.LoadOptions{Dir: m.dir, Env: append(os.Environ(), m.tool.Env...), Flags: m.tool.Flags}
	_, pkgs, layout, err := contract.Load(ctx, paths, o)
	if err != nil {
		return nil, err
	}
	out := m.sizesOf(all, contract.Declared{Packages: pkgs, Sizes: layout}, m.env)
	other := m.env
	if other.Arch = contract.OtherWord(m.env.Arch); other.Arch == "" {
		return out, nil
	}
	o.Env = append(o.Env, "GOARCH="+other.Arch, "CGO_ENABLED=0")
	declared, err := contract.Declare(ctx, paths, o)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil { // the system has no such port
		return out, nil
	}
	// A type that is not declared there, or not for that architecture, has no size to hold.
	return append(out, slices.DeleteFunc(m.sizesOf(all, declared, other), func(s sized) bool { return !s.ok })...), nil
}

func (m *module) sizesOf(all []contract.Contract, d contract.Declared, e budget.Env) []sized {
	var out []sized
	for _, c := range all {
		for _, p := range d.Packages {
			if p.Path() == c.Package {
				size, class, ok := contract.Size(p, c.Name, d.Sizes)
				if file := d.File(p, c.Name); file != "" {
					ok = ok && m.relative(file) == c.Place.File // another file's type promises nothing
				}
				out = append(out, sized{c, e, budget.Figure{Amount: budget.Amount{Allocs: float64(size), Bytes: float64(class)}, Ops: 1}, ok})
			}
		}
	}
	return out
}

// grewTypes compares the sizes of types with their lines, each contract once.
func (m *module) grewTypes(f *budget.File, list []sized) []contract.Result {
	var out []contract.Result
	at := map[budget.Subject]int{}
	for _, s := range list {
		r := m.grewType(f, s)
		i, known := at[s.subject()]
		switch {
		case !known:
			at[s.subject()] = len(out)
			out = append(out, r)
		case r.Fails() && !out[i].Fails():
			out[i] = r
		case r.State == contract.Broken && out[i].State == contract.Broken:
			out[i].Why += "; " + strings.TrimPrefix(r.Why, "it grew ")
		}
	}
	return out
}

// grewType compares the size of a type with its line.
func (m *module) grewType(f *budget.File, s sized) contract.Result {
	r := contract.Result{Contract: s.Contract, State: contract.Proven}
	l, ok := f.Find(s.subject(), s.env, f.CPU[0])
	was, now := l.Figure.Amount, s.figure.Amount
	switch {
	case !s.ok:
		r.State, r.Why = contract.NotReached, "a generic type has no size of its own"
	case !ok:
		r.State, r.Why = contract.NotReached, "the budget file has no line for it; 'heaptrim guard update' adds it"
	case now.Allocs > was.Allocs, now.Bytes > was.Bytes:
		r.State = contract.Broken
		r.Why = fmt.Sprintf("it grew from %g bytes (size class %g) to %g (size class %g)", was.Allocs, was.Bytes, now.Allocs, now.Bytes)
		if s.env.Arch != m.env.Arch {
			r.Why += " with GOARCH=" + s.env.Arch
		}
	}
	return r
}

// addTypes writes the sizes of types that promise not to grow.
func (m *module) addTypes(ctx context.Context, f *budget.File, shrink bool) error {
	all, err := m.promised()
	if err != nil {
		return err
	}
	list, err := m.sizes(ctx, all)
	if err != nil {
		return err
	}
	known := map[budget.Subject]bool{}
	for _, s := range list {
		known[s.subject()] = true
		l, ok := f.Find(s.subject(), s.env, f.CPU[0])
		if !s.ok || ok && l.Figure.Amount == s.figure.Amount || shrink && (!ok || s.figure.Allocs > l.Figure.Allocs) {
			continue
		}
		f.Set(s.subject(), s.env, f.CPU[0], s.figure)
	}
	if !shrink && len(m.o.Patterns) == 1 && m.o.Patterns[0] == "./..." {
		f.Lines = slices.DeleteFunc(f.Lines, func(l budget.Line) bool { return l.Type() && !known[l.Subject] })
	}
	return nil
}
