// Package files makes a bundle from files that were recorded elsewhere: profiles,
// gctrace logs, benchmark text, compiler escape output, perf data and bundles.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/memstats"
)

// Options names the files to make a bundle from.
type Options struct {
	Paths    []string // in any order
	Progress func(format string, args ...any)
}

const (
	// passDelta marks allocations of a window. They must not be added to, or subtracted
	// from, the totals since the start that a snapshot holds.
	passDelta = "delta"
)

// Record copies files that were made elsewhere into w: CPU and heap profiles, gctrace
// logs, benchmark text, runtime/metrics samples, MemStats, escape output, execution
// traces, perf data and whole bundles. It recognises each by its content. All loose
// files become one run. Cumulative heap profiles of one process are sorted by time
// within it; those of other processes get runs of their own. The user's files are not
// changed. A file of unknown kind is an error; a file of a known kind that is of no
// use is left out and named in the manifest.
//
// The manifest's environment is what the files themselves state.
func Record(ctx context.Context, o Options, w *bundle.Writer) error {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	if len(o.Paths) == 0 {
		return errors.New("no files to read")
	}
	r := &fileRecorder{o: o, w: w, names: map[string]bool{}}
	for _, p := range o.Paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.inspect(p); err != nil {
			return err
		}
	}
	if len(r.loose)+len(r.snapshots)+len(r.bundles) == 0 {
		return fmt.Errorf("none of the files can be used: %s", strings.Join(r.leftOut, "; "))
	}
	if err := r.describe(); err != nil {
		return err
	}
	if err := r.keepLoose(ctx); err != nil {
		return err
	}
	for i, path := range r.bundles {
		if err := r.merge(ctx, path, i+1); err != nil {
			return err
		}
	}
	return nil
}

// fileRecorder makes one bundle from files.
type fileRecorder struct {
	o     Options
	w     *bundle.Writer
	seen  []sniffed
	names map[string]bool // names already used in the bundle, in lower case

	loose     []looseFile
	snapshots []snapshot // cumulative heap profiles
	bundles   []string

	facts             textFacts
	warnings, leftOut []string
}

// looseFile is a file that becomes one part, unchanged unless tail or perf is set.
type looseFile struct {
	path string
	part evidence.Part
	tail bool // keep only its MemStats
	perf bool // perf.data: keep the output of perf script instead
}

// inspect finds out what a file is and plans how to store it.
func (r *fileRecorder) inspect(name string) error {
	s, err := sniff(name)
	if err != nil {
		return err
	}
	for _, other := range r.seen {
		if os.SameFile(other.info, s.info) {
			r.warn("%s is the same file as %s and counts once", name, other.path)
			return nil
		}
	}
	r.seen = append(r.seen, s)
	switch {
	case s.bundle:
		r.o.Progress("%s: a bundle", name)
		r.bundles = append(r.bundles, name)
		return nil
	case s.profile != nil:
		return r.inspectProfile(s)
	}
	r.learn(s.facts)
	for _, kind := range s.kinds {
		r.o.Progress("%s: %s", name, kind)
		if kind == evidence.KindTrace {
			r.warn("%s is kept in the bundle, but this version of heaptrim does not read files of the kind %s yet",
				name, kind)
		}
		// A log with several kinds of lines is stored once for each kind: every reader skips
		// the lines of other kinds.
		suffix := ""
		if len(s.kinds) > 1 {
			suffix = "." + string(kind)
		}
		r.loose = append(r.loose, looseFile{
			path: name, part: evidence.Part{Path: r.name(name, suffix), Kind: kind, Pass: evidence.PassFiles},
			tail: kind == evidence.KindMemStats, perf: kind == evidence.KindPerf && s.magic,
		})
	}
	return nil
}

func (r *fileRecorder) learn(f textFacts) {
	for _, fact := range []struct {
		to   *string
		from string
	}{{&r.facts.goos, f.goos}, {&r.facts.goarch, f.goarch}, {&r.facts.cpu, f.cpu}} {
		if *fact.to == "" {
			*fact.to = fact.from
		}
	}
	r.facts.procs = max(r.facts.procs, f.procs)
}

// name derives an unused name in the bundle from the file's own.
func (r *fileRecorder) name(file, suffix string) string {
	base := strings.Map(func(c rune) rune {
		if c < ' ' || strings.ContainsRune(`\:*?"<>|`, c) {
			return '_'
		}
		return c
	}, filepath.Base(file)+suffix)
	base = strings.TrimRight(strings.TrimSuffix(base, ".partial"), ". ")
	if base == "" {
		base = "file"
	}
	ext := path.Ext(base)
	candidate := "files/" + base
	for i := 2; r.names[strings.ToLower(candidate)]; i++ {
		candidate = fmt.Sprintf("files/%s-%d%s", strings.TrimSuffix(base, ext), i, ext)
	}
	r.names[strings.ToLower(candidate)] = true
	return candidate
}

func (r *fileRecorder) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.o.Progress("warning: %s", text)
	r.warnings = append(r.warnings, text)
}

