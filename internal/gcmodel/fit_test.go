package gcmodel_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// cycles makes n cycles of fixed + k ns/B, scan work from lo to hi bytes, with
// the given relative scatter.
func cycles(n int, fixed time.Duration, k, lo, hi, scatter float64) []evidence.Cycle {
	r := rand.New(rand.NewPCG(9, 10))
	var out []evidence.Cycle
	for i := range n {
		w := lo + (hi-lo)*float64(i)/math.Max(1, float64(n-1))
		cpu := (float64(fixed) + k*w) * (1 + scatter*r.NormFloat64())
		out = append(out, evidence.Cycle{
			Used:  evidence.PhaseCPU{Assist: time.Duration(cpu * 0.2), Background: time.Duration(cpu * 0.5), Idle: time.Duration(cpu * 0.3)},
			Pacer: &evidence.Pacer{HeapScan: unit.Bytes(w * 0.9), StackScan: unit.Bytes(w * 0.06), GlobalScan: unit.Bytes(w * 0.04)},
		})
	}
	return out
}

func TestFit(t *testing.T) {
	f := func(in []evidence.Cycle, wantShare, wantPerByte, tolerance float64) {
		t.Helper()
		got := gcmodel.Fit(in)
		if got.Reason != "" {
			t.Errorf("Fit: %s", got.Reason)
		}
		if math.Abs(got.FixedShare.Value-wantShare) > tolerance || math.Abs(got.PerByte-wantPerByte) > tolerance*(1+wantPerByte) {
			t.Errorf("Fit: fixed share %v, %v ns/B, want %v, %v", got.FixedShare, got.PerByte, wantShare, wantPerByte)
		}
		if got.FixedShare.Low > wantShare+1e-6 || got.FixedShare.High < wantShare-1e-6 {
			t.Errorf("Fit: interval %v does not hold %v", got.FixedShare, wantShare)
		}
	}
	// Mean scan work 5e7 B at 1 ns/B is 50 ms; 50 ms fixed is half.
	f(cycles(20, 50*time.Millisecond, 1, 0, 1e8, 0), 0.5, 1, 1e-6)
	f(cycles(60, 50*time.Millisecond, 1, 0, 1e8, 0.05), 0.5, 1, 0.05)
	f(cycles(20, 0, 2.5, 0, 1e8, 0), 0, 2.5, 1e-6)
	f(cycles(20, 3*time.Millisecond, 0, 0, 1e8, 0), 1, 0, 1e-6)
}

func TestFitUndecided(t *testing.T) {
	f := func(in []evidence.Cycle, want string) {
		t.Helper()
		got := gcmodel.Fit(in)
		if !strings.Contains(got.Reason, want) {
			t.Errorf("Fit: reason %q, want %q", got.Reason, want)
		}
		if got.FixedShare.Value != 0 || got.Fixed != 0 || got.FixedShare.High == 0 {
			t.Errorf("Fit: fixed %v, share %v, want 0 with an upper bound", got.Fixed, got.FixedShare)
		}
	}
	forced := cycles(20, time.Millisecond, 1, 0, 1e8, 0)
	noPacer := cycles(20, time.Millisecond, 1, 0, 1e8, 0)
	for i := range forced {
		forced[i].Forced = true
		noPacer[i].Pacer = nil
	}
	f(nil, "0 cycles")
	f(forced, "0 cycles")
	f(noPacer, "0 cycles")
	f(cycles(7, time.Millisecond, 1, 0, 1e8, 0), "7 cycles")
	f(cycles(50, time.Millisecond, 1, 1e8, 1.02e8, 0.1), "hardly differs")
	f(cycles(10, time.Millisecond, 1, 0.8e8, 1.2e8, 0.5), "scatters")
	f(cycles(10, 0, 0, 0, 1e8, 0), "no measurable")
	f(cycles(10, time.Second, 0, 0, 0, 0), "hardly differs")
}

func TestFitIgnoresForced(t *testing.T) {
	in := cycles(20, 50*time.Millisecond, 1, 0, 1e8, 0)
	want := gcmodel.Fit(in)
	in = append(in, evidence.Cycle{Forced: true, Used: evidence.PhaseCPU{Assist: time.Hour}, Pacer: &evidence.Pacer{HeapScan: 1}})
	if got := gcmodel.Fit(in); got != want {
		t.Errorf("Fit with a forced cycle: got %+v, want %+v", got, want)
	}
}
