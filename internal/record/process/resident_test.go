package process

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"testing"
)

func TestHighWater(t *testing.T) {
	f := func(status string, want int64) {
		t.Helper()
		if got := highWater([]byte(status)); got != want {
			t.Errorf("highWater(%q) = %d, want %d", status, got, want)
		}
	}
	f("Name:\tx\nVmHWM:\t    1234 kB\nVmRSS:\t 10 kB\n", 1234<<10)
	f("Name:\tx\nState:\tZ (zombie)\n", 0)
	f("VmHWM:\t x kB\n", 0)
	f("VmHWM:", 0)
	f("", 0)
}

// TestWatchedPeak holds that a child that is smaller than its parent has a
// resident set of its own after its end, though Linux counts the parent's.
func TestWatchedPeak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells it of another process")
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	p, err := Start(exec.Command(sleep, "0.1"), nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Watch(context.Background())
	own, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	if got, most := p.PeakRSS(), highWater(own); p.Running() || got < 64<<10 || got >= most {
		t.Errorf("running %v, largest resident set %d, want more than 64 KiB and less than our own, %d", p.Running(), got, most)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if p, err = Start(exec.Command(sleep, "60"), nil); err != nil {
		t.Fatal(err)
	}
	defer p.End(0)
	p.Watch(ctx)
	if !p.Running() || p.PeakRSS() == 0 {
		t.Errorf("after ctx the process runs: %v, with a resident set of %d, want true and some", p.Running(), p.PeakRSS())
	}
}
