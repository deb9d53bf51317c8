package check

import (
	"go/build"
	"os"
	"path/filepath"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
)

// Source finds a finding's file below the module it was recorded from.
func Source(d *finding.Diagnosis) func(string) ([]byte, error) {
	return func(file string) ([]byte, error) {
		if filepath.IsAbs(file) {
			return os.ReadFile(file)
		}
		// The report shortens files of the standard library and of other modules.
		roots := []string{d.Target.ModuleDir, filepath.Join(d.Environment.GOROOT, "src"),
			filepath.Join(build.Default.GOPATH, "pkg", "mod")}
		var errs []error
		for _, root := range roots {
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
			if err == nil {
				return text, nil
			}
			errs = append(errs, err)
		}
		return nil, errs[0]
	}
}

// Title names the recording for the browser's tab.
func Title(d *finding.Diagnosis) string {
	name := strings.Join(d.Target.Args, " ")
	if name == "" {
		name = d.Target.Module
	}
	return "heaptrim: " + name
}
