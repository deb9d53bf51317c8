package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// ManifestName is the name of the manifest inside a bundle.
const ManifestName = "manifest.json"

// unfinished is the suffix of a file that is still being written. It is fixed, so that
// a crash's leftover shows which part it was.
const unfinished = ".partial"

// maxManifest limits manifest.json: ten thousand parts take about 2 MB.
const maxManifest = 16 << 20

// readManifest reads and checks the manifest at name. Messages call the bundle label.
func readManifest(name, label string) (evidence.Manifest, error) {
	var m evidence.Manifest
	// Opening a pipe would wait for a writer.
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return m, fmt.Errorf("open bundle %s: %s is not a regular file", label, ManifestName)
	}
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return m, fmt.Errorf("%s is not a bundle: it has no %s", label, ManifestName)
	}
	if err != nil {
		return m, fmt.Errorf("open bundle %s: %w", label, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return m, fmt.Errorf("read manifest of bundle %s: %w", label, err)
	}
	if len(data) > maxManifest {
		return m, fmt.Errorf("manifest of bundle %s is larger than %d MiB", label, maxManifest>>20)
	}
	m, err = parseManifest(data)
	if err != nil {
		return m, fmt.Errorf("bundle %s: %w", label, err)
	}
	return m, nil
}

// parseManifest decodes a manifest. It checks the schema first, because fields may
// have other types in other versions.
func parseManifest(data []byte) (evidence.Manifest, error) {
	var head struct {
		Schema *string `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return evidence.Manifest{}, jsonError(data, err)
	}
	if head.Schema == nil {
		return evidence.Manifest{}, fmt.Errorf("%s has no schema field: want %q", ManifestName, evidence.ManifestSchema)
	}
	if *head.Schema != evidence.ManifestSchema {
		return evidence.Manifest{}, fmt.Errorf("%s is of format %q, this version of heaptrim reads %q",
			ManifestName, *head.Schema, evidence.ManifestSchema)
	}
	var m evidence.Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return evidence.Manifest{}, jsonError(data, err)
	}
	return m, check(m)
}

// jsonError adds the position in the manifest where decoding stopped.
func jsonError(data []byte, err error) error {
	offset := int64(len(data))
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case len(data) == 0:
		return fmt.Errorf("%s is empty", ManifestName)
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &typ):
		offset = typ.Offset
	}
	line := 1 + strings.Count(string(data[:min(max(offset, 0), int64(len(data)))]), "\n")
	return fmt.Errorf("%s:%d (byte %d): %w", ManifestName, line, offset, err)
}

// check rejects what no recorder writes and no reader can use: paths out of the
// bundle, one file in two parts, negative quantities, an invalid GOGC, loops without
// lines.
func check(m evidence.Manifest) error {
	e := m.Environment
	if e.GOMAXPROCS < 0 || e.NumCPU < 0 || e.MemoryBytes < 0 || e.CgroupLimit < 0 || e.CgroupCPU < 0 {
		return fmt.Errorf("%s: the environment holds a negative quantity", ManifestName)
	}
	if !validGOGC(e.GOGC) {
		return fmt.Errorf("%s: the environment holds gogc %q: want off or a percentage", ManifestName, e.GOGC)
	}
	seen := map[string]bool{}
	for _, run := range m.Runs {
		for _, p := range run.Parts {
			if err := checkPart(p); err != nil {
				return fmt.Errorf("%s: run %q: %w", ManifestName, run.Name, err)
			}
			if seen[fold(p.Path)] {
				return fmt.Errorf("%s: part %q is listed twice", ManifestName, p.Path)
			}
			seen[fold(p.Path)] = true
		}
		for _, l := range run.Loops {
			if l.First < 1 || l.Last < l.First {
				return fmt.Errorf("%s: run %q: a loop in %q from line %d to line %d", ManifestName, run.Name, l.File, l.First, l.Last)
			}
		}
		if err := checkFreshLine(run.CacheMiss); err != nil {
			return fmt.Errorf("%s: run %q: %w", ManifestName, run.Name, err)
		}
		if err := checkCycleCost(run.CycleCost); err != nil {
			return fmt.Errorf("%s: run %q: %w", ManifestName, run.Name, err)
		}
	}
	return nil
}

// validGOGC reports whether a process can have started with this GOGC; empty means
// unknown.
func validGOGC(s string) bool {
	if s == "" || s == "off" {
		return true
	}
	n, err := strconv.ParseInt(s, 10, 32)
	return err == nil && n >= 0
}

// longestCycle is far more CPU time than any collection takes, in nanoseconds.
const longestCycle = 1e13

func checkCycleCost(c *evidence.CycleCost) error {
	if c == nil {
		return nil
	}
	if c.Pairs < 1 || c.Times <= 1 || c.NS.Low < -longestCycle || c.NS.Value < c.NS.Low || c.NS.High < c.NS.Value || c.NS.High > longestCycle {
		return fmt.Errorf("cycle_cost of %d pairs, %v times GOGC and %v ns is not plausible", c.Pairs, c.Times, c.NS)
	}
	return nil
}

// slowestLine is far longer than any memory takes to load a cache line, in
// nanoseconds.
const slowestLine = 1e5

func checkFreshLine(c *evidence.CacheMiss) error {
	if c == nil {
		return nil
	}
	if c.Threads < 1 || c.LiveBytes < 0 || c.FreshBytes < 0 || c.NS.Low < 0 || c.NS.Value < c.NS.Low || c.NS.High < c.NS.Value || c.NS.High > slowestLine || c.UseNS < c.NS.Value || c.UseNS > slowestLine {
		return fmt.Errorf("fresh_line of %d threads, %d bytes, %v ns and use_ns %v is not plausible", c.Threads, c.LiveBytes, c.NS, c.UseNS)
	}
	return nil
}

func checkPart(p evidence.Part) error {
	if err := checkPath(p.Path); err != nil {
		return err
	}
	if p.Rate < 0 || p.Ops < 0 || p.Wall < 0 || p.CPU < 0 || p.Profiled < 0 || p.MinorFaults < 0 || p.Sleeps < 0 || p.Cycles < 0 || p.Collector < 0 || p.PeakRSS < 0 || p.OwnLive < 0 || p.OwnResident < 0 {
		return fmt.Errorf("part %q holds a negative quantity", p.Path)
	}
	return checkCounts(p)
}

// leastEvent is less CPU time than any thread needs to sleep and wake, any page fault, or any
// collection.
const leastEvent = 100 * time.Nanosecond

// checkCounts refuses counts of events for which the process had no time.
func checkCounts(p evidence.Part) error {
	for _, c := range []struct {
		name string
		n    int64
	}{{"sleeps", p.Sleeps}, {"minor_faults", p.MinorFaults}, {"cycles", p.Cycles}} {
		if p.Profiled > 0 && c.n > int64(p.Profiled/leastEvent) {
			return fmt.Errorf("part %q holds %d %s in %v of CPU time, which is not plausible", p.Path, c.n, c.name, p.Profiled)
		}
	}
	return nil
}

// checkPath accepts a clean, slash-separated path that stays in the bundle on every
// operating system and is not reserved by the format.
func checkPath(p string) error {
	switch {
	case p == "" || p == "." || path.Clean(p) != p || !filepath.IsLocal(filepath.FromSlash(p)),
		path.IsAbs(p) || strings.ContainsAny(p, "\\:\x00"):
		return fmt.Errorf("part path %q leaves the bundle or is not a clean relative path", p)
	case fold(p) == ManifestName || strings.HasSuffix(fold(p), unfinished):
		return fmt.Errorf("part path %q is a name the format keeps for itself", p)
	}
	return nil
}

// fold maps names to one that some file systems treat as equal.
func fold(name string) string { return strings.ToLower(name) }
