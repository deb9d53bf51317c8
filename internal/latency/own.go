package latency

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

// boundary separates the user's own code from libraries, as far as a trace and Options.Own
// allow.
type boundary []string

// owned says how close a function is to the user's code.
type owned int

const (
	standard owned = iota // in the standard library
	library               // in another module
	users                 // in the user's own code
)

// of returns the owner of a function. Without paths of the user's code, everything outside
// the standard library is the user's.
func (b boundary) of(function string) owned {
	pkg := strings.TrimSuffix(packageOf(function), "_test")
	first, _, _ := strings.Cut(pkg, "/")
	switch {
	case pkg == "main", pkg == "command-line-arguments":
		return users
	case b.has(pkg):
		return users
	case !strings.Contains(first, "."):
		return standard
	case len(b) == 0:
		return users
	}
	return library
}

func (b boundary) has(pkg string) bool {
	for _, p := range b {
		if rest, ok := strings.CutPrefix(pkg, strings.TrimSuffix(p, "/...")); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// packageOf returns the import path of a function: everything up to the first dot
// after the last slash, without type arguments. Dots of the last path element are
// escaped.
func packageOf(function string) string {
	name, _, _ := strings.Cut(function, "[")
	slash := strings.LastIndexByte(name, '/') + 1
	last, _, _ := strings.Cut(name[slash:], ".")
	return name[:slash] + strings.ReplaceAll(last, "%2e", ".")
}

// nearest keeps the frame that the user can change best: the innermost one of the
// user's own code, else of a library, else of the standard library.
type nearest struct {
	frame exectrace.Frame
	whose owned
	any   bool
}

func (n *nearest) see(f exectrace.Frame, whose owned) {
	if !n.any || whose > n.whose {
		n.frame, n.whose, n.any = f, whose, true
	}
}
