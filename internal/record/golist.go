package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// goPackage is the part of `go list -json` that recording needs.
type goPackage struct {
	ImportPath   string
	Dir          string
	Name         string
	Standard     bool
	GoFiles      []string
	CgoFiles     []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
	Module       *goModule
	Error        *struct{ Err string }
}

type goModule struct {
	Path    string
	Version string
	Dir     string
	Main    bool
}

// goTool runs the go command in one folder.
type goTool struct {
	dir   string
	env   []string // beside that of this process
	flags []string // of the build, such as -tags=x, put behind the verb
}

// output runs `go VERB [flags] args…` and returns what it printed. An error
// carries the command's own words.
func (g goTool) output(ctx context.Context, verb string, args ...string) ([]byte, error) {
	words := []string{verb}
	if verb == "list" || verb == "build" || verb == "test" {
		words = append(words, g.flags...)
	}
	cmd := exec.CommandContext(ctx, "go", append(words, args...)...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), g.env...)
	if g.dir != "" {
		cmd.Env = append(cmd.Env, "PWD="+g.dir)
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("the go command is not in PATH: %w", err)
	case err != nil:
		text := said.String()
		if verb == "test" || verb == "build" {
			text = out.String() + "\n" + text
		}
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(append(words[:1:1], args...), " "), err, lastLines(strings.TrimSpace(text), 30))
	}
	return out.Bytes(), nil
}

// packages resolves import patterns; flags such as -deps widen what they match.
// A package that cannot be loaded is in the list, with its Error.
func (g goTool) packages(ctx context.Context, patterns []string, flags ...string) ([]goPackage, error) {
	args := append(flags, "-e", "-json=ImportPath,Dir,Name,Standard,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Imports,Module,Error", "--")
	out, err := g.output(ctx, "list", append(args, patterns...)...)
	if err != nil {
		return nil, err
	}
	var pkgs []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list -json: %w", err)
		}
		pkgs = append(pkgs, p)
	}
}

// notFound is the error of the first package of a list that has no folder.
func notFound(list []goPackage) error {
	for _, p := range list {
		if p.Error != nil && p.Dir == "" {
			return fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
	}
	return nil
}

// mainPackage finds the one main package that a pattern stands for.
func (g goTool) mainPackage(ctx context.Context, pattern string) (goPackage, error) {
	list, err := g.packages(ctx, []string{pattern})
	if err == nil {
		err = notFound(list)
	}
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

// mainModules returns the main module and, in a workspace, every module of it.
func (g goTool) mainModules(ctx context.Context) ([]goModule, error) {
	out, err := g.output(ctx, "list", "-m", "-json=Path,Dir,Main")
	if err != nil {
		return nil, err
	}
	var mods []goModule
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m goModule
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return mods, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list -m -json: %w", err)
		}
		mods = append(mods, m)
	}
}

// settings asks the go command for some of its settings, by name.
func (g goTool) settings(ctx context.Context, names ...string) (map[string]string, error) {
	out, err := g.output(ctx, "env", append([]string{"-json"}, names...)...)
	if err != nil {
		return nil, err
	}
	m := map[string]string{}
	if err := json.Unmarshal(out, &m); err != nil {
		return nil, fmt.Errorf("go env -json: %w", err)
	}
	return m, nil
}

// moduleCache is the folder of the module cache.
func (g goTool) moduleCache(ctx context.Context) (string, error) {
	env, err := g.settings(ctx, "GOMODCACHE")
	return env["GOMODCACHE"], err
}

// writeOverlay writes the JSON that `go build -overlay` takes and returns its
// path. files maps the path that the build sees to the file that replaces it.
func writeOverlay(dir string, files map[string]string) (string, error) {
	data, err := json.Marshal(struct{ Replace map[string]string }{files})
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, "overlay-*.json")
	if err != nil {
		return "", err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return "", err
	}
	return f.Name(), f.Close()
}

func lastLines(s string, n int) string {
	lines := strings.Split(s, "\n")
	if len(lines) > n {
		lines = append([]string{fmt.Sprintf("… %d lines before", len(lines)-n)}, lines[len(lines)-n:]...)
	}
	return strings.Join(lines, "\n")
}
