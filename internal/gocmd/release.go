package gocmd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Release is a command of a released module, in a copy of the module that
// builds by itself.
type Release struct {
	Dir     string // of the copy, to run the go command in
	Package string // pattern of the command below Dir
	Flags   []string
	Env     []string // for the go command: no workspace of the user's, and no flags
	Version string   // of the module, where the query was one such as latest
}

// Fetch downloads the command NAME@VERSION, unless that is done, and copies its
// module into cacheDir; "" is heaptrim's folder in the user's cache. Copies stay.
func Fetch(ctx context.Context, command, cacheDir string) (Release, error) {
	name, version, ok := strings.Cut(command, "@")
	if !ok || name == "" || version == "" {
		return Release{}, fmt.Errorf("%s: want module/cmd@version", command)
	}
	tmp, err := os.MkdirTemp("", "heaptrim-fetch-")
	if err != nil {
		return Release{}, err
	}
	defer os.RemoveAll(tmp)
	c := Copies{Dir: cacheDir, Tmp: tmp, Progress: func(string, ...any) {}}
	m, dir, err := c.Release(ctx, name, version)
	if err != nil {
		return Release{}, err
	}
	return Release{
		Dir: dir, Package: "." + strings.TrimPrefix(name, m.Path), Flags: []string{"-mod=mod"},
		Env: []string{"GOWORK=off", "GOFLAGS="}, Version: m.Version,
	}, nil
}

// Copies are copies of modules from the module cache, which can be built
// with an overlay: the go command overlays nothing beneath the cache.
type Copies struct {
	Dir      string // where they stay; "" is heaptrim's folder in the user's cache
	Tmp      string // an empty folder outside every module
	Progress func(format string, args ...any)
}

// Release finds the module of a released command and copies it.
func (c Copies) Release(ctx context.Context, name, version string) (Downloaded, string, error) {
	c.Progress("fetching %s@%s", name, version)
	m, err := c.findModule(ctx, name, version)
	if err != nil {
		return m, "", err
	}
	cache, err := Tool{Dir: c.Tmp}.ModuleCache(ctx)
	if err != nil {
		return m, "", err
	}
	dir, err := c.Module(Copy{From: m.Dir, Cache: cache, Role: "main", edit: func(dir string) error {
		return standAlone(ctx, dir, m)
	}})
	return m, dir, err
}

// Downloaded is what `go mod download -json` says.
type Downloaded struct {
	Path, Version, Dir, GoMod, Error string
}

// findModule downloads the module that holds the package: of the path's
// prefixes the first, from the shortest, that is a module with its folder.
func (c Copies) findModule(ctx context.Context, name, version string) (Downloaded, error) {
	elems := strings.Split(name, "/")
	least := min(2, len(elems))
	if strings.HasPrefix(name, "github.com/") {
		least = min(3, len(elems))
	}
	var first string
	for n := least; n <= len(elems); n++ {
		prefix := strings.Join(elems[:n], "/")
		m, err := download(ctx, c.Tmp, prefix+"@"+version)
		if err != nil {
			return m, err
		}
		folder := filepath.Join(m.Dir, filepath.FromSlash(strings.TrimPrefix(name, prefix)))
		switch sources, _ := filepath.Glob(filepath.Join(folder, "*.go")); {
		case m.Error != "" && first == "":
			first = m.Error
		case m.Error == "" && len(sources) > 0:
			return m, nil
		case m.Error == "":
			first = fmt.Sprintf("module %s@%s has no package %s", m.Path, m.Version, name)
		}
	}
	return Downloaded{}, fmt.Errorf("find the module of %s@%s: %s", name, version, first)
}

// download asks for one module. That it does not exist is in the result, not
// an error.
func download(ctx context.Context, dir, query string) (Downloaded, error) {
	cmd := outsideModules(ctx, dir, "mod", "download", "-json", query)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	runErr := run(ctx, cmd)
	if ctx.Err() != nil {
		return Downloaded{}, ctx.Err()
	}
	var m Downloaded
	if err := json.Unmarshal(out.Bytes(), &m); err != nil {
		return m, fmt.Errorf("go mod download %s: %w\n%s", query, runErr,
			LastLines(strings.TrimSpace(said.String()), 10))
	}
	return m, nil
}

// outsideModules is a go command that no workspace and no build flag of the
// user's reaches: they belong to another module.
func outsideModules(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	return cmd
}

// Copy is a module to be copied out of the module cache.
type Copy struct {
	From  string // its folder in the cache
	Cache string // the cache
	Role  string // copies for different purposes differ
	edit  func(dir string) error
}

