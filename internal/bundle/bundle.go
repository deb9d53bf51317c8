package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Bundle is an opened recording. It is read-only and safe for concurrent use
// until Close.
type Bundle struct {
	// Manifest lists only parts that exist and are not empty; Problems names the others.
	Manifest evidence.Manifest

	name     string // as the user gave it
	at       folder
	problems []string
}

// folder is where the files of a bundle are.
type folder struct {
	dir  string
	temp string // to remove on Close; empty for a bundle that is a directory
}

// Open opens a bundle: a directory, or a .tar.zst file, which it unpacks to a private
// temporary directory within [Limits]. It also opens the bundle of an interrupted
// recording; Problems then lists the gaps. Call Close when done.
func Open(path string) (*Bundle, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	if info.IsDir() {
		return openDir(path, path)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a bundle: neither a directory nor a regular file", path)
	}
	return openArchive(path, defaultLimits())
}

// openArchive unpacks the archive at path and opens the result.
func openArchive(path string, limits Limits) (*Bundle, error) {
	temp, err := os.MkdirTemp("", "heaptrim-bundle-")
	if err != nil {
		return nil, fmt.Errorf("open bundle %s: %w", path, err)
	}
	b, err := unpackAndOpen(path, temp, limits)
	if err != nil {
		os.RemoveAll(temp)
		return nil, err
	}
	b.at.temp = temp
	return b, nil
}

func unpackAndOpen(path, temp string, limits Limits) (*Bundle, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	defer f.Close()
	if err := unpack(f, temp, limits); err != nil {
		return nil, fmt.Errorf("open bundle %s: %w", path, err)
	}
	return openDir(bundleRoot(temp), path)
}

// bundleRoot finds the manifest one folder down: tar puts it there if it packed a
// directory by name.
func bundleRoot(dir string) string {
	if _, err := os.Lstat(filepath.Join(dir, ManifestName)); err == nil {
		return dir
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || !entries[0].IsDir() {
		return dir
	}
	return filepath.Join(dir, entries[0].Name())
}

// openDir opens the bundle in dir. Messages call it name.
func openDir(dir, name string) (*Bundle, error) {
	m, err := readManifest(filepath.Join(dir, ManifestName), name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open bundle %s: %w", name, err)
	}
	defer root.Close()
	b := &Bundle{name: name, at: folder{dir: dir}, Manifest: m}
	if !m.Complete {
		b.problem("the recording was cut short: it holds only what was finished by then")
	}
	if err := b.sortOut(root); err != nil {
		return nil, err
	}
	return b, b.findUnlisted(root)
}

// sortOut removes unreadable parts from the manifest.
func (b *Bundle) sortOut(root *os.Root) error {
	unknown := map[evidence.Kind]bool{}
	for i := range b.Manifest.Runs {
		run := &b.Manifest.Runs[i]
		var usable []evidence.Part
		for _, p := range run.Parts {
			lack, err := lack(root, p)
			if err != nil {
				return fmt.Errorf("open bundle %s: %w", b.name, err)
			}
			if lack != "" {
				b.problem("part %s (%s) of run %q %s", p.Path, p.Kind, run.Name, lack)
				continue
			}
			usable = append(usable, p)
			if !slices.Contains(kinds(), p.Kind) && !unknown[p.Kind] {
				unknown[p.Kind] = true
				b.problem("part %s is of a kind this version does not know: %q", p.Path, p.Kind)
			}
		}
		run.Parts = usable
		if len(usable) == 0 {
			b.problem("nothing is recorded of run %q", run.Name)
		}
	}
	if len(b.Manifest.Runs) == 0 {
		b.problem("the bundle holds no run")
	}
	return nil
}

// lack returns why a part cannot be read, as half a sentence, or "". It fails if a
// symbolic link leads out of the bundle.
func lack(root *os.Root, p evidence.Part) (string, error) {
	name := filepath.FromSlash(p.Path)
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "is missing", nil
	case err != nil:
		return "", fmt.Errorf("part %s: %w", p.Path, err)
	case !info.Mode().IsRegular():
		return "is not a regular file", nil
	case info.Size() == 0:
		return "is empty", nil
	}
	return "", nil
}

// findUnlisted names the leftovers of a crash: parts that were being written, and
// finished parts that were not listed yet.
func (b *Bundle) findUnlisted(root *os.Root) error {
	if b.Manifest.Complete {
		return nil
	}
	listed := map[string]bool{ManifestName: true, ManifestName + unfinished: true}
	for _, run := range b.Manifest.Runs {
		for _, p := range run.Parts {
			listed[p.Path] = true
		}
	}
	found := 0
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || listed[name] {
			return err
		}
		if found++; found > maxUnlisted {
			b.problem("and more files that the manifest does not list")
			return fs.SkipAll
		}
		if part, ok := strings.CutSuffix(name, unfinished); ok {
			b.problem("part %s was being written when the recording stopped", part)
		} else {
			b.problem("file %s is not in the manifest and is not used", name)
		}
		return nil
	})
}

// maxUnlisted limits the list of leftovers, in case the directory is full of other
// files.
const maxUnlisted = 20

func (b *Bundle) problem(format string, args ...any) {
	b.problems = append(b.problems, fmt.Sprintf(format, args...))
}

// kinds lists every part kind that this version supports.
func kinds() []evidence.Kind {
	return []evidence.Kind{
		evidence.KindCPU, evidence.KindAllocs, evidence.KindHeap, evidence.KindGCTrace,
		evidence.KindBench, evidence.KindMetrics, evidence.KindMemStats, evidence.KindAbove, evidence.KindEscapes,
		evidence.KindTrace, evidence.KindPerf, evidence.KindLoad, evidence.KindCode,
	}
}

// Path returns the file of a part in Manifest. It is valid until Close.
func (b *Bundle) Path(p evidence.Part) string {
	return filepath.Join(b.at.dir, filepath.FromSlash(p.Path))
}

// Problems returns what is missing or wrong, one sentence each without a full stop;
// nil for an intact bundle.
func (b *Bundle) Problems() []string { return slices.Clone(b.problems) }

// Close removes what Open unpacked. It does not change a directory.
func (b *Bundle) Close() error {
	if b.at.temp == "" {
		return nil
	}
	return os.RemoveAll(b.at.temp)
}
