package pprof

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	runtimepprof "runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// sample is a sample that outlives its callback.
type sample struct {
	stack  [][]evidence.Frame
	values []int64
}

// wholeSample is a sample with its labels and where its frames lie.
type wholeSample struct {
	sample
	labels map[string][]evidence.Label
	places []place
}

// place is where a location lies.
type place struct {
	address uint64
	mapping evidence.Mapping
}

// all collects the samples of p, without labels and places.
func all(p *evidence.Profile) ([]sample, error) {
	out, err := whole(p)
	return bare(out), err
}

func bare(list []wholeSample) []sample {
	var out []sample
	for _, s := range list {
		out = append(out, s.sample)
	}
	return out
}

// whole collects the samples of p.
func whole(p *evidence.Profile) ([]wholeSample, error) {
	var out []wholeSample
	err := p.Samples.Scan(func(s evidence.Sample) error {
		c := wholeSample{sample: sample{values: append([]int64{}, s.Values...)}}
		for _, l := range s.Stack {
			c.stack = append(c.stack, l.Frames)
			at := place{address: l.Address}
			if l.Mapping != nil {
				at.mapping = *l.Mapping
			}
			c.places = append(c.places, at)
		}
		for _, l := range s.Labels {
			if c.labels == nil {
				c.labels = map[string][]evidence.Label{}
			}
			c.labels[l.Key] = append(c.labels[l.Key], l)
		}
		out = append(out, c)
		return nil
	})
	return out, err
}

// oracle says what google's own reader makes of a profile, without labels and
// places.
func oracle(p *profile.Profile) []sample { return bare(wholeOracle(p)) }

func wholeOracle(p *profile.Profile) []wholeSample {
	var out []wholeSample
	for _, s := range p.Sample {
		c := wholeSample{sample: sample{values: append([]int64{}, s.Value...)}}
		for _, l := range s.Location {
			c.stack = append(c.stack, oracleFrames(l))
			at := place{address: l.Address}
			if m := l.Mapping; m != nil {
				at.mapping = evidence.Mapping{Start: m.Start, Limit: m.Limit, Offset: m.Offset, File: m.File, BuildID: m.BuildID}
			}
			c.places = append(c.places, at)
		}
		c.labels = oracleLabels(s)
		out = append(out, c)
	}
	return out
}

func oracleLabels(s *profile.Sample) map[string][]evidence.Label {
	var out map[string][]evidence.Label
	add := func(l evidence.Label) {
		if out == nil {
			out = map[string][]evidence.Label{}
		}
		out[l.Key] = append(out[l.Key], l)
	}
	for key, texts := range s.Label {
		for _, text := range texts {
			add(evidence.Label{Key: key, Text: text})
		}
	}
	for key, numbers := range s.NumLabel {
		for i, n := range numbers {
			l := evidence.Label{Key: key, Number: n}
			if units := s.NumUnit[key]; len(units) > 0 {
				l.Unit = units[i]
			}
			add(l)
		}
	}
	return out
}

func oracleFrames(l *profile.Location) []evidence.Frame {
	var frames []evidence.Frame
	for i, ln := range l.Line {
		f := evidence.Frame{Function: ln.Function.Name, File: ln.Function.Filename,
			Line: int(ln.Line), StartLine: int(ln.Function.StartLine), Inlined: i < len(l.Line)-1}
		if f.Function == "" {
			f.Function = ln.Function.SystemName
		}
		frames = append(frames, f)
	}
	if len(frames) > 0 {
		return frames
	}
	name := fmt.Sprintf("%#x", l.Address)
	if l.Mapping != nil && l.Mapping.File != "" {
		name += " [" + l.Mapping.File[strings.LastIndexByte(l.Mapping.File, '/')+1:] + "]"
	}
	return []evidence.Frame{{Function: name}}
}

// agree compares our reading of data with google's, for several sizes of the
// read buffers, so that messages lie across their borders.
func agree(t *testing.T, name string, data []byte) {
	t.Helper()
	g, err := profile.ParseData(data)
	if err != nil {
		t.Fatalf("%s: oracle: %v", name, err)
	}
	want := wholeOracle(g)
	for _, chunk := range []int{0, 1, 7, 64, 4096} {
		src := &source{name: name, data: data, inMemory: true, size: int64(len(data)), chunk: chunk}
		p, err := src.profile()
		if err != nil {
			t.Fatalf("%s, chunk %d: %v", name, chunk, err)
		}
		agreeHeader(t, p, g)
		got, err := whole(p)
		if err != nil {
			t.Fatalf("%s, chunk %d: Scan: %v", name, chunk, err)
		}
		if len(got) != len(want) {
			t.Fatalf("%s, chunk %d: %d samples, want %d", name, chunk, len(got), len(want))
		}
		for i := range got {
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Fatalf("%s, chunk %d: sample %d = %+v, want %+v", name, chunk, i, got[i], want[i])
			}
		}
	}
}