// describe writes everything known before the first part is copied.
func (r *fileRecorder) describe() error {
	return r.w.Update(func(m *evidence.Manifest) {
		m.Target.Kind, m.Target.Args = evidence.TargetFiles, r.o.Paths
		m.Environment = evidence.Environment{GOOS: r.facts.goos, GOARCH: r.facts.goarch, CPUModel: r.facts.cpu,
			GOMAXPROCS: r.facts.procs}
		m.Warnings = append(m.Warnings, r.warnings...)
		m.LeftOut = append(m.LeftOut, r.leftOut...)
	})
}

// keepLoose copies the loose files. It assumes that the longest series of heap
// profiles belongs to the other loose files.
func (r *fileRecorder) keepLoose(ctx context.Context) error {
	all, err := seriesOf(r.snapshots)
	if err != nil {
		return err
	}
	if len(r.loose)+len(all) == 0 {
		return nil
	}
	var main series
	if len(all) > 0 {
		i := longest(all)
		main = all[i]
		all = slices.Delete(all, i, i+1)
	}
	run := r.w.Run(evidence.Run{Name: "files"})
	for _, f := range append(r.loose, main.files()...) {
		keep := r.copy
		if f.perf {
			keep = r.keepPerf
		}
		if err := keep(ctx, run, f); err != nil {
			return err
		}
	}
	for _, s := range all {
		text := fmt.Sprintf("%s is not a later or earlier state of the process of %s, so they become separate runs",
			s[0].path, main[0].path)
		r.o.Progress("warning: %s", text)
		if err := r.w.Update(func(m *evidence.Manifest) { m.Warnings = append(m.Warnings, text) }); err != nil {
			return err
		}
		run := r.w.Run(evidence.Run{Name: filepath.Base(s[0].path)})
		for _, f := range s.files() {
			if err := r.copy(ctx, run, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// copy copies a file into the bundle. Of a heap profile in text form it copies only
// the MemStats part.
func (r *fileRecorder) copy(ctx context.Context, run int, f looseFile) error {
	src, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer src.Close()
	return r.w.Add(run, f.part, func(w io.Writer) error {
		in := contextReader{ctx, src}
		if !f.tail {
			_, err := io.Copy(w, in)
			return err
		}
		tail := &memstats.Tail{To: w}
		if _, err := io.Copy(tail, in); err != nil {
			return fmt.Errorf("read %s: %w", f.path, err)
		}
		if err := tail.Close(); err != nil {
			return fmt.Errorf("read %s: %w", f.path, err)
		}
		return nil
	})
}

// contextReader stops reading when its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// merge copies the runs of an earlier bundle.
func (r *fileRecorder) merge(ctx context.Context, name string, number int) error {
	b, err := bundle.Open(name)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := r.w.Update(func(m *evidence.Manifest) { r.inherit(m, b, name) }); err != nil {
		return err
	}
	for _, run := range b.Manifest.Runs {
		at := r.w.Run(run)
		for _, p := range run.Parts {
			from := b.Path(p)
			p.Path = fmt.Sprintf("bundle-%d/%s", number, p.Path)
			if err := r.copy(ctx, at, looseFile{path: from, part: p}); err != nil {
				return err
			}
		}
	}
	return nil
}

// inherit merges the manifest of a bundle. Target and environment come from the first
// bundle, because loose files say little about theirs. The kind of target is kept only
// if all inputs are bundles.
func (r *fileRecorder) inherit(m *evidence.Manifest, b *bundle.Bundle, name string) {
	first, only := name == r.bundles[0], len(r.bundles) == len(r.seen)
	for _, text := range slices.Concat(b.Problems(), b.Manifest.Warnings) {
		m.Warnings = append(m.Warnings, name+": "+text)
	}
	for _, text := range b.Manifest.LeftOut {
		m.LeftOut = append(m.LeftOut, name+": "+text)
	}
	for _, l := range b.Manifest.Gaps {
		m.Gaps = append(m.Gaps, evidence.Gap{Code: l.Code, What: name + ": " + l.What, Adds: l.Adds})
	}
	t, from := &m.Target, b.Manifest.Target
	switch {
	case first:
		kind, args := t.Kind, t.Args
		*t = from
		t.Args = args
		if !only {
			t.Kind = kind
		}
	case from.Module != "" && from.Module != t.Module:
		m.Warnings = append(m.Warnings, fmt.Sprintf("%s was recorded from module %s, not from %s", name, from.Module,
			t.Module))
	}
	env := b.Manifest.Environment
	switch {
	case first && agree(m.Environment.GOOS, env.GOOS) && agree(m.Environment.GOARCH, env.GOARCH) &&
		agree(m.Environment.CPUModel, env.CPUModel):
		m.Environment = env
	case m.Environment != env:
		m.Warnings = append(m.Warnings, name+" was recorded in another environment than the other files")
	}
}

// agree reports whether two facts are equal or one of them is unknown.
func agree(a, b string) bool {
	return a == "" || b == "" || a == b
}
