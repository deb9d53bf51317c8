package heaptrim_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/above"
	"github.com/heaptrim/heaptrim/internal/ingest/benchlog"
	"github.com/heaptrim/heaptrim/internal/ingest/escapes"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
	"github.com/heaptrim/heaptrim/internal/ingest/gctrace"
	"github.com/heaptrim/heaptrim/internal/ingest/loadlog"
	"github.com/heaptrim/heaptrim/internal/ingest/metrics"
	"github.com/heaptrim/heaptrim/internal/ingest/objdump"
	"github.com/heaptrim/heaptrim/internal/ingest/perf"
	ppfile "github.com/heaptrim/heaptrim/internal/ingest/pprof"
)

// mutations is how many damaged versions of a file each reader gets.
const mutations = 2000

// mostMemory is how much reading one of the small files below may allocate, damaged or not.
const mostMemory = 256 << 20

// TestDamagedInput gives every reader damaged versions of real files. It must answer with a
// result or an error: a panic fails the test, and so does memory that a damaged length asks
// for.
func TestDamagedInput(t *testing.T) {
	n := mutations
	if testing.Short() {
		n /= 20
	}
	for _, r := range readers() {
		t.Run(r.name, func(t *testing.T) {
			whole := r.sample(t)
			if err := r.read(t, whole); err != nil {
				t.Fatalf("the whole file: %v", err)
			}
			rnd := rand.New(rand.NewPCG(7, uint64(len(whole))))
			refused := 0
			for i := range n {
				data := mutate(rnd, whole)
				before := allocated()
				err := r.read(t, data)
				if used := allocated() - before; used > mostMemory {
					t.Fatalf("mutation %d of %d bytes: reading it allocated %d bytes", i, len(data), used)
				}
				if err != nil {
					refused++
					if err.Error() == "" || strings.Contains(err.Error(), "runtime error") {
						t.Fatalf("mutation %d: error %q", i, err)
					}
				}
			}
			t.Logf("%d of %d refused", refused, n)
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// mutate changes one to four places.
func mutate(rnd *rand.Rand, whole []byte) []byte {
	data := bytes.Clone(whole)
	numbers := []string{"-1", "9223372036854775808", "1e400", "NaN", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x00", "\n", "\t"}
	for range 1 + rnd.IntN(4) {
		if len(data) == 0 {
			return data
		}
		at := rnd.IntN(len(data))
		to := min(len(data), at+1+rnd.IntN(64))
		switch rnd.IntN(7) {
		case 0:
			data[at] ^= 1 << rnd.IntN(8)
		case 1:
			data[at] = byte(rnd.IntN(256))
		case 2:
			data = append(data[:at], data[to:]...)
		case 3:
			data = bytes.Join([][]byte{data[:to], data[at:]}, nil)
		case 4:
			data = bytes.Join([][]byte{data[:at], []byte(numbers[rnd.IntN(len(numbers))]), data[at:]}, nil)
		case 5:
			from := rnd.IntN(len(data))
			copy(data[at:to], bytes.Clone(data[from:]))
		case 6:
			if rnd.IntN(4) == 0 {
				data = data[:at]
			}
		}
	}
	return data
}

// reader is one way into the pipeline.
type reader struct {
	name   string
	sample func(t *testing.T) []byte
	read   func(t *testing.T, data []byte) error
}

func readers() []reader {
	file := func(name string, most int) func(*testing.T) []byte {
		return func(t *testing.T) []byte {
			t.Helper()
			data, err := os.ReadFile(filepath.FromSlash("internal/ingest/" + name))
			if err != nil {
				t.Fatal(err)
			}
			return data[:min(len(data), most)]
		}
	}
	const kib = 1 << 10
	return []reader{
		{"perf script", file("perf/testdata/cpu-clock.txt", 8*kib), readPerf},
		{"trace", file("exectrace/testdata/go1.26.trace", 1<<30), func(_ *testing.T, data []byte) error {
			_, err := exectrace.Scan(bytes.NewReader(data), exectrace.Options{Workers: 1})
			return err
		}},
		{"events of a trace", file("exectrace/testdata/go1.26.trace", 1<<30), func(_ *testing.T, data []byte) error {
			return exectrace.Events(bytes.NewReader(data), ^exectrace.Kinds(0), func(*exectrace.Event, *exectrace.Names) {})
		}},
		{"heap profile", heapProfile, readProfile},
		{"archive", archive, readArchive},
		{"benchmark text", file("benchlog/testdata/verbose.txt", 16*kib), func(_ *testing.T, data []byte) error {
			_, err := benchlog.Read("damaged", bytes.NewReader(data))
			return err
		}},
		{"escapes", file("escapes/testdata/go1.26.8-m2.txt", 16*kib), func(_ *testing.T, data []byte) error {
			_, err := escapes.Scan("damaged", bytes.NewReader(data), escapes.Options{}, func(evidence.Escape) error { return nil })
			return err
		}},
		{"gctrace", file("gctrace/testdata/go1.26.8.txt", 16*kib), func(_ *testing.T, data []byte) error {
			_, err := gctrace.Scan("damaged", bytes.NewReader(data), func(evidence.Cycle) error { return nil })
			return err
		}},
		{"load tool", func(*testing.T) []byte {
			return []byte("Requests/sec: 1200.5\n  50% 1.2ms\n  99% 9.1ms\n12000 requests in 10.00s, 2.5MB read\n")
		},
			func(_ *testing.T, data []byte) error { loadlog.Requests(data); return nil }},
		{"metrics", func(*testing.T) []byte {
			return []byte(strings.Repeat(`{"t_ns":1000,"v":{"/gc/heap/live:bytes":123456,"/cpu/classes/idle:cpu-seconds":1.5}}`+"\n", 20))
		}, func(_ *testing.T, data []byte) error {
			_, err := metrics.Scan("damaged", bytes.NewReader(data), func(evidence.Metrics) error { return nil })
			return err
		}},
		{"functions of the runtime", func(*testing.T) []byte {
			return []byte("heaptrim.above/1\n0x1f0 runtime.mallocgc runtime.growslice\n0x2f0\nend\n")
		}, func(_ *testing.T, data []byte) error {
			_, err := above.Read("damaged", bytes.NewReader(data))
			return err
		}},
		{"machine code", func(*testing.T) []byte {
			return []byte("TEXT main.f(SB) /src/a.go\n  a.go:3\t0x1000\t4883ec08\tSUBQ $0x8, SP\t\n  a.go:4\t0x1004\tc3\tRET\t\n")
		}, func(_ *testing.T, data []byte) error {
			return objdump.Read("damaged", bytes.NewReader(data), func(evidence.Code) error { return nil })
		}},
	}
}

func readPerf(_ *testing.T, data []byte) error {
	p, _, err := perf.Bytes("damaged", string(data))
	if err != nil {
		return err
	}
	return p.Samples.Scan(func(evidence.Sample) error { return nil })
}

// heapProfile is one of this process, without compression: damage to that is found by its sum.
func heapProfile(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&out, 0); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readProfile(t *testing.T, data []byte) error {
	name := filepath.Join(t.TempDir(), "damaged.pprof")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := ppfile.Open(name)
	if err != nil {
		return err
	}
	return p.Samples.Scan(func(evidence.Sample) error { return nil })
}

// archive is a packed recording with two parts.
func archive(t *testing.T) []byte {
	t.Helper()
	dir, file := filepath.Join(t.TempDir(), "b"), filepath.Join(t.TempDir(), "b.tar.zst")
	w, err := bundle.Create(dir, evidence.Manifest{Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	run := w.Run(evidence.Run{Name: "BenchmarkA"})
	for _, name := range []string{"a/x.txt", "a/y.txt"} {
		part := evidence.Part{Path: name, Kind: evidence.KindBench, Pass: evidence.PassTiming}
		if err := w.Add(run, part, func(w io.Writer) error { _, err := io.WriteString(w, strings.Repeat(name, 50)); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(true), bundle.Pack(dir, file)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readArchive(t *testing.T, data []byte) error {
	name := filepath.Join(t.TempDir(), "damaged.tar.zst")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Open(name)
	if err != nil {
		return err
	}
	return b.Close()
}
