package gctrace_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/ingest/gctrace"
)

// split feeds in to a Splitter in pieces whose lengths piece gives.
func split(t *testing.T, in string, piece func() int) (trace, other string) {
	t.Helper()
	var a, b strings.Builder
	s := gctrace.NewSplitter(&a, &b)
	for len(in) > 0 {
		n := min(len(in), piece())
		if m, err := s.Write([]byte(in[:n])); m != n || err != nil {
			t.Fatalf("Write of %d bytes: %d, %v", n, m, err)
		}
		in = in[n:]
	}
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	return a.String(), b.String()
}

func TestSplitter(t *testing.T) {
	f := func(in, wantTrace, wantOther string) {
		t.Helper()
		r := rand.New(rand.NewPCG(1, 1))
		for name, piece := range map[string]func() int{
			"whole":  func() int { return len(in) },
			"bytes":  func() int { return 1 },
			"random": func() int { return 1 + r.IntN(9) },
		} {
			trace, other := split(t, in, piece)
			if trace != wantTrace || other != wantOther {
				t.Errorf("%q in %s:\n got %q and %q\nwant %q and %q", in, name, trace, other, wantTrace, wantOther)
			}
		}
	}
	f("", "", "")
	f("hello\n", "", "hello\n")
	f("no newline", "", "no newline")
	f(cycleLine, cycleLine, "")
	f("a\n"+pacerLine+"b\n"+cycleLine+"c", pacerLine+cycleLine, "a\nb\nc")
	f("working… "+cycleLine+"done\n", cycleLine, "working… done\n")
	f("gc gc 1 gc 12 @ "+cycleLine, cycleLine, "gc gc 1 gc 12 @ ")
	f("pacer: "+pacerLine+"pacer: assist ratio=1 x\npacer: none\n", pacerLine+"pacer: assist ratio=1 x\n", "pacer: pacer: none\n")
	f("GC forced\nGC forced by hand\nwas GC forced\n", "GC forced\n", "GC forced by hand\nwas GC forced\n")
	f("scvg: 8 KB released\nscvg0: inuse: 3\nscvg: high\nan scvg: 8\n", "scvg: 8 KB released\nscvg0: inuse: 3\n", "scvg: high\nan scvg: 8\n")
	f("gc 12345678901234567890123 @1\n", "", "gc 12345678901234567890123 @1\n")
	f("gc", "", "gc")
	f("gc 1 @0.1s 2%: torn", "gc 1 @0.1s 2%: torn", "")
}

// TestSplitterPassesOnAtOnce: a prompt or a progress bar has no newline.
func TestSplitterPassesOnAtOnce(t *testing.T) {
	var trace, other strings.Builder
	s := gctrace.NewSplitter(&trace, &other)
	for _, text := range []string{"50 %\r", "75 %\r", "ok? "} {
		other.Reset()
		if _, err := s.Write([]byte(text)); err != nil || other.String() != text {
			t.Errorf("after Write(%q): passed on %q, error %v", text, other.String(), err)
		}
	}
}

func TestSplitterReal(t *testing.T) {
	in, err := os.ReadFile("testdata/go1.26.8.txt")
	if err != nil {
		t.Fatal(err)
	}
	trace, other := split(t, string(in), func() int { return 100 })
	want := "at 0, at 50000, at 100000, at 150000, at 200000, at 250000, at 300000, at 350000, done 256 gc gc gc \n"
	if other != want {
		t.Errorf("the program's own text: got %q, want %q", other, want)
	}
	got, _ := scan(t, trace)
	if all, _ := scan(t, string(in)); len(got) != len(all) {
		t.Errorf("%d cycles in the split trace, want %d", len(got), len(all))
	}
}

type brokenWriter struct{ err error }

func (b brokenWriter) Write([]byte) (int, error) { return 0, b.err }

func TestSplitterKeepsGoing(t *testing.T) {
	full := errors.New("disk full")
	var other strings.Builder
	s := gctrace.NewSplitter(brokenWriter{full}, &other)
	for range 2 {
		if n, err := s.Write([]byte("a\n" + cycleLine)); n != 2+len(cycleLine) || err != nil {
			t.Errorf("Write: %d, %v", n, err)
		}
	}
	if err := s.Close(); err != full {
		t.Errorf("Close: %v, want %v", err, full)
	}
	if other.String() != "a\na\n" {
		t.Errorf("the other writer got %q", other.String())
	}
	if err := gctrace.NewSplitter(&other, brokenWriter{full}).Close(); err != nil {
		t.Errorf("Close of an unused Splitter: %v", err)
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add("a\n"+pacerLine+"b gc 1"+cycleLine+"GC forced\nscvg1: x", 3)
	f.Add("gc 1gc 1 @1pacer: 3", 1)
	f.Fuzz(func(t *testing.T, in string, size int) {
		if size < 1 {
			size = 1
		}
		trace, other := split(t, in, func() int { return size })
		wholeTrace, wholeOther := split(t, in, func() int { return len(in) })
		if trace != wholeTrace || other != wholeOther {
			t.Errorf("%q in pieces of %d: %q and %q, whole %q and %q", in, size, trace, other, wholeTrace, wholeOther)
		}
		if len(trace)+len(other) != len(in) {
			t.Errorf("%q: %d bytes in, %d out", in, len(in), len(trace)+len(other))
		}
	})
}
