package arena_test

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// TestFastPathsInline wants the compiler to inline what the figures depend on;
// both forms of New are at the very limit of its budget.
func TestFastPathsInline(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the compiler")
	}
	out, err := exec.Command("go", "test", "-c", "-o", os.DevNull, "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Skipf("no compiler here: %v\n%s", err, out)
	}
	for _, want := range []string{
		`can inline \(\*Slab\[go\.shape\.uint8\]\)\.New\n`,
		`can inline \(\*Slab\[go\.shape\.uint8\]\)\.Append\n`,
		`_test\.go:[0-9:]+ inlining call to arena\.New\[go\.shape\.`,
	} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("the compiler does not say %s", want)
		}
	}
}
