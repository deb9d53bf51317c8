package process

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
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

// TestWatchedPeak checks that the peak of an ended child is its own, not that of its
// larger parent, which Linux reports.
func TestWatchedPeak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux reports it for another process")
	}
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Skip(err)
	}
	waiting := func() (*Process, io.Closer) { // until its input ends
		t.Helper()
		cmd := exec.Command(cat)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		p, err := Start(cmd, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p, in
	}
	p, in := waiting()
	go func() {
		for p.peak.Load() < 64<<10 && p.Running() {
			time.Sleep(time.Millisecond)
		}
		in.Close()
	}()
	p.Watch(context.Background())
	own, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	if got, most := p.PeakRSS(), highWater(own); p.Running() || got < 64<<10 || got >= most {
		t.Errorf("running %v, largest resident set %d, want more than 64 KiB and less than our own, %d", p.Running(),
			got, most)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p, in = waiting()
	defer p.End(0)
	defer in.Close()
	p.Watch(ctx)
	if !p.Running() || p.PeakRSS() == 0 {
		t.Errorf("after ctx the process runs: %v, with a resident set of %d, want true and some", p.Running(),
			p.PeakRSS())
	}
}