func agreeHeader(t *testing.T, p *evidence.Profile, g *profile.Profile) {
	t.Helper()
	var types []evidence.ValueType
	for _, st := range g.SampleType {
		types = append(types, evidence.ValueType{Type: st.Type, Unit: st.Unit})
	}
	if !reflect.DeepEqual(p.Types, types) {
		t.Errorf("Types = %v, want %v", p.Types, types)
	}
	if want := (evidence.ValueType{Type: g.PeriodType.Type, Unit: g.PeriodType.Unit}); p.PeriodOf != want {
		t.Errorf("PeriodOf = %v, want %v", p.PeriodOf, want)
	}
	if p.Period != g.Period {
		t.Errorf("Period = %d, want %d", p.Period, g.Period)
	}
	if p.Duration != time.Duration(g.DurationNanos) {
		t.Errorf("Duration = %v, want %v", p.Duration, time.Duration(g.DurationNanos))
	}
	if g.TimeNanos != 0 && p.Start.UnixNano() != g.TimeNanos {
		t.Errorf("Start = %v, want %d ns", p.Start, g.TimeNanos)
	}
	if p.Locations != len(g.Location) {
		t.Errorf("Locations = %d, want %d", p.Locations, len(g.Location))
	}
}

func TestRuntimeProfiles(t *testing.T) {
	agree(t, "cpu", cpuProfile(t))

	keep := make([][]byte, 0, 64)
	for i := range 64 {
		keep = append(keep, make([]byte, 32<<10+i))
	}
	runtime.GC()
	for _, kind := range []string{"heap", "allocs", "goroutine", "threadcreate", "mutex", "block"} {
		var buf bytes.Buffer
		if err := runtimepprof.Lookup(kind).WriteTo(&buf, 0); err != nil {
			t.Fatal(err)
		}
		agree(t, kind, buf.Bytes())
		agree(t, kind+" plain", gunzip(t, buf.Bytes()))
	}
	runtime.KeepAlive(keep)
}

func cpuProfile(t *testing.T) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := runtimepprof.StartCPUProfile(&buf); err != nil {
		t.Skipf("cannot profile here: %v", err)
	}
	var sink []string
	for start := time.Now(); time.Since(start) < 300*time.Millisecond; {
		sink = append(sink[:0], strings.Fields(strings.Repeat("a b ", 1000))...)
	}
	runtime.KeepAlive(sink)
	runtimepprof.StopCPUProfile()
	return buf.Bytes()
}

