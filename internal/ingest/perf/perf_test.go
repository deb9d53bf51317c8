package perf_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/perf"
)

// flat is a sample as text: values, then functions leaf first.
func flat(t *testing.T, p *evidence.Profile) []string {
	t.Helper()
	var out []string
	if err := p.Samples.Scan(func(s evidence.Sample) error {
		line := fmt.Sprint(s.Values)
		for _, l := range s.Stack {
			if l.Index < 0 || l.Index >= p.Locations {
				t.Errorf("location %d of %d", l.Index, p.Locations)
			}
			name := l.Frames[0].Function
			if l.Frames[0].File == perf.KernelFile {
				name = "[k]" + name
			}
			line += " " + name
		}
		out = append(out, line)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

const stack = "\tffffffff81000c82 asm_exc_page_fault+0x22 ([kernel.kallsyms])\n\t           9ebf9 main.fill+0x19 (/srv/kv)\n\t           49595 runtime.main+0x2d5 (/srv/kv)\n\n"

const flatStack = " [k]asm_exc_page_fault main.fill runtime.main"

func TestForms(t *testing.T) {
	f := func(in string, want ...string) {
		t.Helper()
		p, st, err := perf.Bytes("in", in)
		if err != nil {
			t.Errorf("Bytes(%q): %v", in, err)
			return
		}
		if got := flat(t, p); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("Bytes(%q):\n got %q\nwant %q", in, got, want)
		}
		if st.Malformed > 0 || st.Truncated {
			t.Errorf("Bytes(%q): %+v, errors %v", in, st, st.Errors)
		}
	}
	f("kv 20528/20529 16487.543647:    2004008 cpu-clock: \n"+stack, "[1 2004008 0]"+flatStack)
	f("kv 20528 16487.543647:    2004008 cpu-clock:pppH: \n"+stack, "[1 2004008 0]"+flatStack)
	f("      a b 12 c 20528 [001] 16487.543647123:    2004008 task-clock:u:\r\n"+strings.ReplaceAll(stack, "\n", "\r\n"), "[1 2004008 0]"+flatStack)
	f("kv 1.000001: 2 20528 16487.543647: 2004008 cpu-clock:\n"+stack, "[1 2004008 0]"+flatStack) // a comm that looks like a time
	f("kv 7 16487.543647:          1 minor-faults:\n"+stack, "[0 0 1]"+flatStack)
	f("kv 7 16487.543647:         64 page-faults:u:\n"+stack, "[0 0 64]"+flatStack)
	f("kv 7 16487.543647: exceptions:page_fault_user: address=0x1 ip=0x2 error_code=0x6\n"+stack, "[0 0 1]"+flatStack)
	// Cycles are no time: the header tells the frequency, or the gaps do.
	freq := "# event : name = cycles:P, , id = { 1 }, type = 0, { sample_period, sample_freq } = 1000, sample_type = IP\n#\n"
	f(freq+"kv 7 16487.543647:    3000000 cycles:P: \n"+stack, "[1 1000000 0]"+flatStack)
	f(freq+"kv 7 16487.543647:    3000000 cpu_core/cycles/P: \n"+stack, "[1 1000000 0]"+flatStack)
	f(freq+"kv 7 16487.543647: cpu-clock: \n"+stack, "[1 1000000 0]"+flatStack)
	// Symbols and files of every kind.
	frames := "kv 7 1.000001: 100 cpu-clock: \n" +
		"\tffffffffc0001234 fault.constprop.0 ([ext4])\n\tffffffffc0001235 [unknown] ([kernel.kallsyms])\n" +
		"\t7f00 operator new(unsigned long) (/usr/lib/libstdc++.so.6)\n\t7f01 [unknown] (/memfd:jit (deleted))\n" +
		"\t401000 main.(*Tree[go.shape.int,go.shape.string]).Put+0x1f (/srv/my prog (1))\n\t401001 main.inl (inlined)\n" +
		"\t401002 runtime.memclrNoHeapPointers.abi0 (/srv/kv)\n\t0 [unknown] ([unknown])\n\n"
	f(frames, "[1 100 0] [k]fault [k][unknown] [kernel.kallsyms] operator new(unsigned long) [unknown] /memfd:jit (deleted) main.(*Tree[...]).Put main.inl runtime.memclrNoHeapPointers [unknown] [unknown]")
	// Without -g, the frame stands on the line of the sample.
	f("kv 7 1.000001: 100 cpu-clock:  40100 runtime.scanobject+0x10 (/srv/kv)\n\n", "[1 100 0] runtime.scanobject")
	// Other events, other processes, text of perf's own.
	f("# a header\n\nswapper 0/0 1.000001: 100 cpu-clock:\n\tffffffff81000c82 default_idle ([kernel.kallsyms])\n\nkv 7/8 1.000002: 100 cpu-clock:\n"+stack+
		"kv 7/8 1.000003: sched:sched_switch: prev_comm=kv prev_pid=8\n"+stack+"other 9/9 1.000004: 100 cpu-clock:\n"+stack+"kv 7/9 1.000005: 100 cpu-clock:\n"+stack,
		"[1 100 0]"+flatStack, "[1 100 0]"+flatStack)
	f("kv 7/7 1.000001: 100 cpu-clock:\n\nkv 7/7 1.000002: 100 cpu-clock:\n"+stack, "[1 100 0]", "[1 100 0]"+flatStack)
}

func TestDamaged(t *testing.T) {
	good := "kv 7/8 1.000002: 100 cpu-clock:\n" + stack
	f := func(in string, samples, malformed int, message string) {
		t.Helper()
		p, st, err := perf.Bytes("in.txt", in)
		if err != nil {
			t.Errorf("Bytes(%.100q): %v", in, err)
			return
		}
		if got := len(flat(t, p)); got != samples || st.Malformed != malformed {
			t.Errorf("Bytes(%.100q): %d samples, %d malformed lines %v, want %d, %d", in, got, st.Malformed, st.Errors, samples, malformed)
		}
		if malformed > 0 && !strings.Contains(st.Errors[0].Error(), message) {
			t.Errorf("Bytes(%.100q): error %v, want %q", in, st.Errors[0], message)
		}
	}
	f(good+"hello world\n\n"+good, 2, 1, "in.txt:6: want the first line of a sample")
	f(good+"kv x 1.000002: 100 cpu-clock:\n"+stack, 1, 1, "in.txt:6: want the")
	f(good+"kv 7 1.000002: 100 cpu-clock\n"+stack, 1, 1, "in.txt:6: want an event")
	f(good+"kv 7 1.000002: 100 cpu-clock:\n\tzz main.f (/srv/kv)\n\n", 1, 1, "in.txt:7: want a frame")
	f(good+"\t1 main.f (/srv/kv)\n\n", 1, 1, "a frame without a sample")
	f(good+"kv 7/8 1.000002: 100 cpu-clock:\n\t1 main.f (/srv/kv)\n"+good, 2, 1, "begins before")
	f(good+"kv 7/8 1.000002: 100 cpu-clock:\n"+strings.Repeat("\t1 main.f (/srv/kv)\n", 5000)+"\n", 1, 5000-4096, "more than 4096 frames")
	f(good+strings.Repeat("x", 100<<10)+"\n\n"+good, 2, 1, "longer than")
	f(good+"kv 7/8 99999999999999999999.000002: 99999999999999999999 cpu-clock:\n"+stack, 2, 0, "")
}

// TestTruncated cuts a file at every byte: what comes out is always a prefix.
func TestTruncated(t *testing.T) {
	in := "kv 7/8 1.000002: 100 cpu-clock:\n" + stack + "kv 7/8 1.000003: 200 cpu-clock:\n" + stack
	whole, _, err := perf.Bytes("in", in)
	if err != nil {
		t.Fatal(err)
	}
	want := flat(t, whole)
	for n := range len(in) {
		p, st, err := perf.Bytes("in", in[:n])
		if err != nil {
			if n > len(in)/2 || !errors.Is(err, perf.ErrNoSamples) {
				t.Errorf("%d bytes: %v", n, err)
			}
			continue
		}
		got := flat(t, p)
		if len(got) > len(want) || strings.Join(got, "\n") != strings.Join(want[:len(got)], "\n") {
			t.Errorf("%d bytes: %q, want the beginning of %q", n, got, want)
		}
		if len(got) == 1 && !st.Truncated && n > len(in)/2 {
			t.Errorf("%d bytes: nothing says that the last sample is cut off", n)
		}
	}
}

func TestNothing(t *testing.T) {
	f := func(in string, want error) {
		t.Helper()
		if _, _, err := perf.Bytes("in", in); !errors.Is(err, want) {
			t.Errorf("Bytes(%q): error %v, want %v", in, err, want)
		}
	}
	f("", perf.ErrNoSamples)
	f("# only a header\n", perf.ErrNoSamples)
	f("no perf\n", perf.ErrNoSamples)
	f("kv 7 1.000001: sched:sched_switch: x\n"+stack, perf.ErrNoSamples)
	f("kv 7 1.000001: 100 cpu-clock:\n\t1 main (/usr/bin/cat)\n\n", perf.ErrNoGo)
	if _, _, err := perf.Open(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open of no file: %v", err)
	}
}

// TestReal reads what perf 6.1 printed of a Go 1.26 program, with the kernel's
// stacks.
func TestReal(t *testing.T) {
	p, st, err := perf.Open("testdata/cpu-clock.txt")
	if err != nil {
		t.Fatal(err)
	}
	if st.CPU != 80 || st.Faults != 0 || st.Malformed != 0 || st.Others != 0 || st.Kernel == 0 || st.Process != "kv" || p.Period != 2004008 {
		t.Errorf("%+v, period %d", st, p.Period)
	}
	all := strings.Join(flat(t, p), "\n")
	for _, want := range []string{"[k]do_anonymous_page", "[k]asm_exc_page_fault main.fill main.main runtime.main runtime.goexit", "runtime.gcAssistAlloc "} {
		if !strings.Contains(all, want) {
			t.Errorf("no stack with %q", want)
		}
	}
	_, st, err = perf.Open("testdata/faults.txt")
	if err != nil || st.Faults != 40 || st.CPU != 0 || st.Malformed != 0 {
		t.Errorf("faults: %+v, %v", st, err)
	}
}

// TestScanAllocates: a longer file of the same functions takes no more memory.
func TestScanAllocates(t *testing.T) {
	data, err := os.ReadFile("testdata/cpu-clock.txt")
	if err != nil {
		t.Fatal(err)
	}
	allocs := func(times int) float64 {
		p, _, err := perf.Bytes("in", strings.Repeat(string(data), times))
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(3, func() {
			if err := p.Samples.Scan(func(evidence.Sample) error { return nil }); err != nil {
				t.Fatal(err)
			}
		})
	}
	if once, often := allocs(1), allocs(20); often > once+20 {
		t.Errorf("a scan allocates %v times, one of twenty times the length %v", once, often)
	}
}

func FuzzBytes(f *testing.F) {
	for _, file := range []string{"testdata/cpu-clock.txt", "testdata/faults.txt"} {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data[:min(len(data), 3000)]))
	}
	f.Add("kv 7/8 1.000002: 100 cpu-clock:\n" + stack + "a b 1 [001] 2.000000: cycles:u: 1 f (x)\n\n")
	f.Fuzz(func(t *testing.T, in string) {
		p, st, err := perf.Bytes("fuzz", in)
		if err != nil {
			return
		}
		n := int64(0)
		if err := p.Samples.Scan(func(s evidence.Sample) error {
			if len(s.Values) != len(p.Types) || s.Values[0] < 0 || s.Values[1] < 0 || s.Values[2] < 0 {
				t.Errorf("values %v", s.Values)
			}
			for _, l := range s.Stack {
				if l.Index >= p.Locations || l.Frames[0].Function == "" {
					t.Errorf("location %+v of %d", l, p.Locations)
				}
			}
			n += s.Values[0]
			return nil
		}); err != nil || n != st.CPU {
			t.Errorf("%d samples of %d, error %v", n, st.CPU, err)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	data, err := os.ReadFile("testdata/cpu-clock.txt")
	if err != nil {
		b.Fatal(err)
	}
	p, _, err := perf.Bytes("in", strings.Repeat(string(data), 100))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(100 * len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Samples.Scan(func(evidence.Sample) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
