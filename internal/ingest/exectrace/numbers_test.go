package exectrace

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// BenchmarkNumbers reads the numbers of all events of the trace named by HEAPTRIM_TRACE, one after the
// other, and does nothing with them. No scan that reads all numbers can be faster.
func BenchmarkNumbers(b *testing.B) {
	data, err := os.ReadFile(os.Getenv("HEAPTRIM_TRACE"))
	if err != nil {
		b.Skip("HEAPTRIM_TRACE names no trace")
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := readNumbers(bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
	}
}

func readNumbers(r io.Reader) error {
	v, err := readHeader(r)
	if err != nil {
		return err
	}
	f, counts, buf := newFramer(r, v), wire.Arguments(), make([]byte, wire.MaxBatchSize+wire.Slack)
	for {
		g, err := f.next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		for i := range g.batches {
			b := &g.batches[i]
			if b.holds(v) != eventData {
				continue
			}
			if err := g.load(b, buf); err != nil {
				return err
			}
			for pos := 0; pos < b.end-b.start; {
				n := counts[buf[pos]]
				pos++
				for range n {
					_, pos = wire.Number(buf, pos)
				}
			}
		}
	}
}
