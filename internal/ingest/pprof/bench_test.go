package pprof

import (
	"bufio"
	"bytes"
	stdgzip "compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// benchSizes gives the numbers of samples that make profiles of the named
// compressed size.
var benchSizes = []struct {
	name    string
	samples int
	long    bool // left out under -short
}{
	{"1.6MB", 18_000, false},
	{"13MB", 180_000, false},
	{"100MB", 1_400_000, true},
}

// BenchmarkRead compares three ways to sum a CPU profile by leaf function:
// this package, google's reader, and inflating alone as the floor. MB/s counts
// compressed bytes. peak-MB is the largest live-and-dead heap seen above the
// level before, taken in a run of its own that is not timed.
func BenchmarkRead(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(size.name, func(b *testing.B) {
			if size.long && testing.Short() {
				b.Skip("makes a large file")
			}
			path := filepath.Join(b.TempDir(), "cpu.pprof")
			makeProfile(b, path, size.samples)
			var sums [2]map[string]int64
			b.Run("heaptrim", func(b *testing.B) { sums[0] = benchRead(b, path, sumStreamed) })
			b.Run("google", func(b *testing.B) { sums[1] = benchRead(b, path, sumGoogle) })
			if a, g := fmt.Sprint(sums[0]), fmt.Sprint(sums[1]); sums[0] != nil && sums[1] != nil && a != g {
				b.Errorf("the two readers differ: %.200s, %.200s", a, g)
			}
			b.Run("inflate-std", func(b *testing.B) {
				benchRead(b, path, inflateWith(func(r io.Reader) (io.Reader, error) { return stdgzip.NewReader(r) }))
			})
			b.Run("inflate-klauspost", func(b *testing.B) {
				benchRead(b, path, inflateWith(func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }))
			})
		})
	}
}

// makeProfile writes a synthetic CPU profile: 5000 functions, 30000 locations,
// every fifth with inlined calls, stacks of 10 to 50 frames.
func makeProfile(b *testing.B, path string, samples int) {
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	w, err := NewWriter(out, Header{Types: []evidence.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}})
	if err != nil {
		b.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	locations := benchLocations(rnd)
	stack := make([][]evidence.Frame, 0, 50)
	for range samples {
		stack = stack[:0]
		for range 10 + rnd.IntN(41) {
			stack = append(stack, locations[rnd.IntN(len(locations))])
		}
		n := 1 + rnd.Int64N(3)
		if err := w.Add(stack, []int64{n, n * 10_000_000}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
}

func benchLocations(rnd *rand.Rand) [][]evidence.Frame {
	locations := make([][]evidence.Frame, 30_000)
	for i := range locations {
		n := 1
		if i%5 == 0 {
			n += 1 + rnd.IntN(2)
		}
		for range n {
			f := rnd.IntN(5000)
			locations[i] = append(locations[i], evidence.Frame{
				Function: fmt.Sprintf("example.com/service/internal/pkg%d.(*Type%d).Method%d", f%100, f%700, f),
				File:     fmt.Sprintf("/src/service/internal/pkg%d/file%d.go", f%100, f%700),
				Line:     1 + f%300 + rnd.IntN(60), StartLine: 1 + f%300,
			})
		}
	}
	return locations
}

func benchRead(b *testing.B, path string, read func(path string) (map[string]int64, error)) map[string]int64 {
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	var sums map[string]int64
	for b.Loop() {
		if sums, err = read(path); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	peak := peakHeap(func() {
		if _, err := read(path); err != nil {
			b.Error(err)
		}
	})
	b.ReportMetric(float64(peak)/1e6, "peak-MB")
	return sums
}

// peakHeap samples the size of the heap's objects while f runs and returns the
// largest growth seen.
func peakHeap(f func()) uint64 {
	objects := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	runtime.GC()
	before := objects()
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		most := before
		for {
			most = max(most, objects())
			select {
			case <-tick.C:
			case <-stop:
				peak <- max(most, objects())
				return
			}
		}
	}()
	f()
	close(stop)
	return <-peak - before
}

func sumStreamed(path string) (map[string]int64, error) {
	p, err := Open(path)
	if err != nil {
		return nil, err
	}
	byLocation := make([]int64, p.Locations)
	name := make([]string, p.Locations)
	err = p.Samples.Scan(func(s evidence.Sample) error {
		leaf := s.Stack[0]
		byLocation[leaf.Index] += s.Values[1]
		name[leaf.Index] = leaf.Frames[0].Function
		return nil
	})
	sums := make(map[string]int64)
	for i, n := range byLocation {
		if name[i] != "" {
			sums[name[i]] += n
		}
	}
	return sums, err
}

func sumGoogle(path string) (map[string]int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return nil, err
	}
	sums := make(map[string]int64)
	for _, s := range p.Sample {
		sums[s.Location[0].Line[0].Function.Name] += s.Value[1]
	}
	return sums, nil
}

func inflateWith(open func(io.Reader) (io.Reader, error)) func(string) (map[string]int64, error) {
	return func(path string) (map[string]int64, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		z, err := open(bufio.NewReader(f))
		if err != nil {
			return nil, err
		}
		_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{z}, make([]byte, 256<<10))
		return nil, err
	}
}

// BenchmarkSmall is the usual case: a Go profile of some ten kilobytes.
func BenchmarkSmall(b *testing.B) {
	data := compress(encode(b, synthetic(500)))
	b.Run("heaptrim", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p, err := Bytes("n", data)
			if err != nil {
				b.Fatal(err)
			}
			if err := p.Samples.Scan(func(evidence.Sample) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("google", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := profile.Parse(bytes.NewReader(data)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
