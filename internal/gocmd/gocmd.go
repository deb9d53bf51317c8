// Package gocmd runs the go command: it lists and builds packages, asks for
// settings, and fetches and copies modules.
package gocmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/record/process"
)

// Package is the part of `go list -json` that heaptrim needs.
type Package struct {
	ImportPath   string
	Dir          string
	Name         string
	Standard     bool
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
	CgoFiles     []string

	IgnoredGoFiles []string // left out by build constraints, tests included
	Module         *Module
	Error          *struct{ Err string }
}

// Module is the module of a Package.
type Module struct {
	Path    string
	Version string
	Dir     string
	Main    bool
}

// Tool runs the go command in one folder.
type Tool struct {
	Dir   string
	Env   []string // beside that of this process
	Flags []string // of the build, such as -tags=x, put behind the verb
}

// Output runs `go VERB [flags] args…` and returns what it printed. An error
// carries the command's own words.
func (g Tool) Output(ctx context.Context, verb string, args ...string) ([]byte, error) {
	words := []string{verb}
	if verb == "list" || verb == "build" || verb == "test" {
		words = append(words, g.Flags...)
	}
	cmd := exec.CommandContext(ctx, g.command(), append(words, args...)...)
	cmd.Dir = g.Dir
	cmd.Env = append(os.Environ(), g.Env...)
	if g.Dir != "" {
		cmd.Env = append(cmd.Env, "PWD="+g.Dir)
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := run(ctx, cmd)
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
		return nil, saidError(verb, LastLines(strings.TrimSpace(text), 30), err)
	}
	return out.Bytes(), nil
}

// saidError is the failure of a go command in its own words. Its arguments are left out: they
// are not those of the user, and some are temporary files.
func saidError(verb, text string, err error) error {
	switch {
	case noModule(text):
		return errNoModule
	case text == "":
		return fmt.Errorf("go %s: %w", verb, err)
	case strings.Contains(text, "\n"):
		return fmt.Errorf("go %s failed:\n%s", verb, text)
	}
	return fmt.Errorf("go %s: %s", verb, strings.TrimPrefix(text, "go: "))
}

// errNoModule is the failure of a command outside of a module.
var errNoModule = errors.New("there is no go.mod in this folder or above it: name a module's folder, or make one with 'go mod init'")

// noModule reports whether the go command says that it runs outside of a module.
func noModule(text string) bool {
	return strings.Contains(text, "go.mod file not found") || strings.Contains(text, "does not contain main module")
}

// run runs a go command, which works in a folder of its own below GOTMPDIR. When the context ends,
// its whole process group is killed: an interrupted go command leaves its work folder, and the
// compiler or linker running.
func run(ctx context.Context, cmd *exec.Cmd) error {
	work, err := os.MkdirTemp(os.Getenv("GOTMPDIR"), "heaptrim-go-")
	if err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, "GOTMPDIR="+work)
	cmd.WaitDelay = cleanUp
	err = process.Run(cmd, nil)
	if gone := os.RemoveAll(work); gone != nil && err == nil && ctx.Err() == nil {
		return gone
	}
	return err
}

// cleanUp is how long what a killed go command has started may hold its output.
const cleanUp = 20 * time.Second

// Packages resolves import patterns; flags such as -deps widen what they match.
// A package that cannot be loaded is in the list, with its Error.
func (g Tool) Packages(ctx context.Context, patterns []string, flags ...string) ([]Package, error) {
	args := append(flags, "-e", "-json=ImportPath,Dir,Name,Standard,GoFiles,TestGoFiles,XTestGoFiles,Imports,CgoFiles,IgnoredGoFiles,Module,Error", "--")
	out, err := g.Output(ctx, "list", append(args, patterns...)...)
	if err != nil {
		return nil, err
	}
	var pkgs []Package
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list -json: %w", err)
		}
		pkgs = append(pkgs, p)
	}
}