// Module returns the folder of the copy. It stays there: reports show its
// lines, and a later recording builds from the build cache.
func (c Copies) Module(m Copy) (string, error) {
	root, err := c.root()
	if err != nil {
		return "", fmt.Errorf("no place for a copy of %s: %w", m.From, err)
	}
	rel, err := filepath.Rel(m.Cache, m.From)
	if err != nil {
		return "", fmt.Errorf("copy module: %w", err)
	}
	to := filepath.Join(root, m.Role, rel)
	if fileExists(to) {
		return to, withoutWorkspace(to)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return "", fmt.Errorf("copy module: %w", err)
	}
	// It appears whole or not at all, also to another recording.
	half, err := os.MkdirTemp(filepath.Dir(to), "half-")
	if err != nil {
		return "", fmt.Errorf("copy module: %w", err)
	}
	defer os.RemoveAll(half)
	part := filepath.Join(half, "m")
	if err := os.CopyFS(part, os.DirFS(m.From)); err != nil {
		return "", fmt.Errorf("copy module: %w", err)
	}
	if err := withoutWorkspace(part); err != nil {
		return "", err
	}
	if m.edit != nil {
		if err := m.edit(part); err != nil {
			return "", err
		}
	}
	if err := os.Rename(part, to); err != nil && !fileExists(to) {
		return "", fmt.Errorf("copy module: %w", err)
	}
	return to, nil
}

// root is the folder of all copies.
func (c Copies) root() (string, error) {
	if c.Dir != "" {
		return c.Dir, nil
	}
	user, err := os.UserCacheDir()
	return filepath.Join(user, "heaptrim"), err
}

// Modfile returns a copy of the user's go.mod, with its go.sum, in which a module is replaced by a folder.
// It stays: a recording is read with the flags that it was built with.
func (c Copies) Modfile(ctx context.Context, goMod string, m Module, folder string) (string, error) {
	half := filepath.Join(c.Tmp, "replaced.mod")
	if err := CopyFile(goMod, half); err != nil {
		return "", err
	}
	version := m.Path + "@" + m.Version
	if _, err := (Tool{Dir: filepath.Dir(goMod)}).Output(ctx, "mod", "edit", "-dropreplace="+version, "-dropreplace="+m.Path,
		"-replace="+version+"="+folder, half); err != nil {
		return "", err
	}
	mod, err := os.ReadFile(half)
	if err != nil {
		return "", err
	}
	sum, err := os.ReadFile(filepath.Join(filepath.Dir(goMod), "go.sum"))
	if err != nil && !os.IsNotExist(err) {
		return "", err
	}
	root, err := c.root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "modfiles", fmt.Sprintf("%x", sha256.Sum256(append(mod, sum...)))[:16])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	to := filepath.Join(dir, "replaced.mod")
	if fileExists(to) {
		return to, nil
	}
	// The go command takes the go.sum beside it, so that comes first.
	if err := os.WriteFile(filepath.Join(dir, "replaced.sum"), sum, 0o644); err != nil {
		return "", err
	}
	return to, os.Rename(half, to)
}

// withoutWorkspace removes what refers to folders that a release does not hold.
func withoutWorkspace(dir string) error {
	return errors.Join(os.RemoveAll(filepath.Join(dir, "go.work")), os.RemoveAll(filepath.Join(dir, "go.work.sum")))
}

// standAlone makes a copied module one that builds by itself: with a go.mod,
// and without what refers to folders that its release does not hold.
func standAlone(ctx context.Context, dir string, m Downloaded) error {
	if err := os.RemoveAll(filepath.Join(dir, "vendor")); err != nil {
		return err
	}
	mod := filepath.Join(dir, "go.mod")
	if !fileExists(mod) {
		if err := CopyFile(m.GoMod, mod); err != nil {
			return fmt.Errorf("copy module: %w", err)
		}
	}
	out, err := outsideModules(ctx, dir, "mod", "edit", "-json").Output()
	if err != nil {
		return fmt.Errorf("read the go.mod of %s: %w", m.Path, err)
	}
	var file struct {
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal(out, &file); err != nil {
		return fmt.Errorf("read the go.mod of %s: %w", m.Path, err)
	}
	args := []string{"mod", "edit"}
	for _, rep := range file.Replace {
		if rep.New.Version != "" {
			continue // another module, not a folder
		}
		old := rep.Old.Path
		if rep.Old.Version != "" {
			old += "@" + rep.Old.Version
		}
		args = append(args, "-dropreplace="+old)
	}
	if len(args) == 2 {
		return nil
	}
	if said, err := outsideModules(ctx, dir, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("edit the go.mod of %s: %w\n%s", m.Path, err, said)
	}
	return nil
}

// CopyFile copies the content of one small file.
func CopyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
