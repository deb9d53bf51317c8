package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/corpus/bench"
)

// fresh is what is measured of the kept edits of a module by runs that chose none of them.
type fresh struct {
	Passed   int      `json:"passed"` // tests, with the edits
	Broken   []string `json:"broken"` // tests that pass without the edits, twice, and fail with them, twice
	Measured []change `json:"measured"`
}

// change is a benchmark before and after; a fraction below 0 is a saving.
type change struct {
	Name    string  `json:"name"`
	Outcome string  `json:"outcome"` // of all units
	Slower  bool    `json:"slower"`  // by more than 2 %, at an adjusted p below 0.05
	Ns      float64 `json:"ns"`
	Bytes   float64 `json:"bytes"`
	Allocs  float64 `json:"allocs"`
}

// testsFor is how long all tests of a module may take.
const testsFor = 3 * time.Minute

// apart runs the tests of a module in both copies, and compares the benchmarks that edits were kept for.
func (m module) apart(ctx context.Context, r run, doc document) (f fresh, err error) {
	at := m.at(r)
	kept := at + ".fresh.json"
	if text, err := os.ReadFile(kept); err == nil {
		return f, json.Unmarshal(text, &f)
	}
	f.Broken, f.Passed = bench.Copies{Before: at + beforeSuffix, After: at, Limit: testsFor}.Broken(ctx, "./...")
	if f.Measured, err = m.compare(ctx, r, doc); err != nil {
		return f, err
	}
	text, err := json.Marshal(f)
	if err != nil {
		return f, err
	}
	return f, os.WriteFile(kept, text, 0o644)
}

// compare runs heaptrim prove on both copies.
func (m module) compare(ctx context.Context, r run, doc document) ([]change, error) {
	at := m.at(r)
	names := map[string]bool{}
	for _, a := range doc.Attempts {
		if a.Outcome == "kept" {
			top, _, _ := strings.Cut(a.Benchmark, "/")
			names[regexp.QuoteMeta(top)] = true
		}
	}
	proof := at + ".proof.json"
	args := []string{"prove", "-a", "dir:" + at + beforeSuffix, "-b", "work", "-bench", "^(" + strings.Join(slices.Sorted(maps.Keys(names)), "|") + ")$",
		"-budget", r.proof, "-json", proof}
	cmd := exec.CommandContext(ctx, r.tool, append(args, m.packages...)...)
	cmd.Dir, cmd.Env = at, environment()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 3) {
		return nil, fmt.Errorf("prove: %w: %s", err, out)
	}
	text, err := os.ReadFile(proof)
	if err != nil {
		return nil, err
	}
	return changes(text)
}

// changes reads what is needed of a comparison.
func changes(text []byte) ([]change, error) {
	var p struct {
		Comparisons []struct {
			Name, Outcome string
			Changes       []struct {
				Unit, Outcome string
				Change        *struct{ Value float64 }
			}
		}
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	var out []change
	for _, c := range p.Comparisons {
		one := change{Name: c.Name, Outcome: c.Outcome}
		for _, u := range c.Changes {
			if u.Change == nil {
				continue
			}
			switch v := u.Change.Value; u.Unit {
			case "ns/op", "sec/op":
				one.Ns, one.Slower = v, u.Outcome == "worse" && v > 0.02
			case "B/op":
				one.Bytes = v
			case "allocs/op":
				one.Allocs = v
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// writable lets files of a copy be written to: those of the module cache cannot be.
func writable(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.Chmod(path, 0o755)
		case d.Type().IsRegular():
			return os.Chmod(path, 0o644)
		}
		return nil
	})
}

// showFresh prints what became of the kept edits.
func showFresh(all map[string]fresh) {
	fmt.Printf("\n| module | tests passed | broken | benchmark | ns/op | B/op | allocs/op | |\n|---|--:|--:|---|--:|--:|--:|---|\n")
	for _, path := range slices.Sorted(maps.Keys(all)) {
		f := all[path]
		if len(f.Measured) == 0 {
			fmt.Printf("| %s | %d | %d | | | | | not measured |\n", path, f.Passed, len(f.Broken))
		}
		for _, c := range f.Measured {
			note := c.Outcome
			if c.Slower {
				note += ", slower"
			}
			fmt.Printf("| %s | %d | %d | %s | %+.1f %% | %+.1f %% | %+.1f %% | %s |\n", path, f.Passed, len(f.Broken), strings.TrimPrefix(c.Name, "Benchmark"),
				100*c.Ns, 100*c.Bytes, 100*c.Allocs, note)
		}
	}
}
