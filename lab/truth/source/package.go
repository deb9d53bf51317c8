package source

import (
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
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// Package is a package in a copy of its module.
type Package struct {
	Module, Version, Pattern string

	Path   string // import path
	Dir    string // of the module's copy
	Folder string // of the package
	Work   string // for what is built
	Files  []*File

	lang     string // version of the language
	fset     *token.FileSet
	importer types.Importer
}

// Place copies the module to its folder, unless it is there.
func (p *Package) Place() error {
	if _, err := os.Stat(p.Dir); err == nil {
		return nil
	}
	c := corpus.Case{Module: p.Module, Package: p.Pattern}
	err := c.Place(p.Dir, p.Version)
	if err != nil {
		os.RemoveAll(p.Dir)
	}
	return err
}

// Command runs a program within a limit and returns what it prints.
func Command(ctx context.Context, limit time.Duration, dir string, args ...string) ([]byte, error) {
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

// mayImport are packages that edits may import.
var mayImport = []string{"bytes", "context", "errors", "fmt", "io", "sort", "strings", "sync", "unsafe"}

// Load parses and checks the files of the package, those of tests left out.
func (p *Package) Load(ctx context.Context) error {
	out, err := Command(ctx, 5*time.Minute, p.Dir, append([]string{"go", "list", "-export", "-deps",
		"-json=ImportPath,Export,Dir,GoFiles,CgoFiles,DepOnly,Standard,Module", p.Pattern}, mayImport...)...)
	if err != nil {
		return err
	}
	exports := map[string]string{}
	var names []string
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var q struct {
			ImportPath, Export, Dir string
			GoFiles, CgoFiles       []string
			DepOnly, Standard       bool
			Module                  *struct{ GoVersion string }
		}
		if err := d.Decode(&q); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		exports[q.ImportPath] = q.Export
		if q.DepOnly || q.Standard {
			continue
		}
		if len(q.CgoFiles) > 0 {
			return errors.New("uses cgo")
		}
		p.Path, p.Folder, names = q.ImportPath, q.Dir, q.GoFiles
		if q.Module != nil && q.Module.GoVersion != "" {
			p.lang = "go" + q.Module.GoVersion
		}
	}
	p.fset = token.NewFileSet()
	p.importer = importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	texts := map[string][]byte{}
	for _, name := range names {
		at := filepath.Join(p.Folder, name)
		rel, err := filepath.Rel(p.Dir, at)
		if err != nil {
			return err
		}
		if texts[filepath.ToSlash(rel)], err = os.ReadFile(at); err != nil {
			return err
		}
	}
	p.Files, err = p.Check(texts)
	return err
}

// Parse reads a package from the texts of its files.
func Parse(path string, texts map[string][]byte, fset *token.FileSet, imp types.Importer) ([]*File, error) {
	p := &Package{Path: path, fset: fset, importer: imp}
	return p.Check(texts)
}

// Check parses and checks the files of a package.
func (p *Package) Check(texts map[string][]byte) ([]*File, error) {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}}
	var files []*ast.File
	var out []*File
	for name, text := range texts {
		f, err := parser.ParseFile(p.fset, name, text, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		out = append(out, &File{Name: name, Text: text, Syntax: f, Fset: p.fset, Info: info})
	}
	conf := types.Config{Importer: p.importer, GoVersion: p.lang}
	pkg, err := conf.Check(p.Path, p.fset, files, info)
	if err != nil {
		return nil, err
	}
	for _, s := range out {
		s.Pkg, s.Files = pkg, out
	}
	slices.SortFunc(out, func(a, b *File) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// CheckWith tells why the package with the edits is no correct program.
func (p *Package) CheckWith(edits []corpus.Edit) error {
	texts := map[string][]byte{}
	for _, s := range p.Files {
		var of []corpus.Edit
		for _, e := range edits {
			if e.File == s.Name {
				of = append(of, e)
			}
		}
		text, err := corpus.Apply(s.Text, of)
		if err != nil {
			return err
		}
		texts[s.Name] = text
	}
	if _, err := p.Check(texts); err != nil {
		return fmt.Errorf("does not compile: %w", err)
	}
	return nil
}

// File is a file of the package by its name.
func (p *Package) File(name string) *File {
	for _, s := range p.Files {
		if s.Name == name {
			return s
		}
	}
	return &File{}
}

// Build makes the test binary of the package with the edits.
func (p *Package) Build(ctx context.Context, name string, edits []corpus.Edit, more ...string) (string, error) {
	bin := filepath.Join(p.Work, name)
	args := append([]string{"go", "test", "-c", "-vet=off", "-ldflags=-w -s", "-o", bin}, more...)
	if len(edits) > 0 {
		over, err := p.overlay(name, edits)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", over)
	}
	_, err := Command(ctx, 5*time.Minute, p.Dir, append(args, p.Pattern)...)
	return bin, err
}

// overlay writes the edited files and the list of them for the go command.
func (p *Package) overlay(name string, edits []corpus.Edit) (string, error) {
	of := map[string][]corpus.Edit{}
	for _, e := range edits {
		of[e.File] = append(of[e.File], e)
	}
	replace := map[string]string{}
	for file, edits := range of {
		at := filepath.Join(p.Dir, filepath.FromSlash(file))
		text, err := os.ReadFile(at)
		if err != nil {
			return "", err
		}
		if text, err = corpus.Apply(text, edits); err != nil {
			return "", err
		}
		replace[at] = filepath.Join(p.Work, name+"."+filepath.Base(file))
		if err := os.WriteFile(replace[at], text, 0o644); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	over := filepath.Join(p.Work, name+".overlay.json")
	return over, os.WriteFile(over, list, 0o644)
}
