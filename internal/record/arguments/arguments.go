// Package arguments says what words of a command line name: files that were recorded, bundles, or
// neither.
package arguments

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/bundle"
)

// ArchiveSuffix ends the names of bundles in one file.
const ArchiveSuffix = ".tar.zst"

// IsBundle reports whether a path is that of a bundle: an archive, or a folder.
func IsBundle(path string) bool {
	if strings.HasSuffix(path, ArchiveSuffix) {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// IsFileName reports whether an argument that is no recording has a name such as
// recordings have, and packages do not.
func IsFileName(a string) bool {
	for _, suffix := range []string{ArchiveSuffix, ".pprof", ".prof", ".pb.gz", ".gz", ".log", ".txt", ".out", ".json", ".jsonl", ".trace", ".data"} {
		if strings.HasSuffix(a, suffix) {
			return true
		}
	}
	return false
}

// IsRecording reports whether an argument is a file, or a directory that holds
// a bundle. Go source files are package arguments.
func IsRecording(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if !info.IsDir() {
		return !strings.HasSuffix(path, ".go")
	}
	_, err = os.Stat(filepath.Join(path, bundle.ManifestName))
	return err == nil
}

// WithBareFolder adds to an error of packages that an argument names a folder in
// which there is nothing to look at, where that is so: what the go command says
// of it is of packages that have its name.
func WithBareFolder(err error, args []string, path func(string) string) error {
	for _, a := range args {
		entries, no := os.ReadDir(path(a))
		if no != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), ".go") }) {
			continue
		}
		what := "the folder holds"
		if len(entries) == 0 {
			what = "the folder is empty: it holds"
		}
		return fmt.Errorf("%s: %s neither Go files nor a recording, which has a %s (%w)", a, what, bundle.ManifestName, err)
	}
	return err
}
