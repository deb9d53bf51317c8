package alloc

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// PointersIn reports whether the object holds pointers, by the names of the allocator's own
// functions: the allocator has a separate path for each case.
func PointersIn(above []string) finding.Tri {
	for _, f := range above {
		switch {
		case stack.MatchName(
			f,
			[]string{
				"runtime.mallocgcTiny*", "runtime.mallocTiny*", "runtime.mallocgcSmallNoscan*",
				"runtime.mallocgcSmallNoScan*", "runtime.mallocNoscan*",
			},
		):
			return finding.No
		case stack.MatchName(f, []string{"runtime.mallocgcSmallScan*", "runtime.mallocScan*"}):
			return finding.Yes
		}
	}
	return finding.Unknown
}

// Kinder determines the kind of expression that allocates, and whether the object holds
// pointers, from the runtime's own frames. It is not safe for concurrent use.
type Kinder struct {
	// dir holds the sources of package runtime of the toolchain that built the
	// target; empty when not known. From Go 1.26 on the raw stacks of an
	// allocation profile end in the allocator, on the line that calls its
	// variant for pointer-free or for pointerful objects.
	dir   string
	files map[string][]finding.Tri // by base name, by line
	// plainNew says that a raw stack without frames of the runtime above the
	// site is a plain new object: every other allocation leaves the runtime
	// function that it goes through.
	plainNew bool
}

// NewKinder returns the kinder for programs of a Go release, whose runtime it
// reads in goroot where that is there.
func NewKinder(goroot, version string) Kinder {
	k := Kinder{files: map[string][]finding.Tri{}, plainNew: stack.MinorVersion(version) >= 26}
	if goroot != "" {
		k.dir = filepath.Join(goroot, "src", "runtime")
	}
	return k
}

// OfRaw is of for a stack that keeps the runtime's frames.
func (k Kinder) OfRaw(p stack.Path) finding.Kind {
	if len(p.Above) == 0 && k.plainNew {
		return finding.KindNew
	}
	return k.Of(p)
}

// Of returns the kind of allocation that the runtime frames above a site show.
func (k Kinder) Of(p stack.Path) finding.Kind {
	function, via := p.Key.Function, p.Via
	if via != "" {
		function = via
	}
	return Of(p.Above, function, "")
}

// Pointers reports whether the object that a heap profile's stack allocated holds pointers.
func (k Kinder) Pointers(locs []*evidence.Location) finding.Tri {
	for _, l := range locs {
		for _, f := range l.Frames {
			if !stack.IsRuntime(stack.PackageOf(f.Function), f.Function) {
				return finding.Unknown
			}
			if t := PointersIn([]string{f.Function}); t != finding.Unknown {
				return t
			}
			if t := k.onLine(f); t != finding.Unknown {
				return t
			}
		}
	}
	return finding.Unknown
}

// onLine reads from the runtime's source which variant of the allocator a line
// calls.
func (k Kinder) onLine(f evidence.Frame) finding.Tri {
	if k.dir == "" || !strings.HasPrefix(f.Function, "runtime.") {
		return finding.Unknown
	}
	base := path.Base(filepath.ToSlash(f.File))
	lines, ok := k.files[base]
	if !ok {
		lines = readMallocLines(filepath.Join(k.dir, base))
		k.files[base] = lines
	}
	if f.Line <= 0 || f.Line > len(lines) {
		return finding.Unknown
	}
	return lines[f.Line-1]
}

// readMallocLines classifies each line of a runtime source file by the
// allocator that it calls.
func readMallocLines(file string) []finding.Tri {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	text := strings.Split(string(src), "\n")
	lines := make([]finding.Tri, len(text))
	for i, t := range text {
		at := strings.Index(t, "mallocgc")
		if at < 0 || strings.HasPrefix(t, "func ") || strings.HasPrefix(strings.TrimSpace(t), "//") {
			continue
		}
		lines[i] = variant(t[at:])
	}
	return lines
}

// variant returns the kind of objects of an allocator call: by its name, or by its type
// argument, which is nil for pointer-free memory.
func variant(call string) finding.Tri {
	switch {
	case strings.HasPrefix(call, "mallocgcSmallScan"):
		return finding.Yes
	case PointersIn([]string{"runtime." + call}) == finding.No:
		return finding.No
	case strings.HasPrefix(call, "mallocgc(") && strings.Contains(call, ", nil, "):
		return finding.No
	case strings.HasPrefix(call, "mallocgc(") && strings.Contains(call, ", et, true)"):
		return finding.Yes
	}
	return finding.Unknown
}
