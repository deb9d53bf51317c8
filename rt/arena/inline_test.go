package arena_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestFastPathsInline wants the compiler to inline what the figures depend on;
// New is at the very limit of its budget.
func TestFastPathsInline(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the compiler")
	}
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Skipf("no compiler here: %v\n%s", err, out)
	}
	for _, method := range []string{"New", "Append"} {
		if want := "can inline (*Slab[go.shape.uint8])." + method; !strings.Contains(string(out), want+"\n") {
			t.Errorf("the compiler does not say %q", want)
		}
	}
}
