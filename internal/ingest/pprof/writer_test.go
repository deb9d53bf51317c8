package pprof

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

var writerHeader = Header{
	Types:       []evidence.ValueType{{Type: "alloc_space", Unit: "bytes"}, {Type: "gc_cpu", Unit: "nanoseconds"}},
	DefaultType: "gc_cpu",
	PeriodOf:    evidence.ValueType{Type: "space", Unit: "bytes"},
	Period:      524288,
	Start:       time.Unix(1_700_000_000, 5),
	Duration:    3 * time.Second,
	Program:     "gateway",
	Comments:    []string{"gc_cpu", "derived"},
}

func writerSamples() []sample {
	inlined := []evidence.Frame{
		{Function: "m.inner", File: "/m/a.go", Line: 3, StartLine: 1, Inlined: true},
		{Function: "m.outer", File: "/m/b.go", Line: 30, StartLine: 20},
	}
	alone := inlined[0]
	alone.Inlined = false
	virtual := []evidence.Frame{{Function: "GC churn (attributed)"}}
	main := []evidence.Frame{{Function: "main.main", File: "/m/main.go", Line: 9, StartLine: 4}}
	elsewhere := []evidence.Frame{{Function: "main.main", File: "/m/main.go", Line: 10, StartLine: 4}}
	return []sample{
		{stack: [][]evidence.Frame{virtual, inlined, main}, values: []int64{0, 17}},
		{stack: [][]evidence.Frame{inlined, main}, values: []int64{1 << 40, 0}},
		{stack: [][]evidence.Frame{{alone}, inlined[1:], elsewhere}, values: []int64{-5, 1}},
		{values: []int64{1, 2}},
	}
}

func write(t testing.TB, h Header, samples []sample) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if err := w.Add(s.stack, s.values); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestWriter(t *testing.T) {
	want := writerSamples()
	data := write(t, writerHeader, want)
	agree(t, "written", data)
	got, err := readAll(data)
	if err != nil || !reflect.DeepEqual(got[:3], want[:3]) || len(got) != len(want) {
		t.Errorf("samples read back = %+v (error %v), want %+v", got, err, want)
	}

	g, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.CheckValid(); err != nil {
		t.Errorf("CheckValid: %v", err)
	}
	if len(g.Mapping) != 1 || g.Mapping[0].File != "gateway" || !g.Mapping[0].HasInlineFrames {
		t.Errorf("mappings = %v, want one symbolised of gateway", g.Mapping)
	}
	if got := g.Sample[0].Location[1].Line; len(got) != 2 || got[0].Function.Name != "m.inner" {
		t.Errorf("lines of the inlined location = %v, want m.inner and m.outer", got)
	}
	if len(g.Location) != 6 || len(g.Function) != 4 {
		t.Errorf("%d locations and %d functions, want 6 and 4: interned", len(g.Location), len(g.Function))
	}
	if g.DefaultSampleType != "gc_cpu" || g.TimeNanos != writerHeader.Start.UnixNano() || len(g.Comments) != 2 {
		t.Errorf("default type %q, time %d, comments %q", g.DefaultSampleType, g.TimeNanos, g.Comments)
	}
	if err := g.Compact().CheckValid(); err != nil {
		t.Errorf("CheckValid after Compact: %v", err)
	}
}

// TestWriterStartLines: a function is one, though some of its frames lack the start line.
func TestWriterStartLines(t *testing.T) {
	f := evidence.Frame{Function: "m.f", File: "/m/f.go", Line: 7, StartLine: 5}
	bare := f
	bare.StartLine, bare.Line = 0, 8
	g, err := profile.ParseData(write(t, writerHeader, []sample{
		{stack: [][]evidence.Frame{{f}}, values: []int64{1, 1}}, {stack: [][]evidence.Frame{{bare}}, values: []int64{1, 1}},
	}))
	if err != nil || len(g.Function) != 1 || g.Function[0].StartLine != 5 || len(g.Location) != 2 {
		t.Errorf("functions %v of locations %v (error %v), want one from line 5, at two lines", g.Function, g.Location, err)
	}
}

// TestWriterLarge crosses the writer's buffer and a real profile's size.
func TestWriterLarge(t *testing.T) {
	p, err := Bytes("n", encode(t, synthetic(20_000)))
	if err != nil {
		t.Fatal(err)
	}
	want, err := all(p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(write(t, Header{Types: p.Types}, want))
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d samples and error %v, want %d", len(got), err, len(want))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("sample %d = %v, want %v", i, got[i], want[i])
		}
	}
}

// TestGoToolPprof shows a written profile with the tool users open it with.
func TestGoToolPprof(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs go tool pprof")
	}
	path := filepath.Join(t.TempDir(), "out.pb.gz")
	if err := os.WriteFile(path, write(t, writerHeader, writerSamples()), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "tool", "pprof", "-traces", path).CombinedOutput()
	if err != nil {
		t.Skipf("go tool pprof does not run here: %v\n%s", err, out)
	}
	for _, want := range []string{"File: gateway", "Type: gc_cpu", "GC churn (attributed)", "m.inner (inline)", "main.main"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("go tool pprof -traces does not show %q:\n%s", want, out)
		}
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriterErrors(t *testing.T) {
	if _, err := NewWriter(&bytes.Buffer{}, Header{}); err == nil {
		t.Error("NewWriter without types: no error")
	}
	h := Header{Types: []evidence.ValueType{{Type: "a", Unit: "b"}}, DefaultType: "c"}
	if _, err := NewWriter(&bytes.Buffer{}, h); err == nil {
		t.Error("NewWriter with an unknown default type: no error")
	}
	h.DefaultType = ""
	f := func(name string, stack [][]evidence.Frame, values ...int64) {
		t.Helper()
		w, err := NewWriter(&bytes.Buffer{}, h)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(stack, values); err == nil {
			t.Errorf("Add %s: no error", name)
		}
		if err := w.Close(); err == nil {
			t.Errorf("Close after %s: no error", name)
		}
	}
	f("without values", nil)
	f("with two values", nil, 1, 2)
	f("an empty location", [][]evidence.Frame{{}}, 1)
	f("a negative line", [][]evidence.Frame{{{Function: "f", Line: -1}}}, 1)

	w, err := NewWriter(brokenPipe{}, h)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Close = %v, want %v", err, os.ErrClosed)
	}
	if err := w.Add(nil, []int64{1}); err == nil {
		t.Error("Add after Close: no error")
	}
}
