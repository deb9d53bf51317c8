package record

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// execTarget is a main package and how to build it.
type execTarget struct {
	tool     goTool // runs in the module to build from, with all build flags
	pkg      goPackage
	evidence evidence.Target // Module, ModuleDir and Workspace
}

// resolve finds the package. The go command does not overlay files beneath the
// module cache, so a module from there is copied first.
func (r *execRecorder) resolve(ctx context.Context) (execTarget, error) {
	if r.o.Package == "" {
		return execTarget{}, fmt.Errorf("no package to run")
	}
	if name, version, ok := strings.Cut(r.o.Package, "@"); ok && !strings.HasPrefix(name, ".") && !filepath.IsAbs(name) {
		return r.released(ctx, name, version)
	}
	tool := goTool{r.o.Dir, r.o.BuildFlags}
	pkg, err := mainPackage(ctx, tool, r.o.Package)
	if err != nil {
		return execTarget{}, err
	}
	cache, err := moduleCache(ctx, tool)
	if err != nil {
		return execTarget{}, err
	}
	if isBelow(pkg.Dir, cache) {
		return r.dependency(ctx, tool, pkg)
	}
	t := execTarget{tool: tool, pkg: pkg}
	return t, describeModules(ctx, tool, &t.evidence)
}

func mainPackage(ctx context.Context, tool goTool, pattern string) (goPackage, error) {
	list, err := tool.packages(ctx, []string{pattern})
	if err != nil {
		return goPackage{}, err
	}
	switch {
	case len(list) != 1:
		return goPackage{}, fmt.Errorf("%s names %d packages: -exec needs one main package", pattern, len(list))
	case list[0].Error != nil && list[0].Name == "":
		return goPackage{}, fmt.Errorf("%s: %s", pattern, list[0].Error.Err)
	case list[0].Name != "main":
		return goPackage{}, fmt.Errorf("%s is package %s: -exec needs a main package", pattern, list[0].Name)
	}
	return list[0], nil
}

func moduleCache(ctx context.Context, tool goTool) (string, error) {
	env, err := tool.env(ctx, "GOMODCACHE")
	return env["GOMODCACHE"], err
}

// dependency prepares a command of a module that the current one requires: a
// copy takes the module's place by a replace in a go.mod beside the user's.
func (r *execRecorder) dependency(ctx context.Context, tool goTool, pkg goPackage) (execTarget, error) {
	env, err := tool.env(ctx, "GOMOD", "GOWORK", "GOMODCACHE")
	if err != nil {
		return execTarget{}, err
	}
	if env["GOWORK"] != "" && env["GOWORK"] != "off" {
		return execTarget{}, fmt.Errorf("%s is a dependency, which cannot be recorded from within a workspace: set GOWORK=off, or name a version (%s@%s)",
			pkg.ImportPath, pkg.ImportPath, pkg.Module.Version)
	}
	m := *pkg.Module
	copied, err := r.copyModule(moduleCopy{from: m.Dir, cache: env["GOMODCACHE"], role: "dependency"})
	if err != nil {
		return execTarget{}, err
	}
	modfile := filepath.Join(r.tmp, "replaced.mod")
	if err := copyFile(env["GOMOD"], modfile); err != nil {
		return execTarget{}, err
	}
	sum := filepath.Join(filepath.Dir(env["GOMOD"]), "go.sum")
	if err := copyFile(sum, filepath.Join(r.tmp, "replaced.sum")); err != nil && !os.IsNotExist(err) {
		return execTarget{}, err
	}
	replace := "-replace=" + m.Path + "@" + m.Version + "=" + copied
	if _, err := tool.output(ctx, "mod", "edit", "-dropreplace="+m.Path+"@"+m.Version, "-dropreplace="+m.Path, replace, modfile); err != nil {
		return execTarget{}, err
	}
	flags := append(append([]string{}, tool.flags...), "-modfile="+modfile, "-mod=mod")
	t := execTarget{tool: goTool{tool.dir, flags}, evidence: evidence.Target{Module: m.Path, ModuleDir: copied}}
	t.pkg, err = mainPackage(ctx, t.tool, pkg.ImportPath)
	return t, err
}

// commandName is the name that go install would give the command.
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
