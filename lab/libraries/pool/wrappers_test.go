package pool

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/heaptrim/heaptrim/rt/pool"
)

// BenchmarkWrappers asks whether a pool of a well-known type – a bytes.Buffer, a
// bufio.Writer, a gzip.Writer, a buffer to encode JSON to – could be better than an Of
// of that type: what is made anew, what users write by hand around a sync.Pool, and Of.
func BenchmarkWrappers(b *testing.B) {
	line := strings.Repeat("how now brown cow ", 4)
	wrapped(b, "bytes.Buffer",
		func() *bytes.Buffer { return new(bytes.Buffer) },
		(*bytes.Buffer).Reset,
		func(x *bytes.Buffer) {
			for range 32 {
				x.WriteString(line)
			}
		})
	wrapped(b, "bufio.Writer",
		func() *bufio.Writer { return bufio.NewWriter(nil) },
		func(x *bufio.Writer) { x.Reset(nil) },
		func(x *bufio.Writer) {
			x.Reset(io.Discard)
			for range 32 {
				x.WriteString(line)
			}
			x.Flush()
		})
	text := []byte(line)
	wrapped(b, "gzip.Writer",
		func() *gzip.Writer { return gzip.NewWriter(io.Discard) },
		func(x *gzip.Writer) { x.Reset(io.Discard) },
		func(x *gzip.Writer) {
			x.Write(text)
			x.Close()
		})
	record := struct {
		Name   string
		Values []int
	}{line, []int{1, 2, 3, 4, 5, 6, 7, 8}}
	wrapped(b, "json",
		func() *bytes.Buffer { return new(bytes.Buffer) },
		(*bytes.Buffer).Reset,
		func(x *bytes.Buffer) {
			if err := json.NewEncoder(x).Encode(&record); err != nil {
				panic(err)
			}
		})
}

func wrapped[T any](b *testing.B, name string, fresh func() *T, reset, use func(*T)) {
	parallel := func(way string, op func()) {
		measure(b, name+"-"+way, func(b *testing.B, start func()) {
			start()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					op()
				}
			})
		})
	}
	parallel("new", func() { use(fresh()) })
	byHand := sync.Pool{New: func() any { return fresh() }}
	parallel("by-hand", func() {
		x := byHand.Get().(*T)
		use(x)
		reset(x)
		byHand.Put(x)
	})
	of := pool.Of[T]{New: fresh, Reset: reset}
	parallel("heaptrim-of", func() {
		x := of.Get()
		use(x)
		of.Put(x)
	})
}
