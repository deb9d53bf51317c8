package main

import (
	"os"
	"reflect"
	"testing"
)

func TestProgramsAreComplete(t *testing.T) {
	t.Chdir("../..")
	entries, err := os.ReadDir("attribution/progs")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, p := range programs {
		listed[p.Name] = true
		if _, err := findSite(p); err != nil {
			t.Errorf("findSite(%s): %v", p.Name, err)
		}
	}
	for _, e := range entries {
		if !listed[e.Name()] {
			t.Errorf("attribution/progs/%s is not in the list of programs", e.Name())
		}
		delete(listed, e.Name())
	}
	for name := range listed {
		t.Errorf("program %s has no directory", name)
	}
}

func TestChoose(t *testing.T) {
	f := func(names string, want int, wantErr bool) {
		t.Helper()
		got, err := choose(names)
		if len(got) != want || (err != nil) != wantErr {
			t.Errorf("choose(%q) = %d programs, %v; want %d, error %v", names, len(got), err, want, wantErr)
		}
	}
	f("", len(programs), false)
	f("rules", 1, false)
	f("rules, cache", 2, false)
	f("rules,nothing", 0, true)
}

func TestParseBench(t *testing.T) {
	f := func(out string, want sample, wantErr bool) {
		t.Helper()
		got, err := parseBench(out)
		if (err != nil) != wantErr {
			t.Errorf("parseBench(%q): error %v, want error %v", out, err, wantErr)
		}
		if err == nil && got != want {
			t.Errorf("parseBench(%q) = %+v, want %+v", out, got, want)
		}
	}
	f("goos: linux\nBenchmarkWork-2   \t    1000\t      2636 ns/op\t 4000000000 cpu-ns/run\t 50 cycles/run\t 500000000 gc-ns/run\t 25000000 idle-ns/run\t    1120 B/op\t      14 allocs/op\nPASS\n",
		sample{Ops: 1000, CPU: 4, Idle: 0.025, GC: 0.5, Cycles: 50, BytesOp: 1120, AllocsOp: 14, NsOp: 2636}, false)
	f("PASS\n", sample{}, true)
	f("BenchmarkWork-2 1000 2636 ns/op\n", sample{}, true) // no CPU time
	f("BenchmarkWork-2 many 2636 ns/op\n", sample{}, true)
	f("BenchmarkWork-2 10 x ns/op\n", sample{}, true)
}

func TestMedianInterval(t *testing.T) {
	f := func(v []float64, want Interval) {
		t.Helper()
		if got := medianInterval(v); got != want {
			t.Errorf("medianInterval(%v) = %v, want %v", v, got, want)
		}
	}
	f([]float64{3}, Interval{3, 3, 3})
	f([]float64{2, 2, 2, 2}, Interval{2, 2, 2})
	v := []float64{5, 1, 4, 2, 3, 6}
	got := medianInterval(v)
	if got.Value != 3.5 || got.Low < 1 || got.High > 6 || got.Low >= 3.5 || got.High <= 3.5 {
		t.Errorf("medianInterval(%v) = %v, want 3.5 within an interval inside the data", v, got)
	}
	if again := medianInterval(v); again != got {
		t.Errorf("medianInterval(%v) = %v, then %v", v, got, again)
	}
}

func TestJudge(t *testing.T) {
	f := func(c class, predicted, measured Interval, want string) {
		t.Helper()
		r := Row{program: program{Class: c}, Measured: Measurement{Saving: measured}, Prediction: &Prediction{Found: true, Saving: predicted}}
		r.judge()
		if r.Verdict != want {
			t.Errorf("%s, predicted %v, measured %v: %s, want %s", c, predicted, measured, r.Verdict, want)
		}
	}
	at := func(v float64) Interval { return Interval{v, v - 0.01, v + 0.01} }
	f(short, at(0.22), at(0.20), verdictGood)
	f(short, at(0.026), at(0.02), verdictGood) // 30 % off, but within a point
	f(short, at(0.26), at(0.20), verdictPass)
	f(short, at(0.10), at(0.20), verdictMiss)
	f(retained, at(0.05), at(0.06), verdictPass)
	f(retained, at(-0.05), at(-0.06), verdictPass)
	f(retained, at(0.05), at(-0.06), verdictMiss)
	f(retained, at(0.05), at(0.10), verdictMiss) // sign right, intervals apart
	f(retained, at(0.005), at(0.001), verdictOpen)
	f(retained, at(-0.005), at(0.011), verdictMiss) // intervals overlap, sign wrong
}

func TestKnown(t *testing.T) {
	f := func(i Interval, want bool) {
		t.Helper()
		if got := i.known(); got != want {
			t.Errorf("%v known: %v, want %v", i, got, want)
		}
	}
	f(Interval{}, true)
	f(Interval{0.50, 0.41, 0.59}, true)
	f(Interval{0.50, 0.39, 0.51}, false)
	f(Interval{-0.50, -0.59, -0.41}, true)
	f(Interval{0.01, 0.001, 0.019}, true) // within a point
	f(Interval{0.01, -0.001, 0.019}, false)
}

func TestCombine(t *testing.T) {
	at := func(v float64) *Prediction {
		return &Prediction{Found: true, Rank: 1, Saving: Interval{v, v - 0.01, v + 0.02}}
	}
	lost := &Prediction{Near: []string{"1: line 7, p.other"}}
	f := func(all []*Prediction, want *Prediction) {
		t.Helper()
		if got := combine(all); !reflect.DeepEqual(got, want) {
			t.Errorf("combine: %+v, want %+v", got, want)
		}
	}
	want := at(0.5)
	want.Each = []float64{0.25, 0.75, 0.5}
	f([]*Prediction{at(0.25), at(0.75), at(0.5)}, want)
	want = at(0.25)
	want.Each = []float64{0.25, 0.25}
	f([]*Prediction{lost, at(0.25), at(0.25)}, want)
	f([]*Prediction{lost, at(0.25)}, lost)
}

func TestReadPrediction(t *testing.T) {
	const doc = `{"schema":"heaptrim.report/1","findings":[
		{"rank":1,"site":{"function":"p.other","file":"attribution/progs/rules/rules.go","line":7},"removal":{"cpu_share":{"value":0.5,"low":0.4,"high":0.6}}},
		{"rank":2,"site":{"function":"p.node","file":"attribution/progs/rules/rules.go","line":9},"removal":{"cpu_share":{"value":0.25,"low":0.2,"high":0.3}}}]}`
	f := func(doc string, line int, want *Prediction) {
		t.Helper()
		got, err := readPrediction([]byte(doc), Site{"attribution/progs/rules/rules.go", line})
		if (err != nil) != (want == nil) {
			t.Fatalf("line %d of %.40s: error %v", line, doc, err)
		}
		if want != nil && !reflect.DeepEqual(got, want) {
			t.Errorf("line %d: %+v, want %+v", line, got, want)
		}
	}
	f(doc, 9, &Prediction{Found: true, Rank: 2, Function: "p.node", Saving: Interval{0.25, 0.2, 0.3}})
	f(doc, 8, &Prediction{Near: []string{"1: line 7, p.other", "2: line 9, p.node"}})
	f(`{"schema":"heaptrim.report/2"}`, 9, nil)
	f(`{"schema":`, 9, nil)
}
