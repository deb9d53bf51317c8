package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// sarifMultitool is the standard's validator, at the release that the tests were written for.
const sarifMultitool = "@microsoft/sarif-multitool@5.7.0"

// TestSARIFValidates: a log follows the schema of SARIF 2.1.0 and breaks none of the rules
// that the validator has for the standard and for code scanning on GitHub.
func TestSARIFValidates(t *testing.T) {
	if testing.Short() {
		t.Skip("installs the validator of SARIF")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("no npm here, which the validator of SARIF comes from")
	}
	dir := t.TempDir()
	if out, err := exec.Command(npm, "install", "--prefix", dir, "--no-audit", "--no-fund", sarifMultitool).
		CombinedOutput(); err != nil {
		t.Skipf("npm cannot install the validator of SARIF: %v\n%s", err, out)
	}
	tools, err := filepath.Glob(filepath.Join(dir, "node_modules", "@microsoft", "*", "Sarif.Multitool"))
	if err != nil || len(tools) == 0 {
		t.Skipf("the validator of SARIF is not made for this platform: %v", err)
	}
	if err := os.Chmod(tools[0], 0o755); err != nil {
		t.Fatal(err)
	}
	log, verdict := filepath.Join(dir, "report.sarif"), filepath.Join(dir, "verdict.sarif")
	args := append([]string{"check", "-threshold", "0", "-html", "", "-sarif", log}, formatsProfiles(t)...)
	var said bytes.Buffer
	if code := run(t.Context(), args, stdio{&said, &said}); code != exitClean && code != exitFindings {
		t.Fatalf("%q exits with %d: %s", args, code, &said)
	}
	cmd := exec.Command(tools[0], "validate", log, "--rule-kind", "Sarif;Ghas", "--level", "Error;Warning",
		"--output", verdict)
	cmd.Env = append(os.Environ(), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1")
	out, err := cmd.CombinedOutput()
	text, readErr := os.ReadFile(verdict)
	if readErr != nil {
		t.Fatalf("the validator wrote no verdict: %v\n%s", err, out)
	}
	var v struct {
		Runs []struct{ Results []json.RawMessage }
	}
	if err := json.Unmarshal(text, &v); err != nil || len(v.Runs) != 1 {
		t.Fatalf("the validator's verdict: %v\n%s", err, out)
	}
	if len(v.Runs[0].Results) > 0 {
		t.Errorf("the validator finds faults:\n%s", out)
	}
}
