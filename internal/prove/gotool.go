package prove

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

// goTool runs the go command for one side: in its folder, with its environment
// and build flags.
type goTool struct {
	dir   string
	env   []string
	flags []string
}

// goPackage is the part of `go list -json` that a comparison needs.
type goPackage struct {
	ImportPath   string
	Dir          string
	Name         string
	TestGoFiles  []string
	XTestGoFiles []string
	Error        *struct{ Err string }
}

// output runs `go VERB [flags] args…`. An error carries what the command said.
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

// packages resolves import patterns. A package that cannot be loaded is in the
// list, with its Error; a pattern that stands for no package is an error.
func (g goTool) packages(ctx context.Context, patterns []string) ([]goPackage, error) {
	args := []string{"-e", "-json=ImportPath,Dir,Name,TestGoFiles,XTestGoFiles,Error", "--"}
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

// goenv asks the go command for one of its settings.
func (g goTool) goenv(ctx context.Context, name string) (string, error) {
	out, err := g.output(ctx, "env", name)
	return strings.TrimSpace(string(out)), err
}

func lastLines(s string, n int) string {
	lines := strings.Split(s, "\n")
	if len(lines) > n {
		lines = append([]string{fmt.Sprintf("… %d lines before", len(lines)-n)}, lines[len(lines)-n:]...)
	}
	return strings.Join(lines, "\n")
}
