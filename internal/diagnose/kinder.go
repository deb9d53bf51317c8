package diagnose

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// kinder tells from the runtime's own frames what kind of expression
// allocates and whether the object holds pointers.
type kinder struct {
	// mallocLines says for lines of runtime/malloc.go which allocator they call,
	// read from the toolchain's own source: in Go 1.26 and later an allocation
	// profile's raw stacks end there.
	mallocLines map[int]Tri
	// plainNew says that a raw stack without frames of the runtime above the
	// site is a plain new object: from Go 1.26 on every other allocation leaves
	// the runtime function that it goes through.
	plainNew bool
}

// newKinder reads runtime/malloc.go of the toolchain that built the target.
// Without it, pointers stay unknown unless a function's name says it.
func newKinder(goroot, version string) kinder {
	k := kinder{mallocLines: map[int]Tri{}, plainNew: minorVersion(version) >= 26}
	if goroot == "" {
		return k
	}
	f, err := os.Open(filepath.Join(goroot, "src", "runtime", "malloc.go"))
	if err != nil {
		return k
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for n := 1; s.Scan(); n++ {
		text := s.Text()
		call := strings.Index(text, "mallocgc")
		if call < 0 || strings.HasPrefix(text, "func ") || strings.HasPrefix(strings.TrimSpace(text), "//") {
			continue
		}
		name := text[call:]
		switch {
		case strings.HasPrefix(name, "mallocgcTiny"), strings.HasPrefix(name, "mallocgcSmallNoscan"), strings.HasPrefix(name, "mallocgcSmallNoScan"):
			k.mallocLines[n] = No
		case strings.HasPrefix(name, "mallocgcSmallScan"):
			k.mallocLines[n] = Yes
		}
	}
	return k
}

// ofRaw is of for a stack that keeps the runtime's frames.
func (k kinder) ofRaw(p allocPath) Kind {
	if len(p.above) == 0 && k.plainNew {
		return KindNew
	}
	return k.of(p)
}

// of returns the kind of allocation that the runtime frames above a site show.
func (k kinder) of(p allocPath) Kind {
	function, via := p.key.function, p.via
	if via != "" {
		function = via
	}
	return kindOf(p.above, function, "")
}

// pointers tells whether the object that a heap profile's stack allocated
// holds pointers.
func (k kinder) pointers(stack []*evidence.Location) Tri {
	for _, l := range stack {
		for _, f := range l.Frames {
			if !strings.HasPrefix(f.Function, "runtime.malloc") {
				return Unknown
			}
			if f.Function == "runtime.mallocgc" {
				if t := k.mallocLines[f.Line]; t != Unknown {
					return t
				}
				continue
			}
			if t := pointersIn([]string{f.Function}); t != Unknown {
				return t
			}
		}
	}
	return Unknown
}
