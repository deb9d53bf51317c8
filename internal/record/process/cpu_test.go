package process

import (
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
