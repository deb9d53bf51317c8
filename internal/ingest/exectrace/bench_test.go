package exectrace_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

// The benchmarks read the trace named by HEAPTRIM_TRACE, or a small one; lab/trace makes
// large ones and measures memory too.
func benchmarkTrace(b *testing.B) []byte {
	if name := os.Getenv("HEAPTRIM_TRACE"); name != "" {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		return data
	}
	return recordTrace(b)
}

func BenchmarkScan1(b *testing.B) { benchmarkScan(b, 1) }
func BenchmarkScan2(b *testing.B) { benchmarkScan(b, 2) }

func benchmarkScan(b *testing.B, workers int) {
	data := benchmarkTrace(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := exectrace.Scan(bytes.NewReader(data), exectrace.Options{Workers: workers}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEvents puts all events in order and does nothing with them.
func BenchmarkEvents(b *testing.B) {
	data := benchmarkTrace(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := exectrace.Events(bytes.NewReader(data), exectrace.AllKinds, func(*exectrace.Event, *exectrace.Names) {}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPeer reads all events by x/exp/trace and does nothing with them.
func BenchmarkPeer(b *testing.B) {
	data := benchmarkTrace(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		r, err := trace.NewReader(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = r.ReadEvent()
		}
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
}
