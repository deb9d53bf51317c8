//go:build !heaptrimcheck && !race

package pool_test

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// TestFastPathsInline wants the compiler to inline what the figures depend on, as
// TestAllocationBudget calls it.
func TestFastPathsInline(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the compiler")
	}
	out, err := exec.Command("go", "test", "-c", "-o", os.DevNull, "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Skipf("no compiler here: %v\n%s", err, out)
	}
	for _, call := range []string{`Of\[go\.shape\.\[100\]int\]\)\.Get`, `Of\[go\.shape\.\[100\]int\]\)\.Put`,
		`Bytes\)\.Local`} {
		want := `_test\.go:[0-9:]+ inlining call to pool\.\(\*` + call + `\n`
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("the compiler does not say %s", want)
		}
	}
}
