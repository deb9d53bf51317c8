package latency_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/heaptrim/heaptrim/internal/latency"
)

// BenchmarkAnalyze reads the trace named by HEAPTRIM_TRACE, or a small one. Compare it
// with BenchmarkPeer of ingest/exectrace.
func BenchmarkAnalyze(b *testing.B) {
	data := []byte(nil)
	if name := os.Getenv("HEAPTRIM_TRACE"); name != "" {
		var err error
		if data, err = os.ReadFile(name); err != nil {
			b.Fatal(err)
		}
	} else {
		data = recordTrace(b)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := latency.Analyze(bytes.NewReader(data), latency.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
