// Package corpus reads a list of historic fixes in public modules and lays out
// the module before and after one.
package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Case is one fix: a module's versions before and after it, a benchmark that
// shows it, and the functions and lines that were changed.
type Case struct {
	ID        string   `json:"id"`
	Module    string   `json:"module"`
	Before    string   `json:"before"`
	After     string   `json:"after"`
	Package   string   `json:"package"`
	Bench     string   `json:"bench"`
	BenchFrom string   `json:"bench_from"` // before, or after-test-file:NAME
	Benchtime string   `json:"benchtime"`
	Functions []string `json:"functions"` // as pprof spells them
	Sites     []Site   `json:"sites"`
	Cure      string   `json:"cure"`
	CureOK    []string `json:"cure_ok"`
	Measured  struct {
		Before, After Amounts
	} `json:"measured"`
}

// Amounts are what the list says that the benchmark allocates in an operation.
type Amounts struct{ B, Allocs float64 }

// Site is a line that was changed.
type Site struct {
	File string `json:"file"` // relative to the module
	Line int    `json:"line"`
}

// Read reads the list, a JSON array.
func Read(path string) ([]Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var cases []Case
	if err := json.Unmarshal(data, &cases); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return cases, nil
}

// Pattern is the package of the benchmark, relative to the module's root.
func (c Case) Pattern() string {
	return "./" + strings.TrimPrefix(strings.TrimPrefix(c.Package, c.Module), "/")
}

// Environ is the environment in which the go command works on a case.
func Environ() []string {
	return append(os.Environ(), "GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off")
}

// LayOut copies the module before and after the fix below dir, with the
// benchmark in both.
func (c Case) LayOut(dir string) (before, after string, err error) {
	before, after = filepath.Join(dir, "before"), filepath.Join(dir, "after")
	for to, version := range map[string]string{before: c.Before, after: c.After} {
		if err := fetch(c.Module, version, to); err != nil {
			return "", "", err
		}
	}
	if name, ok := strings.CutPrefix(c.BenchFrom, "after-test-file:"); ok {
		rel := filepath.FromSlash(c.Pattern())
		data, err := os.ReadFile(filepath.Join(after, rel, name))
		if err != nil {
			return "", "", err
		}
		if err := os.WriteFile(filepath.Join(before, rel, name), data, 0o644); err != nil {
			return "", "", err
		}
	}
	for _, d := range []string{before, after} {
		if err := c.settle(d); err != nil {
			return "", "", err
		}
	}
	return before, after, nil
}

// settle makes the module build: old ones have no go.mod, or not all of the
// sums.
func (c Case) settle(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); errors.Is(err, fs.ErrNotExist) {
		if err := goCommand(dir, "mod", "init", c.Module); err != nil {
			return err
		}
	}
	if goCommand(dir, "test", "-vet=off", "-run=^$", c.Pattern()) == nil {
		return nil
	}
	return goCommand(dir, "mod", "tidy")
}

func goCommand(dir string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, Environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w: %s", args[0], err, out)
	}
	return nil
}

// fetch copies a version of a module out of the module cache and makes it
// writable.
func fetch(module, version, to string) error {
	get := exec.Command("go", "mod", "download", "-json", module+"@"+version)
	get.Dir, get.Env = os.TempDir(), Environ()
	out, err := get.Output()
	var m struct{ Dir, Error string }
	if jerr := json.Unmarshal(out, &m); jerr != nil || m.Error != "" {
		return fmt.Errorf("fetch %s@%s: %s: %w", module, version, m.Error, errors.Join(err, jerr))
	}
	if err := os.CopyFS(to, os.DirFS(m.Dir)); err != nil {
		return err
	}
	return filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if d.IsDir() {
			mode = 0o755
		}
		return os.Chmod(path, mode)
	})
}