func gunzip(t *testing.T, data []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := out.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func compress(data []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, _ = z.Write(data) // a bytes.Buffer takes everything
	_ = z.Close()
	return buf.Bytes()
}

// synthetic makes a profile with google's package: inlined lines, locations
// without symbols, labels, ids far apart, functions with a system name only.
func synthetic(samples int) *profile.Profile {
	rnd := rand.New(rand.NewPCG(1, 2))
	p := &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		DefaultSampleType: "cpu",
		PeriodType:        &profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
		Period:            10_000_000, TimeNanos: 1_700_000_000_123_456_789, DurationNanos: 5e9,
		Mapping:    []*profile.Mapping{{ID: 1, Start: 0x400000, Limit: 0x800000, File: "/usr/bin/prog"}},
		Comments:   []string{"one", "two"},
		DropFrames: "drop", KeepFrames: "keep",
	}
	for i := range 20 {
		f := &profile.Function{ID: uint64(i + 1), Name: fmt.Sprintf("m.(*T%d).F", i), SystemName: fmt.Sprintf("sys%d", i),
			Filename: fmt.Sprintf("/src/m/f%d.go", i%3), StartLine: int64(10 * i)}
		if i == 7 {
			f.Name = ""
		}
		p.Function = append(p.Function, f)
	}
	p.Function[19].ID = 1 << 60
	for i := range 40 {
		l := &profile.Location{ID: uint64(i + 1), Mapping: p.Mapping[0], Address: uint64(0x400000 + i)}
		for range i % 4 {
			l.Line = append(l.Line, profile.Line{Function: p.Function[rnd.IntN(20)], Line: rnd.Int64N(1000)})
		}
		p.Location = append(p.Location, l)
	}
	p.Location[0].Mapping = nil
	p.Location[39].ID = 1<<64 - 1
	for i := range samples {
		s := &profile.Sample{Value: []int64{rnd.Int64N(5), rnd.Int64() - rnd.Int64()}}
		for range i % 30 {
			s.Location = append(s.Location, p.Location[rnd.IntN(40)])
		}
		if i%3 == 0 {
			s.Label = map[string][]string{"k": {fmt.Sprint(i)}}
			s.NumLabel = map[string][]int64{"bytes": {int64(i)}}
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

func encode(t testing.TB, p *profile.Profile) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := p.WriteUncompressed(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestSynthetic(t *testing.T) {
	plain := encode(t, synthetic(200))
	agree(t, "plain", plain)
	agree(t, "gzip", compress(plain))
	agree(t, "two gzip members", append(compress(plain[:len(plain)/2]), compress(plain[len(plain)/2:])...))

	p, err := Bytes("n", plain)
	if err != nil {
		t.Fatal(err)
	}
	first, err := all(p)
	if err != nil {
		t.Fatal(err)
	}
	second, err := all(p)
	if err != nil || !reflect.DeepEqual(first, second) {
		t.Errorf("the second Scan differs from the first (error %v)", err)
	}
}

// TestOrder moves the samples in front of the tables, and between them.
func TestOrder(t *testing.T) {
	fields := split(t, encode(t, synthetic(50)))
	var samples, rest [][]byte
	for _, f := range fields {
		if f[0]>>3 == fieldSample {
			samples = append(samples, f)
		} else {
			rest = append(rest, f)
		}
	}
	agree(t, "samples first", bytes.Join(append(append([][]byte{}, samples...), rest...), nil))
	agree(t, "samples last", bytes.Join(append(append([][]byte{}, rest...), samples...), nil))
	var mixed [][]byte
	for i, f := range rest {
		mixed = append(mixed, f)
		if i < len(samples) {
			mixed = append(mixed, samples[i])
		}
	}
	mixed = append(mixed, samples[min(len(rest), len(samples)):]...)
	agree(t, "interleaved", bytes.Join(mixed, nil))
}

// split cuts a plain profile into its top-level fields.
func split(t testing.TB, data []byte) [][]byte {
	t.Helper()
	var fields [][]byte
	c := cursor{b: data}
	for {
		start := c.i
		ok, err := c.next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return fields
		}
		fields = append(fields, data[start:c.i:c.i])
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpu.pprof")
	data := encode(t, synthetic(100))
	if err := os.WriteFile(path, compress(data), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := all(p); err != nil || len(got) != 100 {
		t.Fatalf("Scan gave %d samples and error %v, want 100", len(got), err)
	}
	if err := os.WriteFile(path, compress(data[:len(data)-1]), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := all(p); !errors.Is(err, errChanged) {
		t.Errorf("Scan of a changed file: error %v, want %v", err, errChanged)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open of no file: error %v, want os.ErrNotExist", err)
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("Open of a directory: no error")
	}
}

// TestStopEarly ends scans half-way and looks for goroutines left behind.
func TestStopEarly(t *testing.T) {
	src := &source{name: "n", data: compress(encode(t, synthetic(2000))), inMemory: true, chunk: 64}
	p, err := src.profile()
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	before := runtime.NumGoroutine()
	for range 100 {
		n := 0
		err := p.Samples.Scan(func(evidence.Sample) error {
			if n++; n == 10 {
				return stop
			}
			return nil
		})
		if err != stop || n != 10 {
			t.Fatalf("Scan = %v after %d samples, want %v after 10", err, n, stop)
		}
	}
	for range 60_000 { // who is done may be counted for a moment yet
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines after the scans, %d before", runtime.NumGoroutine(), before)
}

// TestScanAllocates holds the number of allocations of a scan to a constant,
// whatever the number of samples.
func TestScanAllocates(t *testing.T) {
	allocs := func(samples int) float64 {
		p, err := Bytes("n", encode(t, synthetic(samples)))
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(10, func() {
			if err := p.Samples.Scan(func(evidence.Sample) error { return nil }); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocs(100), allocs(10_000); many > few+5 {
		t.Errorf("%v allocations for 10000 samples, %v for 100", many, few)
	}
}
