package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// target is a package with benchmarks, in a copy of its module.
type target struct {
	module, version, pattern string

	path   string // import path
	dir    string // of the module's copy
	folder string // of the package
	work   string
}

// limits of a run of a package's tests or benchmarks.
const (
	benchLimit = 20 * time.Second
	testLimit  = 60 * time.Second
)

// command runs a program within a limit and returns what it prints.
func command(ctx context.Context, limit time.Duration, dir string, args ...string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(corpus.Environ(), "GOMAXPROCS=2"), time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %.300s%.300s", args[0], err, errs.Bytes(), out.Bytes())
	}
	return out.Bytes(), nil
}

// load parses and checks the files of the package, those of tests left out.
func (t *target) load(ctx context.Context) ([]*source, error) {
	out, err := command(ctx, 5*time.Minute, t.dir, "go", "list", "-export", "-deps",
		"-json=ImportPath,Export,Dir,GoFiles,CgoFiles,DepOnly", t.pattern)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var names []string
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Export, Dir string
			GoFiles, CgoFiles       []string
			DepOnly                 bool
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if p.DepOnly {
			continue
		}
		if len(p.CgoFiles) > 0 {
			return nil, errors.New("uses cgo")
		}
		t.path, t.folder, names = p.ImportPath, p.Dir, p.GoFiles
	}
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	texts := map[string][]byte{}
	for _, name := range names {
		at := filepath.Join(t.folder, name)
		rel, err := filepath.Rel(t.dir, at)
		if err != nil {
			return nil, err
		}
		if texts[filepath.ToSlash(rel)], err = os.ReadFile(at); err != nil {
			return nil, err
		}
	}
	return check(fset, t.path, texts, imp)
}

// check parses and checks the files of a package.
func check(fset *token.FileSet, path string, texts map[string][]byte, imp types.Importer) ([]*source, error) {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}}
	var files []*ast.File
	var out []*source
	for name, text := range texts {
		f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		out = append(out, &source{name: name, text: text, file: f, fset: fset, info: info})
	}
	conf := types.Config{Importer: imp}
	pkg, err := conf.Check(path, fset, files, info)
	if err != nil {
		return nil, err
	}
	for _, s := range out {
		s.pkg, s.files = pkg, out
	}
	slices.SortFunc(out, func(a, b *source) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// amounts are what benchmarks allocate in an operation, by name.
type amounts map[string]corpus.Amounts

var benchLine = regexp.MustCompile(`^(Benchmark\S*?)(?:-\d+)?\s+\d+\s.*?([0-9.]+) B/op\s+(\d+) allocs/op`)

// bench runs benchmarks of a test binary.
func (t *target) bench(ctx context.Context, bin, names string, more ...string) (amounts, error) {
	out, err := command(ctx, benchLimit, t.folder, append([]string{bin, "-test.run=^$", "-test.benchmem",
		"-test.benchtime=100x", "-test.bench=" + names}, more...)...)
	if err != nil {
		return nil, err
	}
	got := amounts{}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if m := benchLine.FindStringSubmatch(s.Text()); m != nil {
			b, _ := strconv.ParseFloat(m[2], 64)
			n, _ := strconv.ParseFloat(m[3], 64)
			got[m[1]] = corpus.Amounts{B: b, Allocs: n}
		}
	}
	return got, nil
}

// build makes the test binary of the package with the edits.
func (t *target) build(ctx context.Context, name string, edits []corpus.Edit, more ...string) (string, error) {
	bin := filepath.Join(t.work, name)
	args := append([]string{"go", "test", "-c", "-vet=off", "-ldflags=-w", "-o", bin}, more...)
	if len(edits) > 0 {
		over, err := t.overlay(name, edits)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", over)
	}
	_, err := command(ctx, 5*time.Minute, t.dir, append(args, t.pattern)...)
	return bin, err
}

// overlay writes the edited files and the list of them for the go command.
func (t *target) overlay(name string, edits []corpus.Edit) (string, error) {
	of := map[string][]corpus.Edit{}
	for _, e := range edits {
		of[e.File] = append(of[e.File], e)
	}
	replace := map[string]string{}
	for file, edits := range of {
		at := filepath.Join(t.dir, filepath.FromSlash(file))
		text, err := os.ReadFile(at)
		if err != nil {
			return "", err
		}
		if text, err = corpus.Apply(text, edits); err != nil {
			return "", err
		}
		replace[at] = filepath.Join(t.work, name+"."+filepath.Base(file))
		if err := os.WriteFile(replace[at], text, 0o644); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	over := filepath.Join(t.work, name+".overlay.json")
	return over, os.WriteFile(over, list, 0o644)
}

// covered are the lines of a file that a benchmark runs, with how often.
type covered map[string]map[int]int

var coverLine = regexp.MustCompile(`^(.*):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$`)

// cover runs one benchmark and reads which lines it runs.
func (t *target) cover(ctx context.Context, bin, name string) (covered, error) {
	at := filepath.Join(t.work, "cover.out")
	if _, err := t.bench(ctx, bin, "^"+name+"$", "-test.coverprofile="+at); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(at)
	if err != nil {
		return nil, err
	}
	out := covered{}
	for line := range strings.Lines(string(text)) {
		m := coverLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		first, _ := strconv.Atoi(m[2])
		last, _ := strconv.Atoi(m[3])
		times, _ := strconv.Atoi(m[4])
		file := strings.TrimPrefix(strings.TrimPrefix(m[1], t.module), "/")
		if out[file] == nil {
			out[file] = map[int]int{}
		}
		for i := first; i <= last; i++ {
			out[file][i] = max(out[file][i], times)
		}
	}
	return out, nil
}
