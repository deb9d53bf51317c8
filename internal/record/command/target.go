package command

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// execTarget is a main package and how to build it.
type execTarget struct {
	tool     gocmd.Tool // runs in the module to build from, with all build flags
	pkg      gocmd.Package
	evidence evidence.Target // Module, ModuleDir and Workspace
}

// resolve finds the package. The go command cannot overlay files in the module cache,
// so a module from there is copied first.
func (r *execRecorder) resolve(ctx context.Context) (execTarget, error) {
	if r.o.Package == "" {
		return execTarget{}, fmt.Errorf("no package to run")
	}
	if name, version, ok := strings.Cut(r.o.Package, "@"); ok && !strings.HasPrefix(name, ".") &&
		!filepath.IsAbs(name) {
		return r.released(ctx, name, version)
	}
	tool := gocmd.Tool{Dir: r.o.Dir, Flags: r.o.BuildFlags}
	pkg, err := tool.MainPackage(ctx, r.o.Package)
	if err != nil {
		return execTarget{}, err
	}
	cache, err := tool.ModuleCache(ctx)
	if err != nil {
		return execTarget{}, err
	}
	if isBelow(pkg.Dir, cache) {
		return r.dependency(ctx, tool, pkg)
	}
	t := execTarget{tool: tool, pkg: pkg}
	return t, gocmd.DescribeModules(ctx, tool, &t.evidence)
}

// released prepares a command of a released module by building a copy of it as the
// main module.
func (r *execRecorder) released(ctx context.Context, name, version string) (execTarget, error) {
	m, dir, err := r.copies().Release(ctx, name, version)
	if err != nil {
		return execTarget{}, err
	}
	tool := gocmd.Tool{Dir: dir, Flags: append(append([]string{}, r.o.BuildFlags...), "-mod=mod")}
	t := execTarget{tool: tool, evidence: evidence.Target{Module: m.Path, ModuleDir: dir}}
	t.pkg, err = tool.MainPackage(ctx, "."+strings.TrimPrefix(name, m.Path))
	return t, err
}

// copies says where copies of cached modules are stored.
func (r *execRecorder) copies() gocmd.Copies {
	return gocmd.Copies{Dir: r.o.CacheDir, Tmp: r.tmp, Progress: r.o.Progress}
}

// dependency prepares a command of a module that the current one requires. A go.mod
// beside the user's replaces the module by a copy.
func (r *execRecorder) dependency(ctx context.Context, tool gocmd.Tool, pkg gocmd.Package) (execTarget, error) {
	env, err := tool.Settings(ctx, "GOMOD", "GOWORK", "GOMODCACHE")
	if err != nil {
		return execTarget{}, err
	}
	if env["GOWORK"] != "" && env["GOWORK"] != "off" {
		return execTarget{}, fmt.Errorf("%s is a dependency, which cannot be recorded in a workspace: set "+
			"GOWORK=off, or name a version (%s@%s)",
			pkg.ImportPath, pkg.ImportPath, pkg.Module.Version)
	}
	m := *pkg.Module
	copied, err := r.copies().Module(gocmd.Copy{From: m.Dir, Cache: env["GOMODCACHE"], Role: "dependency"})
	if err != nil {
		return execTarget{}, err
	}
	modfile, err := r.copies().Modfile(ctx, env["GOMOD"], m, copied)
	if err != nil {
		return execTarget{}, err
	}
	flags := append(append([]string{}, tool.Flags...), "-modfile="+modfile, "-mod=mod")
	t := execTarget{tool: gocmd.Tool{Dir: tool.Dir, Flags: flags},
		evidence: evidence.Target{Module: m.Path, ModuleDir: copied}}
	t.pkg, err = t.tool.MainPackage(ctx, pkg.ImportPath)
	return t, err
}

// commandName returns the name that go install would give the command.
func commandName(importPath string) string {
	name := path.Base(importPath)
	if regexp.MustCompile(`^v[0-9]+$`).MatchString(name) && strings.Contains(importPath, "/") {
		name = path.Base(path.Dir(importPath))
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return name
}
