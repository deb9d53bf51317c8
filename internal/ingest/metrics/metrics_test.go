package metrics_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/metrics"
	"github.com/heaptrim/heaptrim/internal/unit"
)

const sampleLine = `{"t_ns":12345,"v":{"/gc/heap/allocs:bytes":1,"/gc/gomemlimit:bytes":9223372036854775807,"/cpu/classes/user:cpu-seconds":1.5e-05}}` + "\n"

func scan(t *testing.T, in string) ([]evidence.Metrics, metrics.Stats) {
	t.Helper()
	var out []evidence.Metrics
	stats, err := metrics.Scan("in", strings.NewReader(in), func(m evidence.Metrics) error {
		out = append(out, m)
		return nil
	})
	if err != nil {
		t.Fatalf("Scan: %v", err)
	}
	return out, stats
}

func TestScan(t *testing.T) {
	got, stats := scan(t, sampleLine+"\n"+`{"t_ns":20000,"v":{}}`)
	if len(got) != 2 || stats.Samples != 2 || stats.Lines != 3 || stats.Malformed != 0 || stats.Truncated {
		t.Fatalf("got %d samples, %+v", len(got), stats)
	}
	want := map[string]float64{"/gc/heap/allocs:bytes": 1, "/gc/gomemlimit:bytes": math.MaxInt64, "/cpu/classes/user:cpu-seconds": 1.5e-5}
	if got[0].At != 12345*time.Nanosecond || fmt.Sprint(got[0].Values) != fmt.Sprint(want) {
		t.Errorf("first sample: got %+v, want %v", got[0], want)
	}
}

// TestTruncated cuts a file at every byte: only whole samples come out.
func TestTruncated(t *testing.T) {
	in := sampleLine + sampleLine
	for n := range len(in) + 1 {
		got, stats := scan(t, in[:n])
		// The closing brace ends a sample; its newline adds nothing.
		whole := (n + 1) / len(sampleLine)
		torn := n > whole*len(sampleLine)
		if len(got) != whole || stats.Truncated != torn || stats.Malformed != 0 {
			t.Errorf("%d bytes: %d samples, %+v, want %d, truncated %v", n, len(got), stats, whole, torn)
		}
	}
	if _, stats := scan(t, sampleLine+strings.Repeat("\x00", 4096)); !stats.Truncated || stats.Samples != 1 {
		t.Errorf("a tail of zeros: %+v", stats)
	}
	if _, stats := scan(t, sampleLine+strings.Repeat("x", 3<<20)); !stats.Truncated || stats.Samples != 1 {
		t.Errorf("a long tail: %+v", stats)
	}
}

func TestScanMalformed(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		got, stats := scan(t, sampleLine+line+"\n"+sampleLine)
		if len(got) != 2 || stats.Malformed != 1 || stats.Truncated || stats.Errors[0].Line != 2 || !strings.Contains(stats.Errors[0].Error(), want) {
			t.Errorf("Scan(%.60q): %d samples, %+v, errors %v, want 2, in:2: … %q", line, len(got), stats, stats.Errors, want)
		}
	}
	f("hello", "invalid character")
	f("{}", "needs t_ns")
	f("[]", "cannot unmarshal")
	f(`{"t_ns":1}`, "needs")
	f(`{"v":{}}`, "needs")
	f(`{"t_ns":-1,"v":{}}`, "negative")
	f(`{"t_ns":1.5,"v":{}}`, "t_ns")
	f(`{"t_ns":1,"v":{"a":null}}`, "no value")
	f(`{"t_ns":1,"v":{"a":NaN}}`, "invalid character")
	f(`{"t_ns":1,"v":{"a":1e999}}`, "1e999")
	f(`{"t_ns":1,"v":{"a":"1"}}`, "string")
	f(`{"t_ns":99999999999999999999,"v":{}}`, "99999999999999999999")
	f(strings.TrimSuffix(sampleLine, "\n")+sampleLine[:20], "after top-level value")
	f(`{"t_ns":1,"v":{"a":`+strings.Repeat("[", 100000), "max depth")
	f(`{"t_ns":1,"v":{"`+strings.Repeat("a", 2<<20)+`":1}}`, "longer than")

	_, stats := scan(t, strings.Repeat("x\n", 1000))
	if stats.Malformed != 1000 || len(stats.Errors) != metrics.MaxErrors {
		t.Errorf("got %d malformed, %d errors, want 1000, %d", stats.Malformed, len(stats.Errors), metrics.MaxErrors)
	}
}

