package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/heaptrim/heaptrim/lab/process"
)

// prepare writes the folder of a server: its files and a module that requires it. A module
// that is there stays; the files are written again.
func (l *lab) prepare(ctx context.Context, s server) error {
	dir := filepath.Join(l.dir, s.name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := s.write(dir); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "ready")); err == nil {
		return nil
	}
	if err := l.require(ctx, s, dir); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-o", filepath.Join(l.dir, "bin", s.name), s.exec)
	build.Dir, build.Stderr = dir, os.Stderr
	used, err := process.Run(build)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	fmt.Fprintf(os.Stderr, "%s %s: built in %.0f s of CPU, %.0f s\n", s.name, s.version, used.CPU.Seconds(), used.Wall.Seconds())
	return os.WriteFile(filepath.Join(dir, "ready"), nil, 0o666)
}

// write writes the files of a server into its folder.
func (s server) write(dir string) error {
	root := path.Join("wrap", s.name)
	return fs.WalkDir(wrappers, root, func(name string, e fs.DirEntry, err error) error {
		if name == root && errors.Is(err, fs.ErrNotExist) {
			return nil // flags are enough
		}
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, root)))
		if e.IsDir() {
			return os.MkdirAll(to, 0o777)
		}
		text, err := fs.ReadFile(wrappers, name)
		if err != nil {
			return err
		}
		return os.WriteFile(strings.TrimSuffix(to, ".txt"), text, 0o666)
	})
}

// require makes the module of a server. The server's replacements by other versions are
// taken over, since they count in the main module only. Those by folders of its repository
// become requirements of the same version.
func (l *lab) require(ctx context.Context, s server, dir string) error {
	mod := filepath.Join(dir, "go.mod")
	if err := os.Remove(mod); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := l.command(ctx, dir, "go", "mod", "init", "lab.test/"+s.name); err != nil {
		return err
	}
	replaced, err := replacements(ctx, s)
	if err != nil {
		return err
	}
	for _, r := range replaced {
		if err := l.command(ctx, dir, "go", "mod", "edit", "-replace="+r); err != nil {
			return err
		}
	}
	get := []string{"go", "get", s.module + "@" + s.version}
	if s.exec != "." {
		get = []string{"go", "get", "-tool", s.exec + "@" + s.version}
	}
	for _, m := range s.siblings {
		get = append(get, m+"@"+s.version)
	}
	return l.command(ctx, dir, get...)
}

// replacements are the replace directives of a server's module that name a version.
func replacements(ctx context.Context, s server) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", s.module+"@"+s.version).Output()
	if err != nil {
		return nil, fmt.Errorf("%s@%s: %w: %s", s.module, s.version, err, out)
	}
	var found struct{ GoMod string }
	if err := json.Unmarshal(out, &found); err != nil {
		return nil, err
	}
	if out, err = exec.CommandContext(ctx, "go", "mod", "edit", "-json", found.GoMod).Output(); err != nil {
		return nil, fmt.Errorf("%s: %w", found.GoMod, err)
	}
	var file struct {
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal(out, &file); err != nil {
		return nil, err
	}
	var all []string
	for _, r := range file.Replace {
		if r.New.Version == "" {
			continue
		}
		old := r.Old.Path
		if r.Old.Version != "" {
			old += "@" + r.Old.Version
		}
		all = append(all, old+"="+r.New.Path+"@"+r.New.Version)
	}
	return all, nil
}
