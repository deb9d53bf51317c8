// Package bundle writes and opens recordings: a directory of standard files with a
// manifest.json, or the same in one .tar.zst. doc/format/bundle.md specifies the
// format. The package stores files and does not interpret them.
package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Writer makes a bundle. Whenever the process dies, the directory holds a bundle that
// [Open] accepts, with every part finished by then. It is safe for concurrent use.
// Call Close when done.
type Writer struct {
	dir  string
	made bool // by Create

	mu     sync.Mutex
	m      evidence.Manifest
	taken  map[string]bool // folded paths of parts that are finished or being written
	closed bool
	failed error // of a manifest rewrite in Run, which returns no error
}

var errClosed = errors.New("the bundle is closed")

// Create starts a bundle in dir, which must not exist or must be empty. It writes
// manifest.json at once, with Complete false. The Writer sets Schema, Complete and
// Runs of m, and Created if it is zero.
func Create(dir string, m evidence.Manifest) (*Writer, error) {
	_, err := os.Stat(dir)
	made := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create bundle: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("create bundle: %w", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("create bundle %s: the directory is not empty (it has %s)", dir, entries[0].Name())
	}
	m.Schema, m.Complete, m.Runs = evidence.ManifestSchema, false, []evidence.Run{}
	if m.Created.IsZero() {
		m.Created = time.Now().UTC().Truncate(time.Second)
	}
	if m.Target.Args == nil {
		m.Target.Args = []string{}
	}
	w := &Writer{dir: dir, made: made, m: clone(m), taken: map[string]bool{}}
	if err := w.writeManifest(); err != nil {
		return nil, err
	}
	return w, nil
}

// Dir returns the directory of the bundle.
func (w *Writer) Dir() string { return w.dir }

// Run adds a run and returns its index for Add and Adopt. The Parts of r are dropped;
// add them with those two. If the manifest cannot be written, the next call that
// returns an error reports it.
func (w *Writer) Run(r evidence.Run) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.Parts = []evidence.Part{}
	r.Loops = slices.Clone(r.Loops)
	w.m.Runs = append(w.m.Runs, r)
	if !w.closed {
		w.failed = errors.Join(w.failed, w.writeManifest())
	}
	return len(w.m.Runs) - 1
}

// Add writes a part with fill and lists it in the manifest. The part gets its name
// only when it is complete and on disk. If fill or the disk fails, nothing of it
// remains. fill is called once, without a lock held, and writes to a buffer on the
// file.
func (w *Writer) Add(run int, p evidence.Part, fill func(w io.Writer) error) error {
	return w.enter(run, p, func(name string) error { return writeAtomic(name, fill) })
}

// Adopt moves the finished file from into the bundle as a part, by renaming or, across
// file systems, by copying and removing. After success, from no longer exists.
func (w *Writer) Adopt(run int, p evidence.Part, from string) error {
	return w.enter(run, p, func(name string) error { return move(from, name) })
}

// Unfinished returns a file name inside the bundle for a part p that something else
// writes before Adopt takes it from there. It makes the folder, not the file. After a
// crash the file stays under this name, and Open reports which part it was.
func (w *Writer) Unfinished(p evidence.Part) (string, error) {
	if err := checkPath(p.Path); err != nil {
		return "", fmt.Errorf("bundle %s: %w", w.dir, err)
	}
	name := filepath.Join(w.dir, filepath.FromSlash(p.Path)) + unfinished
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return "", fmt.Errorf("bundle %s: %w", w.dir, err)
	}
	return name, nil
}

// enter reserves the part's path, calls place to put the file there, and lists it.
func (w *Writer) enter(run int, p evidence.Part, place func(name string) error) error {
	if err := w.reserve(run, p); err != nil {
		return fmt.Errorf("bundle %s: %w", w.dir, err)
	}
	name := filepath.Join(w.dir, filepath.FromSlash(p.Path))
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = place(name)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && w.closed {
		err = errClosed
		os.Remove(name)
	}
	if err != nil {
		delete(w.taken, fold(p.Path))
		return fmt.Errorf("write part %s of bundle %s: %w", p.Path, w.dir, err)
	}
	w.m.Runs[run].Parts = append(w.m.Runs[run].Parts, p)
	return w.writeManifest()
}

