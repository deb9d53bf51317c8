package trial

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// memory keeps what trials showed, by the content of everything that they depend on: the code and its
// dependencies, the change, the toolchain and heaptrim itself. The zero value keeps nothing.
type memory struct {
	dir   string
	tool  gocmd.Tool
	base  string            // of toolchain and heaptrim
	state map[string]string // of packages, by import path
}

// page is the file that check writes where it is run, which may be a package's folder.
const page = "heaptrim.html"

// keptFor is how long a trial is remembered.
const keptFor = 14 * 24 * time.Hour

// open makes the folder and removes old trials. Without a folder nothing is kept, and that is no error.
func (m *memory) open() error {
	if m.dir == "" {
		return nil
	}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		m.dir = ""
		return nil
	}
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keptFor {
			if err := os.Remove(filepath.Join(m.dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// question names a trial.
type question struct {
	Package string
	Files   string // hash of the change
	What    string
}

// remember returns what an earlier trial of the same content showed, or makes the trial. What is not
// to be kept, as it says nothing of the content, is reported by the second result of ask.
func remember[T any](ctx context.Context, m *memory, q question, ask func() (T, bool, error)) (T, error) {
	name, err := m.name(ctx, q)
	if err != nil {
		return *new(T), err
	}
	if name != "" {
		var have T
		if text, err := os.ReadFile(name); err == nil && json.Unmarshal(text, &have) == nil {
			return have, nil
		}
	}
	got, keep, err := ask()
	if err != nil || !keep || name == "" {
		return got, err
	}
	text, err := json.Marshal(got)
	if err != nil {
		return got, err
	}
	return got, replace(name, text)
}

// replace writes a file whole.
func replace(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "new-")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), name)
}

// name is the file of a trial; empty if nothing is kept.
func (m *memory) name(ctx context.Context, q question) (string, error) {
	if m.dir == "" {
		return "", nil
	}
	state, err := m.of(ctx, q.Package)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n", state, q.Package, q.Files, q.What)
	return filepath.Join(m.dir, hex.EncodeToString(h.Sum(nil)[:20])+".json"), nil
}

// of is a hash of everything that a package's tests are built from.
func (m *memory) of(ctx context.Context, path string) (string, error) {
	if s, ok := m.state[path]; ok {
		return s, nil
	}
	if m.base == "" {
		if err := m.setBase(ctx); err != nil {
			return "", err
		}
	}
	list, err := m.tool.Packages(ctx, []string{path}, "-deps", "-test")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, m.base, m.tool.Flags)
	for _, p := range list {
		fmt.Fprintln(h, p.ImportPath)
		switch {
		case p.Standard || p.Dir == "":
		case p.Module != nil && p.Module.Version != "" && !p.Module.Main:
			fmt.Fprintln(h, p.Module.Path, p.Module.Version, p.Module.Dir)
		default:
			if err := folder(h, p.Dir, p.ImportPath == path); err != nil {
				return "", err
			}
		}
	}
	m.state[path] = hex.EncodeToString(h.Sum(nil))
	return m.state[path], nil
}

func (m *memory) setBase(ctx context.Context) error {
	env, err := m.tool.Settings(ctx, "GOVERSION", "GOOS", "GOARCH", "GOFLAGS", "CGO_ENABLED", "GOEXPERIMENT", "GOAMD64", "GOARM64", "GOROOT", "CC")
	if err != nil {
		return err
	}
	text, err := json.Marshal(env)
	if err != nil {
		return err
	}
	h := sha256.New()
	h.Write(text)
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	f, err := os.Open(exe)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	m.base = hex.EncodeToString(h.Sum(nil))
	return nil
}

// folder adds the files of a folder to a hash, those of test data, too, if all are asked for.
func folder(h hash.Hash, dir string, all bool) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if path != dir && !(all && isTestData(dir, path)) {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || d.Name() == page:
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n", path, len(text))
		h.Write(text)
		return nil
	})
}

// isTestData reports whether a folder is the test data of another, or below it.
func isTestData(dir, path string) bool {
	data := filepath.Join(dir, "testdata")
	return path == data || len(path) > len(data) && path[:len(data)+1] == data+string(filepath.Separator)
}