// NotFound is the error of the first package of a list that has no folder.
func NotFound(list []Package) error {
	for _, p := range list {
		if p.Error != nil && noModule(p.Error.Err) {
			return errNoModule
		}
		if p.Error != nil && p.Dir == "" {
			return fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
	}
	return nil
}

// MainPackage finds the one main package that a pattern stands for.
func (g Tool) MainPackage(ctx context.Context, pattern string) (Package, error) {
	list, err := g.Packages(ctx, []string{pattern})
	if err == nil {
		err = NotFound(list)
	}
	if err != nil {
		return Package{}, err
	}
	var why string
	switch {
	case len(list) != 1:
		why = fmt.Sprintf("%s names %d packages", pattern, len(list))
	case list[0].Error != nil && list[0].Name == "":
		why = fmt.Sprintf("%s: %s", pattern, strings.TrimSpace(list[0].Error.Err))
	case list[0].Name != "main":
		why = fmt.Sprintf("%s is %s, package %s", pattern, list[0].ImportPath, list[0].Name)
	default:
		return list[0], nil
	}
	return Package{}, fmt.Errorf("%s: -exec needs one main package%s", why, g.mainsBelow(ctx, pattern))
}

// mainsBelow names main packages below a pattern, after a semicolon; empty if there are none.
func (g Tool) mainsBelow(ctx context.Context, pattern string) string {
	all, err := g.Packages(ctx, []string{strings.TrimSuffix(strings.TrimSuffix(pattern, "..."), "/") + "/..."})
	if err != nil {
		return ""
	}
	var mains []string
	for _, p := range all {
		if p.Name == "main" {
			mains = append(mains, g.Argument(p))
		}
	}
	if len(mains) == 0 {
		return ""
	}
	return "; below it are " + strings.Join(FirstOf(mains, 5), ", ")
}

// Argument is how a user in the tool's folder names a package: by a relative path where it is
// below, by its import path elsewhere.
func (g Tool) Argument(p Package) string {
	here, err := filepath.Abs(g.Dir)
	if err != nil {
		return p.ImportPath
	}
	rel, err := filepath.Rel(here, p.Dir)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return p.ImportPath
	}
	return "./" + filepath.ToSlash(rel)
}

// FirstOf shortens a list to n names and the number of others.
func FirstOf(names []string, n int) []string {
	if len(names) <= n {
		return names
	}
	return append(names[:n:n], fmt.Sprintf("and %d more", len(names)-n))
}

// mainModules returns the main module and, in a workspace, every module of it.
func (g Tool) mainModules(ctx context.Context) ([]Module, error) {
	out, err := g.Output(ctx, "list", "-m", "-json=Path,Dir,Main")
	if err != nil {
		return nil, err
	}
	var mods []Module
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m Module
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return mods, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list -m -json: %w", err)
		}
		mods = append(mods, m)
	}
}

// Settings asks the go command for some of its settings, by name.
func (g Tool) Settings(ctx context.Context, names ...string) (map[string]string, error) {
	out, err := g.Output(ctx, "env", append([]string{"-json"}, names...)...)
	if err != nil {
		return nil, err
	}
	m := map[string]string{}
	if err := json.Unmarshal(out, &m); err != nil {
		return nil, fmt.Errorf("go env -json: %w", err)
	}
	return m, nil
}

// Setting asks the go command for one of its settings.
func (g Tool) Setting(ctx context.Context, name string) (string, error) {
	m, err := g.Settings(ctx, name)
	return m[name], err
}

// TestBinary builds the test binary of a package into a file, which is not there afterwards if the package has no tests.
// The linker leaves out debugging information, which takes half of its time and which runs that count and time do
// not need, unless GOFLAGS says how to link.
func (g Tool) TestBinary(ctx context.Context, path, to string, flags ...string) error {
	set, err := g.Setting(ctx, "GOFLAGS")
	if err != nil {
		return err
	}
	args := append([]string{"-c", "-vet=off", "-o", to}, flags...)
	if !strings.Contains(set, "-ldflags") {
		args = append(args, "-ldflags=-w")
	}
	_, err = g.Output(ctx, "test", append(args, path)...)
	return err
}

// ModuleCache is the folder of the module cache.
func (g Tool) ModuleCache(ctx context.Context) (string, error) {
	return g.Setting(ctx, "GOMODCACHE")
}

// WriteOverlay writes the JSON that `go build -overlay` takes and returns its
// path. files maps the path that the build sees to the file that replaces it.
func WriteOverlay(dir string, files map[string]string) (string, error) {
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

// LastLines is the end of what a command said.
func LastLines(s string, n int) string {
	lines := strings.Split(s, "\n")
	if len(lines) > n {
		lines = append([]string{fmt.Sprintf("… %d lines before", len(lines)-n)}, lines[len(lines)-n:]...)
	}
	return strings.Join(lines, "\n")
}

// FlagFields splits GOFLAGS as the go command does: a flag with spaces in it is between quotes.
func FlagFields(text string) []string {
	var out []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if quote := text[:1]; quote == `"` || quote == "'" {
			field, rest, _ := strings.Cut(text[1:], quote)
			out, text = append(out, field), rest
			continue
		}
		end := strings.IndexAny(text, " \t\n\r")
		if end < 0 {
			end = len(text)
		}
		out, text = append(out, text[:end]), text[end:]
	}
	return out
}
