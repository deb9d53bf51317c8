package correct

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
)

// TestUnsampled: CPU time without samples is charged to an application that sleeps itself, with a warning if it is much.
func TestUnsampled(t *testing.T) {
	f := func(name string, sleeps, used, wantApp float64, warned bool) {
		t.Helper()
		d := &run.Data{Sites: &run.Sites{}}
		d.CPU.Known, d.CPU.Period, d.CPU.All, d.CPU.Sleeps = true, 0.01, 200, sleeps
		d.CPU.Used = time.Duration(used * float64(time.Second))
		d.CPU.Buckets[stack.BucketMarkDedicated], d.CPU.Buckets[stack.BucketScheduler] = 100, 100
		r := Apply(d, Options{Processors: 2})
		if got := r.bucket(stack.BucketAppUnsampled); math.Abs(got-wantApp) > 1e-9 {
			t.Errorf("%s: %v samples are the application's, want %v", name, got, wantApp)
		}
		if (len(r.Warnings) > 0) != warned {
			t.Errorf("%s: warnings %q", name, r.Warnings)
		}
	}
	f("all sampled", 1e6, 2, 0, false)
	f("within chance", 1e6, 2.02, 0, false)
	f("a little", 1e6, 2.2, 20, false)
	f("much", 1e6, 3, 100, true)
	f("without sleeps of its own", 0, 3, 0, false)
	f("not known", 1e6, 0, 0, false)
	// Of CPU time without idle marking, as the decomposition has it.
	d := &run.Data{Sites: &run.Sites{}}
	d.CPU.Known, d.CPU.Period, d.CPU.All, d.CPU.Sleeps, d.CPU.Used = true, 0.01, 300, 1e6, 4*time.Second
	d.CPU.Buckets[stack.BucketMarkIdle], d.CPU.Buckets[stack.BucketApp] = 200, 100
	if r := Apply(d, Options{Processors: 2}); len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], "50 % of the CPU time") {
		t.Errorf("warnings %q, want 50 %%", r.Warnings)
	}
}
