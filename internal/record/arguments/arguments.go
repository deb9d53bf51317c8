// Package arguments says what words of a command line name: files that were recorded, bundles, or
// neither.
package arguments

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// ArchiveSuffix ends the names of bundles in one file.
const ArchiveSuffix = ".tar.zst"

// Misuse is an error in the words of a command line.
type Misuse string

// Error implements error.
func (m Misuse) Error() string { return string(m) }

// address matches the address of a service without its scheme, such as localhost:6060.
var address = regexp.MustCompile(`^([\w.-]*|\[[0-9a-fA-F:]+\]):\d+(/.*)?$`)

// Kind says what kind of target the words of a command line name. path is where a file lies. The
// error is a Misuse, or says why a file cannot be seen.
func Kind(args []string, path func(string) string) (string, error) {
	urls, files := 0, 0
	for _, a := range args {
		switch {
		case strings.HasPrefix(a, "http://"), strings.HasPrefix(a, "https://"):
			urls++
		case IsRecording(path(a)):
			files++
		case address.MatchString(a):
			return "", Misuse(a + " is no package; the address of a service begins with http://, as in http://" + a)
		case IsFileName(a):
			// It would be looked for as a package, and not be found as one.
			if _, err := os.Stat(path(a)); err != nil {
				return "", err
			}
		}
	}
	switch {
	case urls == 1 && len(args) == 1:
		return evidence.TargetLive, nil
	case urls > 0:
		return "", Misuse("one URL at a time, and nothing beside it")
	case files == 0:
		return evidence.TargetPackages, nil
	case files == len(args):
		return evidence.TargetFiles, nil
	}
	i := slices.IndexFunc(args, func(a string) bool { return !IsRecording(path(a)) })
	return "", Misuse(args[i] + " is neither a recorded file nor a bundle; files and packages cannot be mixed")
}

// Fit returns a Misuse if recording a target of a kind would ignore a flag that is given. given
// maps the names of flags to their values.
func Fit(kind string, given map[string]string) error {
	unfit := map[string][]string{
		evidence.TargetLive:     {"bench", "benchtime", "count", "budget", "tags", "verify"},
		evidence.TargetExec:     {"bench", "benchtime", "count", "budget", "gc"},
		evidence.TargetFiles:    {"bench", "benchtime", "count", "for", "gc", "trace"},
		evidence.TargetPackages: {"for", "gc", "trace"},
	}
	others := map[string]string{"for": "services and programs", "trace": "services and programs", "gc": "services"}
	instead := map[string]string{
		evidence.TargetLive:  "a running service is recorded for the time of -for",
		evidence.TargetExec:  "-exec records the program for the time of its load or of -for",
		evidence.TargetFiles: "files are recorded already",

		evidence.TargetPackages: "benchmarks are recorded for -benchtime or within -budget",
	}
	for _, name := range unfit[kind] {
		if v, ok := given[name]; ok && (name != "verify" || v != "0s") {
			return Misuse("-" + name + " is for " + cmp.Or(others[name], "packages") + "; " + instead[kind])
		}
	}
	if kind == evidence.TargetLive && given["for"] == "0s" {
		return Misuse("-for of a service must be above 0; without it, the window is 30s")
	}
	return nil
}

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
