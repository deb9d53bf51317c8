package bench

import (
	"context"
	"fmt"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// noBenchmarks says that none of the packages has a benchmark, and what is near that could be
// recorded: benchmarks behind build constraints, other packages with benchmarks, commands.
func noBenchmarks(ctx context.Context, tool gocmd.Tool, list []gocmd.Package) error {
	var names []string
	for _, p := range list {
		names = append(names, p.ImportPath)
	}
	text := "no Benchmark function in " + strings.Join(gocmd.FirstOf(names, 5), ", ")
	more := func(lead string, found []string) {
		if len(found) > 0 {
			text += "\n  " + lead + strings.Join(gocmd.FirstOf(found, 5), ", ")
		}
	}
	near := nearby(ctx, tool, list)
	more("left out by a build constraint: ", near.constrained)
	more("packages with benchmarks: ", near.benchmarks)
	more("commands to record: -exec ", near.commands)
	if len(near.benchmarks)+len(near.commands)+len(near.constrained) == 0 {
		text += "; write one, or record a command with -exec"
	}
	return fmt.Errorf("%w: %s", errNoBenchmarks, text)
}

// candidates are what could be recorded instead, as arguments.
type candidates struct{ constrained, benchmarks, commands []string }

// nearby looks through the module of the packages.
func nearby(ctx context.Context, tool gocmd.Tool, list []gocmd.Package) candidates {
	var near candidates
	patterns := map[string]bool{}
	for _, p := range list {
		near.constrained = append(near.constrained, constrained(tool, p)...)
		if p.Module != nil && p.Module.Main {
			patterns[p.Module.Path+"/..."] = true
		}
	}
	for pattern := range patterns {
		all, err := tool.Packages(ctx, []string{pattern})
		if err != nil {
			continue
		}
		for _, p := range all {
			if len(readBenchSource(p).names) > 0 {
				near.benchmarks = append(near.benchmarks, tool.Argument(p))
			}
			if p.Name == "main" {
				near.commands = append(near.commands, tool.Argument(p))
			}
		}
	}
	slices.Sort(near.benchmarks)
	slices.Sort(near.commands)
	return near
}

// constrained names the test files of a package that hold benchmarks and are left out of the
// build, with their constraint.
func constrained(tool gocmd.Tool, p gocmd.Package) []string {
	var out []string
	for _, name := range p.IgnoredGoFiles {
		file := filepath.Join(p.Dir, name)
		var s benchSource
		if s.read(file); !strings.HasSuffix(name, "_test.go") || len(s.names) == 0 {
			continue
		}
		what := tool.Argument(p) + "/" + name
		if c := constraintOf(file); c != "" {
			what += " (" + c + ")"
		}
		out = append(out, what)
	}
	return out
}

// constraintOf says what a file's go:build line asks for; empty without one.
func constraintOf(file string) string {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		return ""
	}
	for _, g := range f.Comments {
		for _, c := range g.List {
			if !constraint.IsGoBuild(c.Text) {
				continue
			}
			x, err := constraint.Parse(c.Text)
			if err != nil {
				return ""
			}
			if tag, ok := x.(*constraint.TagExpr); ok {
				return "needs -tags=" + tag.Tag
			}
			return "needs " + x.String()
		}
	}
	return ""
}