func TestScanStops(t *testing.T) {
	stop := errors.New("enough")
	if stats, err := metrics.Scan("in", strings.NewReader(sampleLine+sampleLine), func(evidence.Metrics) error { return stop }); err != stop || stats.Samples != 1 {
		t.Errorf("Scan: %+v, error %v, want 1 sample, %v", stats, err, stop)
	}
	broken := io.MultiReader(strings.NewReader(sampleLine+sampleLine[:30]), iotest.ErrReader(os.ErrDeadlineExceeded))
	stats, err := metrics.Scan("m.jsonl", broken, func(evidence.Metrics) error { return nil })
	if !errors.Is(err, os.ErrDeadlineExceeded) || !strings.Contains(err.Error(), "m.jsonl, line 2") || stats.Samples != 1 {
		t.Errorf("Scan of a broken reader: %+v, error %v", stats, err)
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(sampleLine + sampleLine[:40]))
	f.Add([]byte(`{"t_ns":1,"v":{"a":null}}` + "\n" + `{"T_NS":3,"v":{"a":-0}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		n := 0
		stats, err := metrics.Scan("fuzz", strings.NewReader(string(in)), func(m evidence.Metrics) error {
			n++
			for k, v := range m.Values {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%q is %v", k, v)
				}
			}
			if m.At < 0 {
				t.Errorf("time %v", m.At)
			}
			return nil
		})
		if err != nil || n != stats.Samples {
			t.Errorf("%d samples, %+v, error %v", n, stats, err)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	var line strings.Builder
	line.WriteString(`{"t_ns":1,"v":{"/x":0`)
	for i := range 60 {
		fmt.Fprintf(&line, `,"/memory/classes/metric-%d:bytes":%d`, i, i*1000003)
	}
	line.WriteString("}}\n")
	in := strings.Repeat(line.String(), 1000)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, err := metrics.Scan("in", strings.NewReader(in), func(evidence.Metrics) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	in, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(in)
}

// TestMemStatsReal reads heap profiles in text as three toolchains print them.
func TestMemStatsReal(t *testing.T) {
	for _, name := range []string{"heap-go1.25.13.txt", "heap-go1.26.8.txt", "heap-go1.27.4.txt"} {
		m, err := metrics.ReadMemStats(name, strings.NewReader(readFile(t, name)))
		if err != nil {
			t.Error(err)
			continue
		}
		if m.NumGC != 1 || m.NumForcedGC != 1 || len(m.PausesSince(0)) != 1 || m.PausesSince(0)[0] <= 0 || m.LastGC.Year() < 2025 {
			t.Errorf("%s: cycles %d, pauses %v, last %v", name, m.NumGC, m.PausesSince(0), m.LastGC)
		}
		sizes := []unit.Bytes{m.Alloc, m.TotalAlloc, m.Sys, m.HeapAlloc, m.HeapSys, m.HeapIdle, m.HeapInuse, m.HeapReleased, m.NextGC, m.MaxRSS}
		for i, v := range sizes {
			if v < 100*unit.KiB || v > 100*unit.MiB {
				t.Errorf("%s: size %d is %v", name, i, v)
			}
		}
		if m.Mallocs-m.Frees != m.HeapObjects || m.HeapObjects < 200 || m.HeapSys != m.HeapIdle+m.HeapInuse || m.GCCPUFraction <= 0 {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestMemStatsErrors(t *testing.T) {
	good := readFile(t, "heap-go1.26.8.txt")
	f := func(in, want string) {
		t.Helper()
		m, err := metrics.ReadMemStats("in", strings.NewReader(in))
		var syntax *metrics.SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) || m != (metrics.MemStats{}) {
			t.Errorf("got error %v, want a SyntaxError with %q", err, want)
		}
	}
	edit := func(key, value string) string {
		a := strings.Index(good, "# "+key+" = ")
		if a < 0 {
			t.Fatalf("no %s", key)
		}
		b := a + strings.IndexByte(good[a:], '\n')
		return good[:a] + "# " + key + " = " + value + good[b:]
	}
	f("", "no line # runtime.MemStats")
	f("\x1f\x8bprofile", "debug=1")
	f(edit("Alloc", "-1"), "Alloc")
	f(edit("Alloc", "99999999999999999999"), "out of range")
	f(edit("NumGC", "many"), "invalid syntax")
	f(edit("GCCPUFraction", "NaN"), "not finite")
	f(edit("GCCPUFraction", "x"), "GCCPUFraction")
	f(edit("PauseNs", "[1 2 3]"), "want 256")
	f(edit("PauseNs", "1"), "want 256")
	f(edit("PauseNs", "["+strings.Repeat("x ", 256)+"]"), "invalid syntax")
	f(edit("Sys", strings.Repeat("9", 100<<10)), "too long")

	off, err := metrics.ReadMemStats("in", strings.NewReader(edit("NextGC", "18446744073709551615")))
	if err != nil || off.NextGC != math.MaxInt64 {
		t.Errorf("NextGC with GOGC=off: %d, error %v", off.NextGC, err)
	}
	long := "0: 0 [0: 0] @" + strings.Repeat(" 0x1", 100<<10) + "\n" + good
	if _, err := metrics.ReadMemStats("in", strings.NewReader(long)); err != nil {
		t.Errorf("behind a long record: %v", err)
	}
	_, err = metrics.ReadMemStats("h.txt", iotest.ErrReader(os.ErrDeadlineExceeded))
	if !errors.Is(err, os.ErrDeadlineExceeded) || !strings.Contains(err.Error(), "h.txt, line 1") {
		t.Errorf("of a broken reader: %v", err)
	}
}

// TestMemStatsTruncated cuts the text at every byte: the result is an error or
// the whole, save a MaxRSS that is not there at all.
func TestMemStatsTruncated(t *testing.T) {
	in := readFile(t, "heap-go1.26.8.txt")
	in = in[strings.Index(in, "# runtime"):]
	want, err := metrics.ReadMemStats("in", strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(in) {
		got, err := metrics.ReadMemStats("in", strings.NewReader(in[:n]))
		if err != nil {
			continue
		}
		if got.MaxRSS == 0 {
			got.MaxRSS = want.MaxRSS
		}
		if got != want {
			t.Errorf("%d bytes: got %+v", n, got)
		}
	}
}

func TestPausesSince(t *testing.T) {
	m := metrics.MemStats{NumGC: 300}
	for i := range m.NumGC {
		m.PauseNs[i%256] = time.Duration(i + 1) // pause of cycle i+1
	}
	f := func(since int64, wantLen int, wantFirst time.Duration) {
		t.Helper()
		got := m.PausesSince(since)
		if len(got) != wantLen || wantLen > 0 && (got[0] != wantFirst || got[wantLen-1] != 300) {
			t.Errorf("PausesSince(%d) = %v, want %d from %d on", since, got, wantLen, wantFirst)
		}
	}
	f(0, 256, 45)
	f(290, 10, 291)
	f(300, 0, 0)
	f(400, 0, 0)
	f(-5, 256, 45)
}

func FuzzReadMemStats(f *testing.F) {
	in, err := os.ReadFile("testdata/heap-go1.27.4.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(in))
	f.Add("# runtime.MemStats\n# Alloc = 3\n# NumGC = 9223372036854775807\n# LastGC = 1\n# DebugGC = false\n")
	f.Fuzz(func(t *testing.T, in string) {
		m, err := metrics.ReadMemStats("fuzz", strings.NewReader(in))
		if err != nil {
			return
		}
		for _, p := range m.PausesSince(0) {
			if p < 0 {
				t.Errorf("pause %v", p)
			}
		}
	})
}
