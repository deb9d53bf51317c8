// Package vet runs the source-only analysers over packages, in the process
// that asks.
//
// It answers with what the analysers say of the source. Which of it matters is
// for the caller to decide, who has a profile.
package vet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/token"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/heaptrim/heaptrim/analyzers"
)

// Options tunes Run. The zero value is ready to use.
type Options struct {
	Codes      []string // of the rules to run; none means all
	BuildFlags []string // handed to the go command, such as -tags=…
	Env        []string // of the go command; nil means the process's own
}

// Diagnostic is what one rule says of one place. Lines and columns count from
// 1, columns in bytes.
type Diagnostic struct {
	Code    string
	Message string
	File    string // absolute
	Line    int
	Col     int
	EndLine int
	Related []Place // where else it acts: the allocations of a type, say
}

// Place is a line of source.
type Place struct {
	File string // absolute
	Line int
}

// Run loads the packages that the patterns name in dir, as the go command
// understands them, and returns the diagnostics of their source without tests,
// by file and line. Packages that do not compile are left out: the error then
// names them, and the diagnostics of the others are returned with it.
func Run(ctx context.Context, dir string, patterns []string, o Options) ([]Diagnostic, error) {
	list, err := o.analyzers()
	if err != nil {
		return nil, err
	}
	pkgs, err := packages.Load(&packages.Config{
		Mode:       packages.LoadSyntax | packages.NeedModule,
		Context:    ctx,
		Dir:        dir,
		Env:        o.Env,
		BuildFlags: o.BuildFlags,
	}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("load %v in %s: %w", patterns, dir, err)
	}
	good, broken := sound(pkgs)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	graph, err := checker.Analyze(list, good, nil)
	if err != nil {
		return nil, fmt.Errorf("analyse %v in %s: %w", patterns, dir, err)
	}
	var found []Diagnostic
	for _, act := range graph.Roots {
		if act.Err != nil {
			broken = append(broken, fmt.Errorf("rule %s on package %s: %w", act.Analyzer.Name, act.Package.PkgPath, act.Err))
			continue
		}
		for _, d := range act.Diagnostics {
			found = append(found, diagnostic(act.Package.Fset, d))
		}
	}
	slices.SortFunc(found, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Code, b.Code))
	})
	return found, errors.Join(broken...)
}

// analyzers returns those of the codes asked for.
func (o Options) analyzers() ([]*analysis.Analyzer, error) {
	if len(o.Codes) == 0 {
		return analyzers.All(), nil
	}
	rules := analyzers.Rules()
	list := make([]*analysis.Analyzer, 0, len(o.Codes))
	for _, code := range o.Codes {
		i := slices.IndexFunc(rules, func(r analyzers.Rule) bool { return r.Code == code })
		if i < 0 {
			return nil, fmt.Errorf("no rule for code %q", code)
		}
		list = append(list, rules[i].Analyzer)
	}
	return list, nil
}

// sound parts the packages into those that type-check and an error for each of
// the others.
func sound(pkgs []*packages.Package) (good []*packages.Package, broken []error) {
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			broken = append(broken, fmt.Errorf("package %s: %w", p.PkgPath, p.Errors[0]))
			continue
		}
		if p.Types != nil {
			good = append(good, p)
		}
	}
	return good, broken
}

func diagnostic(fset *token.FileSet, d analysis.Diagnostic) Diagnostic {
	start := fset.Position(d.Pos)
	end := start
	if d.End.IsValid() {
		end = fset.Position(d.End)
	}
	out := Diagnostic{
		Code: d.Category, Message: d.Message,
		File: absolute(start.Filename), Line: start.Line, Col: start.Column, EndLine: end.Line,
	}
	for _, r := range d.Related {
		at := fset.Position(r.Pos)
		out.Related = append(out.Related, Place{File: absolute(at.Filename), Line: at.Line})
	}
	return out
}

// absolute makes a name of the loader absolute; it is so already but for what
// a //line directive says.
func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}
