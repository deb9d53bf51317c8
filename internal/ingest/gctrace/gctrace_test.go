package gctrace_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/gctrace"
	"github.com/heaptrim/heaptrim/internal/unit"
)

func scan(t *testing.T, in string) ([]evidence.Cycle, gctrace.Stats) {
	t.Helper()
	var out []evidence.Cycle
	stats, err := gctrace.Scan("in", strings.NewReader(in), func(c evidence.Cycle) error {
		out = append(out, c)
		return nil
	})
	if err != nil {
		t.Fatalf("Scan: %v", err)
	}
	return out, stats
}

const (
	cycleLine = "gc 12 @0.033s 24%: 0.081+4.3+0.062 ms clock, 0.16+2.6/0.83/0.068+0.12 ms cpu, 17->22->11 MB, 20 MB goal, 1 MB stacks, 3 MB globals, 2 P\n"
	pacerLine = "pacer: 54% CPU (25 exp.) for 1638768+2336+153754 B work (1423402 B exp.) in 18414080 B -> 23763456 B (∆goal 2113894, cons/mark +2.556187e+000)\n"
)

func wantCycle() evidence.Cycle {
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	return evidence.Cycle{
		N:         12,
		At:        us(33000 + 81 + 4300 + 62),
		Wall:      evidence.PhaseWall{SweepTermination: us(81), ConcurrentMark: us(4300), MarkTermination: us(62)},
		Used:      evidence.PhaseCPU{SweepTermination: us(160), Assist: us(2600), Background: us(830), Idle: us(68), MarkTermination: us(120)},
		HeapStart: 17 * unit.MiB,
		HeapEnd:   22 * unit.MiB,
		HeapLive:  11 * unit.MiB,
		Goal:      20 * unit.MiB,
		Stacks:    unit.MiB,
		Globals:   3 * unit.MiB,
		Procs:     2,
	}
}

func TestScanFields(t *testing.T) {
	f := func(in string, want evidence.Cycle, wantPacer *evidence.Pacer) {
		t.Helper()
		got, stats := scan(t, in)
		if len(got) != 1 || stats.Malformed != 0 {
			t.Errorf("Scan(%q): %d cycles, errors %v, want 1 cycle", in, len(got), stats.Errors)
			return
		}
		pacer := got[0].Pacer
		got[0].Pacer = nil
		if got[0] != want {
			t.Errorf("Scan(%q)\n got %+v\nwant %+v", in, got[0], want)
		}
		if (pacer == nil) != (wantPacer == nil) || pacer != nil && *pacer != *wantPacer {
			t.Errorf("Scan(%q): pacer %+v, want %+v", in, pacer, wantPacer)
		}
	}
	want, pacer := wantCycle(), &evidence.Pacer{
		HeapScan: 1638768, StackScan: 2336, GlobalScan: 153754, Trigger: 18414080, End: 23763456, ConsMark: 2.556187}
	f(cycleLine, want, nil)
	f(pacerLine+cycleLine, want, pacer)
	f(strings.ReplaceAll(pacerLine, "+2.556187e+000", "2.556187")+cycleLine, want, pacer) // Go 1.26
	f(pacerLine+"pacer: sweep done at heap size 9MB; allocated 3MB during sweep; swept 1173 pages at +0.000000e+000 pages/byte\nhello\n"+cycleLine, want, pacer)
	f("at 17, "+strings.ReplaceAll(pacerLine, "\n", "\r\n")+"at gc pacer: gc 1 @ gc "+cycleLine, want, pacer)
	f(strings.Replace(pacerLine, "∆goal ", "∆goal -", 1)+cycleLine, want, pacer)
	f(strings.TrimSuffix(cycleLine, "\n"), want, nil)
	f(`{"log":"`+strings.TrimSuffix(cycleLine, "\n")+`\n","stream":"stderr"}`+"\n", want, nil)
	f(strings.TrimSuffix(cycleLine, "\n")+"text of the program\n", want, nil)
	f(`{"log":"`+strings.ReplaceAll(strings.TrimSuffix(cycleLine, "\n"), ">", `\u003e`)+`\n","stream":"stderr"}`+"\n", want, nil) // docker
	f(strings.ReplaceAll(cycleLine, ">", "&gt;"), want, nil)
	f(strings.Replace(cycleLine, "gc ", "gc #", 1), want, nil)
	f(strings.Replace(cycleLine, "24%:", "24% (checking for goroutine leaks):", 1), want, nil)
	f(strings.Repeat("x", 1<<20)+cycleLine, want, nil)

	forced := want
	forced.Forced = true
	f(strings.Replace(cycleLine, " P", " P (forced)", 1), forced, nil)

	old := want
	old.Stacks, old.Globals = 0, 0
	f(strings.Replace(cycleLine, "1 MB stacks, 3 MB globals, ", "", 1), old, nil)

	// Go 1.5: scan, write-barrier installation, mark and their CPU apart.
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	five := evidence.Cycle{
		N:         3,
		At:        us(1500 + 10 + 200 + 3 + 4000 + 50),
		Wall:      evidence.PhaseWall{SweepTermination: us(13), ConcurrentMark: us(4200), MarkTermination: us(50)},
		Used:      evidence.PhaseCPU{SweepTermination: us(26), Assist: us(100), Background: us(4200), Idle: us(700), MarkTermination: us(90)},
		HeapStart: 4 * unit.MiB,
		HeapEnd:   4 * unit.MiB,
		HeapLive:  0,
		Goal:      5 * unit.MiB,
		Procs:     8,
	}
	f("gc 3 @0.0015s 2%: 0.010+0.20+0.003+4+0.050 ms clock, 0.020+0.20+0.006+0.10/4.0/0.70+0.090 ms cpu, 4->4->0 MB, 5 MB goal, 8 P\n", five, nil)
}

