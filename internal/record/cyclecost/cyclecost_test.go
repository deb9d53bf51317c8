package cyclecost_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/cyclecost"
)

// process takes perByte and perCycle nanoseconds and allocates the given number of
// bytes between two cycles at its own GOGC.
type process struct {
	perByte, perCycle float64
	distance          uint64
}

// readings returns n stretches with GOGC 100 and 300 in turn, two of each, with the
// given number of cycles in each. The first of two also pays for what the other GOGC
// left.
func (p process) readings(n int, cycles uint64) []cyclecost.Reading {
	all := []cyclecost.Reading{{At: time.Second, GOGC: 100, CPU: time.Second, Cycles: 7, Bytes: 1 << 30}}
	for i := range n {
		now := all[len(all)-1]
		now.GOGC = 100
		bytes := cycles * p.distance
		if i%4 >= 2 {
			now.GOGC = 300
			bytes *= 3
		}
		used := time.Duration(p.perByte*float64(bytes) + p.perCycle*float64(cycles))
		if i%2 == 0 {
			used += time.Duration(p.perCycle)
		}
		now.At += used
		now.CPU += used
		now.Cycles += cycles
		now.Bytes += bytes
		all = append(all, now)
	}
	return all
}

func TestEstimate(t *testing.T) {
	f := func(p process, n int, cycles uint64, pairs int) {
		t.Helper()
		all := p.readings(n, cycles)
		got, ok := cyclecost.Estimate(all, 0, time.Hour)
		if ok != (pairs > 0) || got.Pairs != pairs {
			t.Fatalf("%+v, %d stretches: %d pairs, %v, want %d", p, n, got.Pairs, ok, pairs)
		}
		if !ok {
			return
		}
		// Durations are whole nanoseconds.
		if math.Abs(got.NS.Value-p.perCycle) > 10 || math.Abs(got.NS.Low-p.perCycle) > 10 ||
			math.Abs(got.NS.High-p.perCycle) > 10 || got.Times != 3 {
			t.Errorf("%+v: a cycle costs %v at %v times GOGC, want %v at 3", p, got.NS, got.Times, p.perCycle)
		}
	}
	f(process{0.5, 4e6, 8 << 20}, 24, 1, 6)
	f(process{0.5, 4e6, 8 << 20}, 23, 1, 0)
	f(process{0.1, 2e4, 1 << 20}, 81, 9, 20)
	f(process{0.7, 0, 1 << 20}, 24, 2, 6)
	f(process{}, 0, 1, 0)
}

// TestEstimateWindow checks that set-up before the measured run, which is other work,
// is not counted.
func TestEstimateWindow(t *testing.T) {
	all := process{3, 1e9, 1 << 20}.readings(60, 1)
	begin := all[len(all)-1].At + time.Millisecond
	base := all[len(all)-1]
	for _, r := range (process{0.5, 4e6, 8 << 20}).readings(32, 1)[1:] {
		r.At += base.At
		r.CPU += base.CPU
		r.Cycles += base.Cycles
		r.Bytes += base.Bytes
		all = append(all, r)
	}
	got, ok := cyclecost.Estimate(all, begin, time.Hour)
	if !ok || math.Abs(got.NS.Value-4e6) > 10 || got.Pairs != 8 {
		t.Errorf("got %+v, %v, want 8 pairs of 4 ms", got, ok)
	}
}

// TestEstimateSamePace checks that stretches with equal GOGC give no estimate.
func TestEstimateSamePace(t *testing.T) {
	all := process{0.5, 4e6, 8 << 20}.readings(60, 1)
	for i := range all {
		all[i].GOGC = 100
	}
	if got, ok := cyclecost.Estimate(all, 0, time.Hour); ok || got != (evidence.CycleCost{}) {
		t.Errorf("got %+v", got)
	}
}

func encode(all []cyclecost.Reading) string {
	var b strings.Builder
	for _, r := range all {
		line, err := json.Marshal(r)
		if err != nil {
			panic(err) // cannot happen: it holds only numbers
		}
		fmt.Fprintf(&b, "%s\n", line)
	}
	return b.String()
}

func TestRead(t *testing.T) {
	all := process{0.5, 4e6, 8 << 20}.readings(5, 1)
	text := encode(all)
	f := func(text string, want int) {
		t.Helper()
		got, err := cyclecost.Read("p.jsonl", strings.NewReader(text))
		if err != nil || len(got) != want {
			t.Errorf("%.40q: %d readings, %v, want %d", text, len(got), err, want)
		}
	}
	f("", 0)
	f(text, 6)
	f(text[:len(text)-1], 5) // killed while it wrote the last line
	f(text[:len(text)/2], 3) // killed long before
	f(strings.ReplaceAll(text, `"gogc"`, `"later":1,"gogc"`), 6)
}

func TestReadRefuses(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		got, err := cyclecost.Read("p.jsonl", strings.NewReader(text))
		if err == nil {
			t.Fatalf("%.40q: %d readings and no error", text, len(got))
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%.40q: %v, want %q", text, err, w)
			}
		}
	}
	const line = `{"t_ns":5,"gogc":100,"cpu_ns":5,"cycles":5,"bytes":5}` + "\n"
	f("nonsense\n", "p.jsonl:1")
	f(line+"[]\n", "p.jsonl:2")
	f(line+strings.Replace(line, `"cycles":5`, `"cycles":-1`, 1), "p.jsonl:2")
	f(line+strings.Replace(line, `"cycles":5`, `"cycles":4`, 1), "p.jsonl:2", "falls")
	f(line+strings.Replace(line, `"t_ns":5`, `"t_ns":4`, 1), "p.jsonl:2", "falls")
	f(line+strings.Replace(line, `"cpu_ns":5`, `"cpu_ns":1e300`, 1), "p.jsonl:2")
	f(line+strings.Repeat(" ", 1<<20)+"\n", "p.jsonl:2")
}

func FuzzRead(f *testing.F) {
	f.Add(encode(process{0.5, 4e6, 8 << 20}.readings(28, 1)))
	f.Add(`{"t_ns":5,"gogc":100,"cpu_ns":5,"cycles":5,"bytes":5}` + "\n")
	f.Add("{}\n{}\n{\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := cyclecost.Read("p", strings.NewReader(text))
		if err != nil {
			return
		}
		c, ok := cyclecost.Estimate(all, math.MinInt64, math.MaxInt64)
		if !ok {
			return
		}
		if ns := c.NS; math.IsNaN(ns.Value) || math.IsInf(ns.Value, 0) ||
			!(ns.Low <= ns.Value && ns.Value <= ns.High) || c.Pairs < 6 || c.Times <= 0 {
			t.Errorf("%q: %+v", text, c)
		}
	})
}
