//go:build unix

package main

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestCycles(t *testing.T) {
	log := "noise\n" +
		"gc 27 @7.144s 25%: 0.030+118+0.021 ms clock, 0.061+137/68/20+0.043 ms cpu, 69->69->62 MB, 71 MB goal, 35 MB stacks, 0 MB globals, 2 P\n" +
		"gc 28 @9.457s 20%: 3.3+150+0.11 ms clock, 6.6+121/96/27+0.22 ms cpu, 69->69->62 MB, 72 MB goal, 35 MB stacks, 0 MB globals, 2 P (forced)\n" +
		"gc 29 @x\n"
	got := cycles(log)
	want := []cycle{{7.144, [2]float64{30e-6, 21e-6}, 0.118, 0.137, 0.068}, {9.457, [2]float64{3.3e-3, 0.11e-3}, 0.15, 0.121, 0.096}}
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i := range want {
		g, w := reflect.ValueOf(got[i]), reflect.ValueOf(want[i])
		for f := range g.NumField() {
			if g.Field(f).Kind() == reflect.Float64 && math.Abs(g.Field(f).Float()-w.Field(f).Float()) > 1e-12 {
				t.Errorf("cycle %d: got %+v, want %+v", i, got[i], want[i])
			}
		}
		if math.Abs(got[i].Pauses[0]-want[i].Pauses[0])+math.Abs(got[i].Pauses[1]-want[i].Pauses[1]) > 1e-12 {
			t.Errorf("cycle %d: pauses %v, want %v", i, got[i].Pauses, want[i].Pauses)
		}
	}
}

func TestQuantile(t *testing.T) {
	f := func(bins []bin, q, want float64) {
		t.Helper()
		if got := quantile(bins, q); got != want {
			t.Errorf("quantile(%v, %v) = %v, want %v", bins, q, got, want)
		}
	}
	f(nil, 0.5, -1)
	f([]bin{{1, 1}}, 0.99, 1)
	f([]bin{{3, 1}, {1, 50}, {2, 49}}, 0.5, 1)
	f([]bin{{3, 1}, {1, 50}, {2, 49}}, 0.99, 2)
	f([]bin{{3, 1}, {1, 50}, {2, 49}}, 1, 3)
	if got := rank([]float64{3, 1, 2, 4}, 0.5); got != 2 {
		t.Errorf("rank = %v, want 2", got)
	}
}

func TestShares(t *testing.T) {
	e := experiment{conns: 100_000, servers: 6}
	sum := 0
	for i := range e.servers {
		n := e.share(i)
		if sum += n; n < 16_666 || n > 16_667 {
			t.Errorf("server %d has %d connections", i, n)
		}
	}
	if sum != e.conns {
		t.Errorf("%d connections, want %d", sum, e.conns)
	}
}

func TestTable(t *testing.T) {
	m := measurement{Toolchain: "go1.26.8", Servers: []server{
		{Result: result{Conns: 10, Goroutines: 31, Cycles: 2, From: 1, To: 3, CPU: 2, Procs: 2, GCCPU: 0.5, IdleCPU: 0.1, AssistCPU: 0.02, Pauses: []bin{{1e-5, 3}, {2e-3, 1}}},
			Log: []cycle{{2, [2]float64{1e-5, 2e-5}, 0.1, 0, 0}}},
		{Result: result{Conns: 20, Goroutines: 61, Cycles: 1, From: 1, To: 3, CPU: 2, Procs: 2, Pauses: []bin{{1e-5, 2}}}},
	}}
	var out strings.Builder
	if err := table(&out, []measurement{m}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| go1.26.8 | 30 | 92 | 3 | 100ms | 10µs | 2ms | 2ms | – | 10µs | 20µs | 20µs | 10.0 % | 0.5 % |", "6 pauses"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
