package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/heaptrim/heaptrim/lab/corpus"
	"github.com/heaptrim/heaptrim/lab/corpus/bench"
)

// operations are what a profile is taken of: a hundred, and one before them.
const operations = 101

// function is one of the module, with what it and the foreign functions that it calls allocate in
// an operation. Names are as pprof spells them.
type function struct {
	Name  string           `json:"name"`
	File  string           `json:"file"` // relative to the module
	Less  corpus.Amounts   `json:"less"` // than before
	After corpus.Amounts   `json:"after"`
	Lines []allocatingLine `json:"lines"` // of the release before
}

// allocatingLine is a line of a function.
type allocatingLine struct {
	Line   int            `json:"line"`
	Before corpus.Amounts `json:"before"`
	Leaf   string         `json:"leaf"`           // the function that allocates
	From   []string       `json:"from,omitempty"` // functions of the module that call, the nearest first
}

// mostFunctions are kept of a benchmark.
const mostFunctions = 8

// changes are the functions that allocate less in the release after, those that fell most first.
func (s sides) changes(ctx context.Context, pattern string) ([]function, error) {
	before, err := s.profile(ctx, s.before, pattern)
	if err != nil {
		return nil, err
	}
	after, err := s.profile(ctx, s.after, pattern)
	if err != nil {
		return nil, err
	}
	var out []function
	for name, f := range before {
		if a := after[name]; a != nil {
			f.After = a.total()
		}
		was := f.total()
		f.Less = corpus.Amounts{Allocs: was.Allocs - f.After.Allocs, B: was.B - f.After.B}
		if f.Less.Allocs > 0.3 || f.Less.B > 16 {
			out = append(out, *f)
		}
	}
	weight := func(f function) float64 { return f.Less.B + 32*f.Less.Allocs }
	slices.SortFunc(out, func(a, b function) int { return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(a.Name, b.Name)) })
	return out[:min(len(out), mostFunctions)], nil
}

func (f *function) total() corpus.Amounts {
	var sum corpus.Amounts
	for _, l := range f.Lines {
		sum.Allocs += l.Before.Allocs
		sum.B += l.Before.B
	}
	return sum
}

// profile takes a profile of each allocation of a benchmark.
func (s sides) profile(ctx context.Context, p bench.Package, pattern string) (map[string]*function, error) {
	at := p.Binary + ".mem"
	if _, err := p.Run(ctx, pattern, "-test.memprofile="+at, "-test.memprofilerate=1"); err != nil {
		return nil, err
	}
	file, err := os.Open(at)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	prof, err := profile.Parse(file)
	if err != nil {
		return nil, err
	}
	return own(prof, s.module, p.Dir), nil
}

// own charges each allocation to the nearest function of the module that is no test.
func own(prof *profile.Profile, module, dir string) map[string]*function {
	out := map[string]*function{}
	for _, sample := range prof.Sample {
		frames := ownFrames(sample, module, dir)
		if len(frames) == 0 || len(sample.Location) == 0 {
			continue
		}
		f := out[frames[0].name]
		if f == nil {
			f = &function{Name: frames[0].name, File: frames[0].file}
			out[f.Name] = f
		}
		leaf := sample.Location[0].Line[0].Function.Name
		i := slices.IndexFunc(f.Lines, func(l allocatingLine) bool { return l.Line == frames[0].line && l.Leaf == leaf })
		if i < 0 {
			l := allocatingLine{Line: frames[0].line, Leaf: leaf}
			for _, c := range frames[1:min(len(frames), 5)] {
				l.From = append(l.From, c.String())
			}
			i, f.Lines = len(f.Lines), append(f.Lines, l)
		}
		f.Lines[i].Before.Allocs += float64(sample.Value[0]) / operations
		f.Lines[i].Before.B += float64(sample.Value[1]) / operations
	}
	for _, f := range out {
		slices.SortFunc(f.Lines, func(a, b allocatingLine) int { return cmp.Compare(b.Before.B, a.Before.B) })
	}
	return out
}

// ownFrames are the frames of a sample in the module's code, the innermost first.
func ownFrames(sample *profile.Sample, module, dir string) []frame {
	var out []frame
	for _, loc := range sample.Location {
		for _, line := range loc.Line {
			rel, err := filepath.Rel(dir, line.Function.Filename)
			if err != nil || strings.HasPrefix(rel, "..") {
				// Binaries name files by module where paths are trimmed.
				var ok bool
				if rel, ok = strings.CutPrefix(line.Function.Filename, module+"/"); !ok {
					continue
				}
			}
			if !strings.HasSuffix(rel, "_test.go") {
				out = append(out, frame{line.Function.Name, filepath.ToSlash(rel), int(line.Line)})
			}
		}
	}
	return out
}

// frame is one in the module's code.
type frame struct {
	name, file string
	line       int
}

func (f frame) String() string {
	return f.name[strings.LastIndex(f.name, "/")+1:] + ":" + filepath.Base(f.file) + ":" + strconv.Itoa(f.line)
}
