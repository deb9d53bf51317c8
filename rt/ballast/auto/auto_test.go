package auto

import (
	"bytes"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
)

// The tests run their own binary: what the package does is done before a test begins.
func TestMain(m *testing.M) {
	if os.Getenv("AUTO_TEST_CHILD") != "" {
		gogc, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
		// The race detector's own memory is taken off.
		if limit <= 1<<30 && limit > 1<<29 && gogc > 1000 {
			os.Stdout.WriteString("steered\n")
		} else if gogc == 100 {
			os.Stdout.WriteString("unchanged\n")
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestAuto(t *testing.T) {
	f := func(value, stdout, stderr string) {
		t.Helper()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "AUTO_TEST_CHILD=1", "GOGC=", "GOMEMLIMIT=", Variable+"="+value)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil || strings.TrimSpace(string(out)) != stdout || !strings.Contains(errs.String(), stderr) || stderr == "" && errs.Len() > 0 {
			t.Errorf("%s=%s: %v, stdout %q, stderr %q, want %q and %q", Variable, value, err, out, &errs, stdout, stderr)
		}
	}
	f("auto=1GiB", "steered", "")
	f("off", "unchanged", "")
	f("classic=-1GiB", "unchanged", `\"classic=-1GiB\"`)
	f("steer=1GiB,max=much", "unchanged", "is not a number of bytes")
}
