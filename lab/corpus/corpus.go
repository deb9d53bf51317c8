// Package corpus reads a list of historic fixes in public modules and lays out
// the module before and after one.
package corpus

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
)

// Case is one fix: a module's versions before and after it, a benchmark that
// shows it, and the functions and lines that were changed.
type Case struct {
	ID        string   `json:"id"`
	Module    string   `json:"module"`
	Before    string   `json:"before,omitempty"`
	After     string   `json:"after,omitempty"`
	Package   string   `json:"package"`
	Bench     string   `json:"bench"`
	BenchFrom string   `json:"bench_from,omitempty"` // before, or after-test-file:NAME
	Benchtime string   `json:"benchtime,omitempty"`
	Functions []string `json:"functions,omitempty"` // as pprof spells them
	Sites     []Site   `json:"sites,omitempty"`
	Cure      string   `json:"cure,omitempty"`
	CureOK    []string `json:"cure_ok,omitempty"`
	Detail    string   `json:"cure_detail,omitempty"`
	License   string   `json:"license,omitempty"`
	Removed   []string `json:"remove_test_files,omitempty"` // tests of the package that do not build
	Root      string   `json:"root,omitempty"`              // of the repository, where the module's path does not begin with it
	Split     string   `json:"split,omitempty"`             // train or validation; empty: by the repository's name
	Part      string   `json:"part,omitempty"`              // of validation: scored or read

	// Of controls, where nothing was to be fixed, and of planted waste.
	Version  string   `json:"version,omitempty"`
	Why      string   `json:"why,omitempty"`
	Planted  *Planted `json:"planted,omitempty"`
	Wrong    string   `json:"wrong,omitempty"` // what is wrong with the planted edit, which the judge has to reject
	Measured struct {
		Before Amounts `json:"before"`
		After  Amounts `json:"after"`
	} `json:"measured,omitzero"`
}

// Amounts are what the list says that the benchmark allocates in an operation.
type Amounts struct {
	B      float64 `json:"B"`
	Allocs float64 `json:"allocs"`
}

// Site is a line that was changed.
type Site struct {
	File string `json:"file"` // relative to the module
	Line int    `json:"line"`
	What string `json:"what,omitempty"` // that was changed
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

// Control reports whether silence is right.
func (c Case) Control() bool { return c.Cure == "" }

// validationBelow is the first byte of a repository's hash below which its cases are
// validation: 40 %.
const validationBelow = 102

// Validation reports whether the case is scored only, and no rule may be made on it.
func (c Case) Validation() bool {
	if c.Split != "" {
		return c.Split == "validation"
	}
	sum := sha256.Sum256([]byte(c.Repository()))
	return sum[0] < validationBelow
}

// HashedPart is the part of validation that a repository is of by its name: cases of one part are
// scored only, those of the other are read once, after the last freeze.
func (c Case) HashedPart() string {
	sum := sha256.Sum256([]byte(c.Repository()))
	if sum[1]%2 == 0 {
		return "scored"
	}
	return "read"
}

var majorVersion = regexp.MustCompile(`/v[0-9]+$`)

// Repository is the root path of the module's repository, without a major version.
func (c Case) Repository() string {
	if c.Root != "" {
		return c.Root
	}
	parts := strings.Split(majorVersion.ReplaceAllString(c.Module, ""), "/")
	if parts[0] == "github.com" && len(parts) > 3 {
		parts = parts[:3]
	}
	return strings.Join(parts, "/")
}

// Pattern is the package of the benchmark, relative to the module's root.
func (c Case) Pattern() string {
	if strings.HasPrefix(c.Package, ".") {
		return c.Package
	}
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

// Place copies one version of the module to dir.
func (c Case) Place(dir, version string) error {
	if err := fetch(c.Module, version, dir); err != nil {
		return err
	}
	return c.settle(dir)
}

// settle makes the module build.
func (c Case) settle(dir string) error {
	if err := c.prepare(dir); err != nil {
		return err
	}
	if goCommand(dir, "test", "-vet=off", "-run=^$", c.Pattern()) == nil {
		return nil
	}
	return Tidy(dir)
}

// Tidy adds what a go.mod and its sums lack.
func Tidy(dir string) error { return goCommand(dir, "mod", "tidy") }

// Copy copies one version of the module to dir, and builds nothing.
func (c Case) Copy(dir, version string) error {
	if err := fetch(c.Module, version, dir); err != nil {
		return err
	}
	return c.prepare(dir)
}

// prepare makes a module of old ones, which have no go.mod; others replace modules by
// folders beside them, which a release lacks.
func (c Case) prepare(dir string) error {
	for _, name := range c.Removed {
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(c.Pattern()), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := dropFolders(dir); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); errors.Is(err, fs.ErrNotExist) {
		return goCommand(dir, "mod", "init", c.Module)
	}
	return nil
}

// dropFolders takes the replacements by folders out of a go.mod.
func dropFolders(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	full, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil // of a newer syntax: left as it is
	}
	changed := false
	for _, r := range full.Replace {
		if modfile.IsDirectoryPath(r.New.Path) {
			changed = true
			if err := full.DropReplace(r.Old.Path, r.Old.Version); err != nil {
				return err
			}
		}
	}
	if !changed {
		return nil
	}
	text, err := full.Format()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.mod"), text, 0o644)
}

// goLimit is how long the go command may take to build a package and fetch what it needs.
const goLimit = 10 * time.Minute

func goCommand(dir string, args ...string) error {
	ctx, stop := context.WithTimeout(context.Background(), goLimit)
	defer stop()
	cmd := exec.CommandContext(ctx, "go", args...)
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

// Lot is by which a case is drawn: the first of a list sorted by it are a sample, another one for each seed.
func (c Case) Lot(seed string) string {
	sum := sha256.Sum256([]byte(seed + " " + c.ID))
	return string(sum[:])
}
