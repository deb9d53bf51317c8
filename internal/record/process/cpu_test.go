package process

import (
	"os"
	"runtime"
	"testing"
	"time"
)

func TestStatCPU(t *testing.T) {
	f := func(line string, want time.Duration, wantOK bool) {
		t.Helper()
		if got, ok := statCPU([]byte(line)); got != want || ok != wantOK {
			t.Errorf("statCPU(%q) = %v, %v, want %v, %v", line, got, ok, want, wantOK)
		}
	}
	f("7 (a b) c) S 1 7 7 0 -1 4194560 90 0 0 0 150 25 0 0 20 0 5 0 99 1 2", 1750*time.Millisecond, true)
	f("7 (a) S 1 7 7 0 -1 4194560 90 0 0 0 x 25 0", 0, false)
	f("7 (a) S 1 2", 0, false)
	f("", 0, false)
}

// TestClockCPU compares the CPU clock of a process with /proc.
func TestClockCPU(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has it")
	}
	for start := time.Now(); time.Since(start) < 50*time.Millisecond; {
	}
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	low, _ := statCPU(text)
	got, ok := clockCPU(os.Getpid())
	if text, err = os.ReadFile("/proc/self/stat"); err != nil {
		t.Fatal(err)
	}
	high, _ := statCPU(text)
	// /proc counts user and system time in ticks, the clock by the scheduler.
	const tick = 20 * time.Millisecond
	if !ok || got < low-tick || got > high+tick+high/10 {
		t.Errorf("the clock says %v, %v, /proc from %v to %v", got, ok, low, high)
	}
	if _, ok := clockCPU(1 << 22); ok {
		t.Error("a process that does not exist has a clock")
	}
}