func TestScanPasses(t *testing.T) {
	f := func(in string, want gctrace.Stats) {
		t.Helper()
		_, got := scan(t, in)
		got.Errors, want.Lines = nil, got.Lines
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("Scan(%.100q): got %+v, want %+v", in, got, want)
		}
	}
	f("", gctrace.Stats{})
	f("hello\n\ngc\ngc 1\ngc 1 @home\npacer: fast\nscvg: 8 KB released\nscvg0: inuse: 3\nan scvg: 8\n", gctrace.Stats{Other: 2})
	f("pacer: assist ratio=+8.16e-001 (scan 0 MB in 3->4 MB) workers=0++2.5e-001\n", gctrace.Stats{Other: 1})
	f("gc1(1): 0+0+0+0 us, 0 -> 0 MB\n", gctrace.Stats{Malformed: 1})
	f("GC forced\n"+cycleLine, gctrace.Stats{Cycles: 1, Periodic: 1})
	f(pacerLine, gctrace.Stats{OrphanPacers: 1})
	f(pacerLine+pacerLine+cycleLine, gctrace.Stats{Cycles: 1, OrphanPacers: 1})
	f(pacerLine+strings.Replace(cycleLine, "->22->", "->29->", 1), gctrace.Stats{Cycles: 1, OrphanPacers: 1})
	f(pacerLine+"gc 1 @0.1s 3%: torn\n"+cycleLine, gctrace.Stats{Cycles: 1, OrphanPacers: 1, Malformed: 1})
	f("gc 1 @0.1s 3%: "+cycleLine, gctrace.Stats{Cycles: 1, Malformed: 1})
	f(" (forced)\n", gctrace.Stats{Malformed: 1})
	f(strings.TrimSuffix(pacerLine, "\n")+cycleLine, gctrace.Stats{Cycles: 1})
	f(strings.Repeat("gc 1 @2 ", 100)+"\n", gctrace.Stats{Malformed: 100})
	f(cycleLine+strings.Repeat("y", 70<<10)+"\n"+cycleLine, gctrace.Stats{Cycles: 2, Cut: 1})
	f(strings.TrimSuffix(cycleLine, "\n"), gctrace.Stats{Cycles: 1, Unterminated: true})
}

// TestTruncated cuts a file at every byte: what is yielded is always a prefix
// of what the whole file yields.
func TestTruncated(t *testing.T) {
	in := pacerLine + cycleLine + pacerLine + strings.Replace(cycleLine, " P", " P (forced)", 1)
	whole, _ := scan(t, in)
	for n := range len(in) {
		got, stats := scan(t, in[:n])
		if len(got) > len(whole) {
			t.Fatalf("%d bytes: %d cycles, want at most %d", n, len(got), len(whole))
		}
		for i, c := range got {
			want := whole[i]
			c.Pacer, want.Pacer = nil, nil
			// A line cut right behind its P may have lost "(forced)", and says so.
			if stats.Unterminated {
				c.Forced = want.Forced
			}
			if c != want {
				t.Errorf("%d bytes: cycle %d is\n     %+v, want\n     %+v", n, i, c, want)
			}
		}
	}
}

