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
	"sort"
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

// goTool runs the go command in one directory with the user's build flags.
type goTool struct {
	dir   string
	flags []string // such as -tags=x, put behind the verb
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
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, fmt.Errorf("the go command is not in PATH: %w", err)
		}
		said := strings.TrimSpace(errs.String())
		if verb == "test" || verb == "build" {
			said = strings.TrimSpace(out.String() + "\n" + said)
		}
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(append(words[:1:1], args...), " "), err, lastLines(said, 30))
	}
	return out.Bytes(), nil
}

// packages resolves import patterns; flags such as -deps widen what they match.
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
		if p.Error != nil && p.Dir == "" {
			return nil, fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
		pkgs = append(pkgs, p)
	}
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

// env asks the go command for some of its settings.
func (g goTool) env(ctx context.Context, names ...string) (map[string]string, error) {
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

// sortedKeys returns the keys of a set in order.
func sortedKeys(m map[string]bool) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
