package latency_test

import (
	"bytes"
	"os"
	"reflect"
	"testing"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
	"github.com/heaptrim/heaptrim/internal/latency"
)

// TestRead reads a trace, parts of it, and the trace with a wrong byte at many places. The summary is that of a scan,
// and the delays are those of an analysis, with the first error of either.
func TestRead(t *testing.T) {
	whole, err := os.ReadFile("../ingest/exectrace/testdata/go1.26-long.trace")
	if err != nil {
		t.Fatal(err)
	}
	all := [][]byte{whole}
	for at := len(whole) / 3; at < len(whole); at += len(whole) / 24 {
		wrong := bytes.Clone(whole)
		wrong[at] ^= 0x7f
		all = append(all, whole[:at], wrong)
	}
	errors := [2]int{}
	for _, data := range all {
		want, wantErr := exectrace.Scan(bytes.NewReader(data), exectrace.Options{})
		report, orderErr := latency.Analyze(bytes.NewReader(data), latency.Options{Delays: true})
		switch {
		case wantErr != nil:
			errors[0]++
		case orderErr != nil:
			errors[1]++
			wantErr = orderErr
		}
		got, err := latency.Read(t.Context(), "t", bytes.NewReader(data), latency.ReadOptions{})
		switch {
		case got == nil || !reflect.DeepEqual(got.Summary, want) || got.Delayed.Events != report.Events || got.Delayed.Length != report.Length:
			t.Errorf("got %+v", got)
		case wantErr == nil && (err != nil || got.Problem != ""):
			t.Errorf("error %v, problem %q", err, got.Problem)
		case wantErr != nil && (err == nil || got.Problem != wantErr.Error() || err.Error() != "t: "+got.Problem):
			t.Errorf("error %v, problem %q, want %v", err, got.Problem, wantErr)
		}
	}
	if errors[0] == 0 || errors[1] == 0 {
		t.Errorf("%d traces with an error that a scan sees, and %d with another; there should be both", errors[0], errors[1])
	}
}