func TestMalformed(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		got, stats := scan(t, "first\n"+in)
		if len(got) != 0 || stats.Malformed != 1 || stats.Errors[0].Line != 2 || !strings.Contains(stats.Errors[0].Error(), want) {
			t.Errorf("Scan(%q): %d cycles, errors %v, want one error in:2: … %q", in, len(got), stats.Errors, want)
		}
	}
	edit := func(old, new string) string {
		if !strings.Contains(cycleLine+pacerLine, old) {
			t.Fatalf("no %q to edit", old)
		}
		if strings.Contains(cycleLine, old) {
			return strings.Replace(cycleLine, old, new, 1)
		}
		return strings.Replace(pacerLine, old, new, 1)
	}
	f("gc 1 @0.1s 3%\n", `want ": "`)
	f(edit("gc 12", "gc 99999999999999999999"), "out of range")
	f(edit("0.033s", "1e5s"), `want "s "`)
	f(edit("0.081", "NaN"), "want a time")
	f(edit("0.081", "-1"), "want a time")
	f(edit("0.081", "99999999999999999999999"), "out of range")
	f(edit("0.081+", ""), "want 3 clock times")
	f(edit("2.6/", "2.6+"), "want 5 processor times")
	f(edit("0.16+", "1+2+3+4+5+6+7+8+"), "ms cpu")
	f(edit("17->", "99999999999999->"), "out of range")
	f(edit("->22", "->-22"), "want a number")
	f(edit("->22", "-&lt;22"), `want ">"`)
	f(edit("20 MB goal, ", ""), `want " MB goal, "`)
	f(edit("2 P", "2000000000 P"), "out of range")
	f(edit(" P", ""), `want " P"`)
	f(edit("24%", "24% ("+strings.Repeat("x", 100)), `want ")"`)
	f(strings.TrimSuffix(cycleLine, "\n")+" (for", "cut off")
	f(edit("1638768", "99999999999999999999"), "out of range")
	f(edit("+2.556187e+000", "NaN"), "finite number")
	f(edit("+2.556187e+000", "+Inf"), "finite number")
	f(edit("+2.556187e+000", "1e999"), "finite number")
	f(edit("18414080 B", "-18414080 B"), "want a number")
	f(edit(" exp.)", ""), " exp.)")
}

func TestErrorsAreBounded(t *testing.T) {
	_, stats := scan(t, strings.Repeat("gc 1 @1s torn\n", 1000))
	if stats.Malformed != 1000 || len(stats.Errors) != gctrace.MaxErrors {
		t.Errorf("got %d malformed, %d errors, want 1000, %d", stats.Malformed, len(stats.Errors), gctrace.MaxErrors)
	}
}

func TestScanStops(t *testing.T) {
	stop := errors.New("enough")
	stats, err := gctrace.Scan("in", strings.NewReader(cycleLine+cycleLine), func(evidence.Cycle) error { return stop })
	if err != stop || stats.Cycles != 1 {
		t.Errorf("Scan: %d cycles, error %v, want 1, %v", stats.Cycles, err, stop)
	}
	_, err = gctrace.Scan("broken.log", iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(cycleLine))), func(evidence.Cycle) error { return nil })
	if !errors.Is(err, iotest.ErrTimeout) || !strings.Contains(err.Error(), "broken.log, line 1") {
		t.Errorf("Scan of a broken reader: error %v", err)
	}
}

// TestReal reads what the program in testdata/program printed under each
// toolchain.
func TestReal(t *testing.T) {
	f := func(file string, cycles, pacers int, unterminated bool) {
		t.Helper()
		in, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		got, stats := scan(t, string(in))
		n := 0
		for i, c := range got {
			if c.Pacer != nil {
				n++
			}
			if c.N != i+1 || c.Forced != (i == len(got)-1) || c.Procs != 2 || c.CPU() <= 0 || i > 0 && c.At <= got[i-1].At {
				t.Errorf("%s: cycle %d is %+v", file, i+1, c)
			}
		}
		if len(got) != cycles || n != pacers || stats.Malformed != 0 || stats.OrphanPacers != 0 {
			t.Errorf("%s: %d cycles, %d with pacer, want %d, %d; %+v", file, len(got), n, cycles, pacers, stats)
		}
		if stats.Unterminated != unterminated {
			t.Errorf("%s: unterminated is %v, want %v", file, stats.Unterminated, unterminated)
		}
	}
	// A forced cycle has no line of the pacer.
	f("go1.25.13.txt", 14, 13, true) // the program ended while the pacer printed
	f("go1.26.8.txt", 20, 19, false)
	f("go1.27.4.txt", 20, 19, false)
	f("go1.26.8-nopacer.txt", 18, 0, false)
}