func (w *Writer) reserve(run int, p evidence.Part) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errClosed
	}
	if run < 0 || run >= len(w.m.Runs) {
		return fmt.Errorf("part %s belongs to run %d of %d", p.Path, run, len(w.m.Runs))
	}
	if err := checkPart(p); err != nil {
		return err
	}
	if w.taken[fold(p.Path)] {
		return fmt.Errorf("part %q is there already", p.Path)
	}
	w.taken[fold(p.Path)] = true
	return nil
}

// Update lets edit change the manifest, for what is known only later: warnings,
// operations of a finished part, facts about the environment. Parts can be changed,
// but not added, removed or renamed. If the result is not a valid manifest, nothing
// changes and Update returns the reason. edit must not keep its argument or call the
// Writer.
func (w *Writer) Update(edit func(*evidence.Manifest)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return fmt.Errorf("bundle %s: %w", w.dir, errClosed)
	}
	next := clone(w.m)
	edit(&next)
	next.Schema, next.Complete = evidence.ManifestSchema, false
	if err := check(next); err != nil {
		return fmt.Errorf("update bundle %s: %w", w.dir, err)
	}
	if !slices.Equal(partPaths(next), partPaths(w.m)) {
		return fmt.Errorf("update bundle %s: the list of parts was changed", w.dir)
	}
	w.m = clone(next)
	return w.writeManifest()
}

// Measured reports whether there is a part from which a diagnosis can begin. Code, MemStats and metrics alone are not enough.
func (w *Writer) Measured() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.m.Runs, func(r evidence.Run) bool {
		return slices.ContainsFunc(r.Parts, func(p evidence.Part) bool { return !slices.Contains(besides, p.Kind) })
	})
}

// besides are the kinds of parts that are not enough alone.
var besides = []evidence.Kind{evidence.KindCode, evidence.KindMemStats, evidence.KindAbove, evidence.KindMetrics}

// Close ends the bundle. complete means that nothing was cut short. Only the first
// Close counts, so a deferred Close(false) covers early returns.
func (w *Writer) Close(complete bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	w.m.Complete = complete
	return errors.Join(w.failed, w.writeManifest())
}

// Discard is Close(false) for a recording that failed. If no part was begun, it removes
// the bundle, so that its name is free for the next attempt.
func (w *Writer) Discard() error {
	w.mu.Lock()
	begun := func(r evidence.Run) bool { return len(r.Parts) > 0 }
	empty := !w.closed && !slices.ContainsFunc(w.m.Runs, begun)
	w.closed = w.closed || empty
	w.mu.Unlock()
	if !empty {
		return w.Close(false)
	}
	err := os.Remove(filepath.Join(w.dir, ManifestName))
	if w.made {
		err = errors.Join(err, os.Remove(w.dir))
	}
	if err != nil {
		return fmt.Errorf("discard bundle: %w", err)
	}
	return nil
}

// writeManifest replaces manifest.json. mu is held, or the Writer is not shared yet.
func (w *Writer) writeManifest() error {
	data, err := json.MarshalIndent(w.m, "", "\t")
	if err != nil {
		return fmt.Errorf("encode manifest of bundle %s: %w", w.dir, err)
	}
	err = writeAtomic(filepath.Join(w.dir, ManifestName), func(f io.Writer) error {
		_, err := io.Copy(f, bytes.NewReader(append(data, '\n')))
		return err
	})
	if err != nil {
		return fmt.Errorf("write manifest of bundle %s: %w", w.dir, err)
	}
	return nil
}

// clone copies everything that an edit of the result could change.
func clone(m evidence.Manifest) evidence.Manifest {
	t := &m.Target
	t.Args, t.Workspace = slices.Clone(t.Args), slices.Clone(t.Workspace)
	t.Packages, t.BuildFlags = slices.Clone(t.Packages), slices.Clone(t.BuildFlags)
	t.Dependencies, t.Command = slices.Clone(t.Dependencies), slices.Clone(t.Command)
	m.Warnings, m.LeftOut = slices.Clone(m.Warnings), slices.Clone(m.LeftOut)
	m.Gaps = slices.Clone(m.Gaps)
	m.Runs = slices.Clone(m.Runs)
	for i := range m.Runs {
		m.Runs[i].Parts = slices.Clone(m.Runs[i].Parts)
		m.Runs[i].Loops = slices.Clone(m.Runs[i].Loops)
	}
	return m
}

// partPaths lists the parts' paths by run.
func partPaths(m evidence.Manifest) []string {
	var paths []string
	for i, run := range m.Runs {
		paths = append(paths, fmt.Sprint(i))
		for _, p := range run.Parts {
			paths = append(paths, p.Path)
		}
	}
	return paths
}
