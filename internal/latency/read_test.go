package latency_test

import (
	"bytes"
	"os"
	"reflect"
	"testing"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
	"github.com/heaptrim/heaptrim/internal/latency"
)

// TestRead reads a trace, one that is cut, and one in which a byte is wrong. The summary is that of a scan, and
// the delays are those of an analysis, with the first error of either.
func TestRead(t *testing.T) {
	whole, err := os.ReadFile("../ingest/exectrace/testdata/go1.26-long.trace")
	if err != nil {
		t.Fatal(err)
	}
	wrong := bytes.Clone(whole)
	wrong[len(wrong)*3/4] ^= 0x7f
	for name, data := range map[string][]byte{"whole": whole, "cut": whole[:len(whole)*3/4], "wrong": wrong} {
		want, scanErr := exectrace.Scan(bytes.NewReader(data), exectrace.Options{})
		report, orderErr := latency.Analyze(bytes.NewReader(data), latency.Options{Delays: true})
		if scanErr == nil {
			scanErr = orderErr
		}
		if (scanErr != nil) != (name != "whole") {
			t.Fatalf("%s: error %v", name, scanErr)
		}
		got, err := latency.Read(t.Context(), name, bytes.NewReader(data), latency.ReadOptions{})
		switch {
		case got == nil || !reflect.DeepEqual(got.Summary, want) || got.Delayed.Events != report.Events || got.Delayed.Length != report.Length:
			t.Errorf("%s: got %+v", name, got)
		case scanErr == nil && (err != nil || got.Problem != ""):
			t.Errorf("%s: error %v, problem %q", name, err, got.Problem)
		case scanErr != nil && (err == nil || got.Problem != scanErr.Error() || err.Error() != name+": "+got.Problem):
			t.Errorf("%s: error %v, problem %q, want %v", name, err, got.Problem, scanErr)
		}
	}
}