func FuzzScan(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		in, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		// The fuzzer minimises what is interesting, which takes minutes for long seeds.
		for lines := range slices.Chunk(strings.SplitAfter(string(in), "\n"), 6) {
			f.Add([]byte(strings.Join(lines, "")))
		}
	}
	f.Add([]byte(pacerLine + cycleLine))
	f.Fuzz(func(t *testing.T, in []byte) {
		n := 0
		stats, err := gctrace.Scan("fuzz", strings.NewReader(string(in)), func(c evidence.Cycle) error {
			n++
			for _, v := range []int64{int64(c.At), int64(c.CPU()), int64(c.HeapStart), int64(c.HeapEnd), int64(c.HeapLive), int64(c.Goal), int64(c.N), int64(c.Procs)} {
				if v < 0 {
					t.Errorf("negative figure in %+v", c)
				}
			}
			return nil
		})
		if err != nil || n != stats.Cycles || stats.Malformed > 0 != (len(stats.Errors) > 0) {
			t.Errorf("%d cycles, %+v, error %v", n, stats, err)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	in := strings.Repeat(strings.Repeat("2026/01/01 12:00:00 a log line of the program\n", 10)+pacerLine+cycleLine, 1000)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := gctrace.Scan("in", strings.NewReader(in), func(evidence.Cycle) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSplitter(b *testing.B) {
	in := []byte(strings.Repeat(strings.Repeat("2026/01/01 12:00:00 a log line of the program\n", 10)+pacerLine+cycleLine, 50))
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		s := gctrace.NewSplitter(io.Discard, io.Discard)
		if _, err := s.Write(in); err != nil {
			b.Fatal(err)
		}
	}
}

// TestIssues reads what programs of every Go release printed, as it stands in
// public issues.
func TestIssues(t *testing.T) {
	data, err := os.ReadFile("testdata/issues.log")
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(data), "\n== ")[1:]
	sources := map[string]bool{}
	for _, section := range sections {
		head, text, _ := strings.Cut(section, "\n")
		fields := strings.Fields(head)
		url, _, _ := strings.Cut(fields[0], "#")
		sources[url] = true
		want := gctrace.Stats{Lines: strings.Count(strings.TrimSuffix(text, "\n")+"\n", "\n")}
		forced := 0
		counts := map[string]*int{"cycles": &want.Cycles, "other": &want.Other, "malformed": &want.Malformed, "periodic": &want.Periodic, "forced": &forced}
		for _, f := range fields[2:] {
			name, n, _ := strings.Cut(f, "=")
			if _, err := fmt.Sscan(n, counts[name]); err != nil {
				t.Fatalf("%s: %q: %v", head, f, err)
			}
		}
		cycles, got := scan(t, strings.TrimSuffix(text, "\n")+"\n")
		errs := got.Errors
		got.Errors = nil
		if fmt.Sprint(got) != fmt.Sprint(want) || len(errs) != want.Malformed {
			t.Errorf("%s:\n got %+v, errors %v,\nwant %+v", head, got, errs, want)
		}
		for _, c := range cycles {
			if c.Forced {
				forced--
			}
			if c.N == 0 || c.Procs == 0 || c.Goal == 0 {
				t.Errorf("%s: cycle %+v", head, c)
			}
		}
		if forced != 0 {
			t.Errorf("%s: forced cycles are %d fewer than they should", head, forced)
		}
	}
	if len(sources) < 43 {
		t.Errorf("%d sources, want at least 43", len(sources))
	}
}

func TestScanPeriodic(t *testing.T) {
	second := strings.Replace(cycleLine, "gc 12 ", "gc 13 ", 1)
	f := func(in string, want ...bool) {
		t.Helper()
		cycles, _ := scan(t, in)
		for i, c := range cycles {
			if i >= len(want) || c.Periodic != want[i] {
				t.Errorf("Scan(%q): cycle %d has Periodic %v, want %v", in, i, c.Periodic, want)
			}
		}
	}
	f("GC forced\n"+cycleLine+second, true, false)
	f("etcd[1]: GC forced\r\n"+pacerLine+cycleLine, true)
	f("was GC forced\n"+cycleLine, false)
	f("GC forced\n"+strings.Replace(cycleLine, " P", " P (forced)", 1)+second, false, false)
}
