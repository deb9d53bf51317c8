package prove

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWorkDiffers(t *testing.T) {
	both := func(a, b map[string]float64) []Sample {
		var runs []Sample
		for i := range 4 {
			runs = append(runs, Sample{Side: 0, Pair: i, Values: a}, Sample{Side: 1, Pair: i, Values: b})
		}
		return runs
	}
	f := func(a, b map[string]float64, want string) {
		t.Helper()
		got := strings.Join(workDiffers(&Comparison{Runs: both(a, b), Iterations: 100}), "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%v against %v: %q, want %q", a, b, got, want)
		}
	}
	type m = map[string]float64
	f(m{unitTime: 10}, m{unitTime: 20}, "")
	f(m{unitTime: 10, "items/op": 5}, m{unitTime: 20, "items/op": 5}, "")
	f(m{unitTime: 10, "items/op": 5}, m{unitTime: 20, "items/op": 4}, "5 items/op in A, 4 in B")
	f(m{"p99-ns": 5}, m{"p99-ns": 4}, "") // a time may differ
	f(m{"ns/row": 5}, m{"ns/row": 4}, "")
	f(m{"rows/s": 5}, m{"rows/s": 4}, "")
	f(m{"items/op": 5}, m{}, "only A reports items/op")
	f(m{}, m{"items/op": 5}, "only B reports items/op")
	f(m{unitTime: 10, unitPerSec: 100}, m{unitTime: 10}, "only A sets the bytes")
	// 1000 ns/op at 1 GB/s are 1000 bytes, 2000 ns/op at 0.5 GB/s too.
	f(m{unitTime: 1000, unitPerSec: 1000}, m{unitTime: 2000, unitPerSec: 500}, "")
	f(m{unitTime: 1000, unitPerSec: 1000}, m{unitTime: 2000, unitPerSec: 1000}, "about 1000 bytes in A, 2000 in B")
	f(m{unitTime: 1e6, unitPerSec: 0.01}, m{unitTime: 1.2e6, unitPerSec: 0.01}, "") // rounded too far to tell
}

// TestBytesRounded: whatever the time, the same number of bytes is recognised
// through the rounding of package testing.
func TestBytesRounded(t *testing.T) {
	round := func(v float64, digits float64) float64 { return math.Round(v*digits) / digits }
	for _, bytes := range []float64{1, 40, 4096, 1e6} {
		var runs []Sample
		for i, ns := range []float64{17.2341, 123.456, 999.94, 1234.56, 98765.4, 1234567} {
			shown := round(ns, 1)
			if ns < 100 {
				shown = round(ns, 100)
			} else if ns < 1000 {
				shown = round(ns, 10)
			}
			runs = append(runs, Sample{Side: i % 2, Pair: i / 2, Values: map[string]float64{unitTime: shown, unitPerSec: round(bytes/ns*1e3, 100)}})
		}
		if d := bytesDiffer(&Comparison{Runs: runs, Iterations: 1}); d != "" {
			t.Errorf("SetBytes(%v) on both sides: %s", bytes, d)
		}
	}
}

func TestOutputDiffers(t *testing.T) {
	f := func(a1, a2, b1, b2 string, want bool) {
		t.Helper()
		runs := []Sample{{Side: 0, Output: a1}, {Side: 1, Output: b1}, {Side: 1, Output: b2}, {Side: 0, Output: a2}}
		if got := outputDiffers(runs) != ""; got != want {
			t.Errorf("%q %q against %q %q: %v, want %v", a1, a2, b1, b2, got, want)
		}
	}
	f("x", "x", "x", "x", false)
	f("x", "x", "y", "y", true)
	f("x", "z", "y", "y", false) // A does not even agree with itself
	f("", "", "", "", false)
}

func TestTellingOf(t *testing.T) {
	f := func(want string, server bool, lines ...string) {
		t.Helper()
		if got := tellingOf(lines, server); got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
	f("bench_test.go:7: no", false, "bench_test.go:7: no", "more")
	f("listen: address in use", true, "starting", "listen: address in use")
	f("panic: oh", true, "starting", "panic: oh", "goroutine 1 [running]:", "main.main()")
	f("fatal error: all goroutines are asleep - deadlock!", false, "first", "fatal error: all goroutines are asleep - deadlock!")
}

// TestLongCrash: the reason stands before the stacks of all goroutines, however
// many there are, and what a line goes on with is no line.
func TestLongCrash(t *testing.T) {
	f := func(want, text string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "stderr")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := failureText(executed{stderr: file}, errors.New("exit status 2")); got != want+" (exit status 2)" {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	stacks := strings.Repeat("\ngoroutine 7 [running]:\nmain.main.func1()\n\t/src/main.go:7 +0xb6\n", 5000)
	f("panic: oh", "starting\npanic: oh\n"+stacks)
	f("fatal error: concurrent map writes", "panic: before\nfatal error: concurrent map writes\n"+stacks+"gc 9 @1s: x\n")
	f("/src/main.go:7 +0xb6", strings.Repeat("x", 64<<10)+"panic: oh\n"+stacks)
	f("/src/main.go:7 +0xb6", stacks)
}

// TestAnswersDiffer: errors are answered fast, and that is no saving.
func TestAnswersDiffer(t *testing.T) {
	f := func(a, b float64, want Outcome) {
		t.Helper()
		c := Comparison{Name: "X"}
		for i := range 4 {
			c.Runs = append(c.Runs,
				Sample{Pair: i, Values: map[string]float64{unitReqs: 100, unitCPUReq: 50, unitFailed: a}},
				Sample{Side: 1, Pair: i, Values: map[string]float64{unitReqs: 900, unitCPUReq: 5, unitFailed: b}})
		}
		compare(&c, KindLoad, nil)
		cs := []Comparison{c}
		judge(cs, Rules{})
		if cs[0].Outcome != want {
			t.Errorf("%v and %v of the requests fail: %s, want %s", a, b, cs[0].Outcome, want)
		}
		for _, ch := range cs[0].Changes {
			if want != Unclear && ch.Outcome != NotJudged {
				t.Errorf("%v and %v of the requests fail: %s is called %s", a, b, ch.Unit, ch.Outcome)
			}
		}
		s := newSubject("X", "", 2)
		s.against[0] = cs[0]
		if stops := s.stop(9, Rules{}.withDefaults()); stops != (want != Unclear) {
			t.Errorf("%v and %v of the requests fail: stop after four pairs is %v", a, b, stops)
		}
	}
	f(0, 0, Unclear)
	f(0, 0.005, Unclear)
	f(0.5, 0.505, Unclear)
	f(0, 1, Worse)
	f(0.2, 0.3, Worse)
	f(0.3, 0, Incomparable)

	busy := Comparison{Runs: []Sample{{Values: map[string]float64{unitFailed: 0.5}}, {Side: 1, Values: map[string]float64{unitFailed: 0.56}}, {Values: map[string]float64{unitFailed: 0.6}}}}
	if answersDiffer(&busy); busy.Failed[1] != "" || len(busy.Differs) > 0 {
		t.Errorf("shares that overlap: %v, %v", busy.Failed, busy.Differs)
	}
}
